"""`linescope top`: what a person sees and does in a terminal, and that the terminal and the program come out of it unharmed."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

from support import LINESCOPE, PYTHON, SPIN, Case, alive, each_interpreter, wait_until

try:
    import pyte
except ImportError:
    # The distribution's package (python3-pyte) is plain Python, and serves other interpreters, too.
    sys.path.append("/usr/lib/python3/dist-packages")
    try:
        import pyte
    except ImportError:
        pyte = None

PATIENCE_S = 40

BUSY = SPIN + """
import threading
def wait(event):
    event.wait()
event = threading.Event()
threading.Thread(target=wait, args=(event,), name="waiter", daemon=True).start()
"""
HOT_LINE = next(i for i, line in enumerate(BUSY.splitlines(), 1) if "n += i" in line)


class Terminal:
    """A program in a terminal of its own, and the screen as a person would see it."""

    def __init__(self, argv, rows=24, columns=80, **options):
        self.master, self.slave = pty.openpty()
        self.size(rows, columns)
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.before = termios.tcgetattr(self.slave)
        inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        environment = {**inherited, "TERM": "linux", "LC_ALL": "C.UTF-8", **options.pop("env", {})}
        streams = {"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **options}
        self.process = subprocess.Popen(argv, env=environment, start_new_session=True, preexec_fn=self._take, **streams)

    def _take(self):
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def size(self, rows, columns):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.screen.resize(rows, columns)
        self.size(rows, columns)

    def pump(self, seconds=0.1):
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            ready = select.select([self.master], [], [], max(0, min(left, 0.05)))[0]
            if ready:
                try:
                    data = os.read(self.master, 65536)
                except OSError:
                    return
                self.raw += data
                self.stream.feed(data)
            elif left <= 0:
                return

    def text(self):
        return "\n".join(line.rstrip() for line in self.screen.display)

    def type(self, keys):
        os.write(self.master, keys.encode())

    def end(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@unittest.skipIf(pyte is None, "no terminal emulator: the Python package pyte (python3-pyte)")
class View(Case):
    def terminal(self, *arguments, **options):
        options.setdefault("cwd", self.folder)
        terminal = Terminal([LINESCOPE, "top", *arguments], **options)
        self.addCleanup(terminal.end)
        return terminal

    def attach(self, target, *arguments, **options):
        terminal = self.terminal("--interval", "0.3", "--pid", str(target.pid), *arguments, **options)
        self.see(terminal, r"target\.py:%d +n \+= i" % HOT_LINE)
        return terminal

    def busy(self):
        return self.target(BUSY + 'print("ready")\nhot(300)\n')

    def see(self, terminal, pattern, seconds=PATIENCE_S):
        end = time.monotonic() + seconds
        while not re.search(pattern, terminal.text(), re.M):
            if time.monotonic() > end:
                self.fail("%r was not seen in\n%s" % (pattern, terminal.text()))
            terminal.pump()

    def rows(self, terminal):
        """What stands in the table, by place."""
        return re.findall(r"^ *[\d.–]+ +[\d.]+ +[\d.]+ +[\d.]+ [mµn]?s +(\S+)", terminal.text(), re.M)

    def assertLeft(self, terminal, status):
        end = time.monotonic() + PATIENCE_S
        while terminal.process.poll() is None and time.monotonic() < end:
            terminal.pump()
        terminal.pump()
        self.assertEqual(terminal.process.poll(), status, terminal.text())
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)
        self.assertFalse(terminal.screen.cursor.hidden)


class Attached(View):
    @each_interpreter
    def test_the_hot_line(self, python):
        target = self.target(BUSY + 'print("ready")\nhot(300)\n', python=python)
        terminal = self.terminal("--pid", str(target.pid))
        self.see(terminal, r"target\.py:%d +n \+= i" % HOT_LINE)
        self.assertIn("running", terminal.text())
        self.see(terminal, r"threads: 2")
        # It waits, and is not in the way of what works.
        self.assertNotIn("event.wait()", terminal.text())
        terminal.type("w")
        self.see(terminal, r"event\.wait\(\)")
        terminal.type("q")
        self.assertLeft(terminal, 0)
        self.assertTrue(alive(target.pid))
        target.kill()

    def test_sort_filter_and_code(self):
        target = self.busy()
        terminal = self.attach(target)
        self.assertRegex(self.rows(terminal)[0], r"target\.py")
        terminal.type("sss")
        self.see(terminal, "Location▾")
        self.see(terminal, "by Name")
        lines = [int(place.rsplit(":", 1)[1]) for place in self.rows(terminal)]
        self.assertEqual(lines, sorted(lines))
        self.assertGreater(len(lines), 1)
        terminal.type("r")
        self.see(terminal, "Location▴")
        lines = [int(place.rsplit(":", 1)[1]) for place in self.rows(terminal)]
        self.assertEqual(lines, sorted(lines, reverse=True))
        terminal.type("a")
        self.see(terminal, "all code")
        terminal.type("w")
        self.see(terminal, r"threading\.py:\d+")
        terminal.type("/THREADING\r")
        self.see(terminal, "'THREADING'")
        self.assertTrue(self.rows(terminal))
        for place in self.rows(terminal):
            self.assertIn("threading.py", place)
        terminal.type("\x1b")
        self.see(terminal, r"target\.py")
        terminal.type("/nosuchthing")
        self.see(terminal, "nothing here has 'nosuchthing' in it")
        terminal.type("\x1b")
        self.see(terminal, r"target\.py")
        terminal.type("q")
        self.assertLeft(terminal, 0)

    def test_help_tabs_and_details(self):
        target = self.busy()
        terminal = self.attach(target)
        terminal.type("?")
        self.see(terminal, r"count from zero")
        terminal.type("q")
        self.see(terminal, "Location")
        terminal.type("\r")
        self.see(terminal, r"in hot$")
        self.see(terminal, r"%d +n \+= i" % HOT_LINE)
        self.see(terminal, r"for i in range\(1000\):")
        terminal.type("\x1b")
        self.see(terminal, "Location")
        terminal.type("2")
        self.see(terminal, r"hot +target\.py:\d+")
        terminal.type("3")
        self.see(terminal, r"(running|waiting)[a-z ]* +%d +MainThread +hot target\.py:%d" % (target.pid, HOT_LINE))
        self.see(terminal, r"(waiting|idle) +\d+ +waiter +wait target\.py")
        terminal.type("\r")
        self.see(terminal, r'Thread %d "MainThread"' % target.pid)
        self.see(terminal, r"hot +target\.py:\d+ +n \+= i")
        terminal.type("q4")
        self.see(terminal, r"%d +– +3\.\d+\.\d+\S* +runs" % target.pid)
        terminal.type("q")
        self.assertLeft(terminal, 0)

    def test_pause_and_zero(self):
        target = self.busy()
        terminal = self.attach(target)
        terminal.type("p")
        self.see(terminal, "paused")
        before = terminal.text()
        terminal.pump(1.2)  # four intervals
        self.assertEqual(terminal.text(), before)
        terminal.type("p")
        end = time.monotonic() + PATIENCE_S
        while terminal.text().splitlines()[5] == before.splitlines()[5] and time.monotonic() < end:
            terminal.pump()
        self.assertNotIn("paused", terminal.text())
        # What was sampled meanwhile counts.
        time_of = lambda text: float(re.search(r"([\d.]+) (s|ms) +\S*target", text).group(1)) * (
            1 if re.search(r"([\d.]+) (s|ms) +\S*target", text).group(2) == "s" else 0.001)
        self.assertGreater(time_of(terminal.text()), time_of(before))
        terminal.pump(1)
        grown = time_of(terminal.text())
        terminal.type("z")
        self.see(terminal, r"no sample|target\.py")
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            terminal.pump()
            if self.rows(terminal) and time_of(terminal.text()) < grown:
                break
        self.assertLess(time_of(terminal.text()), grown)

    def test_resize(self):
        target = self.busy()
        terminal = self.attach(target)
        self.assertEqual(len(terminal.text().splitlines()), 24)
        terminal.resize(40, 132)
        self.see(terminal, r"z zero +Enter open")  # there is room for it now
        self.assertIn("q quit", terminal.screen.display[39])
        terminal.resize(8, 30)
        self.see(terminal, r"^q quit")
        self.assertIn("q quit", terminal.screen.display[7])
        terminal.resize(24, 80)
        self.see(terminal, r"target\.py:%d" % HOT_LINE)
        terminal.type("q")
        self.assertLeft(terminal, 0)

    def test_every_way_out_gives_the_terminal_back(self):
        """Also where it is another screen: that is left, and the cursor is shown."""
        for how in ("q", "\x03", signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV, "end"):
            with self.subTest(how=str(how)):
                target = self.busy()
                terminal = self.attach(target, env={"TERM": "xterm"})
                self.assertIn(b"\x1b[?1049h", terminal.raw)
                self.assertNotEqual(termios.tcgetattr(terminal.slave), terminal.before)
                if how == "end":
                    target.kill()
                    target.wait()
                    self.see(terminal, "ended")
                    self.see(terminal, r"target\.py:%d" % HOT_LINE)  # the last view stays
                    terminal.type("q")
                elif isinstance(how, str):
                    terminal.type(how)
                else:
                    terminal.process.send_signal(how)
                self.assertLeft(terminal, -how if how == signal.SIGSEGV else 0)
                self.assertIn(b"\x1b[?1049l", terminal.raw)
                self.assertGreater(terminal.raw.rindex(b"\x1b[?1049l"), terminal.raw.rindex(b"\x1b[?1049h"))
                self.assertEqual(alive(target.pid), how != "end")
                target.kill()

    def test_stopped_and_continued(self):
        target = self.busy()
        # As a shell would have it: a job in a process group of its own, below the session's leader.
        program = self.program("""
            import os, signal, sys, termios
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            child = os.fork()
            if child == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(0, os.getpgrp())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.execv(sys.argv[1], sys.argv[1:])
            before = termios.tcgetattr(0)
            _, status = os.waitpid(child, os.WUNTRACED)
            os.tcsetpgrp(0, os.getpgrp())
            print("stopped", os.WIFSTOPPED(status), termios.tcgetattr(0)[3] & termios.ICANON != 0, flush=True)
            sys.stdin.readline()
            os.tcsetpgrp(0, child)
            os.kill(-child, signal.SIGCONT)
            _, status = os.waitpid(child, 0)
            os.tcsetpgrp(0, os.getpgrp())
            print("status", os.WEXITSTATUS(status), flush=True)
        """, "shell.py")
        terminal = Terminal([PYTHON, program, LINESCOPE, "top", "--interval", "0.3", "--pid", str(target.pid)], cwd=self.folder)
        self.addCleanup(terminal.end)
        self.see(terminal, r"target\.py:%d" % HOT_LINE)
        terminal.type("\x1a")
        self.see(terminal, "stopped True True")
        terminal.screen.reset()
        terminal.type("\n")
        self.see(terminal, r"target\.py:%d" % HOT_LINE)
        terminal.type("q")
        self.see(terminal, "status 0")
        self.assertLeft(terminal, 0)

    def test_colours(self):
        target = self.busy()
        for environment, coloured in (({"TERM": "screen-256color"}, True), ({"TERM": "linux"}, True),
                                      ({"TERM": "screen-256color", "NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
            with self.subTest(**environment):
                terminal = self.attach(target, env=environment)
                terminal.type("j")  # the cursor off the hottest row
                terminal.pump(1)
                self.assertEqual(re.search(rb"\x1b\[(\d+;)*3[0-8](;\d+)*m", terminal.raw) is not None, coloured, terminal.raw)
                terminal.type("q")
                self.assertLeft(terminal, 0)

    def test_a_terminal_without_unicode(self):
        target = self.busy()
        terminal = self.attach(target, env={"LC_ALL": "C"})
        self.assertIn("Time%v", terminal.text())
        self.assertTrue(terminal.raw.isascii())
        terminal.type("q")
        self.assertLeft(terminal, 0)


class Launched(View):
    PROGRAM = BUSY + """
