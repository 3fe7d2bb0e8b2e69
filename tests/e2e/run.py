#!/usr/bin/env python3
"""Runs one file of tests and says which parts were skipped, by name. Exit status 77: all of them were."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    sys.path.insert(0, str(HERE))
    name = pathlib.Path(sys.argv[1]).stem
    arguments = sys.argv[2:]
    suite = unittest.defaultTestLoader.loadTestsFromNames([name + "." + a for a in arguments] or [name])
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    for test, reason in result.skipped:
        print("skipped: %s: %s" % (test, reason))
    if not result.wasSuccessful():
        return 1
    whole = [test for test, _ in result.skipped if not isinstance(test, unittest.case._SubTest)]
    return 77 if whole and len(whole) >= result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
