"""Calls checkpoint() from stacks of every kind that Python code can build."""
import asyncio
import contextlib
import functools
import sys
import threading

from checkpoint import checkpoint, done

sys.setrecursionlimit(50000)
# Frames of other sizes between the recursion's own, so that chunk borders fall anywhere.


def recurse(n, name):
    if n == 0:
        checkpoint(name)
        return 0
    return recurse(n - 1, name) + 1


def wide(n, name):
    a = b = c = d = e = f = g = h = i = j = k = l = m = n
    if n == 0:
        checkpoint(name)
        return 0
    return a - a + narrow(n - 1, name) + (b - b + (c - c + (d - d + (e - e + f + g + h + i + j + k + l + m))))


def narrow(n, name):
    return wide(n, name)


def through_c(n, name):
    if n == 0:
        checkpoint(name)
        return 0
    return max([n - 1], key=lambda m: through_c(m, name))


def through_sort(n, name):
    if n == 0:
        checkpoint(name)
        return 0
    return sorted([n - 1, n - 1], key=functools.partial(through_sort_key, name))[0]


def through_sort_key(name, n):
    through_sort(n, name) if not through_sort_key.done else 0
    through_sort_key.done = True
    return n


async def await_chain(n, name):
    if n == 0:
        checkpoint(name)
        return 0
    return await await_chain(n - 1, name) + 1


def send(coroutine):
    try:
        coroutine.send(None)
    except StopIteration:
        pass


async def tasks(name):
    async def child(n):
        await asyncio.sleep(0)
        if n:
            await child(n - 1)
        else:
            checkpoint(name)

    await asyncio.gather(child(2), asyncio.create_task(child(1)))


async def async_for(name):
    async def numbers(n):
        for i in range(n):
            if i == 2:
                checkpoint(name + " inside")
            yield i

    async for i in numbers(4):
        if i == 1:
            checkpoint(name + " body")
    return [j async for j in numbers(3)]


async def async_with(name):
    @contextlib.asynccontextmanager
    async def manager():
        checkpoint(name + " enter")
        yield 1
        checkpoint(name + " exit")

    async with manager() as value:
        checkpoint(name + " body")
    return value


def nested_generators(n, name):
    if n == 0:
        checkpoint(name)
        yield 0
    else:
        yield from nested_generators(n - 1, name)


def looped_generators(n, name):
    if n == 0:
        checkpoint(name)
        yield 0
    else:
        for value in looped_generators(n - 1, name):
            yield value


def no_locals_generator():
    checkpoint("generator without locals")
    yield


class Built:
    def __new__(cls, name):
        checkpoint(name + " __new__")
        return super().__new__(cls)

    def __init__(self, name):
        self.name = name
        checkpoint(name + " __init__")

    @property
    def shape(self):
        checkpoint(self.name + " property")
        return 1

    def __getitem__(self, key):
        checkpoint(self.name + " __getitem__")
        return key

    def __getattr__(self, key):
        if key.startswith("missing"):
            checkpoint(self.name + " __getattr__")
            return 1
        raise AttributeError(key)

    def __call__(self, *args):
        checkpoint(self.name + " __call__")

    def __add__(self, other):
        checkpoint(self.name + " __add__")
        return self

    def __eq__(self, other):
        checkpoint(self.name + " __eq__")
        return True

    def __iter__(self):
        checkpoint(self.name + " __iter__")
        return Iterator(self.name)

    def __enter__(self):
        checkpoint(self.name + " __enter__")
        return self

    def __exit__(self, *error):
        checkpoint(self.name + " __exit__")
        return True

    def __bool__(self):
        checkpoint(self.name + " __bool__")
        return True

    def __format__(self, spec):
        checkpoint(self.name + " __format__")
        return ""

    @classmethod
    def create(cls):
        checkpoint("classmethod")

    @staticmethod
    def plain():
        checkpoint("staticmethod")


class Iterator:
    def __init__(self, name):
        self.name = name
        self.n = 0

    def __next__(self):
        checkpoint(self.name + " __next__")
        self.n += 1
        if self.n == 2:
            raise StopIteration
        return self.n

    def __iter__(self):
        return self


class Simple:
    """Specialised: its construction runs inline from 3.13 on."""

    def __init__(self, check):
        self.value = 1
        if check:
            checkpoint("inlined __init__")


class Meta(type):
    def __call__(cls, *args):
        checkpoint("metaclass __call__")
        return super().__call__(*args)


class WithMeta(metaclass=Meta):
    def __init__(self):
        checkpoint("__init__ under a metaclass")


class Sub(Simple):
    def __init__(self, check):
        super().__init__(check)


class Dying:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        checkpoint(self.name)


def dies_at_return(name):
    local = Dying(name)
    return 1


