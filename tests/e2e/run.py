#!/usr/bin/env python3
"""Runs one file of tests and says which parts were skipped, by name. Exit status 77: all of them were.

What failed is run again, at most twice: a machine that has no CPU for us for a while fails any test of what a sampler saw.
A test that did not pass at once is named as unsteady, with what it said: none is passed over in silence.
"""
import pathlib
import signal
import sys
import time
import unittest

TRIES = 3
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


def method_of(test):
    return test.test_case if isinstance(test, unittest.case._SubTest) else test


def run(suite, skipped, took):
    """The tests that failed, {id: (test, the first line that it ended with)}, and how many were run."""
    result = unittest.TextTestRunner(verbosity=2, resultclass=Timed).run(suite)
    skipped += result.skipped
    took += result.took
    failed = {}
    for test, trace in result.failures + result.errors:
        said = [line for line in trace.splitlines() if line and not line[0].isspace()]
        failed.setdefault(method_of(test).id(), (method_of(test), next((line for line in said[1:]), said[-1])))
    return failed, result.testsRun


def main():
    sys.path.insert(0, str(HERE))
    # What a shell starts in the background ignores it, and so would all programs under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    name = pathlib.Path(sys.argv[1]).stem
    arguments = sys.argv[2:]
    suite = unittest.defaultTestLoader.loadTestsFromNames([name + "." + a for a in arguments] or [name])
    skipped, took, unsteady = [], [], {}
    failed, count = run(suite, skipped, took)
    for _ in range(1, TRIES):
        again = [test for test, _ in failed.values() if hasattr(test, "_testMethodName")]
        if not again or len(again) < len(failed):
            break
        unsteady.update({each: said for each, (_, said) in failed.items() if each not in unsteady})
        print("again: %s" % ", ".join(failed), file=sys.stderr)
        failed, _ = run(unittest.TestSuite(type(test)(test._testMethodName) for test in again), [], took)
    for seconds, test in sorted(took, reverse=True)[:10]:
        print("%6.1f s  %s" % (seconds, test))
    for test, said in unsteady.items():
        if test not in failed:
            print("unsteady: %s: %s" % (test, said[:300]))
    for test, reason in skipped:
        print("skipped: %s: %s" % (test, reason))
    if failed:
        return 1
    whole = [test for test, _ in skipped if not isinstance(test, unittest.case._SubTest)]
    return 77 if whole and len(whole) >= count else 0


if __name__ == "__main__":
    sys.exit(main())
