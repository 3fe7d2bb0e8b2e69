"""Tasks of asyncio with their await chains, and greenlets (P24, P25, P26)."""
import collections
import os
import sqlite3
import subprocess
import sys
import unittest

import support
from support import Case, each_interpreter, version_of

BURN = """
import time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
"""

TASKS = BURN + """
import asyncio, sys
async def inner():
    burn(0.005)
    await asyncio.sleep(0.015)
async def middle():
    await inner()
async def worker(rounds):
    for _ in range(rounds):
        await middle()
async def numbers(count):
    for i in range(count):
        await asyncio.sleep(0.01)
        yield i
async def consumer():
    async for _ in numbers(60):
        pass
async def awaiter(task):
    await task
def task(coroutine, name):
    made = asyncio.ensure_future(coroutine)
    made.set_name(name)
    return made
async def main():
    alpha = task(worker(40), "alpha")
    beta = task(worker(40), "beta")
    await asyncio.gather(alpha, task(awaiter(beta), "of beta"), task(consumer(), "reader"), worker(30))
    if sys.version_info >= (3, 11):
        async with asyncio.TaskGroup() as group:
            group.create_task(worker(20), name="grouped")
"""

Stack = collections.namedtuple("Stack", "thread state frames samples wall_ns")


class Profile:
    def __init__(self, path):
        with sqlite3.connect(path) as db:
            self.tasks = {name for name, in db.execute("SELECT qualified_name FROM function WHERE kind = 'task'")}
            nodes = {row[0]: row[1:] for row in db.execute(
                "SELECT stack.id, stack.parent, f.qualified_name, f.kind FROM stack JOIN frame ON frame.id = stack.frame"
                " JOIN function AS f ON f.id = frame.function")}

            def frames(stack):
                out = []
                while stack in nodes:
                    stack, name, kind = nodes[stack]
                    out.append("<%s>" % name if kind == "task" else name)
                return out[::-1]
            self.stacks = [Stack(thread, state, frames(stack), count, wall) for thread, state, stack, count, wall in db.execute(
                "SELECT thread.name, thread_state.name, stack, sum(count), sum(wall_ns) FROM sample"
                " JOIN thread ON thread.id = thread JOIN thread_state ON thread_state.id = state GROUP BY 1, 2, 3")]

    def samples(self, *frames, thread=None, state=None, leaf=None):
        """Samples of the stacks that hold these frames one right after the other."""
        wanted = list(frames)
        return sum(s.samples for s in self.stacks
                   if any(s.frames[i:i + len(wanted)] == wanted for i in range(len(s.frames)))
                   and thread in (None, s.thread) and state in (None, s.state) and leaf in (None, (s.frames or [None])[-1]))

    def text(self):
        return "\n".join("%6d %s %s %s" % (s.samples, s.thread, s.state, ";".join(s.frames))
                         for s in sorted(self.stacks, key=lambda s: -s.samples)[:40])


def packages(case, python, *names):
    """A folder to import them from, for PYTHONPATH; skips where they cannot be had."""
    version = "%d.%d" % version_of(python)
    folder = support.ROOT / "build" / "test-packages" / version
    missing = [name for name in names if not (folder / name).is_dir()]
    if missing:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
             "--python-version", version, "--implementation", "cp", "--platform", "manylinux_2_28_x86_64", "--platform",
             "manylinux2014_x86_64", "--upgrade", "--target", str(folder), *missing],
            capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0:
            case.skipTest("%s for Python %s cannot be installed: %s" % (
                ", ".join(missing), version, done.stderr.strip().splitlines()[-1:] or done.returncode))
    return str(folder)


class Profiled(Case):
    def profile(self, text, python, *options, path=None):
        profile = self.folder / ("%s.linescope" % len(list(self.folder.iterdir())))
        env = dict(os.environ, PYTHONPATH=path) if path else None
        done = self.linescope("run", "--display", "none", "--quiet", "--profile", profile, "-o", self.folder / "out.collapsed",
                              *options, "--", python, self.program(text), env=env)
        self.assertEqual(done.status, 0, done.stderr)
        return Profile(profile)


