"""`linescope dump`: exact, and nobody notices."""
import contextlib
import ctypes
import json
import os
import pwd
import re
import select
import signal
import subprocess
import threading
import time
import unittest

from support import LINESCOPE, PYTHON, Case, alive, each_interpreter, wait_until

WAITING = """
import sys, time
def leaf(seconds):
    print("ready", flush=True)
    time.sleep(seconds)   # here

def middle(seconds):
    leaf(
        seconds)

middle(1000)
"""

THREADS = """
import threading, time
def spin():
    n = 0
    while True:
        n += 1

def nap(event):
    event.wait()

event = threading.Event()
threading.Thread(target=spin, name="spinner", daemon=True).start()
threading.Thread(target=nap, args=(event,), name="napper", daemon=True).start()
print("ready", flush=True)
while True:
    time.sleep(1000)
"""


PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


def status_of(pid):
    with open("/proc/%d/status" % pid) as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def thread_states(pid):
    states = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(OSError), open("/proc/%d/task/%s/stat" % (pid, tid)) as f:
            states.append(f.read().rsplit(")", 1)[1].split()[0])
    return states


class DumpCase(Case):
    def dump(self, pid, *options, **kw):
        done = self.linescope("dump", "--pid", pid, *options, **kw)
        self.assertEqual(done.status, 0, done.stderr)
        return done

    def json(self, pid, *options):
        return json.loads(self.dump(pid, "--json", *options).stdout)

    def asleep(self, text, python=PYTHON, **options):
        """A program of one thread that has printed `ready` and then fallen asleep."""
        target = self.target(text, python, **options)
        self.assertTrue(wait_until(lambda: thread_states(target.pid) == ["S"]))
        return target

    def assertUndisturbed(self, pid):
        self.assertTrue(alive(pid))
        self.assertEqual(status_of(pid)["TracerPid"], "0")
        self.assertTrue(wait_until(lambda: not {"T", "t"} & set(thread_states(pid)), 5))


