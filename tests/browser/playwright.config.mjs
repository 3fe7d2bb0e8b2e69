// Reports are opened from disk in the system's Chromium. Nothing is downloaded, nothing is served.
import {defineConfig} from '@playwright/test';

export default defineConfig({
  testDir: 'specs',
  testMatch: '*.spec.mjs',
  globalSetup: './fixtures/make.mjs',
  outputDir: 'test-results',
  workers: process.env.LINESCOPE_TEST_WORKERS ? Number(process.env.LINESCOPE_TEST_WORKERS) : 1,
  // On a busy machine; what passed only then is named (support/reporter.mjs).
  retries: 1,
  timeout: 60_000,
  expect: {timeout: 10_000},
  reporter: [['list'], ['./support/reporter.mjs']],
  use: {
    viewport: {width: 1440, height: 900},
    colorScheme: 'light',
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-gpu'],
    },
  },
});
