"""A day in a made-up city: a small program of several kinds of work, to see what a profile looks like.

It draws the skyline's fractal clouds (plain arithmetic), reads the mail (text and dictionaries), and keeps the books (JSON and
sorting). Standard library only; a few seconds.
"""
import collections
import json
import random
import re

WORDS = "river stone lamp bridge market window garden tower letter winter summer bread glass copper".split()


def clouds(width, height, depth):
    """Escape times of the Mandelbrot set: nearly all the time goes to the inner loop."""
    rows = []
    for y in range(height):
        row = []
        for x in range(width):
            c = complex(3.0 * x / width - 2.2, 2.4 * y / height - 1.2)
            row.append(escape_time(c, depth))
        rows.append(row)
    return rows


def escape_time(c, depth):
    z = 0j
    for step in range(depth):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return step
        z = z * z + c
    return depth


def write_letters(count, dice):
    letters = []
    for number in range(count):
        words = [dice.choice(WORDS) for _ in range(60)]
        letters.append(f"Letter {number}: " + " ".join(words) + ".")
    return letters


def read_letters(letters):
    """Counts words and pairs of words; the time goes to library code that these lines call."""
    words = collections.Counter()
    pairs = collections.Counter()
    for letter in letters:
        found = re.findall(r"[a-z]+", letter.lower())
        words.update(found)
        pairs.update(
            zip(found, found[1:])
        )
    return words, pairs


class Ledger:
    def __init__(self):
        self.entries = []

    def book(self, dice, count):
        for number in range(count):
            self.entries.append({"id": number, "who": dice.choice(WORDS), "cents": dice.randint(-9000, 9000)})

    def balance(self):
        totals = collections.defaultdict(int)
        for entry in self.entries:
            totals[entry["who"]] += entry["cents"]
        return dict(sorted(totals.items(), key=lambda item: -item[1]))

    def round_trip(self):
        """To JSON and back."""
        return json.loads(json.dumps(self.entries, indent=1))


def main():
    dice = random.Random(7)
    sky = clouds(320, 240, 150)
    words, pairs = read_letters(write_letters(8000, dice))
    ledger = Ledger()
    ledger.book(dice, 60000)
    ledger.entries = ledger.round_trip()
    print("clouds:", sum(map(sum, sky)))
    print("most common words:", ", ".join(word for word, _ in words.most_common(3)))
    print("most common pair:", " ".join(pairs.most_common(1)[0][0]))
    print("richest:", next(iter(ledger.balance())))


if __name__ == "__main__":
    main()
