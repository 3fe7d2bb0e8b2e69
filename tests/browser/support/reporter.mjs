// Ends with one line that a script can read: "12 passed, 0 failed, 1 skipped".
export default class Summary {
  counts = {passed: 0, failed: 0, skipped: 0};

  onTestEnd(test, result) {
    if (result.status === 'skipped') this.counts.skipped++;
    else if (test.outcome() === 'unexpected') this.counts.failed++;
    else this.counts.passed++;
  }

  onEnd() {
    const {passed, failed, skipped} = this.counts;
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  }

  printsToStdio() {
    return false;
  }
}
