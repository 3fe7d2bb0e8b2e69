"""Compiles what stresses location tables and prints, for each code object, its table and the truth.

One line a code object: name, first line, table as hex, and the line of every code unit (0: none) run-length coded as
line*units, taken from the interpreter itself: from co_positions(), co_lines() in 3.10, and before from its own dis. From
co_positions() come end line and columns too: line:end_line:column:end_column*units.
"""
import dis
import sys

NASTY = r'''
import functools
@functools.lru_cache(
    maxsize=None,
)
@functools.wraps(
    print)
def decorated(a, b=(
        1, 2), *, c: int = 3) -> None:
    x = [
        i + j
        for i in range(a)
        if i
        for j in (
            1,
            2,
        )
    ]
    return decorated(
        x,
        b[
            0
        ],
        c=c
        +
        1,
    )
class C(
    object,
    metaclass=type,
):
    a: int = 1
    def method(self): return (
        self
        .method()
        .method(
            1
        )
    )
async def coroutine(a):
    async with a as b, b as c:
        async for d in c:
            await d(
                1
            )
    return [e async for e in a if await e]
def handlers(a):
    try:
        a()
    except ValueError as error:
        raise KeyError(
            error
        ) from error
    except (TypeError,
            OSError):
        pass
    else:
        a(1)
    finally:
        a(
            2)
    with a as b, \
            b as c:
        a(4)
    while a:
        if a: continue
        else: break
    lambda: (
        a
    )
    assert a, \
        "message"
    del a
    global G
    G = f"{a!r:>{b}}" + (
        c)
'''

NEWER = [((3, 10), r'''
def cases(a):
    match a:
        case [1, 2, *rest] if rest:
            return 1
        case {"k": v, **others}:
            return v
        case C(a=1) | None:
            return (yield a)
'''), ((3, 11), r'''
def groups(a):
    try:
        a()
    except* ValueError:
        a(3)
''')]


def sources():
    yield "nasty", NASTY
    for version, source in NEWER:
        if sys.version_info >= version:
            yield "nasty %d.%d" % version, source
    yield "dict", "x = {\n" + "".join(f"    {i}: f({i}),\n" for i in range(1000)) + "}\n"
    yield "far", "f(" + "\n" * 5000 + "1)\ng()" + "\n" * 70000 + "h()\n"
    yield "wide", "x = " + " + ".join(f"a{i}" for i in range(700)) + "\n"
    yield "backwards", "x = (\n\n\n\n  a\n  +\n  b(\n\n c\n)\n)\n" * 20
    yield "long", "def f(a):\n" + "    a = a + g(a, 1, 2)\n" * 9000
    yield "empty", ""
    yield "one line", "a; b; c(d); e = [f for f in g]\n"


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)


def place(line, end_line, column, end_column):
    if not line:
        return 0
    if column is None or end_column is None:
        return line
    return f"{line}:{end_line}:{column}:{end_column}"


def lines_of(code):
    if sys.version_info >= (3, 11):
        return [place(*position) for position in code.co_positions()]
    lines = [0] * (len(code.co_code) // 2)
    if sys.version_info >= (3, 10):
        for start, end, line in code.co_lines():
            lines[start // 2:end // 2] = [line or 0] * ((end - start) // 2)
    else:
        lines = [code.co_firstlineno] * len(lines)
        for start, line in dis.findlinestarts(code):
            lines[start // 2:] = [line] * (len(lines) - start // 2)
    return lines


def show(code, name):
    lines = lines_of(code)
    table = code.co_linetable if sys.version_info >= (3, 10) else code.co_lnotab
    assert len(lines) == len(code.co_code) // 2
    runs = []
    for line in lines:
        if runs and runs[-1][0] == line:
            runs[-1][1] += 1
        else:
            runs.append([line, 1])
    text = " ".join(f"{line}*{count}" for line, count in runs)
    print(f"{name}/{code.co_name}\t{code.co_firstlineno}\t{table.hex()}\t{text}")


only = sys.argv[1:]
for name, source in sources():
    if only and name not in only:
        continue
    try:
        compiled = compile(source, name, "exec")
    except RecursionError:
        if hasattr(sys, "gettotalrefcount"):
            continue  # a debug build does not go so deep
        raise
    for code in codes(compiled):
        show(code, name)
if not only:
    import argparse
    import asyncio.base_events
    import dataclasses
    import typing

    for module in (argparse, asyncio.base_events, dataclasses, typing):
        with open(module.__file__) as file:
            for code in codes(compile(file.read(), module.__name__, "exec")):
                show(code, module.__name__)
print("done")