class Text(DumpCase):
    @each_interpreter
    def test_frames(self, python):
        target = self.asleep(WAITING, python)
        for options in ([], ["--no-stop"], ["--consistency", "stop"]):
            done = self.dump(target.pid, *options)
            self.assertEqual(done.stderr, "")
            lines = done.stdout.splitlines()
            self.assertRegex(lines[0], r"^Process %d: .*target\.py$" % target.pid)
            self.assertRegex(lines[1], r"^Python 3\.\d+\.\d+, 1 thread, none was stopped; newest call first$")
            self.assertRegex(lines[3], r'^Thread %d ".*": waiting$' % target.pid)
            frames = [re.split(r" {2,}", line.strip()) for line in lines[4:]]
            self.assertEqual(frames, [["leaf", "target.py:5", "time.sleep(seconds)", "# here"], ["middle", "target.py:8", "leaf("],
                                      ["<module>", "target.py:11", "middle(1000)"]])
            self.assertUndisturbed(target.pid)

    def test_libunwind_is_loaded_for_native_frames_only(self):
        target = self.asleep(WAITING)
        loads = {**os.environ, "LD_DEBUG": "files"}
        for options, loaded in (([], False), (["--native"], True)):
            done = self.linescope("dump", "--pid", target.pid, *options, env=loads)
            self.assertEqual(done.status, 0, done.stderr)
            self.assertEqual("libunwind" in done.stderr, loaded, done.stderr)
        # What is found under its name is not it.
        (self.folder / "libunwind-x86_64.so.8").write_text("")
        without = {**os.environ, "LD_LIBRARY_PATH": str(self.folder)}
        done = self.linescope("dump", "--pid", target.pid, "--native", env=without)
        self.assertEqual(done.status, 197)
        self.assertRegex(done.stderr, "^linescope: error: native frames need libunwind: .*libunwind-x86_64.so.8")
        done = self.linescope("run", "--native", "--display", "none", self.program("print('never')"), env=without)
        self.assertEqual((done.status, done.stdout), (197, ""))
        self.assertEqual(self.linescope("dump", "--pid", target.pid, env=without).status, 0)
        self.assertIn("--native is not available", self.linescope("doctor", env=without).stdout)

    def test_no_colours_in_a_file(self):
        target = self.asleep(WAITING)
        self.assertNotIn("\x1b", self.dump(target.pid, "--locals").stdout)

    def test_colours_on_a_terminal(self):
        target = self.asleep(WAITING)
        ours, theirs = os.openpty()
        process = self.start([LINESCOPE, "dump", "--pid", str(target.pid)], stdout=theirs, env={**os.environ, "TERM": "xterm"})
        os.close(theirs)
        output = b""
        while process.poll() is None or select.select([ours], [], [], 0)[0]:
            try:
                output += os.read(ours, 65536)
            except OSError:
                break
        os.close(ours)
        self.assertIn(b"\x1b[1mThread", output)

    def test_texts_of_the_target_are_data(self):
        target = self.target("""
            import threading, time
            class Bad:
                pass
            Bad.__qualname__ = "\\x1b[31mB\\nad"
            def wait(title, thing):
                print("ready", flush=True)
                time.sleep(1000)
            wait.__code__ = wait.__code__.replace(co_filename="/tmp/\\x1b[2J.py", co_qualname="w\\x9b\\u202e")
            thread = threading.Thread(target=wait, args=("\\x1b]0;x\\x07\\u202e", Bad()), name="\\x1b[1m\\n")
            thread.start()
            thread.join()
        """)
        for options in ([], ["--json"]):
            out = self.dump(target.pid, "--locals", *options).stdout
            self.assertFalse(re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", out) if not options else re.search("[\x00-\x09\x0b-\x1f]", out),
                             out)

    def test_name(self):
        target = self.asleep(WAITING, args=["unlikely-%d" % os.getpid()])
        done = self.linescope("dump", "--name", "unlikely-%d$" % os.getpid())
        self.assertEqual(done.status, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("Process %d:" % target.pid))

    def test_closed_pipe(self):
        target = self.asleep(WAITING)
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run([LINESCOPE, "dump", "--pid", str(target.pid)], stdout=theirs, stderr=subprocess.PIPE, check=False)
        os.close(theirs)
        self.assertIn(done.returncode, (198, -signal.SIGPIPE))
        self.assertUndisturbed(target.pid)


