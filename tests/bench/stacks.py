"""Readers of the stacks that profilers write, all to (frames from the root to the leaf, weight)."""
import collections
import re

Frame = collections.namedtuple("Frame", "file name line")


def _colons(text):
    """file:name:line, as LineScope and austin write a frame."""
    file, _, rest = text.partition(":") if not text.startswith("<") else _bracketed(text)
    name, _, line = rest.rpartition(":")
    return Frame(file, name, int(line) if line.lstrip("-").isdigit() else 0)


def _bracketed(text):
    end = text.find(">") + 1
    return text[:end], ":", text[end + 1:]


def _weighted_lines(lines):
    for line in lines:
        body, _, count = line.rstrip("\n").rpartition(" ")
        if body and count.isdigit():
            yield body, int(count)


def read_linescope(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for body, count in _weighted_lines(f):
            yield [_colons(part) for part in body.split(";")], count


def read_pyspy(path):
    pattern = re.compile(r"(.*) \(([^()]*?)(?::(\d+))?\)$")
    with open(path, encoding="utf-8", errors="replace") as f:
        for body, count in _weighted_lines(f):
            matches = (pattern.match(part) for part in body.split(";") if not part.startswith(("process ", "thread (")))
            yield [Frame(m.group(2), m.group(1), int(m.group(3) or 0)) for m in matches if m], count


def read_austin(path):
    """One line a sample: the metric at its end is time, so every line weighs one."""
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.startswith("P"):
                yield [_colons(part) for part in line.rpartition(" ")[0].split(";")[2:]], 1


def read_tachyon(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        for body, count in _weighted_lines(f):
            parts = (part for part in body.split(";") if not part.startswith("tid:"))
            # What is no code, such as <GC>, has neither file nor line.
            yield [_colons(part) for part in parts if part.count(":") > 1], count
