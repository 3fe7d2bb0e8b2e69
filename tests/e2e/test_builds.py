"""Builds of their own kind: free-threaded ones, debug ones, and several interpreters in one process."""
import json
import os
import re
import sqlite3
import unittest

from support import BUILDS, PYTHON, Case, each_of, version_of, wait_until

FREE_THREADED = [build for build in BUILDS if "t" in build]
DEBUG = [build for build in BUILDS if "d" in build]

# Two threads that burn 3 : 1 of CPU time by their own clocks, each in a function of its own, and one that sleeps; each says at its
# end what its clock showed.
PARALLEL = """
    import json, sys, threading, time
    spent = {}
    def burn(seconds):
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            for i in range(200): pass
    def three():
        burn(1.5)
        spent["three"] = time.thread_time()
    def one():
        burn(0.5)
        spent["one"] = time.thread_time()
    def rest(event):
        event.wait()
    event = threading.Event()
    sleeper = threading.Thread(target=rest, args=(event,), name="sleeper")
    threads = [threading.Thread(target=three, name="three"), threading.Thread(target=one, name="one")]
    for t in threads + [sleeper]: t.start()
    for t in threads: t.join()
    event.set()
    sleeper.join()
    print(json.dumps(spent))
"""


class BuildCase(Case):
    def dump(self, pid, *options):
        done = self.linescope("dump", "--pid", pid, "--json", *options)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def rows(self, query):
        with sqlite3.connect(self.folder / "p.linescope") as db:
            return db.execute(query).fetchall()


class FreeThreaded(BuildCase):
    def check_shares(self, python, *options):
        done = self.run_and_keep("--mode", "cpu", *options, "--", python, self.program(PARALLEL))
        self.assertEqual(done.status, 0, done.stderr)
        truth = json.loads(done.stdout)
        functions = {f["name"]: f["time_ns"] / 1e9 for f in self.stats()["functions"]}
        for name, seconds in truth.items():
            # Each thread's own clock says how much there was; `burn` is the callee of both.
            got = sum(cpu for cpu, in self.rows("SELECT sum(cpu_ns) FROM sample JOIN thread ON thread.id = sample.thread"
                                                " WHERE thread.name = '%s'" % name)) / 1e9
            self.assertAlmostEqual(got, seconds, delta=0.08 + 0.05 * seconds, msg=str(truth))
        self.assertLess(functions.get("rest", 0), 0.02)
        wrong = [frames for frames, _ in self.stacks() if {"three", "one"} <= {f[1] for f in frames}]
        self.assertEqual(wrong, [])
        return done

    @each_of(*FREE_THREADED)
    def test_threads_that_run_at_the_same_time(self, python):
        done = self.check_shares(python)
        self.assertRegex(done.stderr, r"Python 3\.\d+\.\d+ free-threaded, no GIL")
        self.assertRegex(self.linescope("stats", "p.linescope").stdout, "free-threaded, no GIL")

    @each_of(*FREE_THREADED)
    def test_read_beside_them(self, python):
        self.check_shares(python, "--consistency", "free")

    @each_of(*FREE_THREADED)
    def test_sharing_the_cpu_of_one_of_them(self, python):
        """It stands still for the sampler, the other does not, and is not said to."""
        done = self.check_shares(python, "--consistency", "pinned")
        if os.cpu_count() > 1:
            self.assertNotRegex(done.stderr, r"pinned(?! \d)")

    @each_of(*FREE_THREADED)
    def test_dump(self, python):
        target = self.target("""
            import threading, time
            def spin(depth):
                if depth: return spin(depth - 1)
                n = 0
                while True: n += 1
            for depth in (5, 7):
                threading.Thread(target=spin, args=(depth,), name="spin-%d" % depth, daemon=True).start()
            print("ready", flush=True)
            time.sleep(1000)
        """, python)
        for _ in range(20):
            dump = self.dump(target.pid, "--locals")
            self.assertRegex(dump["python"], "^3[0-9.]+ (debug )?free-threaded, no GIL$")
            self.assertEqual({t["holds_gil"] for t in dump["threads"]}, {None}, "there is none to be held")
            threads = {t["name"]: t for t in dump["threads"]}
            self.assertLessEqual({"MainThread", "spin-5", "spin-7"}, set(threads))
            for depth in (5, 7):
                thread = threads["spin-%d" % depth]
                self.assertEqual(thread["stack"], "exact")
                frames = [f for f in thread["frames"] if f["function"] == "spin"]
                depths = [int(v["value"]) for f in frames for v in f["locals"] if v["name"] == "depth"]
                self.assertEqual(depths, list(range(depth + 1)))
                self.assertIn(frames[0]["line"], (6, 5))
        text = self.linescope("dump", "--pid", target.pid).stdout
        self.assertIn("free-threaded, no GIL", text)
        self.assertNotIn("holds the GIL", text)

    @each_of(*FREE_THREADED)
    def test_gil_that_was_asked_for(self, python):
        target = self.target("print('ready', flush=True)\nwhile True: pass\n", python, env={**os.environ, "PYTHON_GIL": "1"})
        holders = set()

        def seen():
            dump = self.dump(target.pid)
            self.assertRegex(dump["python"], "free-threaded, GIL on$")
            holders.update(t["holds_gil"] for t in dump["threads"])
            return True in holders
        self.assertTrue(wait_until(seen))
        self.assertNotIn(None, holders)


