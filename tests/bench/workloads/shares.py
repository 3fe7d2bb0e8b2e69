"""Short pieces of work on lines of their own, each timed by the program itself: the true share of every line.

The pieces come in a new random order in every round, so any window of the run has the same shares. What passes between the
clock readings is the truth; the rest of the run is `other`.
"""
import hashlib
import random
import sys
import time

import common

SHORT, MIDDLE, LONG = range(60), range(700), range(5_000)
NUMBERS = list(range(2_500))
SHUFFLED = random.Random(3).sample(NUMBERS, len(NUMBERS))
BLOB = bytes(50_000)
TEXT = "the quick brown fox " * 300
spent = {}


def took(ns):
    """Adds to the line before the caller's own."""
    frame = sys._getframe(1)
    key = "%s:%d" % (frame.f_code.co_name, frame.f_lineno - 2)
    spent[key] = spent.get(key, 0) + ns


def short_loop():
    start = common.now()
    for _ in SHORT: pass
    end = common.now()
    took(end - start)


def middle_loop():
    start = common.now()
    for _ in MIDDLE: pass
    end = common.now()
    took(end - start)


def long_loop():
    start = common.now()
    for _ in LONG: pass
    end = common.now()
    took(end - start)


def comprehension():
    start = common.now()
    values = [i + 1 for i in MIDDLE]
    end = common.now()
    took(end - start)
    return values


def summing():
    start = common.now()
    total = sum(NUMBERS)
    end = common.now()
    took(end - start)
    return total


def sorting():
    start = common.now()
    values = sorted(SHUFFLED)
    end = common.now()
    took(end - start)
    return values


def hashing():
    start = common.now()
    digest = hashlib.sha256(BLOB).digest()
    end = common.now()
    took(end - start)
    return digest


def splitting():
    start = common.now()
    words = TEXT.split()
    end = common.now()
    took(end - start)
    return words


def two_lines():
    start = common.now()
    for _ in MIDDLE: pass
    end = common.now()
    took(end - start)
    start = common.now()
    for _ in SHORT: pass
    end = common.now()
    took(end - start)


MIX = ([short_loop] * 40 + [middle_loop] * 10 + [long_loop] * 3 + [comprehension] * 6 + [summing] * 6 + [sorting] * 2 +
       [hashing] * 2 + [splitting] * 4 + [two_lines] * 8)


def work(until):
    order = random.Random(7)
    while common.running() and time.perf_counter() < until:
        order.shuffle(MIX)
        for piece in MIX:
            piece()


if __name__ == "__main__":
    work(time.perf_counter() + 0.3)     # until the interpreter has specialised its code
    common.ready()
    spent.clear()
    begin = common.now()
    work(float("inf"))
    common.truth(total=common.now() - begin, lines=spent)
