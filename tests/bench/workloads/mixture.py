"""Calls of every kind. usage: mixture.py small|application

small: functions of 30 ns to 10 us, properties, methods, generators, keys of a sort: where a sampler that is late by a microsecond
is wrong. application: what programs do for longer, bodies in orbit, words in a text, trees, JSON.
"""
import json
import math
import random
import sys

import common

NUMBERS = random.Random(1).sample(range(10_000), 150)


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    @property
    def length(self):
        return math.hypot(self.x, self.y)

    def moved(self, by):
        return Point(self.x + by, self.y - by)


def one(x):
    return x + 1


def few(x):
    for i in range(5):
        x = x * 3 + i & 255
    return x


def some(x):
    for i in range(60):
        x = x * 3 + i & 255
    return x


def many(x):
    for i in range(300):
        x = x * 3 + i & 255
    return x


def descending(x):
    return -x


def pairs(values):
    previous = 0
    for value in values:
        yield previous, value
        previous = value


def points(x):
    total = 0.0
    point = Point(x, 1)
    for by in range(8):
        point = point.moved(by)
        total += point.length
    return total


def small(x):
    for _ in range(20):
        x = one(x)
        x = few(x)
    x = some(x)
    x = many(x)
    order = sorted(NUMBERS[:40], key=descending)
    for low, high in pairs(order):
        x = x + low - high & 255
    return int(points(x)) & 255


def orbits(bodies, steps):
    for _ in range(steps):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                dx, dy = a[0] - b[0], a[1] - b[1]
                pull = 0.001 / (dx * dx + dy * dy + 0.01) ** 1.5
                a[2] -= dx * pull
                a[3] -= dy * pull
                b[2] += dx * pull
                b[3] += dy * pull
        for body in bodies:
            body[0] += body[2]
            body[1] += body[3]


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


class Tree:
    def __init__(self, depth):
        self.left = Tree(depth - 1) if depth else None
        self.right = Tree(depth - 1) if depth else None

    def size(self):
        return 1 + (self.left.size() + self.right.size() if self.left else 0)


def through_json(record):
    return json.loads(json.dumps(record))


def application(x):
    orbits([[math.cos(i), math.sin(i), 0.0, 0.0] for i in range(5)], 40)
    fibonacci(14)
    words("the quick brown fox jumps over the lazy dog " * 60)
    Tree(7).size()
    through_json({str(i): [i, i * 0.5, None, "x" * i] for i in range(40)})
    return x


def main():
    work = {"small": small, "application": application}[sys.argv[1]]
    common.ready()
    x = 1
    while common.running():
        x = work(x)
    common.truth()


if __name__ == "__main__":
    main()
