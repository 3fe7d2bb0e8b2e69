"""Programs whose truth is known: shares, lines, threads, and stacks in which an impossible edge shows."""
import json
import os
import re
import subprocess
import sys
import textwrap
import time
import unittest

from support import PYTHON, SPIN, Case, each_build, each_interpreter, each_of, version_of


def shares(stacks, pick):
    """Shares of what `pick` makes of each stack; None is left out."""
    counts = {}
    for frames, count in stacks:
        key = pick(frames)
        if key is not None:
            counts[key] = counts.get(key, 0) + count
    total = sum(counts.values())
    return {key: count / total for key, count in counts.items()}


class Shares(Case):
    def sample(self, python, text, *options):
        script = self.program(text)
        done = self.run_and_keep(*options, "--", python, script)
        self.assertEqual(done.status, 0, done.stderr)
        return done

    # 70, 20 and 10 % of a period of exactly one millisecond: a fixed cadence of 1 kHz would measure the phase. The program times
    # itself, because on a busy machine it does not get what it means to take.
    PERIODIC = """
        import json, time
        now = time.perf_counter_ns
        spent = {"a": 0, "b": 0, "c": 0}
        def a(end):
            while now() < end: pass
        def b(end):
            while now() < end: pass
        def c(end):
            while now() < end: pass
        def main():
            t = now()
            end = t + 4_000_000_000
            while t < end:
                a(t + 700_000); t1 = now()
                b(t1 + 200_000); t2 = now()
                c(t + 1_000_000); t3 = now()
                spent["a"] += t1 - t
                spent["b"] += t2 - t1
                spent["c"] += t3 - t2
                t = now()
        main()
        print(json.dumps(spent))
    """

    def check_periodic(self, python, *options):
        done = self.sample(python, self.PERIODIC, *options)
        truth = json.loads(done.stdout)
        got = shares(self.stacks(), lambda f: f[-1][1] if f and f[-1][1] in "abc" else None)
        samples, missed, _ = self.figures(done.stderr)
        # Five standard deviations of 4000 samples, and whatever happened while the sampler had no CPU.
        tolerance = 0.036 + missed / (samples + missed)
        for name, spent in truth.items():
            self.assertAlmostEqual(got[name], spent / sum(truth.values()), delta=tolerance, msg="%s %s" % (got, truth))

    @each_interpreter
    def test_period_pinned(self, python):
        self.check_periodic(python, "--consistency", "pinned")

    @each_interpreter
    def test_period_free(self, python):
        self.check_periodic(python, "--consistency", "free")

    @each_build
    def test_lines_of_one_statement(self, python):
        """The line is the one that executes, also inside a call that spans several."""
        self.sample(python, """
            def work(n):
                for _ in range(n): pass
                return n
            def main():
                for _ in range(300):
                    max(
                        work(10_000),
                        work(30_000),
                        7,
                        work(60_000))
            main()
        """, "--consistency", "pinned")
        def calling_line(frames):
            return next((line for (_, name, line) in frames if name == "main"), None)
        got = shares([s for s in self.stacks() if s[0] and s[0][-1][1] == "work"], calling_line)
        for line, truth in ((8, 0.1), (9, 0.3), (11, 0.6)):
            self.assertAlmostEqual(got.get(line, 0), truth, delta=0.06, msg=str(got))

    @each_interpreter
    def test_cpu_mode_leaves_out_waiting(self, python):
        self.sample(python, """
            import time
            def burn():
                end = time.thread_time() + 0.03
                while time.thread_time() < end: pass
            def rest():
                time.sleep(0.03)
            for _ in range(40):
                burn()
                rest()
        """, "--mode", "cpu")
        functions = {f["name"]: f["time_ns"] for f in self.stats()["functions"]}
        total = functions["burn"] + functions.get("rest", 0)
        self.assertLess(functions.get("rest", 0) / total, 0.02)
        # The thread's own clock says how much there was.
        self.assertAlmostEqual(functions["burn"] / 1e9, 1.2, delta=0.25)

    @each_interpreter
    def test_wall_mode_counts_waiting(self, python):
        self.sample(python, """
            import time
            def rest():
                time.sleep(0.75)
            def burn():
                end = time.perf_counter() + 0.25
                while time.perf_counter() < end: pass
            rest(); burn()
        """)
        functions = {f["name"]: f["time_ns"] / 1e9 for f in self.stats()["functions"]}
        self.assertAlmostEqual(functions["rest"], 0.75, delta=0.1)
        self.assertAlmostEqual(functions["burn"], 0.25, delta=0.1)

    @each_interpreter
    def test_library_time_goes_to_the_calling_line(self, python):
        script = self.program("""
            import json
            data = {"k%d" % i: list(range(20)) for i in range(500)}
            def encode():
                return json.dumps(data, indent=1)
            for _ in range(400):
                encode()
        """)
        self.run_and_keep("--", python, script)
        stats = self.stats()
        mine = [line for line in stats["lines"] if line["file"] == script]
        self.assertEqual(mine[0]["line"], 5)
        self.assertGreater(mine[0]["time_ns"], 10 * mine[0]["self_ns"])
        self.assertTrue(all(f["file"] == script for f in stats["functions"] if f["in_project"]))


