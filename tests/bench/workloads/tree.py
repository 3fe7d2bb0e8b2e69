"""Functions called from one place only. usage: tree.py fast|medium|slow

A function's name is its way from the root, one letter a step: f, fa, fab ... The function that may call it, and the line it
may be called from, follow from the name: any other edge in a stack cannot exist. Leaves last about 40 ns, 1 us or 100 us.
"""
import sys

import common

BRANCHES, DEPTH = "abcd", 5
LEAVES = {"fast": "    return x\n",
          "medium": "    for i in range(20): x = (x * 3 + i) & 255\n    return x\n",
          "slow": "    for i in range(2000): x = (x * 3 + i) & 255\n    return x\n"}


def functions(name, leaf):
    if len(name) > DEPTH:
        return "def %s(x):\n%s" % (name, leaf)
    below = "".join(functions(name + letter, leaf) for letter in BRANCHES)
    return below + "def %s(x):\n" % name + "".join("    x = %s%s(x)\n" % (name, letter) for letter in BRANCHES) + "    return x\n"


def main():
    names = {}
    source = functions("f", LEAVES[sys.argv[1]])
    exec(compile(source, "<tree>", "exec"), names)
    root = names["f"]
    first_lines = {name: f.__code__.co_firstlineno for name, f in names.items() if name.startswith("f")}
    common.ready(first_lines=first_lines, branches=BRANCHES)
    x = 0
    while common.running():
        x = root(x)
    common.truth()


if __name__ == "__main__":
    main()
