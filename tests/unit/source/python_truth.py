"""Prints what CPython itself knows about Python files, for index_truth_test.cc.

usage: python_truth.py FOLDER [all]

Walks FOLDER (without the folders "test" and "tests" unless "all" is given) and prints, separated by tabs:
  F path                          a file that this Python compiles; the records below belong to it
  D name line last                a function or class, by its syntax tree
  C name qualname first           a code object, by the compiler
  S first last                    a simple statement that shares no line with another statement
"""

import ast
import os
import sys
import types
import warnings

COMPOUND = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.AsyncFor,
            ast.While, ast.With, ast.AsyncWith, ast.Try, ast.Match)
if hasattr(ast, "TryStar"):
    COMPOUND += (ast.TryStar,)


def code_objects(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from code_objects(constant)


def print_file(path):
    with open(path, "rb") as file:
        source = file.read()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
            code = compile(source, path, "exec")
    except (SyntaxError, ValueError, RecursionError):
        return
    print("F", path, sep="\t")
    lines = source.split(b"\n")
    begins = {}
    statements = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            print("D", node.name, node.lineno, node.end_lineno, sep="\t")
        if isinstance(node, ast.stmt):
            begins[node.lineno] = begins.get(node.lineno, 0) + 1
            if not isinstance(node, COMPOUND):
                statements.append(node)
    for node in statements:
        others = begins[node.lineno] - 1
        if node.end_lineno != node.lineno:
            others += begins.get(node.end_lineno, 0)
        if others == 0 and not lines[node.lineno - 1][:node.col_offset].strip():
            print("S", node.lineno, node.end_lineno, sep="\t")
    for code_object in code_objects(code):
        qualified = getattr(code_object, "co_qualname", "")
        if "<generic parameters of" in qualified:
            qualified = ""
        print("C", code_object.co_name, qualified, code_object.co_firstlineno, sep="\t")


def main():
    sys.setrecursionlimit(5000)
    for folder, folders, files in os.walk(sys.argv[1]):
        skip = {"site-packages", "__pycache__"}
        if sys.argv[2:] != ["all"]:
            skip |= {"test", "tests", "idlelib", "lib2to3"}
        folders[:] = sorted(name for name in folders if name not in skip)
        for name in sorted(files):
            if name.endswith(".py"):
                print_file(os.path.join(folder, name))


if __name__ == "__main__":
    main()