class Stacks(Case):
    def tree(self, leaf, branching=4, depth=5):
        """A call tree: every function has exactly one legal caller and line."""
        lines, at = ["import sys, time"], {}

        def make(path, level):
            children = [path + "abcdefgh"[i] for i in range(branching)] if level < depth else []
            for child in children:
                make(child, level + 1)
            at[path] = len(lines) + 1
            lines.append("def f%s(x):" % path)
            if children:
                lines.extend("    x = f%s(x)" % child for child in children)
                lines.append("    return x")
            else:
                lines.extend("    " + line for line in leaf)
        make("", 0)
        lines += ["print('ready', flush=True)", "x = 0", "end = time.monotonic() + float(sys.argv[1])", "while time.monotonic() < end:",
                  "    x = f(x)"]
        (self.folder / "tree.py").write_text("\n".join(lines) + "\n")
        return at

    def impossible(self, at, root="<module>"):
        bad = total = 0
        for frames, count in self.stacks():
            frames = [f for f in frames if f[0] == "tree.py"]
            total += count
            wrong = bool(frames) and frames[0][1] not in ("<module>", root)
            for (_, caller, line), (_, callee, _) in zip(frames, frames[1:]):
                if callee == "f":
                    wrong |= caller != root
                else:
                    parent = callee[1:-1]
                    wrong |= caller != "f" + parent or line != at[parent] + 1 + "abcdefgh".index(callee[-1])
            bad += count if wrong else 0
        return bad, total

    def check_tree(self, python, leaf, consistency, rate, limit, limit_of_free=0):
        """`limit_of_free`: allowed besides for those samples that were taken as free ones."""
        at = self.tree(leaf)
        done = self.run_and_keep("--consistency", consistency, "--rate", str(rate), "--", python, str(self.folder / "tree.py"), "4")
        self.assertEqual(done.status, 0, done.stderr)
        bad, total = self.impossible(at)
        self.assertGreater(total, 100)
        free = re.search(r"free ([\d.]+) %", done.stderr)
        limit += limit_of_free * (float(free.group(1)) / 100 if free else 0)
        self.assertLessEqual(bad / total, limit, "%d of %d: %s" % (bad, total, done.stderr))
        # Next to nothing is rejected: what is short-lived would be lost to it.
        self.assertLessEqual(self.figures(done.stderr)[2], 0.001 * total, done.stderr)

    FAST, MEDIUM = ["return x"], ["for i in range(20):", "    x = (x * 3 + i) & 255", "return x"]

    @each_interpreter
    def test_nothing_impossible_when_stopped(self, python):
        self.check_tree(python, self.FAST, "stop", 200, 0)

    @each_build
    def test_nearly_nothing_impossible_when_pinned(self, python):
        """Samples during which the program was moved to another CPU are taken as free ones; the closing block says how many. Of functions
        of 40 ns hundreds come and go while one of those is read; before 3.11 what is known of their frames is known at two moments only."""
        self.check_tree(python, self.FAST, "pinned", 1000, 0.0005, 0.25 if version_of(python) < (3, 11) else 0.02)

    @each_build
    def test_little_is_impossible_when_free(self, python):
        self.check_tree(python, self.MEDIUM, "free", 2000, 0.02)

    @each_build
    def test_depth_is_exact(self, python):
        """Deeper than any fixed limit, across many chunks of the interpreter's stack."""
        script = self.program("""
            import sys, time
            sys.setrecursionlimit(100_000)
            def down(n):
                if n: return down(n - 1)
                end = time.perf_counter() + 0.7
                while time.perf_counter() < end: pass
            down(5000)
        """)
        self.run_and_keep("--", python, script)
        deep = [len([f for f in frames if f[1] == "down"]) for frames, count in self.stacks() if count > 20]
        self.assertEqual(set(deep), {5001})

    @each_build
    def test_generators_coroutines_and_callbacks(self, python):
        script = self.program("""
            import asyncio, time
            def spin(s):
                end = time.perf_counter() + s
                while time.perf_counter() < end: pass
            def inner():
                for _ in range(40):
                    spin(0.01)
                    yield
            def outer():
                yield from inner()
            def loop():
                for _ in outer(): pass
            loop()
            async def leaf():
                spin(0.4)
            async def middle():
                await leaf()
            async def top():
                await middle()
            asyncio.run(top())
            def key(x):
                spin(0.01)
                return -x
            def order():
                return sorted(range(40), key=key)
            order()
        """)
        self.run_and_keep("--", python, script)
        chains = {}
        for frames, count in self.stacks():
            names = tuple(f[1].split(".")[-1] for f in frames if f[0] == "prog.py")
            if names and names[-1] == "spin":
                chains[names[1:-1]] = chains.get(names[1:-1], 0) + count
        total = sum(chains.values())
        for chain in (("loop", "outer", "inner"), ("top", "middle", "leaf"), ("order", "key")):
            self.assertAlmostEqual(chains.get(chain, 0) / total, 1 / 3, delta=0.06, msg=str(chains))

    @each_build
    def test_only_frames_that_the_program_has(self, python):
        """The interpreter's own frames, at each entry from C and below each inlined Class(), are shown nowhere and cut nothing."""
        script = self.program("""
            import functools, time
            def spin(s):
                end = time.perf_counter() + s
                while time.perf_counter() < end: pass
                return 1
            class Made:
                def __init__(self, s): self.n = spin(s)
                @property
                def value(self): return spin(0.01)
                def __getitem__(self, s): return spin(s)
                def __lt__(self, other): return spin(0.01) > 1
                def __del__(self): spin(0.01)
            def make(): return [Made(0.01) for _ in range(2)]
            def get(made): return made.value
            def item(made): return made[0.01]
            def order(made): return sorted(made)
            def call(): return functools.partial(spin, 0.01)()
            def evaluate(): return eval("spin(0.01)")
            def loop():
                for _ in range(25):
                    made = make()
                    get(made[0]); item(made[0]); order(made); call(); evaluate()
                    del made
            loop()
        """)
        self.run_and_keep("--", python, script)
        chains = {}
        for frames, count in self.stacks():
            names = tuple(f[1].split(".")[-1] for f in frames)
            if names and names[-1] == "spin":
                chains[names[1:-1]] = chains.get(names[1:-1], 0) + count
        comprehension = () if version_of(python) >= (3, 12) else ("<listcomp>",)
        expected = {("loop", "make", *comprehension, "__init__"), ("loop", "get", "value"), ("loop", "item", "__getitem__"),
                    ("loop", "order", "__lt__"), ("loop", "call"), ("loop", "evaluate", "<module>"), ("loop", "__del__")}
        self.assertEqual({chain for chain, count in chains.items() if count > 5}, expected, chains)
        self.assertLess(sum(count for chain, count in chains.items() if chain not in expected), 0.01 * sum(chains.values()), chains)

    @each_of("3.13t", "3.14t", "3.15t")
    def test_threads_that_run_at_the_same_time(self, python):
        """Each thread's stack is its own, whichever of them shares the sampler's CPU."""
        at = self.tree(self.MEDIUM)
        tree = self.folder / "tree.py"
        body = tree.read_text().split("print('ready'")[0]
        tree.write_text(body.replace("import sys, time", "import sys, time, threading") + textwrap.dedent("""
            def loop():
                x, end = 0, time.monotonic() + float(sys.argv[1])
                while time.monotonic() < end:
                    x = f(x)
            threads = [threading.Thread(target=loop) for _ in range(3)]
            for t in threads: t.start()
            for t in threads: t.join()
        """))
        for consistency in ("pinned", "free", "auto"):
            done = self.run_and_keep("--consistency", consistency, "--", python, str(tree), "3")
            self.assertEqual(done.status, 0, done.stderr)
            bad, total = self.impossible(at, "loop")
            self.assertGreater(total, 1000)
            self.assertLessEqual(bad / total, 0.02, "%d of %d" % (bad, total))

    @each_interpreter
    def test_freed_code_is_not_mistaken(self, python):
        """Code objects made and freed in a loop take each other's addresses."""
        script = self.program("""
            import time
            def spin(s):
                end = time.perf_counter() + s
                while time.perf_counter() < end: pass
            def one(i):
                text = "def made_%d():\\n" % (i % 50) + "\\n" * (i % 7) + "    spin(0.02)\\nmade_%d()\\n" % (i % 50)
                exec(compile(text, "<made %d>" % (i % 50), "exec"), {"spin": spin})
            for i in range(60):
                one(i)
        """)
        self.run_and_keep("--", python, script)
        seen = set()
        for frames, count in self.stacks():
            for (file, name, line), (inner_file, inner, _) in zip(frames, frames[1:]):
                if file.startswith("<made"):
                    number = file[6:-1]
                    self.assertIn(name, ("<module>", "made_" + number))
                    seen.add(number)
                    if name == "<module>" and inner.startswith("made_"):
                        self.assertEqual(inner, "made_" + number)
        self.assertGreater(len(seen), 30)

    @each_interpreter
    def test_code_in_the_place_of_an_imported_modules(self, python):
        """A module's own code is freed once it has run; what is compiled next takes its address."""
        for i in range(40):
            (self.folder / ("mod%d.py" % i)).write_text("import time\ntime.sleep(0.004)\n" + "x = 1\n" * i)
        script = self.program("""
            import importlib, time
            def hot(seconds):
                end = time.perf_counter() + seconds
                while time.perf_counter() < end: pass
            made = []
            for i in range(40):
                importlib.import_module("mod%d" % i)
                space = {"hot": hot}
                exec(compile("def work%d(s):\\n    hot(s)\\n" % i, __file__, "exec"), space)
                made.append(space["work%d" % i])
                made[-1](0.01)
        """)
        self.run_and_keep("--", python, script)
        wrong = sum(count for frames, count in self.stacks() for (f, _, _), (_, inner, _) in zip(frames, frames[1:])
                    if f.startswith("mod") and inner == "hot")
        total = sum(count for frames, count in self.stacks() if frames[-1][1] == "hot")
        self.assertGreater(total, 150)
        self.assertEqual(wrong, 0)

    @each_interpreter
    def test_functions_that_modules_call_once_and_delete(self, python):
        """As `os` does: the next function takes the address of such a function's code, also of another file."""
        for i in range(100):
            (self.folder / ("mod%d.py" % i)).write_text("\n" * i + """import time
def made_%d():
    end = time.perf_counter() + 0.003
    while time.perf_counter() < end: pass
made_%d()
del made_%d
""" % (i, i, i))
        script = self.program("""
            import importlib, sys
            for i in range(100):
                importlib.import_module("mod%d" % i)
        """)
        self.run_and_keep("--", python, script)
        seen, wrong, total = set(), [], 0
        for frames, count in self.stacks():
            total += count
            for (file, name, _), (inner_file, inner, line) in zip(frames, frames[1:]):
                if not file.startswith("mod") or name != "<module>" or "importlib" in inner_file:
                    continue
                number = int(re.sub(r"\D", "", file))
                seen.add(number)
                if (inner_file, inner) != (file, "made_%d" % number) or not number + 2 <= line <= number + 4:
                    wrong.append((frames, count))
        self.assertGreater(len(seen), 60)
        # A sample that was not taken exactly may be torn.
        self.assertLessEqual(sum(count for _, count in wrong), 0.01 * total, wrong)

    @each_interpreter
    def test_unicode_names(self, python):
        script = self.program("""
            import time
            class Größe:
                def мера(self):
                    end = time.perf_counter() + 0.4
                    while time.perf_counter() < end: pass
            def 関数():
                Größe().мера()
            関数()
        """, "mit Leer zeichen äöü 例.py")
        self.run_and_keep("--", python, script)
        stats = self.stats()
        name = "Größe.мера" if version_of(python) >= (3, 11) else "мера"  # there are no qualified names before
        self.assertEqual(stats["functions"][0]["name"], name)
        self.assertIn(["<module>", "関数", name], [[f[1] for f in frames] for frames, _ in self.stacks()])
        self.assertEqual(stats["functions"][0]["file"], script)


