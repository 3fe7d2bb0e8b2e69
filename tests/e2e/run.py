#!/usr/bin/env python3
"""Runs one file of tests and says which parts were skipped, by name. Exit status 77: all of them were."""
import pathlib
import signal
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent


class Timed(unittest.TextTestResult):
    """Keeps how long each test took, with the waiting of its set-up."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.took = []

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        super().stopTest(test)
        self.took.append((time.monotonic() - self.began, test.id()))


def main():
    sys.path.insert(0, str(HERE))
    # What a shell starts in the background ignores it, and so would all programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name = pathlib.Path(sys.argv[1]).stem
    arguments = sys.argv[2:]
    suite = unittest.defaultTestLoader.loadTestsFromNames([name + "." + a for a in arguments] or [name])
    result = unittest.TextTestRunner(verbosity=2, resultclass=Timed).run(suite)
    for seconds, test in sorted(result.took, reverse=True)[:10]:
        print("%6.1f s  %s" % (seconds, test))
    for test, reason in result.skipped:
        print("skipped: %s: %s" % (test, reason))
    if not result.wasSuccessful():
        return 1
    whole = [test for test, _ in result.skipped if not isinstance(test, unittest.case._SubTest)]
    return 77 if whole and len(whole) >= result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
