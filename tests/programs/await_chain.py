"""A chain of coroutines and a chain of generators that work at their ends, for ever, in two threads."""
import threading


def work():
    total = 0
    for i in range(200):
        total += i
    return total


async def chain(n):
    return await chain(n - 1) + 1 if n else work()


def nested(n):
    if n:
        yield from nested(n - 1)
    else:
        for _ in range(5):
            yield work()


def generators():
    while True:
        sum(nested(8))


def coroutines():
    while True:
        try:
            chain(8).send(None)
        except StopIteration:
            pass


thread = threading.Thread(target=generators, name="gener\u00e4tors", daemon=True)
thread.start()
print("ready", flush=True)
coroutines()