class Threads(Case):
    @each_interpreter
    def test_names_and_states(self, python):
        script = self.program("""
            import threading, time
            def busy():
                end = time.perf_counter() + 1.5
                while time.perf_counter() < end: pass
            def idle():
                time.sleep(1.5)
            threads = [threading.Thread(target=busy, name="worker ünï"), threading.Thread(target=idle, name="sleeper")]
            for t in threads: t.start()
            for t in threads: t.join()
        """)
        done = self.run_and_keep("--mode", "cpu", "--", python, script)
        self.assertEqual(done.status, 0, done.stderr)
        functions = {f["name"]: f["time_ns"] for f in self.stats()["functions"]}
        self.assertLess(functions.get("idle", 0), 0.02 * functions["busy"])
        import sqlite3
        names = {row[0] for row in sqlite3.connect(self.folder / "p.linescope").execute("SELECT name FROM thread")}
        self.assertLessEqual({"MainThread", "worker ünï", "sleeper"}, names)

    @each_interpreter
    def test_cpu_shares(self, python):
        """Two threads that burn 3 : 1 of CPU time, by their own clocks."""
        script = self.program("""
            import threading, time
            def burn(seconds):
                end = time.thread_time() + seconds
                while time.thread_time() < end: pass
            def three(): burn(1.5)
            def one(): burn(0.5)
            threads = [threading.Thread(target=three), threading.Thread(target=one)]
            for t in threads: t.start()
            for t in threads: t.join()
        """)
        self.run_and_keep("--mode", "cpu", "--", python, script)
        got = shares(self.stacks(), lambda frames: next((f[1] for f in frames if f[1] in ("three", "one")), None))
        self.assertAlmostEqual(got["three"], 0.75, delta=0.05)


class Totals(Case):
    def test_everything_due_is_accounted_for(self):
        script = self.program(SPIN + "hot(1.0)")
        done = self.run_and_keep("--rate", "20000", "--", PYTHON, script)
        samples, missed, dropped = self.figures(done.stderr)
        import sqlite3
        db = sqlite3.connect(self.folder / "p.linescope")
        due, taken, stored = db.execute("SELECT ticks_due, ticks_taken, samples FROM run").fetchone()
        self.assertEqual(due, taken + missed)
        self.assertEqual(stored, samples)
        self.assertEqual(db.execute("SELECT sum(count) FROM sample").fetchone()[0], samples)
        self.assertGreaterEqual(samples + dropped, taken - 3)
        self.assertEqual(sum(c for _, c in self.stacks()) , db.execute(
            "SELECT sum(count) FROM sample WHERE stack >= 0").fetchone()[0])


if __name__ == "__main__":
    unittest.main()
