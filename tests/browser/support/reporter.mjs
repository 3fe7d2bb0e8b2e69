// Ends with one line that a script can read: "12 passed, 0 failed, 1 skipped". Before it, a line
// "unsteady: " for each test that did not pass at once.
export default class Summary {
  onBegin(config, suite) {
    this.suite = suite;
  }

  onEnd() {
    const all = this.suite.allTests();
    const count = (...outcomes) => all.filter((test) => outcomes.includes(test.outcome())).length;
    const [passed, failed, skipped] = [count('expected', 'flaky'), count('unexpected'), count('skipped')];
    for (const test of all.filter((each) => each.outcome() === 'flaky')) {
      const said = (test.results[0].error?.message ?? test.results[0].status).split('\n')[0];
      console.log(`unsteady: ${test.titlePath().slice(2).join(' › ')}: ${said}`);
    }
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }

  printsToStdio() {
    return false;
  }
}
