"""Two chains of 24 functions that share none: a stack with functions of both, or with one missing, cannot exist.
usage: chains.py [THREADS]"""
import sys
import threading

import common

LEVELS = 24


def chain(letter):
    source = "def %s%02d(n):\n    for _ in n: pass\n" % (letter, LEVELS)
    for level in range(LEVELS - 1, 0, -1):
        source += "def %s%02d(n):\n    return %s%02d(n)\n" % (letter, level, letter, level + 1)
    names = {}
    exec(compile(source, "<chain %s>" % letter, "exec"), names)
    return names["%s01" % letter]


def work(first, second):
    some, more = range(20), range(60)
    while common.running():
        for _ in range(200):
            first(some)
            second(more)


def main():
    first, second = chain("a"), chain("b")
    others = [threading.Thread(target=work, args=(first, second)) for _ in range(int(sys.argv[1]) - 1 if sys.argv[1:] else 0)]
    for thread in others:
        thread.start()
    common.ready()
    work(first, second)
    for thread in others:
        thread.join()
    common.truth()


if __name__ == "__main__":
    main()