class Debug(BuildCase):
    @each_of(*DEBUG)
    def test_stack_and_variables(self, python):
        target = self.target("""
            import threading, time
            class Thing:
                pass
            def leaf(number, text, *rest):
                shared = [number]
                def inside():
                    print("ready", flush=True)
                    time.sleep(1000 + len(shared))
                inside()
            def middle():
                leaf(
                    12345678901234567890,
                    "grün",
                    1.5, None, (1, [2]))
            thread = threading.Thread(target=middle, name="worker")
            thread.start()
            thread.join()
        """, python)
        dump = self.dump(target.pid, "--locals")
        self.assertRegex(dump["python"], r"^3\.\d+\.\d+ debug")
        (worker,) = (t for t in dump["threads"] if t["name"] == "worker")
        frames = {f["name"]: f for f in worker["frames"]}
        self.assertEqual([frames[name]["line"] for name in ("inside", "leaf", "middle")], [9, 10, 12])
        self.assertEqual([(v["name"], v["value"]) for v in frames["leaf"]["locals"] if v["name"] != "inside"],
                         [("number", "12345678901234567890"), ("text", "'grün'"), ("rest", "(1.5, None, (1, [2]))"),
                          ("shared", "[12345678901234567890]")])

    @each_of(*DEBUG)
    def test_samples(self, python):
        script = self.program("""
            import time
            def a():
                end = time.perf_counter() + 0.6
                while time.perf_counter() < end: pass
            def b():
                end = time.perf_counter() + 0.2
                while time.perf_counter() < end: pass
            a(); b()
        """)
        done = self.run_and_keep("--", python, script)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertRegex(done.stderr, r"Python 3\.\d+\.\d+ debug")
        functions = {f["name"]: f["time_ns"] / 1e9 for f in self.stats()["functions"]}
        self.assertAlmostEqual(functions["a"], 0.6, delta=0.1)
        self.assertAlmostEqual(functions["b"], 0.2, delta=0.1)


# In an interpreter of its own, with a GIL of its own, that its thread runs for a while.
INTERPRETERS = """
import json, sys, threading, time
if sys.version_info >= (3, 13):
    import _interpreters
    create = _interpreters.create
    def execute(interpreter, text):
        error = _interpreters.exec(interpreter, text)
        assert error is None, error
else:
    import _xxsubinterpreters
    create, execute = _xxsubinterpreters.create, _xxsubinterpreters.run_string
WORK = '''
import os, time
def %(name)s(end):
    while time.thread_time() < end: pass
def call_%(name)s():
    %(name)s(time.thread_time() + %(seconds)s)
os.write(1, b"entered\\\\n")  # whole, also when both enter at once
call_%(name)s()
'''
def enter(name, seconds):
    execute(create(), WORK % {"name": name, "seconds": seconds})
seconds = [float(a) for a in sys.argv[1:]]
threads = [threading.Thread(target=enter, args=("work_%d" % i, s), name="worker %d" % i) for i, s in enumerate(seconds)]
print("ready", flush=True)
for t in threads: t.start()
for t in threads: t.join()
"""


class Interpreters(BuildCase):
    @each_of("3.12", "3.13", "3.14", "3.15", "3.13t")
    def test_samples(self, python):
        """A thread that goes into another interpreter is one thread with one stack, which begins in the interpreter it came from."""
        script = self.program(INTERPRETERS)
        done = self.run_and_keep("--mode", "cpu", "--", python, "-u", script, "0.9", "0.3")
        self.assertEqual(done.status, 0, done.stderr)
        for name, seconds in (("work_0", 0.9), ("work_1", 0.3)):
            stacks = {}
            for frames, count in self.stacks():
                names = [f[1] for f in frames]
                if names and names[-1] == name:
                    inner = tuple(names[names.index("enter"):]) if "enter" in names else tuple(names)
                    stacks[inner] = stacks.get(inner, 0) + count
            expected = ("enter", "execute", "<module>", "call_" + name, name)
            if version_of(python) == (3, 12):
                expected = ("enter", "<module>", "call_" + name, name)
            total = sum(stacks.values())
            self.assertGreater(stacks.get(expected, 0), 0.98 * total, stacks)
        threads = self.rows("SELECT thread.name, sum(cpu_ns) / 1e9, count(DISTINCT thread.id) FROM thread"
                            " JOIN sample ON thread.id = sample.thread GROUP BY thread.name, tid")
        self.assertEqual(sorted(name for name, _, _ in threads), ["MainThread", "worker 0", "worker 1"])
        cpu = {name: seconds for name, seconds, _ in threads}
        self.assertEqual({count for _, _, count in threads}, {1})
        self.assertAlmostEqual(cpu["worker 0"], 0.9, delta=0.15)
        self.assertAlmostEqual(cpu["worker 1"], 0.3, delta=0.15)

    @each_of("3.12", "3.13", "3.14", "3.15", "3.13t")
    def test_dump(self, python):
        target = self.target(INTERPRETERS, python, args=("60", "60"))
        self.assertEqual(target.stdout.readline() + target.stdout.readline(), b"entered\nentered\n")
        by_interpreter, inner = {}, []

        def both_work():  # "entered" comes a moment before the call
            by_interpreter.clear()
            for thread in self.dump(target.pid)["threads"]:
                if thread["frames"]:
                    by_interpreter.setdefault(thread["interpreter"], []).append(thread)
            inner[:] = sorted((t["frames"][0]["function"], t["frames"][-1]["function"]) for i, ts in by_interpreter.items() if i for t in ts)
            return inner == [("work_0", "<module>"), ("work_1", "<module>")]

        self.assertTrue(wait_until(both_work), inner)
        main = {t["name"]: t["id"] for t in by_interpreter[0]}
        self.assertEqual(set(main), {"MainThread", "worker 0", "worker 1"})
        for interpreter, threads in by_interpreter.items():
            for thread in threads:
                name = re.sub("work_", "worker ", thread["frames"][0]["function"])
                if interpreter:
                    self.assertEqual(thread["id"], main[name], "the same thread is in both")


if __name__ == "__main__":
    unittest.main()
