"""A chain of frames of every kind, whose variables it prints as it sees them itself; then it waits for a line.

For each frame, newest first: `frame QUALNAME`, and for each of its variables `var NAME KIND VALUE`, the value being the hex of
what LineScope must show. `short` says independently of it what that is.
"""
import collections
import random
import sys
import types

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)

DEPTH, ITEMS, CHARACTERS, TEXT = 4, 10, 100, 300
DIGIT_BITS, DECIMAL_DIGITS = 30, 512


def short_int(value):
    sign = "-" if value < 0 else ""
    value = abs(value)
    digits = -(-value.bit_length() // DIGIT_BITS)
    if digits <= DECIMAL_DIGITS:
        text = str(value)
        return sign + (text if len(text) <= CHARACTERS else "%s…(%d digits)" % (text[:CHARACTERS], len(text)))
    unread = (digits - 3) * DIGIT_BITS
    return "%s%s…(%d bits)" % (sign, hex(value >> -(-unread // 4) * 4), value.bit_length())


def short_items(opening, closing, parts, size, shown):
    if shown < size:
        parts = parts + ["…(%d %s)" % (size, "item" if size == 1 else "items")]
    return opening + ", ".join(parts) + closing


def short(value, path=()):
    kind = type(value)
    if value is None or value is ... or kind in (bool, float):
        return repr(value)
    if kind is int:
        return short_int(value)
    if kind in (str, bytes):
        text = repr(value[:CHARACTERS])
        unit = "characters" if kind is str else "bytes"
        return text if len(value) <= CHARACTERS else "%s…(%d %s)" % (text, len(value), unit)
    if isinstance(value, type):
        return repr(value)
    if kind in (tuple, list, dict, set, frozenset):
        if any(value is outer for outer in path):
            return {tuple: "(...)", list: "[...]", dict: "{...}"}[kind]
        if not value and kind in (set, frozenset):
            return repr(value)
        size, path = len(value), path + (value,)
        shown = min(size, ITEMS) if len(path) <= DEPTH else 0
        if kind is dict:
            first = [pair for pair, _ in zip(value.items(), range(shown))]
            return short_items("{", "}", [short(k, path) + ": " + short(v, path) for k, v in first], size, shown)
        parts = [short(item, path) for item, _ in zip(value, range(shown))]
        brackets = {tuple: ("(", ",)" if size == 1 else ")"), list: ("[", "]"), set: ("{", "}"), frozenset: ("frozenset({", "})")}
        return short_items(*brackets[kind], parts, size, shown)
    name = kind.__qualname__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__qualname__
    return "<%s at %#x>" % (name, id(value))


def describe(frame):
    code = frame.f_code
    optimized = code.co_flags & 1
    # 3.13 gives a view: the loop below must not see its own names.
    for name, value in list(frame.f_locals.items()):
        if name.startswith(".") or not optimized and (
                name.startswith("__") or isinstance(value, (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType))):
            continue
        kind = "namespace" if not optimized else "free" if name in code.co_freevars else "cell" if name in code.co_cellvars else "local"
        yield name, kind, short(value)


def wait():
    frame = sys._getframe(1)
    while frame is not None:
        print("frame", getattr(frame.f_code, "co_qualname", frame.f_code.co_name))
        for name, kind, text in describe(frame):
            assert len(text) < TEXT, name
            print("var", name, kind, text.encode().hex())
        frame = frame.f_back
    print("ready", flush=True)
    del frame
    sys.stdin.readline()


class Plain:
    class Inner:
        pass


class Text(str):
    pass


Pair = collections.namedtuple("Pair", "a b")


def numbers():
    nothing, yes, no, dots = None, True, False, ...
    zero, one, minus = 0, 1, -1
    edges = [sign * (2 ** (30 * digits) + change) for digits in (1, 2, 3, 4) for change in (-1, 0) for sign in (1,)]
    negative_edges = [-edge for edge in edges]
    hundred_digits, more_digits = 10 ** 99 + 7, -10 ** 100 - 7
    longest_decimal, shortest_hex = 2 ** (30 * DECIMAL_DIGITS) - 1, 2 ** (30 * DECIMAL_DIGITS)
    huge = [3 ** 100_000 << shift for shift in range(2)]
    unaligned = [7 ** n for n in (6000, 6001, 6002, 6003)]
    random.seed(1)
    floats = [0.0, -0.0, 1.0, 0.1, 1e16, 9999999999999998.0, 1e-4, 1e-5, 1.5e300, 5e-324]
    specials = [float("inf"), -float("inf"), float("nan"), 123456789012345680.0, 1e22, 1e23, 0.3, 2 / 3, 1e15, -1e16]
    arbitrary = [random.uniform(-1, 1) * 10 ** random.randint(-300, 300) for _ in range(10)]
    wait()


def texts():
    empty, plain, quote, both, control = "", "abc", "it's", "it's \"so\"", "a\n\r\t\\\x00\x1b\x7fb"
    latin, wide, astral, lone = "caf\xe9 \xa0\xad\x9b", "日本語 \u2028\u202e\ufeff", "😀 \U0010ffff", "a\ud800b\udfff"
    exact, longer, long_wide = "x" * 100, "y" * 101, "é日😀" * 1000
    huge = "z" * 10 ** 6
    raw, raw_all, raw_long, raw_quote = b"", bytes(range(60, 140)), b"'" * 5000, b"it's \"so\""
    numbers()


def containers():
    nothing = [(), [], {}, set(), frozenset()]
    single, pair, one = (1,), (1, "two"), [None]
    mapping = {"a": 1, 2: [3], (4, 5): {"six": 7}}
    ten, eleven = list(range(10)), list(range(11))
    deep = [[[[[1]]]]]
    deeper = [[[[[[1]]]]]]
    mixed = {"k": ({"k": [{"k": (1,)}]},)}
    circle = [1]
    circle.append(circle)
    ring = {"self": None}
    ring["self"] = ring
    knot = ([],)
    knot[0].append(knot)
    twice = [one, one]
    million = list(range(10 ** 6))
    million_tuple = tuple(million)
    million_keys = dict.fromkeys(million, 0)
    million_set = set(million)
    frozen = frozenset({1, "a"})
    # Removed entries stay in the tables, in front of what is still there.
    queue = dict.fromkeys(range(50_000), 1)
    for key in range(49_990):
        del queue[key]
    thinned = set(range(300))
    for item in range(295):
        thinned.discard(item)
    general = {1: "a"}
    del general[1]
    general[2] = "b"
    texts()


def objects():
    plain, inner, text, named = Plain(), Plain.Inner(), Text("x"), Pair(1, 2)
    ordered, counts, deque = collections.OrderedDict(a=1), collections.Counter("aa"), collections.deque([1])
    file, function, bound, kind, built_in = sys.stdin, objects, [].append, Plain, int
    attributes = vars(Plain())
    shared = Plain()
    shared.x = 1
    split = vars(shared)
    generator, complex_number, span, view = (i for i in ()), 1j, range(3), memoryview(b"a")
    containers()


def unbound(argument, deleted=1, *rest, only=2, **more):
    gone = deleted
    del deleted, gone
    objects()
    never = 1
    return never


def cells(argument, captured):
    own = [1]

    def inside(parameter):
        nonlocal captured
        captured += 1
        later = own
        unbound(parameter, 3, 4, x=5)
        return later, own, never_set

    inside(argument)
    never_set = 1


def generate(n):
    item = yield n
    [cells(x, y) for x in [item] for y in [n + 1]]
    yield item


def from_class_body():
    generator = generate(7)
    next(generator)

    class Body:
        attribute = "in a class"
        generator.send("sent")


total = 3
names = ["a", "b"]
if __name__ == "__main__":
    from_class_body()
