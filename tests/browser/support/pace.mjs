// What work costs the page, and how fast the machine is at the moment: limits hold for a machine on
// which the work below takes REFERENCE_MS, and grow with what it takes here.
const REFERENCE_MS = 30;

export async function measuring(page) {
  const client = await page.context().newCDPSession(page);
  await client.send('Performance.enable', {timeDomain: 'threadTicks'});
  return client;
}

// Processor time that the page's main thread has used for tasks.
export async function taskMs(client) {
  const {metrics} = await client.send('Performance.getMetrics');
  return 1000 * metrics.find(({name}) => name === 'TaskDuration').value;
}

// Arithmetic, objects, layout of text and drawing, as reports have them; at least 1.
export async function slowness(page, client) {
  const rounds = [];
  for (let round = 0; round < 5; round++) {
    const before = await taskMs(client);
    await page.evaluate(() => {
      const canvas = document.createElement('canvas');
      canvas.width = 800;
      canvas.height = 400;
      const context = canvas.getContext('2d');
      const numbers = new Float64Array(200_000);
      for (let turn = 0; turn < 10; turn++) {
        for (let i = 0; i < numbers.length; i++) numbers[i] = Math.sqrt(numbers[i] + i * turn);
      }
      const words = Array.from({length: 20_000}, (_, i) => ({name: `word ${i % 977}`, at: (i * 7919) % 400}));
      words.sort((a, b) => a.at - b.at);
      for (const {name, at} of words.slice(0, 2_000)) {
        context.fillRect(at, at / 2, 30, 17);
        context.fillText(name, at, at / 2);
      }
    });
    rounds.push(await taskMs(client) - before);
  }
  rounds.sort((a, b) => a - b);
  return Math.max(1, rounds[2] / REFERENCE_MS);
}
