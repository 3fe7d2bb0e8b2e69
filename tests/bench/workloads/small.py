"""A program of the size that people try a profiler on first."""
import json
import math
import random


def primes(limit):
    found = []
    for number in range(2, limit):
        root = math.isqrt(number)
        if all(number % prime for prime in found if prime <= root):
            found.append(number)
    return found


def walk(steps):
    x = y = 0
    for _ in range(steps):
        x += random.choice((-1, 1))
        y += random.choice((-1, 1))
    return math.hypot(x, y)


class Ledger:
    def __init__(self):
        self.entries = {}

    def add(self, name, amount):
        self.entries.setdefault(name, []).append(amount)

    def text(self):
        return json.dumps({name: sum(amounts) for name, amounts in self.entries.items()}, indent=1)


def main():
    ledger = Ledger()
    for turn in range(40):
        ledger.add("primes", len(primes(4000)))
        ledger.add("walk", walk(10_000))
        ledger.add("turn %d" % turn, turn)
    print(ledger.text()[:60])


if __name__ == "__main__":
    main()
