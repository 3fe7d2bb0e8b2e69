"""`linescope run`: the program must not notice, and whatever happens to it or to us, the profile is whole."""
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
import unittest

from support import INTERPRETERS, LINESCOPE, PYTHON, SPIN, VERSIONS, Case, alive, each_interpreter, wait_until


class SameProgram(Case):
    """Everything a program can see of its surroundings is as without LineScope."""

    OBSERVE = """
        import fcntl, json, os, resource, signal, sys
        fds = {}
        for name in sorted(os.listdir("/proc/self/fd"), key=int):
            try:
                fds[name] = os.readlink("/proc/self/fd/" + name)
            except OSError:
                pass
        fds = {k: v for k, v in fds.items() if not v.startswith("/proc/")}
        status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
        print(json.dumps({
            "argv": sys.argv, "path0": sys.path[0], "cwd": os.getcwd(), "file": globals().get("__file__"), "name": __name__,
            "environment": {k: v for k, v in sorted(os.environ.items()) if k not in ("_", "LINES", "COLUMNS")},
            "fds": sorted(fds), "umask": os.umask(0), "nice": os.nice(0), "pgid_is_parents": os.getpgid(0) == os.getpgid(os.getppid()),
            "masks": [status[k].strip() for k in ("SigBlk", "SigIgn", "SigCgt")], "affinity": sorted(os.sched_getaffinity(0)),
            "slack": open("/proc/self/timerslack_ns").read(), "nofile": resource.getrlimit(resource.RLIMIT_NOFILE),
            "flags": list(sys.flags), "executable": sys.executable, "orig": getattr(sys, "orig_argv", [])[1:],
            "stdin": sys.stdin.read(), "tty": [os.isatty(i) for i in range(3)], "preload": os.environ.get("LD_PRELOAD"),
            "maps": sorted({l.split()[-1] for l in open("/proc/self/maps") if ".so" in l}),
        }))
        sys.exit(3)
    """

    def compare(self, python, *arguments):
        plain = subprocess.run([python, *arguments], cwd=self.folder, input=b"hello\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               check=False)
        ours = subprocess.run([LINESCOPE, "run", "-o", "x.collapsed", "--display", "none", "--", python, *arguments], cwd=self.folder,
                              input=b"hello\n", stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual(ours.returncode, plain.returncode)
        self.maxDiff = None
        self.assertEqual(json.loads(ours.stdout), json.loads(plain.stdout))

    @each_interpreter
    def test_script(self, python):
        self.program(self.OBSERVE, "observe.py")
        self.compare(python, "./observe.py", "-o", "a b", "--rate", "9", "--", "x")

    def test_module(self):
        self.program(self.OBSERVE, "observe.py")
        self.compare(PYTHON, "-m", "observe", "--help")

    def test_code(self):
        import textwrap
        self.compare(PYTHON, "-X", "dev", "-c", textwrap.dedent(self.OBSERVE), "-m")

    def test_forms_are_equal(self):
        """SCRIPT, -m and -c start the interpreter exactly as by hand."""
        self.program("import sys; print(sys.argv, sys.flags, __name__)", "args.py")
        for arguments in (["args.py", "-o", "x", "--rate", "0"], ["-m", "args", "-q"], ["-c", "import sys; print(sys.argv)", "--", "-v"]):
            plain = subprocess.run([PYTHON, *arguments], cwd=self.folder, capture_output=True, check=True)
            done = self.linescope("run", "--python", PYTHON, "-o", "x.collapsed", *arguments)
            self.assertEqual(done.stdout.encode(), plain.stdout)
        # `run` is implied by a script and by -m.
        done = self.linescope("args.py", "--display", "none", env={**os.environ, "PATH": os.path.dirname(PYTHON) + ":/usr/bin:/bin"})
        self.assertIn("--display", done.stdout)

    def test_output_is_untouched(self):
        done = self.run_and_keep("--", PYTHON, "-c", "import sys; sys.stdout.write('x' * 100000); sys.stderr.write('E')")
        self.assertEqual(done.stdout, "x" * 100000)
        self.assertTrue(done.stderr.startswith("E"))

    def test_terminal(self):
        """In a terminal the program is in the foreground and reads from it."""
        script = self.program("""
            import os, sys
            print(os.isatty(0), os.isatty(1), os.tcgetpgrp(0) == os.getpgrp())
            print("read", input())
        """)
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(LINESCOPE, [LINESCOPE, "run", "-o", "x.collapsed", "--display", "none", "--", PYTHON, script])
        os.write(master, b"typed\n")
        text = b""
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            if not data:
                break
            text += data
        _, status = os.waitpid(pid, 0)
        os.close(master)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0, text)
        self.assertIn(b"True True True", text)
        self.assertIn(b"read typed", text)


class Endings(Case):
    """However the program ends, its status is ours and everything measured is kept."""

    def check(self, text, status, error, python=PYTHON):
        script = self.program(SPIN + text)
        # Now and then a busy machine has no CPU for us for as long as the program takes.
        for _ in range(3):
            done = self.run_and_keep("--", python, script)
            self.assertEqual(done.status, status, done.stderr)
            stats = self.stats()
            if stats["samples"] > 50:
                break
        self.assertEqual(stats["run"]["state"], "complete")
        self.assertEqual(stats["run"]["error"], error)
        self.assertGreater(stats["samples"], 50)
        self.assertEqual(stats["lines"][0]["file"], script)
        samples, missed, dropped = self.figures(done.stderr)
        self.assertEqual((samples, missed), (stats["samples"], stats["missed"]))
        self.assertEqual(sum(stats["drops"].values()) if stats["drops"] else 0, dropped)
        return done

    def test_success(self):
        self.check("hot(0.3)", 0, "")

    def test_exit_status(self):
        self.check("hot(0.3); sys.exit(7)", 7, "exit status 7")

    def test_exit_text(self):
        done = self.check("hot(0.3); sys.exit('bad thing')", 1, "exit status 1")
        self.assertTrue(done.stderr.startswith("bad thing\n"))

    def test_exception(self):
        done = self.check("hot(0.3); raise ValueError('oh')", 1, "exit status 1")
        self.assertIn("ValueError: oh", done.stderr)

    def test_os_exit(self):
        self.check("hot(0.3); os._exit(9)", 9, "exit status 9")

    def test_segmentation_fault(self):
        self.check("hot(0.3); os.kill(os.getpid(), 11)", 139, "killed by SIGSEGV")

    def test_killed(self):
        self.check("hot(0.3); os.kill(os.getpid(), 9)", 137, "killed by SIGKILL")

    @each_interpreter
    def test_every_interpreter(self, python):
        self.check("hot(0.3); sys.exit(4)", 4, "exit status 4", python)

    def test_a_newer_version_is_read_by_its_own_offsets(self):
        """The newest known, made to say that it is a version that does not exist yet."""
        for version, path in reversed(INTERPRETERS):
            with open(path, "rb") as f:
                program = f.read()
            # What the table of offsets begins with.
            found = re.search(rb"xdebugpy(..%c\x03)" % int(version[2:]), program, re.DOTALL)
            if version == VERSIONS[-1] and found:
                break
        else:
            self.skipTest("no Python %s on this machine that is one file" % VERSIONS[-1])
        told = found.group(1)
        newer = told[:2] + bytes([told[2] + 1]) + told[3:]
        # The table's word, and the constant that becomes sys.hexversion (mov edi, ...).
        program = program.replace(b"xdebugpy" + told, b"xdebugpy" + newer).replace(b"\xbf" + told, b"\xbf" + newer)
        python = self.folder / "python"
        python.write_bytes(program)
        python.chmod(0o755)
        home = subprocess.run([path, "-c", "import sys; print(sys.base_prefix)"], capture_output=True, text=True, check=True)
        script = self.program(SPIN + "hot(0.5)")
        done = self.run_and_keep("--", str(python), script, env={**os.environ, "PYTHONHOME": home.stdout.strip()})
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIn("is newer than this version of LineScope knows (%s)" % VERSIONS[-1], done.stderr)
        self.assertEqual(self.stats()["functions"][0]["name"], "hot")

    def test_syntax_error(self):
        script = self.program("def f(:\n")
        done = self.run_and_keep("--", PYTHON, script)
        self.assertEqual(done.status, 1)
        self.assertIn("SyntaxError", done.stderr)
        self.assertEqual(self.stats()["run"]["error"], "exit status 1")

    def test_failed_report_says_so(self):
        script = self.program(SPIN + "hot(0.2); sys.exit(5)")
        done = self.linescope("run", "-o", "r.html", "--display", "none", "--", PYTHON, script)
        self.assertEqual(done.status, 5)
        self.assertIn("exit status 5", (self.folder / "r.html").read_text())
        self.assertNothingLeft("prog.py", "r.html")

    def test_exec_into_another_program(self):
        """A launcher that replaces itself by Python, and Python that replaces itself."""
        script = self.program(SPIN + "hot(0.4); print('ran')")
        done = self.run_and_keep("--", "/bin/sh", "-c", 'exec "$0" "$1"', PYTHON, script)
        self.assertEqual((done.status, done.stdout), (0, "ran\n"))
        self.assertGreater(self.stats()["samples"], 50)
        first = self.program(SPIN + "hot(0.3); os.execv(sys.executable, [sys.executable, %r])" % script, "first.py")
        done = self.run_and_keep("--", PYTHON, first, profile="q.linescope")
        self.assertEqual((done.status, done.stdout), (0, "ran\n"))
        files = {line["file"] for line in self.stats("q.linescope")["lines"]}
        self.assertLessEqual({script, first}, files)

    def test_not_python(self):
        done = self.run_and_keep("--", "/bin/sh", "-c", "sleep 0.3; exit 6")
        self.assertEqual(done.status, 6)
        self.assertIn("no Python interpreter", done.stderr)

    def test_first_line_counts(self):
        """The program's first statement is as visible as any other."""
        script = self.program("x = sum(i * i for i in range(3_000_000))\ny = sum(i * i for i in range(3_000_000))\n")
        self.run_and_keep("--", PYTHON, script)
        by_line = {line["line"]: line["time_ns"] for line in self.stats()["lines"] if line["file"] == script}
        # Half, were the machine the same all the time.
        self.assertGreater(by_line[1] / (by_line[1] + by_line[2]), 0.2)


class Signals(Case):
    """Signals to us, to the program, or to both."""

    def begin(self, body, *options, **popen):
        script = self.program(SPIN + "print('pid', os.getpid(), flush=True)\n" + body)
        process = self.start([LINESCOPE, "run", "--profile", "p.linescope", "-o", "r.html", "--display", "none", *options, "--", PYTHON,
                              "-u", script], **popen)
        line = process.stdout.readline().split()
        return process, int(line[1])

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        return process.returncode, out.decode(), err.decode()

    def whole(self):
        stats = self.stats()
        self.assertEqual(stats["run"]["state"], "complete")
        self.assertGreater(stats["samples"], 100)
        self.assertTrue((self.folder / "r.html").read_text().startswith("<!"))
        return stats

    def test_ctrl_c_in_a_terminal(self):
        """The terminal gives Ctrl-C to both; the program handles it once and decides its status."""
        script = self.program(SPIN + """
try:
    print("started", flush=True)
    hot(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    hot(0.5)
    sys.exit(5)
""")
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execv(LINESCOPE, [LINESCOPE, "run", "--profile", "p.linescope", "-o", "r.html", "--display", "none", "--", PYTHON, script])
        text = b""
        sent = False
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:
                break
            if not data:
                break
            text += data
            if b"started" in text and not sent:
                time.sleep(0.5)
                os.write(master, b"\x03")
                sent = True
        _, status = os.waitpid(pid, 0)
        os.close(master)
        self.assertEqual(os.waitstatus_to_exitcode(status), 5, text)
        self.assertEqual(text.count(b"interrupted"), 1)
        self.whole()

    def test_sigint_to_the_group(self):
        process, _ = self.begin("try:\n    hot(60)\nexcept KeyboardInterrupt:\n    print('once', flush=True)\n    sys.exit(5)",
                                start_new_session=True)
        time.sleep(0.6)
        os.killpg(process.pid, signal.SIGINT)
        status, out, _ = self.finish(process)
        self.assertEqual((status, out), (5, "once\n"))
        self.whole()

    def passed_on(self, number, expected):
        process, pid = self.begin("hot(60)")
        time.sleep(0.6)
        process.send_signal(number)
        status, _, err = self.finish(process)
        self.assertEqual(status, expected, err)
        self.assertFalse(alive(pid))
        return self.whole()

    def test_sigterm_is_passed_on(self):
        stats = self.passed_on(signal.SIGTERM, 143)
        self.assertEqual(stats["run"]["error"], "killed by SIGTERM")

    def test_sighup_is_passed_on(self):
        self.passed_on(signal.SIGHUP, 129)

    def test_sigint_is_passed_on(self):
        self.passed_on(signal.SIGINT, 130)

    def test_sigusr2_is_passed_on(self):
        self.passed_on(signal.SIGUSR2, 128 + signal.SIGUSR2)

    def test_a_handled_sigterm_leaves_the_status_to_the_program(self):
        process, _ = self.begin("""
def bye(*_):
    print("bye", flush=True)
    sys.exit(11)
signal.signal(signal.SIGTERM, bye)
hot(60)
""")
        time.sleep(0.6)
        process.terminate()
        status, out, _ = self.finish(process)
        self.assertEqual((status, out), (11, "bye\n"))
        self.whole()

    def test_sigkill_of_linescope(self):
        """The program goes on; what was collected until a second ago is readable."""
        process, pid = self.begin("hot(6)\nopen('done', 'w').close()")
        time.sleep(3)
        process.kill()
        process.wait()  # not for its pipes: the program holds them still
        self.assertTrue(alive(pid))
        stats = self.stats()
        self.assertEqual(stats["run"]["state"], "interrupted")
        self.assertGreater(stats["run"]["elapsed_ns"], 1.5e9)
        self.assertGreater(stats["samples"], 100)
        self.assertTrue(wait_until((self.folder / "done").exists, 60))
        self.assertFalse((self.folder / "r.html").exists())
        done = self.linescope("report", "p.linescope", "-o", "late.html")
        self.assertEqual(done.status, 0, done.stderr)

    def test_a_report_without_ai_connects_to_nothing(self):
        """Whichever command writes it, and as the configuration says where the command line says nothing."""
        def connections(name):
            return re.search(rb"connect-src ([^;]*);", (self.folder / name).read_bytes()).group(1).decode()

        process, _ = self.begin("hot(2)", "--no-ai")
        time.sleep(0.7)
        os.kill(process.pid, signal.SIGUSR1)
        self.assertTrue(wait_until((self.folder / "r.html").exists))
        self.assertEqual(connections("r.html"), "'none'")
        self.finish(process)
        self.assertEqual(connections("r.html"), "'none'")
        open_to = "https: http://localhost:* http://127.0.0.1:*"
        for arguments, expected in ((["report"], open_to), (["report", "--no-ai"], "'none'"), (["export", "--no-ai"], "'none'"),
                                    (["diff", "--no-ai", "p.linescope"], "'none'")):
            done = self.linescope(*arguments, "p.linescope", "-o", "late.html")
            self.assertEqual(done.status, 0, done.stderr)
            self.assertEqual(connections("late.html"), expected, arguments)
        for arguments, expected in (([], "'none'"), (["--ai"], open_to)):
            done = self.linescope("run", *arguments, "-o", "set.html", "--display", "none", "--", PYTHON, "-c", "pass",
                                  env={**os.environ, "LINESCOPE_AI": "false"})
            self.assertEqual(done.status, 0, done.stderr)
            self.assertEqual(connections("set.html"), expected, arguments)

    def test_sigusr1_writes_the_report_so_far(self):
        """The program does not notice, and the end's report takes the place of the one before."""
        process, pid = self.begin("signal.signal(signal.SIGUSR1, lambda *_: sys.exit(5))\nhot(4)")
        time.sleep(1.5)
        os.kill(process.pid, signal.SIGUSR1)
        self.assertTrue(wait_until((self.folder / "r.html").exists))
        so_far = (self.folder / "r.html").read_bytes()
        self.assertIn(b"Interrupted", so_far)
        self.assertTrue(alive(pid))
        status, _, err = self.finish(process)
        self.assertEqual(status, 0, err)
        self.assertIn("r.html so far", err)
        self.assertNotEqual((self.folder / "r.html").read_bytes(), so_far)
        self.assertGreater(self.whole()["run"]["elapsed_ns"], 4e9)

    def test_stopped_and_continued(self):
        """A program that is stopped for a while is neither ended nor read wrongly."""
        process, pid = self.begin("hot(1.5)\nsys.exit(2)")
        time.sleep(0.5)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(0.5)
        os.kill(pid, signal.SIGCONT)
        status, _, _ = self.finish(process)
        self.assertEqual(status, 2)
        self.whole()

    def test_stop_mode_lets_go(self):
        """A thousand stops a second, and the program still ends by itself."""
        process, _ = self.begin("hot(2)\nprint('end', flush=True)\nsys.exit(3)", "--consistency", "stop", "--rate", "1000")
        status, out, _ = self.finish(process)
        self.assertEqual((status, out), (3, "end\n"))
        # A stop is no end, though a wait for the end tells it.
        self.assertGreater(self.whole()["run"]["elapsed_ns"], 2e9)

    def test_duration_ends_the_profile_not_the_program(self):
        process, _ = self.begin("hot(1.5)\nprint('end', flush=True)\nsys.exit(3)", "--duration", "0.5")
        status, out, _ = self.finish(process)
        self.assertEqual((status, out), (3, "end\n"))
        self.assertLess(self.stats()["run"]["elapsed_ns"], 1.4e9)

    def test_delay(self):
        process, _ = self.begin("hot(1.0)\ndef late():\n    hot(1.0)\nlate()", "--delay", "1.2")
        self.assertEqual(self.finish(process)[0], 0)
        functions = {f["name"]: f["samples"] for f in self.stats()["functions"]}
        self.assertGreater(functions["hot"], 50)


class Names(Case):
    """Paths may be any bytes; Python shows those that are no UTF-8 as lone surrogates."""

    @each_interpreter
    def test_paths_that_are_no_text(self, python):
        folder = os.fsencode(str(self.folder)) + b"/caf\xe9"
        os.makedirs(folder, exist_ok=True)
        script = b"prog\xff.py"
        with open(folder + b"/" + script, "w", encoding="utf-8") as file:
            file.write(SPIN + "\nhot(0.4)\n")
        done = subprocess.run([LINESCOPE, "run", "--profile", "p.linescope", "-o", "r.html", "--", python, script], cwd=folder,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"n += i", done.stderr)
        self.assertNotIn(b"no sample fell", done.stderr)
        stats = subprocess.run([LINESCOPE, "stats", "--json", "p.linescope"], cwd=folder, capture_output=True, check=True).stdout
        stats = json.loads(stats.decode("utf-8"))
        self.assertEqual(stats["functions"][0]["name"], "hot")
        self.assertGreater(stats["lines"][0]["samples"], 0)
        with open(folder + b"/r.html", encoding="utf-8") as report:
            self.assertIn("prog\ufffd.py", report.read())


class Storage(Case):
    def setUp(self):
        super().setUp()
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", self.disk], check=False,
                                               stderr=subprocess.DEVNULL).returncode:
            self.skipTest("needs the right to mount a small file system")
        self.addCleanup(subprocess.run, ["umount", "-l", self.disk], check=False)

    def test_full_disk(self):
        """The program does not notice; what fitted is readable, and we say what happened."""
        (self.disk / "filler").write_bytes(b"x" * 120_000)
        script = self.program(SPIN + """
import random
def deep(n):
    return deep(n - 1) if n else hot(0.0005)
while time.monotonic() < END:
    deep(random.randrange(400))
""".replace("END", "START + 4").replace("while", "START = time.monotonic()\nwhile", 1))
        done = self.linescope("run", "--profile", self.disk / "p.linescope", "-o", self.disk / "r.html", "--display", "none", "--",
                              PYTHON, script)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?i)no space|full|could not be written|cannot write")
        self.assertFalse((self.disk / "r.html").exists() and not (self.disk / "r.html").read_text().rstrip().endswith("</html>"))
        if (self.disk / "p.linescope").exists():
            self.linescope("stats", "--json", self.disk / "p.linescope")


if __name__ == "__main__":
    unittest.main()
