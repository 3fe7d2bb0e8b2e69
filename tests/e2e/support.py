"""What the end-to-end tests share: the interpreters of this machine, and the binary under test.

The binary is named by LINESCOPE (default: that of the release preset), interpreters may be named by LINESCOPE_PYTHONS
(colon-separated); otherwise those that tools/pythons made, pyenv's and those on PATH are taken. A version that the machine lacks is
skipped by name.
"""
import collections
import contextlib
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINESCOPE = os.environ.get("LINESCOPE", str(ROOT / "build" / "release" / "bin" / "linescope"))
VERSIONS = tuple("3.%d" % minor for minor in range(8, 16))
# Builds of their own kind, as tools/pythons names them: t is free-threaded, d a debug build.
BUILDS = ("3.9d", "3.11d", "3.13d", "3.13t", "3.14d", "3.14t", "3.15d", "3.15t")
TELL_VERSION = """
import sys, sysconfig
print("%d.%d" % sys.version_info[:2] + "t" * bool(sysconfig.get_config_var("Py_GIL_DISABLED")) + "d" * hasattr(sys, "gettotalrefcount"))
"""
MADE = ROOT / "build" / "pythons"
TIMEOUT_S = 120

Done = collections.namedtuple("Done", "status stdout stderr")


def _candidates():
    if os.environ.get("LINESCOPE_PYTHONS"):
        yield from os.environ["LINESCOPE_PYTHONS"].split(":")
        return
    yield from sorted(glob.glob(str(MADE / "*" / "bin" / "python3")))
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    yield from sorted(glob.glob(os.path.join(root, "versions", "*", "bin", "python3")))
    for folder in os.environ.get("PATH", "").split(":"):
        if folder.endswith("/shims"):
            continue
        for version in VERSIONS + BUILDS:
            yield os.path.join(folder, "python" + version)
        yield os.path.join(folder, "python3")


def _find_interpreters():
    found, seen = [], set()
    for path in _candidates():
        real = os.path.realpath(path)
        if real in seen or not os.access(real, os.X_OK):
            continue
        seen.add(real)
        try:
            done = subprocess.run([real, "-S", "-c", TELL_VERSION], capture_output=True, text=True, timeout=30,
                                  stdin=subprocess.DEVNULL, check=False)
        except OSError:
            continue
        if done.stdout.strip() in VERSIONS + BUILDS:
            found.append((done.stdout.strip(), real))
    return found


_FOUND = _find_interpreters()
INTERPRETERS = [(version, path) for version, path in _FOUND if version in VERSIONS]
# For tests of no particular version: one of which everything can be read.
PYTHON = next((path for wanted in ("3.12", "3.11", "3.13", None) for version, path in INTERPRETERS if wanted in (version, None)),
              sys.executable)


def version_of(python):
    """(3, 12) of one of the interpreters found."""
    return next(tuple(map(int, version.rstrip("td").split("."))) for version, path in _FOUND if path == python)


def each_interpreter(method, versions=VERSIONS):
    """Runs a test method once for every interpreter found, and skips by name the versions that are missing."""
    def run(self):
        for version in versions:
            if not any(v == version for v, _ in _FOUND):
                with self.subTest(python=version):
                    self.skipTest("no Python %s on this machine" % version)
        for version, path in _FOUND:
            if version in versions:
                with self.subTest(python=version, path=path):
                    method(self, path)
    run.__name__, run.__doc__ = method.__name__, method.__doc__
    return run


def each_of(*versions):
    """each_interpreter for some versions, or builds of their own kind."""
    return lambda method: each_interpreter(method, versions)


each_build = each_of(*VERSIONS, *BUILDS)


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def descendants(pid):
    """Processes made by `pid`, and those made by them, parents first."""
    found = [pid]
    for each in found:
        for path in glob.glob("/proc/%d/task/*/children" % each):
            with contextlib.suppress(OSError), open(path) as file:
                found += map(int, file.read().split())
    return found[1:]


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


class Case(unittest.TestCase):
    """A test with a folder of its own, in which programs are made and run."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="linescope-e2e-")).resolve()
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.processes = []
        self.addCleanup(self._end_processes)

    def _end_processes(self):
        for process in self.processes:
            # Those that it made would go on, and hold the pipes that are read to their end here.
            for pid in reversed(descendants(process.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            if process.poll() is None:
                process.kill()
            process.communicate()

    def program(self, text, name="prog.py"):
        path = self.folder / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def start(self, argv, **options):
        options.setdefault("cwd", self.folder)
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen(argv, **options)
        self.processes.append(process)
        return process

    def target(self, text, python=PYTHON, args=(), **options):
        """A program that runs already; it must print `ready`."""
        process = self.start([python, "-u", self.program(text, "target.py"), *args], **options)
        while True:
            line = process.stdout.readline()
            if line.strip() == b"ready":
                return process
            self.assertTrue(line, "the target ended before it was ready: %s" % process.stderr.read())

    def linescope(self, *args, **options):
        options.setdefault("cwd", self.folder)
        options.setdefault("timeout", TIMEOUT_S)
        if "input" not in options:
            options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run([LINESCOPE, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, **options)
        return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))

    def run_and_keep(self, *args, profile="p.linescope", **options):
        """`run` that writes only the profile."""
        return self.linescope("run", "--profile", profile, "-o", "out.collapsed", "--display", "none", *args, **options)

    def stats(self, profile="p.linescope"):
        done = self.linescope("stats", "--json", profile)
        self.assertEqual(done.status, 0, done.stderr)
        return json.loads(done.stdout)

    def stacks(self, path="out.collapsed"):
        """[(frames, count)], frames root first as (file name, function, line)."""
        result = []
        for line in (self.folder / path).read_text().splitlines():
            body, _, count = line.rpartition(" ")
            parts = body.split(";")
            if parts and parts[0].startswith("thread"):
                parts.pop(0)
            frames = []
            for part in parts:
                fields = part.rsplit(":", 2)
                if len(fields) == 3:
                    frames.append((os.path.basename(fields[0]), fields[1], int(fields[2])))
            result.append((frames, int(count)))
        return result

    def figures(self, stderr):
        """samples, missed, dropped of the closing block."""
        return tuple(int(re.search(word + r": (\d+)", stderr).group(1)) for word in ("samples", "missed", "dropped"))

    def assertNothingLeft(self, *expected):
        """No partial files: only what was expected lies in the folder."""
        left = {p.name for p in self.folder.iterdir()}
        self.assertEqual(left, set(expected))


SPIN = """
import os, signal, sys, time
def hot(seconds):
    end = time.monotonic() + seconds
    n = 0
    while time.monotonic() < end:
        for i in range(1000):
            n += i
    return n
"""
