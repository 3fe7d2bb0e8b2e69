"""The expressions that ran, from 3.11 on, against the interpreter's own co_positions()."""
import collections
import functools
import json
import sqlite3
import subprocess
import unittest

import support
from support import Case, each_interpreter

WITH_COLUMNS = tuple(version for version in support.VERSIONS if int(version.split(".")[1]) >= 11)
BEFORE = tuple(version for version in support.VERSIONS if version not in WITH_COLUMNS)

# Tabs and characters of several bytes before what takes the time; calls over several lines.
PROGRAM = '''
import time

def leicht(n):
\treturn sum(k * k for k in range(n))

def schwer(n):
    s = 0
    for i in range(n): s += i % 7
    return s

def arbeit():
\tπ = ("😀" if leicht(50) else "") and schwer(3000) + leicht(20)
\treturn [
\t\tleicht(
\t\t\t50),
\t\tπ,
\t]

end = time.process_time() + 1.5
while time.process_time() < end: arbeit()
'''

POSITIONS = '''
import json, sys, types
def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)
with open(sys.argv[1], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[1], "exec")
print(json.dumps([[c.co_qualname, *p] for c in codes(code) for p in c.co_positions()]))
'''

with_columns = functools.partial(each_interpreter, versions=WITH_COLUMNS)


class Columns(Case):
    def profile(self, python, *options):
        program = self.program(PROGRAM)
        profile = self.folder / "run.linescope"
        done = self.linescope("run", "--display", "none", "--quiet", "--profile", profile, "-o", self.folder / "out.collapsed",
                              "--", python, *options, program)
        self.assertEqual(done.status, 0, done.stderr)
        return program, profile

    def frames(self, profile):
        with sqlite3.connect(profile) as db:
            return db.execute("SELECT qualified_name, line, end_line, column, end_column FROM frame"
                              " JOIN function ON function.id = frame.function WHERE file LIKE '%prog.py'").fetchall()

    def lines(self, profile):
        done = self.linescope("stats", profile, "--json")
        self.assertEqual(done.status, 0, done.stderr)
        return {line["source"]: line for line in json.loads(done.stdout)["lines"]}

    @with_columns
    def test_columns_are_those_of_co_positions(self, python):
        program, profile = self.profile(python)
        truth = {tuple(position) for position in json.loads(
            subprocess.run([python, "-c", POSITIONS, program], check=True, capture_output=True, text=True).stdout)}
        frames = [frame for frame in self.frames(profile) if frame[3] is not None]
        self.assertGreater(len(frames), 10)
        self.assertEqual([frame for frame in frames if frame not in truth], [])

    @with_columns
    def test_expressions_have_their_share_and_their_text(self, python):
        _, profile = self.profile(python)
        lines = self.lines(profile)
        loop = lines["for i in range(n): s += i % 7"]
        self.assertGreaterEqual(len(loop["expressions"]), 3)
        for line in lines.values():
            self.assertLessEqual(sum(e["samples"] for e in line["expressions"]), line["samples"])
            self.assertLessEqual(sum(e["share"] for e in line["expressions"]), 1.001)
            self.assertEqual([e["time_ns"] for e in line["expressions"]],
                             sorted((e["time_ns"] for e in line["expressions"]), reverse=True))
        self.assertGreater(sum(e["share"] for e in loop["expressions"]), 0.95)
        # A text that was cut at the wrong byte would be none of these.
        self.assertLessEqual({e["source"] for e in loop["expressions"]},
                             {"s += i % 7", "i % 7", "range(n)", "range", "i", "s", "n", "7", "for i in range(n): s += i % 7"})
        # None: a generator's first instructions, which stand for no text.
        self.assertLessEqual({e["source"] for e in lines["return sum(k * k for k in range(n))"]["expressions"]} - {None},
                             {"sum(k * k for k in range(n))", "(k * k for k in range(n))", "k * k", "k", "range(n)", "range", "n",
                              "sum", "return sum(k * k for k in range(n))"})
        with sqlite3.connect(profile) as db:
            calls = db.execute("SELECT frame.column, frame.end_column FROM frame JOIN function ON function.id = frame.function"
                               " WHERE qualified_name = 'arbeit' AND line = 13 AND column IS NOT NULL").fetchall()
        text = PROGRAM.splitlines()[12].encode()
        self.assertIn("schwer(3000)", {text[begin:end].decode() for begin, end in calls})

    @with_columns
    def test_lines_are_the_sums_of_their_expressions(self, python):
        """The same frames by line: nothing is lost or counted twice by the columns."""
        _, profile = self.profile(python)
        with sqlite3.connect(profile) as db:
            total = db.execute("SELECT sum(wall_ns), sum(count) FROM sample WHERE stack >= 0").fetchone()
            lines = dict(((file, line), (wall, samples)) for file, line, wall, samples in db.execute(
                "SELECT file, line, self_wall_ns, self_samples FROM lines"))
            pieces = collections.defaultdict(lambda: [0, 0])
            for file, line, wall, samples in db.execute("SELECT file, line, self_wall_ns, self_samples FROM expressions"):
                pieces[file, line][0] += wall
                pieces[file, line][1] += samples
        self.assertEqual((sum(wall for wall, _ in lines.values()), sum(samples for _, samples in lines.values())), total)
        for place, (wall, samples) in pieces.items():
            self.assertLessEqual(wall, lines[place][0])
            self.assertLessEqual(samples, lines[place][1])

    @with_columns
    def test_without_debug_ranges_lines_stay(self, python):
        _, profile = self.profile(python, "-X", "no_debug_ranges")
        frames = self.frames(profile)
        self.assertGreater(len(frames), 4)
        self.assertEqual({frame[2:] for frame in frames}, {(None, None, None)})
        self.assertEqual(self.lines(profile)["for i in range(n): s += i % 7"]["expressions"], [])

    def test_before_3_11_there_are_none(self):
        def check(case, python):
            _, profile = case.profile(python)
            case.assertEqual({frame[2:] for frame in case.frames(profile)}, {(None, None, None)})
        each_interpreter(check, BEFORE)(self)


if __name__ == "__main__":
    unittest.main()
