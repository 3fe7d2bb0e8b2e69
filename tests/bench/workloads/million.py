"""Functions that stand where those of a large project do, called along random paths: stacks of a known number in many files.

usage: million.py ROOT PATHS SECONDS 
"""
import ast
import os
import random
import sys
import time

DEPTH = 10


def stand_ins(root):
    """For each function of each file a small one of the same name in the same line, which calls the next of its path."""
    found = []
    for folder, folders, files in os.walk(root):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            try:
                with open(path, "rb") as file:
                    tree = ast.parse(file.read())
            except (SyntaxError, ValueError):  # tests of the compiler
                continue
            for node in ast.walk(tree):
                if not isinstance(node, ast.FunctionDef):
                    continue
                code = "%sdef %s(path, spin): return path[0](path[1:], spin) if path else spin()" % ("\n" * (node.lineno - 1), node.name)
                space = {}
                try:
                    exec(compile(code, path, "exec"), space)
                except SyntaxError:
                    continue
                found.append(space[node.name])
    return found


def main():
    root, paths, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    functions = stand_ins(root)
    choose = random.Random(1)
    work = [[choose.choice(functions) for _ in range(DEPTH)] for _ in range(paths)]
    each = seconds / paths

    def spin():
        end = time.perf_counter() + each
        while time.perf_counter() < end:
            pass

    for path in work:
        path[0](path[1:], spin)
    print(len(functions), "functions")


main()
