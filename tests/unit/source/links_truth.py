"""Judges links by what the program itself says: the modules are imported and names are looked up in them.

usage: links_truth.py FOLDER list            prints the files of the modules below FOLDER
       links_truth.py FOLDER judge LINKS     LINKS holds lines: path, line, column, length, target path, target line

Prints every wrong link, and at the end: right N, wrong N, unknown N, missing N. Unknown are links to what only running the
code would tell (values of local variables); missing are names that lead to a function or class below FOLDER and have no link.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import io
import os
import sys
import types
import warnings

# Importing these does something, or takes a display; others replace themselves by C code.
SKIPPED = {"antigravity", "this", "idlelib", "lib2to3", "test", "tests", "turtledemo", "turtle", "tkinter", "__main__",
           "site-packages", "__phello__", "pydoc_data", "ensurepip", "_aix_support", "pip", "distutils"}
NOTHING = object()


def module_files(folder):
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f not in SKIPPED and
                            os.path.exists(os.path.join(where, f, "__init__.py")))
        for name in sorted(names):
            if name.endswith(".py") and name[:-3] not in SKIPPED:
                yield os.path.join(where, name)


def module_name(folder, path):
    parts = os.path.relpath(path, folder)[:-3].split(os.sep)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class Targets:
    """Where definitions begin, by the line of their code or by their name."""

    def __init__(self, path):
        self.lines, self.classes = {}, {}
        with open(path, "rb") as file:
            self.collect(ast.parse(file.read()), "")

    def collect(self, node, prefix):
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                first = min([child.lineno] + [d.lineno for d in child.decorator_list])
                self.lines.setdefault(first, set()).add(child.lineno)
                inner = prefix + child.name + "."
                if isinstance(child, ast.ClassDef):
                    self.classes.setdefault(prefix + child.name, set()).add(child.lineno)
                else:
                    inner += "<locals>."
            self.collect(child, inner)


@functools.lru_cache(maxsize=None)
def targets(path):
    return Targets(path)


def place(value):
    """File and possible first lines of what a name leads to; None: it has none."""
    for _ in range(10):
        if isinstance(value, property):
            value = value.fget
        elif isinstance(value, functools.cached_property):
            value = value.func
        elif isinstance(value, (staticmethod, classmethod, types.MethodType)):
            value = value.__func__
        elif hasattr(type(value), "__wrapped__") or "__wrapped__" in getattr(value, "__dict__", {}):
            value = value.__wrapped__
        else:
            break
    try:
        if isinstance(value, types.ModuleType):
            if value is sys.modules.get("collections.abc"):
                return None  # it puts another module in its place
            return os.path.realpath(value.__file__), {1}
        if isinstance(value, types.FunctionType):
            path = os.path.realpath(value.__code__.co_filename)
            return path, targets(path).lines.get(value.__code__.co_firstlineno, set())
        if isinstance(value, type):
            path = os.path.realpath(sys.modules[value.__module__].__file__)
            return path, targets(path).classes.get(value.__qualname__, set())
    except (AttributeError, KeyError, OSError, SyntaxError, TypeError):
        pass
    return None


class Names(ast.NodeVisitor):
    """What the names in a module stand for, by position."""

    def __init__(self, module, lines):
        self.module, self.lines, self.found = module, lines, {}
        self.scopes = []  # locals of the functions around
        self.owner = None  # the class around, or None
        self.self_name, self.self_class = None, None

    def column(self, line, byte_column):
        return len(self.lines[line - 1].encode()[:byte_column].decode(errors="replace").encode("utf-16-le")) // 2

    def note(self, line, begin, end, value):
        if value is not NOTHING:
            self.found[line, self.column(line, begin), self.column(line, end) - self.column(line, begin)] = value

    def value_of(self, node):
        if isinstance(node, ast.Name):
            if node.id == self.self_name and self.self_class is not None:
                return self.self_class
            if any(node.id in scope for scope in self.scopes):
                return NOTHING
            if self.owner is not None and not self.scopes and node.id in vars(self.owner):
                return NOTHING
            return vars(self.module).get(node.id, NOTHING)
        if isinstance(node, ast.Attribute):
            base = self.value_of(node.value)
            if isinstance(base, types.ModuleType):
                return getattr(base, node.attr, NOTHING)
            if isinstance(base, type):
                return inspect.getattr_static(base, node.attr, NOTHING)
        if isinstance(node, ast.Call):
            base = self.value_of(node.func)
            return base if isinstance(base, type) else NOTHING
        return NOTHING

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id != self.self_name:
            self.note(node.lineno, node.col_offset, node.end_col_offset, self.value_of(node))

    def visit_Attribute(self, node):
        if isinstance(node.ctx, ast.Load):
            self.note(node.end_lineno, node.end_col_offset - len(node.attr.encode()), node.end_col_offset,
                      self.value_of(node))
        self.visit(node.value)

    def visit_ImportFrom(self, node):
        package = self.module.__spec__.parent
        for alias in node.names:
            # What this statement imports: another one may bind the name when this one does not run.
            try:
                module = importlib.import_module("." * node.level + (node.module or ""), package)
                value = getattr(module, alias.name, NOTHING)
            except ImportError:
                continue
            self.note(alias.lineno, alias.col_offset, alias.col_offset + len(alias.name.encode()), value)

    def function(self, node, body):
        arguments = node.args
        for default in arguments.defaults + [d for d in arguments.kw_defaults if d is not None]:
            self.visit(default)
        for decorator in getattr(node, "decorator_list", []):
            self.visit(decorator)
        bound = {a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs}
        bound |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
        declared_global = set()
        for child in (inner for statement in body for inner in ast.walk(statement)):
            if isinstance(child, ast.Name) and not isinstance(child.ctx, ast.Load):
                bound.add(child.id)
            elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                bound.add(child.name)
            elif isinstance(child, ast.alias):
                bound.add((child.asname or child.name).split(".")[0])
            elif isinstance(child, ast.ExceptHandler) and child.name:
                bound.add(child.name)
            elif isinstance(child, ast.arg):
                bound.add(child.arg)
            elif isinstance(child, ast.Global):
                declared_global.update(child.names)
        outer = self.owner, self.self_name, self.self_class
        if self.owner is not None:
            first = (arguments.posonlyargs + arguments.args)[:1]
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list) \
                if hasattr(node, "decorator_list") else True
            rebound = first and any(isinstance(c, ast.Name) and c.id == first[0].arg and
                                    not isinstance(c.ctx, ast.Load) for s in body for c in ast.walk(s))
            usable = first and not static and not rebound
            self.self_name, self.self_class = (first[0].arg, self.owner) if usable else (None, None)
        elif any(a.arg == self.self_name for a in arguments.posonlyargs + arguments.args):
            self.self_name, self.self_class = None, None
        self.owner = None
        self.scopes.append(bound - declared_global)
        for statement in body:
            self.visit(statement)
        self.scopes.pop()
        self.owner, self.self_name, self.self_class = outer

    def visit_FunctionDef(self, node):
        self.function(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        self.function(node, [node.body])

    def visit_ClassDef(self, node):
        for part in node.bases + node.decorator_list + [k.value for k in node.keywords]:
            self.visit(part)
        made = NOTHING
        if not self.scopes:
            made = vars(self.owner or self.module).get(node.name, NOTHING)
        is_this = isinstance(made, type) and made.__module__ == self.module.__name__ and \
            made.__qualname__.split(".")[-1] == node.name
        outer = self.owner, self.self_name, self.self_class
        self.owner, self.self_name, self.self_class = (made if is_this else None), None, None
        if is_this:
            for statement in node.body:
                self.visit(statement)
        self.owner, self.self_name, self.self_class = outer

    def comprehension(self, node):
        bound = {c.id for g in node.generators for c in ast.walk(g.target) if isinstance(c, ast.Name)}
        self.scopes.append(bound)
        self.generic_visit(node)
        self.scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension


def judge(folder, links_path):
    links = {}
    with open(links_path, encoding="utf-8") as file:
        for record in file:
            path, line, column, length, target, target_line = record.rstrip("\n").split("\t")
            links.setdefault(path, {})[int(line), int(column), int(length)] = \
                (os.path.realpath(target), int(target_line))
    counts = dict.fromkeys(("right", "wrong", "unknown", "missing"), 0)
    root = os.path.realpath(folder) + os.sep
    for path in module_files(folder):
        made = links.pop(path, {})
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                module = importlib.import_module(module_name(folder, path))
                with open(path, "rb") as file:
                    tree = ast.parse(file.read())
        except (Exception, SystemExit):
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            names = Names(module, file.read().split("\n"))
        names.visit(tree)
        for position, value in names.found.items():
            there = place(value)
            link = made.pop(position, None)
            if link is None:
                counts["missing"] += there is not None and there[0].startswith(root) and bool(there[1])
            elif there is not None and there[0] == link[0] and link[1] in there[1]:
                counts["right"] += 1
            elif there is None or not there[1]:
                counts["unknown"] += 1
            else:
                counts["wrong"] += 1
                print(f"{path}:{position[0]}:{position[1] + 1}: {link[0]}:{link[1]}, but it is {there[0]}:{there[1]}")
        counts["unknown"] += len(made)
    print(", ".join(f"{what} {count}" for what, count in counts.items()))


if __name__ == "__main__":
    if sys.argv[2] == "list":
        print("\n".join(module_files(sys.argv[1])))
    else:
        sys.setrecursionlimit(10000)
        judge(sys.argv[1], sys.argv[3])
