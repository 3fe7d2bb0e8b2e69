"""A stack of a known depth that computes at its end. usage: depth.py FRAMES

Its truth is the target's own CPU time of every round, with the moment it ended: what a profiler costs the target shows there.
"""
import sys
import time

import common

SPECIALS = 10       # words of an interpreter frame before its locals; differs by one or two between versions
ROUND = range(20_000)
marks = []


def frame_bytes(frame):
    total = 0
    while frame:
        code = frame.f_code
        total += 8 * (SPECIALS + len(code.co_varnames) + len(code.co_cellvars) + len(code.co_freevars) + code.co_stacksize)
        frame = frame.f_back
    return total


def bottom():
    data = bytes(1 << 16)
    common.ready(address=id(data) + 64, stack_bytes=frame_bytes(sys._getframe()))
    while common.running():
        for _ in ROUND:
            pass
        marks.append((time.monotonic(), time.process_time()))


def down(n):
    if n > 1:
        down(n - 1)
    else:
        bottom()


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    down(int(sys.argv[1]) - 2)
    common.truth(marks=marks)
