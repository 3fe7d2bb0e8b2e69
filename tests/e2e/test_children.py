"""Whatever the program starts is profiled with it: forks, execs, pools, through shells, however short it lives."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from support import INTERPRETERS, LINESCOPE, PYTHON, Case, alive, each_interpreter

# Every child that calls `burn` writes how long it took into a file of its own.
CHILD = """
import json, os, sys, time
def burn(ms, rest=0, folder=os.path.dirname(os.path.abspath(__file__))):
    begin = time.monotonic()
    while time.monotonic() - begin < ms / 1000:
        if rest:
            time.sleep(rest)
        sum(range(50))
    life = time.monotonic() - begin
    with open("%s/life-%d-%d" % (folder, os.getpid(), time.monotonic_ns()), "w") as f:
        json.dump([os.getpid(), life], f)
    return os.getpid()
if __name__ == "__main__":
    burn(float(sys.argv[1]))
"""


class Tree(Case):
    def setUp(self):
        super().setUp()
        self.child = self.program(CHILD, "child.py")

    def forget(self):
        for old in self.folder.glob("life-*"):
            old.unlink()

    def run_tree(self, *arguments, options=(), rate=1000, status=0):
        self.forget()
        done = self.linescope("run", "--rate", rate, "--profile", "p.linescope", "-o", "out.collapsed", "--display", "none", *options,
                              "--", *arguments)
        self.assertEqual(done.status, status, done.stderr)
        return done

    def query(self, sql):
        with sqlite3.connect(self.folder / "p.linescope") as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute(sql)]

    def tree(self):
        rows = self.query("SELECT process.*, (SELECT sum(count) FROM sample JOIN thread ON thread.id = sample.thread "
                          "WHERE thread.process = process.id) AS samples FROM process ORDER BY id")
        for row in rows:
            row["command"] = json.loads(row["command"])
            row["samples"] = row["samples"] or 0
        return rows

    def burnt(self):
        """Samples in `burn` by pid, and the seconds that they stand for."""
        return {row["pid"]: (row["samples"], row["seconds"]) for row in self.query(
            "SELECT pid, sum(count) AS samples, sum(wall_ns) / 1e9 AS seconds FROM sample JOIN thread ON thread.id = sample.thread "
            "JOIN process ON process.id = thread.process JOIN stack_frame ON stack_frame.stack = sample.stack "
            "WHERE qualified_name = 'burn' GROUP BY pid")}

    def missed_seconds(self):
        run = self.query("SELECT ticks_due, ticks_taken, rate_hz FROM run")[0]
        return (run["ticks_due"] - run["ticks_taken"]) / run["rate_hz"]

    def lives(self):
        """Seconds in `burn` by pid, as the processes have measured themselves."""
        lives = {}
        for path in self.folder.glob("life-*"):
            pid, life = json.loads(path.read_text())
            lives[pid] = lives.get(pid, 0) + life
        return lives

    def run_true_to_life(self, expected, run):
        """As many processes as expected burn in `run`, and the samples of each stand for its life. A sampler that gets no CPU sees
        nothing: when too many ticks were missed, the run says little and is repeated."""
        for attempt in range(6):
            run()
            counts = self.query("SELECT ticks_due, ticks_taken FROM run")[0]
            busy = counts["ticks_taken"] < 0.99 * counts["ticks_due"]
            try:
                self.check_lives(expected)
                return
            except AssertionError:
                if not busy or attempt == 5:
                    raise

    def check_lives(self, expected):
        lives, burnt = self.lives(), self.burnt()
        if expected is not None:
            self.assertEqual(len(lives), expected)
        for pid, life in lives.items():
            samples, seconds = burnt.get(pid, (0, 0))
            self.assertGreater(samples, 0, "a child of %.0f ms was not seen" % (1000 * life))
            # The first sample comes up to some milliseconds after the beginning; what was missed may all have been of this one.
            if life >= 0.1:
                self.assertAlmostEqual(seconds, life, delta=0.1 * life + 0.02 + self.missed_seconds())


class Kinds(Tree):
    """Each way of making processes, on each interpreter."""

    @each_interpreter
    def test_fork(self, python):
        script = self.program("""
            import os, sys
            import child
            for ms in [30] * 5 + [200]:
                pid = os.fork()
                if pid == 0:
                    child.burn(ms)
                    os._exit(ms % 100 // 10)
                os.waitpid(pid, 0)
            child.burn(100)
        """)
        self.run_true_to_life(7, lambda: self.run_tree(python, script))
        root, *children = self.tree()
        self.assertEqual([c["exit_code"] for c in children], [3] * 5 + [0])
        for process in children:
            self.assertEqual(process["parent"], root["id"])
            self.assertEqual(process["python_version"], root["python_version"])
            self.assertEqual(process["command"], root["command"])
            self.assertGreaterEqual(process["end_ns"] - process["start_ns"], 30e6)

    @each_interpreter
    def test_subprocess(self, python):
        script = self.program("""
            import subprocess, sys
            for ms in [30] * 5 + [200]:
                subprocess.run([sys.executable, "child.py", str(ms)], check=True)
        """)
        self.run_true_to_life(6, lambda: self.run_tree(python, script))
        root, *children = self.tree()
        # Where the machine is slow, the copy that is about to execute its program is seen, too.
        children = list({c["pid"]: c for c in children}.values())
        self.assertEqual([c["command"][1:] for c in children], [["child.py", ms] for ms in ["30"] * 5 + ["200"]])
        self.assertEqual({c["parent"] for c in children}, {root["id"]})
        self.assertEqual({c["exit_code"] for c in children}, {0})

    @each_interpreter
    def test_shell(self, python):
        self.run_true_to_life(2, lambda: self.run_tree("sh", "-c", "%s child.py 150; %s child.py 50; exit 5" % (python, python), status=5))
        root, *children = self.tree()
        self.assertIsNone(root["python_version"])
        self.assertEqual(root["exit_code"], 5)
        self.assertEqual([c["command"][-1] for c in children], ["150", "50"])

    @each_interpreter
    def test_multiprocessing(self, python):
        script = self.program("""
            import concurrent.futures, multiprocessing, sys
            import child
            if __name__ == "__main__":
                for method in ("fork", "spawn", "forkserver"):
                    context = multiprocessing.get_context(method)
                    with context.Pool(2) as pool:
                        pool.map(child.burn, [120, 120], chunksize=1)
                with concurrent.futures.ProcessPoolExecutor(2) as pool:
                    list(pool.map(child.burn, [120, 120]))
        """)
        # One worker may be quick enough to take both calls.
        self.run_true_to_life(None, lambda: self.run_tree(python, script))
        self.assertGreaterEqual(len(self.lives()), 4)

    @each_interpreter
    def test_prefork(self, python):
        """A master that forks workers, replaces one, and ends them by a signal."""
        script = self.program("""
            import os, signal, time
            import child
            def worker():
                child.burn(150)
                signal.pause()
            def fork():
                pid = os.fork()
                if pid == 0:
                    worker()
                return pid
            workers = [fork() for _ in range(3)]
            time.sleep(0.05)
            os.kill(workers.pop(0), signal.SIGKILL)
            os.wait()
            workers.append(fork())
            time.sleep(0.6)
            for pid in workers:
                os.kill(pid, signal.SIGTERM)
                os.waitpid(pid, 0)
        """)
        self.run_true_to_life(3, lambda: self.run_tree(python, script))
        children = self.tree()[1:]
        self.assertEqual([c["term_signal"] for c in children],
                         [signal.SIGKILL, signal.SIGTERM, signal.SIGTERM, signal.SIGTERM])

    @each_interpreter
    def test_exec(self, python):
        """A process that becomes another program is another one, before and after."""
        other = next((path for _, path in INTERPRETERS if path != python), python)
        script = self.program("""
            import os, sys
            import child
            child.burn(150)
            os.execv(sys.argv[1], [sys.argv[1], "child.py", "150"])
        """)
        self.run_true_to_life(1, lambda: self.run_tree(python, script, other))
        rows = self.tree()
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[0]["pid"], rows[1]["pid"])
        self.assertEqual([r["command"][0] for r in rows], [python, other])
        self.assertEqual(rows[0]["end_ns"], rows[1]["start_ns"])
        by_process = self.query(
            "SELECT thread.process, file, sum(wall_ns) / 1e9 AS seconds FROM sample JOIN thread ON thread.id = sample.thread "
            "JOIN stack_frame ON stack_frame.stack = sample.stack WHERE qualified_name = 'burn' GROUP BY 1")
        self.assertEqual([r["process"] for r in by_process], [0, 1])
        for row in by_process:
            # Finding each of the two takes its time on a busy machine.
            self.assertGreater(row["seconds"], 0.04)
            self.assertLess(row["seconds"], 0.2 + self.missed_seconds())


class Edges(Tree):
    def test_daemon(self):
        """A daemon is followed, and does not hold the terminal."""
        script = self.program("""
            import os, sys, time
            import child
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    for fd in range(3):
                        os.dup2(os.open("/dev/null", os.O_RDWR), fd)
                    child.burn(100)
                    time.sleep(30)
                os._exit(0)
            os.wait()
            time.sleep(0.3)
        """)
        begin = time.monotonic()
        self.run_tree(PYTHON, script)
        self.assertLess(time.monotonic() - begin, 15)
        self.check_lives(1)
        root, middle, daemon = self.tree()
        self.assertEqual((middle["parent"], daemon["parent"]), (root["id"], middle["id"]))
        self.assertIsNone(daemon["end_ns"])
        self.assertTrue(alive(daemon["pid"]))
        os.kill(daemon["pid"], signal.SIGKILL)

    def test_many_in_a_row(self):
        """Two hundred short ones cost neither descriptors nor time."""
        script = self.program("""
            import os, subprocess, time
            def descriptors():
                return len(os.listdir("/proc/%d/fd" % os.getppid()))
            subprocess.run(["true"])
            time.sleep(0.2)
            before = descriptors()
            begin = time.monotonic()
            for i in range(200):
                subprocess.run(["true"], check=True)
            took = time.monotonic() - begin
            time.sleep(0.2)
            print(took, before, descriptors())
        """)
        plain = float(subprocess.run([PYTHON, script], capture_output=True, check=True, cwd=self.folder).stdout.split()[0])
        took, before, after = map(float, self.run_tree(PYTHON, script).stdout.split())
        self.assertLessEqual(after, before + 1)
        self.assertLess(took, 1.5 * plain + 0.3)
        children = self.tree()[1:]
        self.assertEqual(len(children), 201)
        self.assertEqual({c["exit_code"] for c in children}, {0})
        # What has ended before it could be asked has no command.
        self.assertLessEqual({" ".join(c["command"]) for c in children}, {"true", ""})

    def test_many_at_once(self):
        script = self.program("""
            import os
            import child
            gate = os.pipe()
            pids = []
            for i in range(32):
                pids.append(os.fork())
                if pids[-1] == 0:
                    os.close(gate[1])
                    os.read(gate[0], 1)
                    child.burn(600, rest=0.02)
                    os._exit(0)
            os.close(gate[1])
            for pid in pids:
                os.waitpid(pid, 0)
        """)
        self.run_true_to_life(32, lambda: self.run_tree(PYTHON, script, rate=200))

    def test_only_the_program(self):
        script = self.program("import subprocess, sys, child\nchild.burn(100)\nsubprocess.run([sys.executable, 'child.py', '100'])")
        self.run_tree(PYTHON, script, options=["--no-subprocesses"])
        self.assertEqual(len(self.tree()), 1)
        self.assertEqual(len(self.burnt()), 1)

    def test_children_notice_nothing(self):
        """They may trace, are traced by nobody, have their own parents and limits."""
        script = self.program("""
            import ctypes, json, os, resource, subprocess, sys
            code = '''
            import ctypes, json, os, resource
            status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
            print(json.dumps([status["TracerPid"].strip(), ctypes.CDLL(None).ptrace(0, 0, 0, 0), resource.getrlimit(resource.RLIMIT_NOFILE),
                              os.getppid() == int(os.environ["MAKER"]), sorted(os.listdir("/proc/self/fd"))]))
            '''
            import textwrap
            print(subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, "MAKER": str(os.getpid())},
                                 capture_output=True).stdout.decode(), end="")
        """)
        plain = subprocess.run([PYTHON, script], capture_output=True, check=True, cwd=self.folder, text=True).stdout
        self.assertEqual(json.loads(self.run_tree(PYTHON, script).stdout), json.loads(plain))

    def test_attach(self):
        """Those that are there already, and those that come."""
        target = self.target("""
            import os, time
            import child
            def fork():
                if os.fork() == 0:
                    child.burn(3000)
                    os._exit(0)
            fork()
            print("ready", flush=True)
            time.sleep(1.5)
            fork()
            time.sleep(10)
        """)
        for option, expected in (("--no-subprocesses", 0), ("--subprocesses", 2)):
            done = self.linescope("attach", "--pid", target.pid, option, "--duration", "2.2" if expected else "0.3", "--profile",
                                  "p.linescope", "-o", "x.collapsed", "--display", "none")
            self.assertEqual(done.status, 0, done.stderr)
            self.assertEqual(len([n for n, _ in self.burnt().values() if n > 100]), expected)

    def test_without_events(self):
        """In a pid namespace the kernel tells no events: then children are found by looking."""
        unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
        if shutil.which("unshare") is None or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no pid namespace can be made here")
        script = self.program("""
            import os, subprocess, sys
            import child
            for ms in [30] * 5 + [200]:
                pid = os.fork()
                if pid == 0:
                    child.burn(ms)
                    os._exit(0)
                os.waitpid(pid, 0)
                subprocess.run([sys.executable, "child.py", str(ms)], check=True)
        """)
        def run():
            self.forget()
            done = subprocess.run([*unshare, LINESCOPE, "run", "--profile", "p.linescope", "-o", "x.collapsed", "--display", "none", "--",
                                   PYTHON, script], cwd=self.folder, capture_output=True, check=False, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.run_true_to_life(12, run)
        self.assertEqual({c["exit_code"] for c in self.tree()}, {0})


if __name__ == "__main__":
    unittest.main()