print("first words", flush=True)
hot(float(sys.argv[1]))
print("terminal", sys.stdout.isatty(), sys.stdin.read() == "", flush=True)
print("last words", file=sys.stderr)
sys.exit(7)
"""

    def launch(self, seconds, *options, **settings):
        path = self.program(self.PROGRAM, "app.py")
        return self.terminal("--python", PYTHON, "--interval", "0.3", *options, path, str(seconds), **settings)

    def test_output_is_kept_and_the_status_passed_on(self):
        terminal = self.launch(3)
        self.see(terminal, r"app\.py:%d +n \+= i" % HOT_LINE)
        self.see(terminal, r"^first words")
        self.see(terminal, r"exit status 7")
        self.see(terminal, r"^last words")
        terminal.type("5")
        self.see(terminal, r"^terminal True True$")
        mark = len(terminal.raw)
        terminal.type("q")
        self.assertLeft(terminal, 7)
        after = terminal.raw[mark:].decode()
        self.assertRegex(after, r"first words\r\nterminal True True\r\nlast words\r\n")
        self.assertRegex(after, r"samples: \d+")

    def test_output_to_a_file(self):
        terminal = self.launch(2, "--output-of-program", "out.txt")
        self.see(terminal, r"^first words")
        self.see(terminal, r"exit status 7")
        mark = len(terminal.raw)
        terminal.type("q")
        self.assertLeft(terminal, 7)
        self.assertNotIn(b"first words", terminal.raw[mark:])
        self.assertEqual((self.folder / "out.txt").read_text(), "first words\nterminal False True\nlast words\n")

    def test_redirected_streams_stay(self):
        with open(self.folder / "in.txt", "w") as file:
            file.write("from a file")
        program = self.program(SPIN + 'print(sys.stdin.read(), sys.stderr.isatty(), flush=True)\nprint("E", file=sys.stderr)\nhot(1)')
        with open(self.folder / "in.txt") as stdin, open(self.folder / "err.txt", "w") as stderr:
            terminal = self.terminal("--python", PYTHON, program, stdin=stdin, stderr=stderr)
            self.see(terminal, r"^from a file False")
            self.see(terminal, "exit status 0")
            terminal.type("q")
            self.assertLeft(terminal, 0)
        self.assertRegex((self.folder / "err.txt").read_text(), r"\AE\nlinescope: prog\.py")

    def test_control_c_is_the_program_s(self):
        terminal = self.launch(300)
        self.see(terminal, r"app\.py:%d" % HOT_LINE)
        terminal.type("\x03")
        self.see(terminal, "killed by SIGINT")
        self.see(terminal, "KeyboardInterrupt")
        self.see(terminal, r"app\.py:%d" % HOT_LINE)
        terminal.type("q")
        self.assertLeft(terminal, 130)

    def test_quit_before_its_end(self):
        terminal = self.launch(4)
        self.see(terminal, r"app\.py:%d" % HOT_LINE)
        terminal.type("q")
        self.see(terminal, r"goes on")
        self.assertIsNone(terminal.process.poll())
        self.assertLeft(terminal, 7)
        self.assertIn("last words", terminal.text())
        self.assertIn("first words", terminal.text())

    def test_a_terminating_signal_is_passed_on(self):
        terminal = self.launch(300)
        self.see(terminal, r"app\.py:%d" % HOT_LINE)
        terminal.process.terminate()
        self.assertLeft(terminal, 128 + signal.SIGTERM)

    def test_children(self):
        path = self.program(SPIN + """
            import subprocess
            if len(sys.argv) > 1:
                hot(300)
            children = [subprocess.Popen([sys.executable, __file__, "child"]) for _ in range(2)]
            hot(3)
            for child in children:
                child.kill()
        """.replace("\n            ", "\n"), "parent.py")
        terminal = self.terminal("--python", PYTHON, "--interval", "0.3", "--by", "process", path)
        self.see(terminal, r"processes: 3")
        self.see(terminal, r"runs +\S+ parent\.py child")
        self.see(terminal, r"SIGKILL")
        self.see(terminal, "exit status 0")
        terminal.type("q")
        self.assertLeft(terminal, 0)

    def test_a_program_that_cannot_run(self):
        """The terminal is not touched for it."""
        terminal = self.terminal("nosuch.py")
        self.assertLeft(terminal, 127)
        self.assertIn("nosuch.py", terminal.text())


class Batch(Case):
    def test_tables_on_standard_output(self):
        target = self.target(BUSY + 'print("ready")\nhot(300)\n')
        done = self.linescope("top", "--batch", "--count", "2", "--interval", "0.5", "--rows", "3", "--pid", str(target.pid))
        self.assertEqual((done.status, done.stderr), (0, ""))
        tables = done.stdout.split("\n\n")
        self.assertEqual(len(tables), 2)
        for table in tables:
            self.assertIn("samples/s", table)
            self.assertRegex(table, r"target\.py:%d +n \+= i" % HOT_LINE)
            self.assertLessEqual(len(table.strip().splitlines()), 3 + 1 + 3)
        self.assertTrue(alive(target.pid))

    def test_a_program_keeps_its_standard_output(self):
        path = self.program(SPIN + 'print("words of its own")\nhot(0.5)\nsys.exit(3)')
        done = self.linescope("top", "--batch", "--interval", "10", "--python", PYTHON, path)
        self.assertEqual((done.status, done.stdout), (3, "words of its own\n"))
        self.assertRegex(done.stderr, r"prog\.py:\d+ +n \+= i")

    def test_by_thread_and_function(self):
        target = self.target(BUSY + 'print("ready")\nhot(300)\n')
        done = self.linescope("top", "-b", "-n", "1", "--interval", "0.5", "--by", "thread", "--pid", str(target.pid))
        self.assertRegex(done.stdout, r"(waiting|idle) +\d+ +waiter +wait target\.py")
        done = self.linescope("top", "-b", "-n", "1", "--interval", "0.5", "--by", "function", "--pid", str(target.pid))
        self.assertRegex(done.stdout, r"hot +target\.py:\d+")

    def test_refusals(self):
        for arguments, status, words in (
            (["--pid", str(os.getpid())], 193, "standard output is no terminal: --batch"),
            (["nosuch.py"], 127, "nosuch.py"),
            (["--pid", "1", "prog.py"], 193, "not both"),
            ([], 193, "a script to run is missing"),
            (["--batch", "--pid", "999999999"], 194, "no process"),
            (["--batch", "--count", "0", "--pid", "1"], 193, "number of tables"),
            (["--count", "3", "--pid", "1"], 193, "--batch"),
            (["--interval", "0", "--pid", "1"], 193, "0.1"),
        ):
            with self.subTest(arguments=arguments):
                done = self.linescope("top", *arguments)
                self.assertEqual(done.status, status, done.stderr)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stdout, "")

    @unittest.skipIf(pyte is None, "no terminal emulator: the Python package pyte (python3-pyte)")
    def test_an_unknown_terminal(self):
        terminal = Terminal([LINESCOPE, "top", "--pid", str(os.getpid())], env={"TERM": "no-such-terminal"})
        self.addCleanup(terminal.end)
        self.assertTrue(wait_until(lambda: terminal.pump() or terminal.process.poll() is not None))
        self.assertEqual(terminal.process.returncode, 193)
        self.assertIn("'no-such-terminal'", terminal.text())


if __name__ == "__main__":
    unittest.main()