class Json(DumpCase):
    @each_interpreter
    def test_threads(self, python):
        target = self.target(THREADS, python)
        # It sleeps also while it waits for the GIL to get there.
        self.assertTrue(wait_until(lambda: self.json(target.pid)["threads"][0]["frames"][0]["line"] == 16))
        seen = set()
        for _ in range(20):
            self.assertTrue(wait_until(lambda: sorted(thread_states(target.pid)) == ["R", "S", "S"]))
            dump = self.json(target.pid)
            self.assertEqual((dump["format"], dump["pid"], dump["other_threads"]), (1, target.pid, 0))
            self.assertGreater(dump["stopped_ns"], 0)
            threads = {thread["name"]: thread for thread in dump["threads"]}
            self.assertEqual(set(threads), {"MainThread", "spinner", "napper"})
            self.assertEqual({t["stack"] for t in dump["threads"]}, {"exact"})
            self.assertEqual([t["main"] for t in dump["threads"]], [True, False, False])
            self.assertEqual(threads["MainThread"]["frames"][0]["line"], 16)
            self.assertEqual(threads["napper"]["state"], "waiting")
            self.assertFalse(threads["napper"]["holds_gil"])
            spinner = threads["spinner"]
            self.assertEqual(spinner["frames"][0]["function"], "spin")
            self.assertIn((spinner["frames"][0]["line"], spinner["frames"][0]["source"]), [(5, "while True:"), (6, "n += 1")])
            seen.add((spinner["state"], spinner["holds_gil"]))
        self.assertIn(("running", True), seen)
        self.assertUndisturbed(target.pid)

    def test_running_thread_without_a_stop(self):
        target = self.target(THREADS)
        dump = self.json(target.pid, "--no-stop")
        self.assertIsNone(dump["stopped_ns"])
        stacks = {t["name"]: t["stack"] for t in dump["threads"]}
        self.assertEqual((stacks["spinner"], stacks["napper"]), ("running", "exact"))

    @each_interpreter
    def test_a_recursion_is_never_torn(self, python):
        """Every dump shows a stack that existed: the depth is what the leaf's own variable says."""
        target = self.target("""
            import sys
            def down(depth):
                if depth == 50:
                    return 0
                return down(depth + 1) + 1
            print("ready", flush=True)
            while True:
                down(0)
        """, python)
        depths = set()
        for _ in range(60):
            (thread,) = self.json(target.pid, "--locals")["threads"]
            frames = [f for f in thread["frames"] if f["function"] == "down"]
            self.assertEqual(len(thread["frames"]), len(frames) + 1)
            values = [int(v["value"]) for f in frames for v in f["locals"] if v["name"] == "depth"]
            self.assertEqual(values, list(range(len(frames)))[::-1])
            depths.add(len(frames))
        self.assertGreater(len(depths), 3)

    @each_interpreter
    def test_idle(self, python):
        """A thread that waits in C, with no Python code to return to."""
        target = self.target("""
            import _thread, time
            _thread.start_new_thread(time.sleep, (1000,))
            time.sleep(0.1)
            print("ready", flush=True)
            time.sleep(1000)
        """, python)
        self.assertTrue(wait_until(lambda: thread_states(target.pid) == ["S", "S"]))
        dump = self.json(target.pid)
        self.assertEqual([(t["state"], len(t["frames"]), t["stack"]) for t in dump["threads"]], [("waiting", 1, "exact"), ("idle", 0, "exact")])
        self.assertIn(": idle\n  no Python code\n", self.dump(target.pid).stdout)

    def test_locals(self):
        target = self.target("""
            import time
            total = 5
            def outer(seed):
                big = list(range(10 ** 6))
                def inner(*args):
                    gone = 1
                    del gone
                    print("ready", flush=True)
                    time.sleep(1000 + 0 * seed)
                inner("a\\ud800", b"b", None, 2.5)
            outer(7)
        """)
        frames = {f["name"]: f for f in self.json(target.pid, "--locals")["threads"][0]["frames"]}
        plain = {"kind": "local", "cut": False}
        self.assertEqual(frames["inner"]["locals"], [
            {"name": "args", "type": "tuple", "value": "('a\\ud800', b'b', None, 2.5)", **plain},
            {"name": "seed", "kind": "free", "type": "int", "value": "7", "cut": False}])
        outer = {v["name"]: v for v in frames["outer"]["locals"]}
        self.assertEqual((outer["seed"]["kind"], outer["seed"]["value"]), ("cell", "7"))
        self.assertEqual((outer["big"]["value"], outer["big"]["cut"]), ("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …(1000000 items)]", True))
        self.assertRegex(outer["inner"]["value"], r"^<function at 0x[0-9a-f]+>$")
        self.assertEqual([(v["name"], v["value"], v["kind"]) for v in frames["<module>"]["locals"]], [("total", "5", "namespace")])
        without = self.json(target.pid)
        self.assertEqual({f["locals"] for t in without["threads"] for f in t["frames"]}, {None})

    def test_many_variables(self):
        names = ["v%d" % i for i in range(150)]
        target = self.target("import time\n%s\nprint('ready', flush=True)\ntime.sleep(1000)\n" % "\n".join(n + " = 1" for n in names))
        (frame,) = self.json(target.pid, "--locals")["threads"][0]["frames"]
        self.assertEqual(([v["name"] for v in frame["locals"]], frame["locals_left_out"]), (names[:100], 50))
        self.assertIn("… 50 more variables", self.dump(target.pid, "--locals").stdout)

    @each_interpreter
    def test_a_comprehension_of_a_module(self, python):
        target = self.asleep("""
            import time
            total = 5
            print("ready", flush=True)
            [time.sleep(1000) for item in range(3)]
        """, python)
        variables = {v["name"]: v["value"] for f in self.json(target.pid, "--locals")["threads"][0]["frames"] for v in f["locals"]}
        self.assertEqual(variables, {"total": "5", "item": "0"})