def decorator(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(
            *args,
            **kwargs,
        )

    return wrapper


@decorator
@decorator
def decorated(name, *, key=None):
    checkpoint(
        name,
    )


@functools.lru_cache(None)
def cached(name):
    checkpoint(name)


@contextlib.contextmanager
def managed(name):
    checkpoint(name + " before")
    yield
    checkpoint(name + " after")


def multi_line(name):
    return [
        1,
        recurse(
            2,
            name,
        ),
        3,
    ]


def comprehensions(name):
    a = [recurse(0, name + " list") for _ in range(1)]
    b = {recurse(0, name + " set") for _ in range(1)}
    c = {1: recurse(0, name + " dict") for _ in range(1)}
    d = sum(recurse(0, name + " generator expression") for _ in range(1))
    e = [recurse(0, name + " nested") for _ in range(1) for _ in [y for y in range(1)]]
    f = list(map(lambda n: recurse(n, name + " map"), [0]))
    return a, b, c, d, e, f


GROUPS = '''
def groups(name):
    try:
        raise ExceptionGroup("group", [ValueError(1), TypeError(2)])
    except* ValueError:
        checkpoint(name + " except*")
    except* TypeError:
        checkpoint(name + " second except*")
'''
MATCHES = '''
def matches(name):
    match {"kind": name, "list": [1, 2, 3]}:
        case {"kind": str(kind), "list": [first, *rest]} if recurse(0, name + " guard") == 0:
            checkpoint(name + " case")
'''


def handlers(name):
    try:
        raise ValueError(name)
    except ValueError:
        checkpoint(name + " except")
    finally:
        checkpoint(name + " finally")
    # What older versions cannot compile, apart from them.
    if sys.version_info >= (3, 11):
        exec(compile(GROUPS, "groups.py", "exec"), globals())
        groups(name)
    if sys.version_info >= (3, 10):
        exec(compile(MATCHES, "matches.py", "exec"), globals())
        matches(name)


def thrown(name):
    def catcher():
        try:
            yield 1
        except ValueError:
            checkpoint(name)
        yield 2

    generator = catcher()
    next(generator)
    generator.throw(ValueError(1))
    generator.close()


def abandoned(name):
    def closer():
        try:
            yield 1
        finally:
            checkpoint(name)

    for _ in closer():
        break


def executed(name):
    for i in range(6):
        source = "\n" * i + f"def made_{i}(check):\n" + "    x = 1\n" * i + "    check()\n"
        space = {}
        exec(compile(source, f"<made {i}>", "exec"), space)
        space[f"made_{i}"](lambda: checkpoint(f"{name} {i}"))
        del space, source
    eval("recurse(1, name + ' eval')", globals(), locals())


def in_thread(function, *args):
    thread = threading.Thread(target=function, args=args)
    thread.start()
    thread.join()


def many_arguments(name, *args, **kwargs):
    checkpoint(name)


def closure(name):
    count = 0

    def inner():
        nonlocal count
        count += 1
        checkpoint(name)

    inner()


def lambda_default(name, call=lambda name: checkpoint(name)):
    call(name)


def warm(times=60):
    """Lets the interpreter specialise what it specialises."""
    global checkpoint
    real, checkpoint = checkpoint, lambda name: None
    for _ in range(times):
        for case in cases():
            case()
    checkpoint = real


def cases():
    return [
        lambda: recurse(5, "recursion 5"),
        lambda: recurse(100, "recursion 100"),
        lambda: wide(60, "wide recursion"),
        lambda: through_c(20, "through max"),
        lambda: (setattr(through_sort_key, "done", False), through_sort(1, "through sort")),
        lambda: send(await_chain(20, "await 20")),
        lambda: list(nested_generators(20, "yield from 20")),
        lambda: list(looped_generators(20, "generators in loops")),
        lambda: [None for _ in looped_generators(3, "comprehension over generators")],
        lambda: list(no_locals_generator()),
        lambda: next(no_locals_generator()),
        lambda: Built("class"),
        lambda: Built("instance").shape,
        lambda: Built("instance")[1],
        lambda: Built("instance").missing,
        lambda: Built("instance")(1),
        lambda: Built("instance") + 1,
        lambda: Built("instance") == 1,
        lambda: [x for x in Built("instance")],
        lambda: bool(Built("instance")),
        lambda: f"{Built('instance'):x}",
        lambda: Built.create(),
        lambda: Built.plain(),
        lambda: [Simple(False), Simple(True)],
        lambda: Sub(True),
        lambda: WithMeta(),
        lambda: dies_at_return("__del__ at return"),
        lambda: decorated("decorated", key=1),
        lambda: (cached.cache_clear(), cached("cached")),
        lambda: multi_line("multi-line call"),
        lambda: comprehensions("comprehension"),
        lambda: handlers("handlers"),
        lambda: thrown("thrown into a generator"),
        lambda: abandoned("closed generator"),
        lambda: executed("executed"),
        lambda: many_arguments("many", *range(200), **{f"k{i}": i for i in range(100)}),
        lambda: closure("closure"),
        lambda: lambda_default("lambda"),
        lambda: asyncio.run(tasks("tasks")),
        lambda: asyncio.run(async_for("async for")),
        lambda: asyncio.run(async_with("async with")),
        lambda: in_thread(recurse, 3, "thread"),
    ]


def with_statements():
    with Built("with") as built:
        checkpoint("with body")
    with managed("contextmanager"):
        checkpoint("contextmanager body")


if __name__ == "__main__":
    checkpoint("module")
    for case in cases():
        case()
    with_statements()
    warm()
    for case in cases():
        case()
    with_statements()
    recurse(1000, "recursion 1000")
    deep = 20000 if sys.version_info >= (3, 11) else 5000  # before, each call is one in C, too
    recurse(deep, f"recursion {deep}")
    recurse(3, "shallow again")
    wide(deep // 4, f"wide recursion {deep // 4}")
    through_c(100, "through max 100")
    checkpoint("module again")
    done()
