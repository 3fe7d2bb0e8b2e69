"""What the tests of unusual interpreters share: programs that are built once a machine, and the look at a process from all sides.

What is built lies in build/kinds and is used again; what cannot be built here is skipped with the reason.
"""
import fcntl
import hashlib
import json
import os
import pwd
import shutil
import subprocess
import unittest

from support import LINESCOPE, MADE, ROOT, SPIN, Case, wait_until

BUILT = ROOT / "build" / "kinds"
IS_ROOT = os.geteuid() == 0

HOT = SPIN
SPINNING = HOT + "print('ready', flush=True)\nhot(float(sys.argv[1]) if len(sys.argv) > 1 else 60)\n"


def need(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise unittest.SkipTest("%s is not installed" % program)


def need_root(what):
    if not IS_ROOT:
        raise unittest.SkipTest("needs root, to %s" % what)


def permitted(*argv, **options):
    try:
        return subprocess.run(argv, capture_output=True, check=False, **options).returncode == 0
    except PermissionError:
        return False


def everybodys(pythons, environment=lambda python: None, **user):
    """The first of these interpreters that the user can start, standard library and all; None: there is none."""
    return next((python for python in pythons if os.path.exists(python) and permitted(
        python, "-c", "import encodings", env=environment(python), **user)), None)


def do(*argv, **options):
    """Runs what a test needs done; where that fails, the test cannot be made here."""
    done = subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise unittest.SkipTest("%s fails here: %s" % (argv[0], " ".join(done.stdout.split())[-300:]))
    return done.stdout


def built(name, text, make):
    """The file `name`, which `make(folder)` puts into its folder; made again when `text` changes."""
    BUILT.mkdir(parents=True, exist_ok=True)
    folder = BUILT / ("%s-%s" % (name, hashlib.sha256(text.encode()).hexdigest()[:12]))
    with open(BUILT / ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / name).exists():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            make(part)
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
    return folder / name


def root_with(pattern):
    """(root folder, interpreter in it) of those that tools/pythons made in roots of their own."""
    for root in sorted(MADE.glob(pattern)):
        for name in ("python3", "python3.15", "python3.14"):
            if (root / "usr" / "bin" / name).exists():
                return root, "/usr/bin/" + name
    return None


def status_of(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8", errors="replace") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)


def children_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as f:
        return [int(child) for child in f.read().split()]


class KindCase(Case):
    def only_child(self, process):
        """The process that a launcher has started in its place."""
        self.assertTrue(wait_until(lambda: len(children_of(process.pid)) == 1), "%s started nothing" % process.args)
        return children_of(process.pid)[0]

    def ready(self, process):
        line = process.stdout.readline()
        if line != b"ready\n":
            process.kill()
            self.fail("the target said %r: %s" % (line, process.stderr.read().decode(errors="replace")))
        return process

    def as_nobody(self):
        """Options to start a process as an ordinary user, who may use the test's folder."""
        if not IS_ROOT:
            return {}
        nobody = pwd.getpwnam("nobody")
        os.chmod(self.folder, 0o777)
        return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}

    def nobodys_linescope(self):
        """The binary under test where everybody may execute it."""
        copy = self.folder / "linescope"
        if not copy.exists():
            shutil.copy2(LINESCOPE, copy)
        return str(copy)

    def dump(self, pid, *options, binary=LINESCOPE, **kw):
        done = subprocess.run([binary, "dump", "--json", "--pid", str(pid), *options], capture_output=True, text=True, check=False,
                              timeout=120, **kw)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def frames(self, dump, thread=0):
        return [frame["name"] for frame in dump["threads"][thread]["frames"]]

    def attach(self, pid, *options, binary=LINESCOPE, **kw):
        profile = self.folder / "a.linescope"
        profile.unlink(missing_ok=True)
        done = subprocess.run([binary, "attach", "--pid", str(pid), "--duration", "0.7", "--profile", str(profile), "-o",
                               str(self.folder / "a.collapsed"), "--display", "none", *options], capture_output=True, text=True,
                              check=False, timeout=120, cwd=self.folder, **kw)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def assertSeen(self, pid, python=None, source=True, function="hot", **kw):
        """Both a look and a profile find the function that takes the time; with its text, where there is a source."""
        def look():
            nonlocal dump, thread
            dump = self.dump(pid, **kw)
            thread = next((t for t in dump["threads"] if function in [f["name"] for f in t["frames"]]), None)
            return thread

        dump = thread = None
        # The program says that it is ready a moment before it calls the function.
        wait_until(look, 2)
        self.assertIsNotNone(thread, dump["threads"])
        frame = next(f for f in thread["frames"] if f["name"] == function)
        if python:
            self.assertTrue(dump["python"].startswith(python), dump["python"])
        if source:
            self.assertRegex(frame["source"] or "", "while time|for i in|n \\+= i|range")
        self.attach(pid, **kw)
        stats = self.stats(str(self.folder / "a.linescope"))
        self.assertEqual(stats["functions"][0]["name"], function)
        self.assertGreater(stats["samples"], 20)
        return dump