class Sources(DumpCase):
    def source(self, pid):
        return {f["name"]: (f["source"], f["source_note"]) for f in self.json(pid)["threads"][0]["frames"]}

    def change(self, text):
        """Writes the program anew, later than the process can have started."""
        time.sleep(2.1)
        self.program(text, "target.py")

    def test_changed(self):
        target = self.asleep(WAITING)
        self.change("# one line more\n" + WAITING)
        self.assertEqual(set(self.source(target.pid).values()), {(None, "the file changed after the process started")})
        out = self.dump(target.pid).stdout
        self.assertNotIn("time.sleep", out)
        self.assertIn("(the file changed after the process started)", out)

    def test_touched(self):
        target = self.asleep(WAITING)
        self.change(WAITING)
        found = self.source(target.pid)
        self.assertEqual(found["leaf"][0], "time.sleep(seconds)   # here")
        self.assertIn("changed", found["leaf"][1])
        self.assertIsNone(found["<module>"][0])

    def test_removed(self):
        target = self.asleep(WAITING)
        (self.folder / "target.py").unlink()
        self.assertEqual({text for text, _ in self.source(target.pid).values()}, {None})
        self.assertIn("leaf", self.dump(target.pid).stdout)


class Undisturbed(DumpCase):
    def test_signals_arrive(self):
        target = self.target("""
            import signal, time
            signal.signal(signal.SIGUSR1, lambda *a: print('got', flush=True))
            print('ready', flush=True)
            while True:
                time.sleep(1000)
        """)
        done = threading.Event()

        def dump_all_the_time():
            while not done.is_set():
                subprocess.run([LINESCOPE, "dump", "--pid", str(target.pid)], stdout=subprocess.DEVNULL, check=False)

        dumping = threading.Thread(target=dump_all_the_time)
        dumping.start()
        try:
            for _ in range(100):
                # One after the other: two of a kind that are pending at once are one, with or without us.
                os.kill(target.pid, signal.SIGUSR1)
                self.assertTrue(select.select([target.stdout], [], [], 10)[0], "a signal was lost")
                self.assertEqual(target.stdout.readline(), b"got\n")
        finally:
            done.set()
            dumping.join()
        self.assertUndisturbed(target.pid)

    def test_sleepers_are_not_woken(self):
        target = self.asleep(WAITING)
        switches = status_of(target.pid)["voluntary_ctxt_switches"]
        for _ in range(20):
            self.assertEqual(self.json(target.pid, "--locals")["threads"][0]["stack"], "exact")
        self.assertEqual(status_of(target.pid)["voluntary_ctxt_switches"], switches)

    def test_killed_at_any_moment(self):
        """By any signal: what it had stopped goes on."""
        target = self.target(THREADS)
        for i in range(100):
            dump = subprocess.Popen([LINESCOPE, "dump", "--locals", "--pid", str(target.pid)], stdout=subprocess.DEVNULL)
            time.sleep(i % 25 * 0.0004)
            dump.send_signal((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[i % 3])
            dump.wait()
            if i % 10 == 9:
                self.assertUndisturbed(target.pid)

    def test_job_control(self):
        """Ctrl-Z at any moment stops us, but not the target."""
        target = self.target(THREADS)
        for i in range(40):
            dump = subprocess.Popen([LINESCOPE, "dump", "--locals", "--pid", str(target.pid)], stdout=subprocess.DEVNULL)
            time.sleep(i % 20 * 0.0004)
            dump.send_signal(signal.SIGTSTP)
            time.sleep(0.02)
            self.assertUndisturbed(target.pid)
            dump.send_signal(signal.SIGCONT)
            self.assertEqual(dump.wait(), 0)

    def test_reader_that_does_not_read(self):
        """Nobody stays stopped while the output waits."""
        target = self.asleep(WAITING.replace("middle(1000)", "%s\nmiddle(1000)" % "\n".join("v%d = 'x' * 100" % i for i in range(100))))
        ours, theirs = os.pipe()
        filled = 0
        os.set_blocking(theirs, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                filled += os.write(theirs, b"." * 4096)
        os.set_blocking(theirs, True)
        dump = self.start([LINESCOPE, "dump", "--locals", "--pid", str(target.pid)], stdout=theirs)
        time.sleep(0.3)
        self.assertIsNone(dump.poll())
        self.assertUndisturbed(target.pid)
        os.close(ours)
        os.close(theirs)

    def test_target_that_job_control_has_stopped(self):
        target = self.target(THREADS)
        target.send_signal(signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: set(thread_states(target.pid)) == {"T"}))
        for _ in range(5):
            dump = self.json(target.pid)
            self.assertEqual({t["state"] for t in dump["threads"]}, {"stopped"})
            self.assertEqual({t["stack"] for t in dump["threads"]}, {"exact"})
            self.assertEqual(set(thread_states(target.pid)), {"T"})
            self.assertEqual(status_of(target.pid)["TracerPid"], "0")
        target.send_signal(signal.SIGCONT)
        self.assertUndisturbed(target.pid)

    @each_interpreter
    def test_threads_that_come_and_go(self, python):
        target = self.target("""
            import threading, time
            print("ready", flush=True)
            while True:
                threads = [threading.Thread(target=time.sleep, args=(0.001 * i,)) for i in range(5)]
                for thread in threads: thread.start()
                for thread in threads: thread.join()
        """, python)
        for _ in range(60):
            threads = self.json(target.pid)["threads"]
            self.assertEqual({t["stack"] for t in threads}, {"exact"})
            self.assertEqual([t["main"] for t in threads], [True] + [False] * (len(threads) - 1))
            self.assertEqual(threads[0]["frames"][-1]["function"], "<module>")
            self.assertLessEqual(sum(bool(t["holds_gil"]) for t in threads), 1)
        self.assertUndisturbed(target.pid)

    def test_uninterruptible(self):
        """A thread that the kernel does not let stop holds nobody up."""
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        target = self.target("""
            import os, sys
            def spawn():
                # The child waits for a writer, and its parent for the child: in uninterruptible sleep.
                os.posix_spawn("/bin/true", ["true"], {}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, sys.argv[1], os.O_RDONLY, 0)])
            print("ready", flush=True)
            spawn()
            print("done", flush=True)
        """, args=[fifo])
        if not wait_until(lambda: "D" in thread_states(target.pid), 5):
            self.skipTest("posix_spawn does not wait uninterruptibly here")
        begin = time.monotonic()
        dump = self.json(target.pid)
        self.assertLess(time.monotonic() - begin, 5)
        (thread,) = dump["threads"]
        self.assertEqual((thread["frames"][0]["function"], thread["state"], thread["stack"]), ("spawn", "waiting", "exact"))
        self.assertTrue(thread["holds_gil"])
        os.close(os.open(fifo, os.O_WRONLY))
        self.assertEqual(target.stdout.readline(), b"done\n")
        self.assertEqual(target.wait(), 0)


class Permissions(DumpCase):
    @contextlib.contextmanager
    def traced(self, pid):
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
        self.assertEqual(libc.ptrace(PTRACE_SEIZE, pid, None, None), 0, os.strerror(ctypes.get_errno()))
        try:
            yield
        finally:
            libc.ptrace(PTRACE_INTERRUPT, pid, None, None)
            os.waitpid(pid, 0x40000000)
            libc.ptrace(PTRACE_DETACH, pid, None, None)

    def test_traced_by_another(self):
        target = self.target(THREADS)
        self.assertTrue(wait_until(lambda: sorted(thread_states(target.pid)) == ["R", "S", "S"]))
        (spinner,) = (t["id"] for t in self.json(target.pid)["threads"] if t["name"] == "spinner")
        with self.traced(spinner):
            done = self.dump(target.pid, "--json")
            self.assertRegex(done.stderr, "warning: what runs was read as it ran, because it cannot be stopped .*not permitted")
            dump = json.loads(done.stdout)
            self.assertIsNone(dump["stopped_ns"])
            self.assertEqual({t["name"]: t["stack"] for t in dump["threads"]},
                             {"MainThread": "exact", "napper": "exact", "spinner": "running"})
            self.assertEqual(self.dump(target.pid, "--no-stop").stderr, "")
            refused = self.linescope("dump", "--pid", target.pid, "--consistency", "stop")
            self.assertEqual((refused.status, refused.stdout), (195, ""))
            self.assertRegex(refused.stderr, "cannot be stopped .*--consistency free")
        self.assertUndisturbed(target.pid)

    def test_other_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        nobody = pwd.getpwnam("nobody")
        target = self.asleep(WAITING)
        os.chmod(self.folder, 0o777)
        binary = self.folder / "linescope"
        subprocess.run(["cp", LINESCOPE, binary], check=True)
        done = subprocess.run([binary, "dump", "--pid", str(target.pid)], capture_output=True, text=True, check=False,
                              user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[])
        self.assertEqual((done.returncode, done.stdout), (195, ""))
        self.assertIn("belongs to user 0", done.stderr)

    def test_another_pid_namespace(self):
        unshare = ["unshare", "--pid", "--fork", "--kill-child"]
        if subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no permission for a pid namespace of its own")
        shell = self.start([*unshare, PYTHON, "-u", self.program(THREADS)])
        self.assertEqual(shell.stdout.readline(), b"ready\n")
        with open("/proc/%d/task/%d/children" % (shell.pid, shell.pid)) as f:
            pid = int(f.read())
        dump = self.json(pid)
        self.assertEqual({t["id"] for t in dump["threads"]}, {int(tid) for tid in os.listdir("/proc/%d/task" % pid)})
        self.assertEqual(({t["stack"] for t in dump["threads"]}, dump["threads"][0]["main"]), ({"exact"}, True))
        self.assertGreater(dump["stopped_ns"], 0)
        self.assertUndisturbed(pid)


class Refusals(DumpCase):
    def refused(self, status, words, *args):
        done = self.linescope("dump", *args)
        self.assertEqual((done.status, done.stdout), (status, ""), done.stderr)
        self.assertRegex(done.stderr, words)

    def test_gone(self):
        self.refused(194, "there is no process 4190000", "--pid", 4190000)

    def test_zombie(self):
        zombie = self.start([PYTHON, "-c", "pass"])
        self.assertTrue(wait_until(lambda: not alive(zombie.pid)))
        self.refused(194, "ended", "--pid", zombie.pid)

    def test_not_python(self):
        sleeper = self.start(["sleep", "60"])
        self.refused(196, "no Python interpreter", "--pid", sleeper.pid)

    def test_usage(self):
        self.refused(193, "either --pid or --name")
        self.refused(193, "either --pid or --name", "--pid", 1, "--name", "x")
        self.refused(193, "--no-stop contradicts", "--pid", 1, "--no-stop", "--consistency", "stop")


if __name__ == "__main__":
    unittest.main()
