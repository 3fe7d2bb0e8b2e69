"""Runs short functions of every kind for ever, without waiting for anything."""
import asyncio
import contextlib
import functools
import json
import operator
import sys


def tiny(x):
    return x + 1


def caller(x):
    y = tiny(x)
    return tiny(y) + tiny(
        y,
    )


def loop(x):
    t = 0
    for i in range(6):
        t = (t * 3 + i) & 1023
    return t + x


def recurse(n):
    if n < 2:
        return n
    return recurse(n - 1) + recurse(n - 2)


def deep(n):
    return deep(n - 1) + 1 if n else 0


def numbers(n):
    i = 0
    while i < n:
        yield i
        i += 1


def delegate(n):
    yield from numbers(n)
    return n


def use_generators(n):
    t = 0
    for v in numbers(n):
        t += v
    for v in delegate(2):
        t += v
    t += sum(tiny(v) for v in numbers(2))
    t += sum([tiny(v) for v in delegate(2)])
    t += next(numbers(1)) + max(numbers(3))
    g = numbers(2)
    next(g)
    g.close()
    try:
        g = numbers(2)
        next(g)
        g.throw(ValueError(1))
    except ValueError:
        t += 1
    return t


def echo():
    received = None
    while True:
        received = yield received


def use_send():
    g = echo()
    g.send(None)
    t = g.send(1) + g.send(2)
    g.close()
    return t


def key(a):
    return -a


def through_c(items):
    a = sorted(items, key=key)
    b = list(map(lambda x: tiny(x), items[:2]))
    c = functools.reduce(lambda x, y: x + tiny(y), items[:2], 0)
    d = max(items[:2], key=lambda x: max([x], key=key))
    return a, b, c, d


class Point:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x

    @property
    def value(self):
        return self.x

    def method(self, d):
        return self.x + d

    def __getitem__(self, i):
        return self.x + i

    def __add__(self, other):
        return Point(self.x + other.x)

    def __eq__(self, other):
        return self.x == other.x

    def __getattr__(self, name):
        return tiny(1)


class Plain:
    def __init__(self, x):
        self.x = x
        self.y = tiny(x)


class Derived(Plain):
    def __init__(self, x):
        super().__init__(x)
        self.z = 1

    def __getattribute__(self, name):
        return super().__getattribute__(name)

    def __len__(self):
        return 2


class Walker:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        if self.n > 2:
            raise StopIteration
        return self.n


class Dying:
    def __del__(self):
        tiny(tiny(1))


def dies():
    local = Dying()
    return 1


def dies_with_generator():
    local = Dying()
    yield 1
    yield 2


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Made(metaclass=Meta):
    def __init__(self, x=1):
        self.x = x


def use_objects(n):
    t = 0
    for i in range(n):
        p = Point(i)
        t += p.value
        t += p.method(i)
        t += p[1]
        t += (p + p).x
        t += p == p
        t += p.missing
        q = Derived(i)
        t += q.y + len(q)
        t += Plain(i).y
        t += sum(Walker())
        for w in Walker():
            t += w
        t += dies()
        t += Made(3).x
    for v in dies_with_generator():
        t += v
    return t


@contextlib.contextmanager
def managed():
    yield tiny(1)


def handlers(x):
    try:
        with managed() as y:
            if x:
                raise KeyError(y)
    except KeyError as error:
        return str(error)
    finally:
        tiny(x)
    if isinstance(x, int):
        return tiny(x)


def raises(n):
    if n:
        return raises(n - 1)
    raise ValueError(n)


def catches():
    try:
        raises(3)
    except ValueError:
        return 1


async def leaf(x):
    return tiny(x)


async def chain(n):
    if n:
        return await chain(n - 1)
    return await leaf(n)


class Ready:
    def __await__(self):
        yield 1
        return 2


async def waits():
    return await Ready() + await chain(2)


async def ticks(n):
    for i in range(n):
        yield tiny(i)


async def use_async():
    t = 0
    async for v in ticks(2):
        t += v
    return t + len([v async for v in ticks(2)])


def drive(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration as stop:
        return stop.value


def star(*args, **kwargs):
    return tiny(len(args)) + len(kwargs)


def with_default(x, y=1, *, z=2):
    return x + y + z


def closure(x):
    def inner(y):
        return x + y

    return inner(1)


def many(x):
    a = b = c = d = e = f = g = h = i = j = k = l = m = n = o = p = x
    return tiny(a) + sum([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p])


SOURCE = "def made(x):\n    return tiny(x) + 1\nresult = made(1)\n"
CODE = compile(SOURCE, "<made>", "exec")


def executes(i):
    space = {"tiny": tiny}
    exec(CODE, space)
    if i % 16 == 0:
        exec(compile("\n" * (i // 16 % 7) + SOURCE, f"<made {i}>", "exec"), {"tiny": tiny})
    return space["result"] + eval("tiny(1)")


def once(i):
    caller(i)
    loop(i & 255)
    recurse(4)
    deep(30)
    use_generators(3)
    use_send()
    through_c([3, 1, 2])
    use_objects(2)
    handlers(0)
    handlers(1)
    catches()
    drive(waits())
    drive(use_async())
    star(1, 2, k=3)
    star(*[1, 2], **{"a": 1})
    with_default(1)
    with_default(1, z=5)
    closure(i)
    many(i)
    executes(i)
    json.loads(json.dumps({"a": [1, 2, {"b": None}]}))
    operator.methodcaller("method", 1)(Point(1))


async def aio(i):
    await asyncio.sleep(0)
    once(i)


def main():
    i = 0
    while True:
        once(i)
        i += 1
        if i == 40:
            print("ready", flush=True)
        if i % 64 == 0:
            asyncio.run(aio(i))
        if i % 32 == 0:
            deep(300)


sys.setrecursionlimit(10000)
main()