class Tasks(Profiled):
    def check_tasks(self, profile, grouped):
        text = profile.text()
        self.assertLessEqual({"alpha", "beta", "of beta", "reader", "main", "worker"}, profile.tasks, text)
        # Running: the task's own frames from its name on, on what awaits it, without the loop.
        self.assertGreater(profile.samples("<main>", "main", "<alpha>", "worker", "middle", "inner", "burn"), 100, text)
        self.assertGreater(profile.samples("<of beta>", "awaiter", "<beta>", "worker", "middle", "inner", "burn"), 100, text)
        # Of 30 rounds, by the coroutine's name: asyncio's own name tells nothing.
        self.assertGreater(profile.samples("main", "<worker>", "worker", "middle", "inner", "burn"), 75, text)
        running = sum(s.samples for s in profile.stacks if s.frames[-1:] == ["burn"])
        loop = sum(s.samples for s in profile.stacks if s.frames[-1:] == ["burn"] and "BaseEventLoop.run_forever" in s.frames
                   or s.frames[-1:] == ["burn"] and "run_forever" in s.frames)
        self.assertLess(loop, 0.05 * running, text)
        if grouped:
            self.assertGreater(profile.samples("<grouped>", "worker", "middle", "inner", "burn"), 50, text)
            self.assertGreater(profile.samples("TaskGroup.__aexit__", "TaskGroup._aexit", "<grouped>")
                               or profile.samples("TaskGroup.__aexit__", "<grouped>"), 0, text)

    @each_interpreter
    def test_p25_tasks_stand_on_those_who_await_them(self, python):
        profile = self.profile(TASKS + "asyncio.run(main())\n", python, "--async")
        self.check_tasks(profile, version_of(python) >= (3, 11))
        waiting = [s for s in profile.stacks if s.thread == "waiting tasks"]
        text = profile.text()
        self.assertTrue(waiting, text)
        self.assertEqual({s.state for s in waiting}, {"waiting"})
        sleep = {"alpha": 0.6, "reader": 0.6}
        for name, seconds in sleep.items():
            wall = sum(s.wall_ns for s in waiting if "<%s>" % name in s.frames) / 1e9
            self.assertGreater(wall, 0.6 * seconds, (name, text))
        self.assertGreater(profile.samples("<reader>", "consumer", "numbers", thread="waiting tasks"), 4, text)
        self.assertGreater(profile.samples("<alpha>", "worker", "middle", "inner", thread="waiting tasks"), 4, text)
        # The loop's thread itself has its time once.
        main = sum(s.wall_ns for s in profile.stacks if s.thread != "waiting tasks") / 1e9
        self.assertLess(main, 8, text)

    @each_interpreter
    def test_p25_in_mode_cpu_what_waits_does_not_count(self, python):
        profile = self.profile(TASKS + "asyncio.run(main())\n", python, "--async", "--mode", "cpu")
        self.assertGreater(profile.samples("<alpha>", "worker", "middle", "inner", "burn"), 100, profile.text())
        self.assertEqual([s for s in profile.stacks if s.thread == "waiting tasks"], [])

    @each_interpreter
    def test_without_async_stacks_are_the_threads(self, python):
        profile = self.profile(TASKS + "asyncio.run(main())\n", python)
        self.assertEqual(profile.tasks, set())
        self.assertEqual(len({s.thread for s in profile.stacks} - {"waiting tasks"}), 1)
        self.assertNotIn("waiting tasks", {s.thread for s in profile.stacks})
        self.assertGreater(profile.samples("worker", "middle", "inner", "burn"), 300, profile.text())

    @each_interpreter
    def test_p25_loops_in_other_threads(self, python):
        profile = self.profile(TASKS + """
import threading
thread = threading.Thread(target=lambda: asyncio.run(main()), name="loop")
thread.start()
burn(0.3)
thread.join()
""", python, "--async")
        self.check_tasks(profile, version_of(python) >= (3, 11))
        self.assertGreater(profile.samples("<alpha>", "worker", "middle", "inner", "burn", thread="loop"), 100, profile.text())

    @each_interpreter
    def test_p25_uvloop(self, python):
        path = packages(self, python, "uvloop")
        profile = self.profile(TASKS + """
import uvloop
asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
asyncio.run(main())
""", python, "--async", path=path)
        self.check_tasks(profile, version_of(python) >= (3, 11))

    @each_interpreter
    def test_p26_tasks_that_await_each_other(self, python):
        profile = self.profile(BURN + """
import asyncio, os
tasks = []
async def one():
    await asyncio.sleep(0.05)
    await tasks[1]
async def two():
    await asyncio.sleep(0.05)
    await tasks[0]
async def busy():
    for _ in range(100):
        burn(0.004)
        await asyncio.sleep(0.001)
async def main():
    tasks.extend([asyncio.ensure_future(one()), asyncio.ensure_future(two())])
    await asyncio.ensure_future(busy())
    os._exit(0)  # none of the two can be cancelled
asyncio.run(main())
""", python, "--async")
        self.assertGreater(profile.samples("<busy>", "busy", "burn"), 200, profile.text())
        self.assertGreater(profile.samples("<one>", "one", thread="waiting tasks"), 5, profile.text())
        self.assertGreater(profile.samples("<two>", "two", thread="waiting tasks"), 5, profile.text())
        self.assertLess(max(len(s.frames) for s in profile.stacks), 100)

    @each_interpreter
    def test_p26_tasks_come_and_go(self, python):
        """Lists that change under the reader: each sample is there, none in a task of another."""
        profile = self.profile(BURN + """
import asyncio
async def short(): burn(0.0005)
async def other(): burn(0.0005)
async def main():
    for _ in range(600):
        await asyncio.gather(*[asyncio.ensure_future(f()) for f in (short, other, short)])
asyncio.run(main())
""", python, "--async")
        text = profile.text()
        for name in ("short", "other"):
            self.assertGreater(profile.samples("<%s>" % name, name), 100, text)
        burning = sum(s.samples for s in profile.stacks if s.frames[-1:] == ["burn"])
        # A sample that was not taken exactly may be torn.
        self.assertLessEqual(profile.samples("<short>", "other") + profile.samples("<other>", "short"), 0.005 * burning, text)
        # Whose task started and ended between two looks has no awaiter, but its own name.
        named = profile.samples("<short>", "short", "burn") + profile.samples("<other>", "other", "burn")
        self.assertGreater(named, 0.95 * burning, text)

    @each_interpreter
    def test_p25_attach_while_tasks_run(self, python):
        process = self.target(TASKS + "print('ready', flush=True)\nasyncio.run(main())\n", python)
        path = self.folder / "attach.linescope"
        done = self.linescope("attach", "--pid", process.pid, "--async", "--duration", "1", "--display", "none", "--quiet",
                              "--profile", path, "-o", self.folder / "attach.collapsed")
        self.assertEqual(done.status, 0, done.stderr)
        profile = Profile(path)
        total = sum(s.samples for s in profile.stacks if s.thread != "waiting tasks")
        self.assertGreater(total, 30, profile.text())
        self.assertGreater(profile.samples("<alpha>", "worker", "middle", "inner"), 0.1 * total, profile.text())


