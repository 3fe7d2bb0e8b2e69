"""Two chains of 24 functions that share none: a stack with functions of both, or with one missing, cannot exist."""
import common

LEVELS = 24


def chain(letter):
    source = "def %s%02d(n):\n    for _ in n: pass\n" % (letter, LEVELS)
    for level in range(LEVELS - 1, 0, -1):
        source += "def %s%02d(n):\n    return %s%02d(n)\n" % (letter, level, letter, level + 1)
    names = {}
    exec(compile(source, "<chain %s>" % letter, "exec"), names)
    return names["%s01" % letter]


def main():
    first, second = chain("a"), chain("b")
    some, more = range(20), range(60)
    common.ready()
    while common.running():
        for _ in range(200):
            first(some)
            second(more)
    common.truth()


if __name__ == "__main__":
    main()
