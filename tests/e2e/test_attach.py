"""`linescope attach`: other people's processes, which must not notice either."""
import glob
import json
import os
import pwd
import select
import signal
import subprocess
import time
import unittest

from support import LINESCOPE, PYTHON, SPIN, Case, alive, each_interpreter

SPINNING = SPIN + "print('ready', flush=True)\nhot(60)\n"


class Attach(Case):
    def attach(self, pid, *options, **kw):
        return self.linescope("attach", "--pid", pid, "--profile", "p.linescope", "-o", "out.collapsed", "--display", "none", *options, **kw)

    @each_interpreter
    def test_duration(self, python):
        target = self.target(SPINNING, python)
        done = self.attach(target.pid, "--duration", "0.8")
        self.assertEqual(done.status, 0, done.stderr)
        self.assertTrue(alive(target.pid))
        stats = self.stats()
        self.assertEqual(stats["functions"][0]["name"], "hot")
        self.assertGreater(stats["samples"], 100)
        self.assertTrue(stats["run"]["attached"])
        with open("/proc/%d/status" % target.pid) as f:
            self.assertIn("TracerPid:\t0", f.read())

    def test_target_ends(self):
        target = self.target(SPIN + "print('ready', flush=True)\nhot(1.0)\nsys.exit(3)")
        begin = time.monotonic()
        done = self.attach(target.pid)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertGreater(self.stats()["samples"], 50)
        self.assertEqual(target.wait(), 3)

    def stopped_by(self, number):
        target = self.target(SPINNING)
        process = self.start([LINESCOPE, "attach", "--pid", str(target.pid), "--profile", "p.linescope", "-o", "r.html", "--display",
                              "none"])
        time.sleep(1.2)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertTrue(alive(target.pid))
        self.assertEqual(self.stats()["run"]["state"], "complete")
        self.assertTrue((self.folder / "r.html").exists())

    def test_ctrl_c(self):
        self.stopped_by(signal.SIGINT)

    def test_sigterm(self):
        self.stopped_by(signal.SIGTERM)

    def test_sighup(self):
        self.stopped_by(signal.SIGHUP)

    def test_killed_target(self):
        target = self.target(SPINNING)
        process = self.start([LINESCOPE, "attach", "--pid", str(target.pid), "--profile", "p.linescope", "-o", "out.collapsed",
                              "--display", "none"])
        time.sleep(1.0)
        target.kill()
        target.wait()
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        self.assertGreater(self.stats()["samples"], 50)

    def test_early(self):
        """In the first milliseconds of a process, before its interpreter is up."""
        script = self.program(SPIN + "hot(4)\n")
        for _ in range(5):
            target = self.start([PYTHON, script])
            done = self.attach(target.pid, "--duration", "0.5")
            self.assertEqual(done.status, 0, done.stderr)
            target.kill()

    def test_two_at_once(self):
        target = self.target(SPINNING)
        first = self.start([LINESCOPE, "attach", "--pid", str(target.pid), "--duration", "1.5", "--profile", "q.linescope", "-o",
                            "q.collapsed", "--display", "none"])
        time.sleep(0.3)
        self.assertEqual(self.attach(target.pid, "--duration", "0.5").status, 0)
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0)
        for profile in ("p.linescope", "q.linescope"):
            self.assertEqual(self.stats(profile)["functions"][0]["name"], "hot")

    @each_interpreter
    def test_stop_mode(self, python):
        """Stopping mode loses no signal and leaves nobody stopped."""
        target = self.target(SPIN + """
signal.signal(signal.SIGUSR1, lambda *a: print('got', flush=True))
print('ready', flush=True)
hot(60)
""", python)
        process = self.start([LINESCOPE, "attach", "--pid", str(target.pid), "--duration", "1.5", "--rate", "200", "--consistency", "stop",
                              "--profile", "p.linescope", "-o", "out.collapsed", "--display", "none"])
        time.sleep(0.4)
        for _ in range(20):
            # One after the other: two of a kind that are pending at once are one, with or without us.
            os.kill(target.pid, signal.SIGUSR1)
            self.assertTrue(select.select([target.stdout], [], [], 10)[0], "a signal was lost")
            self.assertEqual(target.stdout.readline(), b"got\n")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertTrue(alive(target.pid))
        self.assertIn("hot", {f["name"] for f in self.stats()["functions"]})


class Refusals(Case):
    """Each a sentence that names the thing, an exit status of its own, and nothing left behind."""

    def refused(self, *args, status, words, **options):
        done = self.linescope(*args, **options)
        self.assertEqual(done.status, status, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertNotIn("terminate called", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def status(self, name):
        text = self.linescope("--help").stdout + self.linescope("attach", "--help").stdout
        return text

    def test_no_such_process(self):
        done = self.linescope("attach", "--pid", 4190000)
        self.assertIn("4190000", done.stderr)
        self.assertNotIn(done.status, (0, 1, 2))
        self.assertNothingLeft()

    def test_not_python(self):
        sleeper = self.start(["sleep", "60"])
        done = self.linescope("attach", "--pid", sleeper.pid)
        self.assertIn("no Python interpreter", done.stderr)
        self.assertNotIn(done.status, (0, 1, 2))
        self.assertNothingLeft()

    def test_zombie(self):
        zombie = self.start([PYTHON, "-c", "pass"])
        time.sleep(0.5)
        done = self.linescope("attach", "--pid", zombie.pid)
        self.assertIn("ended", done.stderr)
        self.assertNothingLeft()

    def test_kernel_thread(self):
        if not os.path.exists("/proc/2/status") or os.path.exists("/proc/2/exe") and os.access("/proc/2/exe", os.R_OK):
            self.skipTest("process 2 is no kernel thread here")
        self.assertNotIn(self.linescope("attach", "--pid", 2).status, (0, 1, 2))

    def test_other_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to become another user")
        nobody = pwd.getpwnam("nobody")
        target = self.target(SPINNING)
        os.chmod(self.folder, 0o777)
        binary = self.folder / "linescope"
        subprocess.run(["cp", LINESCOPE, binary], check=True)

        def demote():
            os.setgroups([])
            os.setgid(nobody.pw_gid)
            os.setuid(nobody.pw_uid)
        done = subprocess.run([binary, "attach", "--pid", str(target.pid)], capture_output=True, cwd=self.folder, preexec_fn=demote,
                              check=False, text=True)
        self.assertNotIn(done.returncode, (0, 1, 2))
        self.assertRegex(done.stderr, "belongs to user 0.*sudo")
        self.assertTrue(alive(target.pid))

    def test_unsupported_version(self):
        old = next(iter(glob.glob(os.path.expanduser("~/.pyenv/versions/3.7.*/bin/python3"))), None)
        if old is None:
            self.skipTest("no Python 3.7 on this machine")
        target = self.target(SPINNING, old)
        done = self.linescope("attach", "--pid", target.pid)
        self.assertNotIn(done.status, (0, 1, 2))
        self.assertRegex(done.stderr, r"3\.8 to 3\.15")


if __name__ == "__main__":
    unittest.main()