GREENLETS = BURN + """
import greenlet
def deep(n, f):
    if n: deep(n - 1, f)
    else: f()
def a_leaf():
    burn(0.003)
    b.switch()
def a_main():
    for _ in range(150): deep(5, a_leaf)
    main.switch()
def b_leaf():
    burn(0.002)
    a.switch()
def b_main():
    while True: deep(3, b_leaf)
main = greenlet.getcurrent()
a, b = greenlet.greenlet(a_main), greenlet.greenlet(b_main)
def run(): a.switch()
run()
"""


class Greenlets(Profiled):
    @each_interpreter
    def test_p24_a_greenlet_has_its_own_stack(self, python):
        path = packages(self, python, "greenlet")
        for consistency in ("auto", "free"):
            with self.subTest(consistency=consistency):
                profile = self.profile(GREENLETS, python, "--consistency", consistency, path=path)
                text = profile.text()
                burning = [s for s in profile.stacks if s.frames[-1:] == ["burn"]]
                whole = sum(s.samples for s in burning if s.frames in (
                    ["a_main"] + ["deep"] * 6 + ["a_leaf", "burn"], ["b_main"] + ["deep"] * 4 + ["b_leaf", "burn"]))
                total = sum(s.samples for s in burning)
                self.assertGreater(total, 600, text)
                self.assertGreater(whole, (0.99 if consistency == "free" else 1) * total - 1, text)
                a = sum(s.samples for s in burning if s.frames[0] == "a_main")
                self.assertAlmostEqual(a / total, 0.6, delta=0.06, msg=text)

    @each_interpreter
    def test_p24_the_hub_that_waits_is_idle(self, python):
        path = packages(self, python, "gevent", "greenlet")
        program = BURN + """
import gevent
def worker():
    for _ in range(40):
        burn(0.004)
        gevent.sleep(0.02)
def root():
    gevent.joinall([gevent.spawn(worker), gevent.spawn(worker)])
root()
"""
        profile = self.profile(program, python, path=path)
        text = profile.text()
        self.assertGreater(profile.samples("worker", "burn"), 250, text)
        hub = [s for s in profile.stacks if s.frames[-1:] in (["run"], ["Hub.run"])]
        waiting = sum(s.wall_ns for s in hub if s.state == "waiting")
        self.assertGreater(waiting, 0.2e9, text)
        self.assertGreater(waiting, 0.95 * sum(s.wall_ns for s in hub), text)
        # On a CPU it has next to no time.
        cpu = self.profile(program, python, "--mode", "cpu", path=path)
        hub = sum(s.samples for s in cpu.stacks if s.frames[-1:] in (["run"], ["Hub.run"]) and s.state == "running")
        self.assertLess(hub, 30, cpu.text())


if __name__ == "__main__":
    unittest.main()
