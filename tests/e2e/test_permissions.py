"""What the system forbids: another way where there is one, else the rule that forbids it and what mends it; and no right kept that is
not needed."""
import ctypes
import grp
import json
import os
import pwd
import shutil
import signal
import struct
import subprocess
import unittest

from kinds import HOT, IS_ROOT, SPINNING, KindCase, everybodys, need, need_root, permitted, status_of
from support import LINESCOPE, PYTHON, SPIN

STATIC = "/usr/bin/python3.11"  # an interpreter that needs no library: it can be copied
DENIED = 195
PROCESS_VM_READV = {"x86_64": 310, "aarch64": 270}.get(os.uname().machine)


def seccomp(call, error):
    """For preexec_fn: a filter that answers `call` with `error`, as containers and sandboxes have."""
    def load(code, jt, jf, k):
        return struct.pack("HBBI", code, jt, jf, k)
    program = (load(0x20, 0, 0, 0)                       # load the number of the call
               + load(0x15, 0, 1, call)                  # is it this one?
               + load(0x06, 0, 0, 0x00050000 | error)    # then return the error
               + load(0x06, 0, 0, 0x7fff0000))           # else allow
    buffer = ctypes.create_string_buffer(program)

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
    argument = Program(len(program) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(argument), 0, 0) != 0:
            os._exit(99)
        _ = buffer
    return install


class Permissions(KindCase):
    def refused(self, words, *args, status=DENIED, binary=LINESCOPE, **kw):
        done = subprocess.run([str(binary), *map(str, args)], capture_output=True, text=True, check=False, timeout=60, cwd=self.folder,
                              **kw)
        self.assertEqual((done.returncode, done.stdout), (status, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done

    def doctor(self, *args, binary=LINESCOPE, **kw):
        done = subprocess.run([str(binary), "doctor", *map(str, args)], capture_output=True, text=True, check=False, timeout=60,
                              cwd=self.folder, **kw)
        return done

    def spinning(self, **kw):
        return self.ready(self.start([PYTHON if "user" not in kw else self.everybodys_python(), "-u", self.program(SPINNING)], **kw))

    def everybodys_python(self):
        """An interpreter that an ordinary user may start."""
        python = everybodys((STATIC, PYTHON), **self.as_nobody())
        if python is None:
            self.skipTest("no interpreter that every user may start")
        return python


class Ways(Permissions):
    """process_vm_readv, then /proc/PID/mem."""

    def with_filter(self, error):
        if PROCESS_VM_READV is None:
            self.skipTest("the number of process_vm_readv is not known for this machine")
        target = self.spinning()
        options = {"preexec_fn": seccomp(PROCESS_VM_READV, error)}
        self.assertSeen(target.pid, **options)
        done = self.doctor("--pid", target.pid, **options)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("through /proc/PID/mem", done.stdout)
        self.assertRegex(self.doctor(**options).stdout, r"process_vm_readv is not available \(%s\)" % os.strerror(error))
        self.assertIn("by process_vm_readv", self.doctor("--pid", target.pid).stdout)

    def test_a_kernel_without_the_call(self):
        self.with_filter(38)  # ENOSYS

    def test_a_filter_that_forbids_the_call(self):
        self.with_filter(1)  # EPERM

    def test_run_with_a_filter(self):
        """The filter is the program's as well, which does not read others and notices nothing."""
        if PROCESS_VM_READV is None:
            self.skipTest("the number of process_vm_readv is not known for this machine")
        done = self.run_and_keep("--", PYTHON, self.program(SPIN + "hot(0.6)\n"), preexec_fn=seccomp(PROCESS_VM_READV, 38))
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(self.stats()["functions"][0]["name"], "hot")


class Forbidden(Permissions):
    """Each rule is named, with what mends it."""

    def test_other_user(self):
        need_root("become another user")
        target = self.spinning()
        options = self.as_nobody()
        nobody = pwd.getpwnam("nobody").pw_uid
        binary = self.nobodys_linescope()
        words = ("process %d" % target.pid, "belongs to user 0", "runs as user %d" % nobody, "lacks CAP_SYS_PTRACE",
                 "sudo linescope attach --pid %d" % target.pid)
        for command in ("attach", "dump"):
            self.refused(words, command, "--pid", target.pid, binary=binary, **options)
        done = self.doctor("--pid", target.pid, binary=binary, **options)
        self.assertEqual(done.returncode, DENIED)
        for word in words[1:]:
            self.assertIn(word, done.stdout)

    def test_not_dumpable(self):
        options = self.as_nobody()
        text = "import ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n" + SPINNING
        target = self.ready(self.start([self.everybodys_python(), "-u", self.program(text)], **options))
        self.refused(("non-dumpable", "PR_SET_DUMPABLE", "setcap cap_sys_ptrace"), "dump", "--pid", target.pid,
                     binary=self.nobodys_linescope(), **options)

    def test_more_capabilities(self):
        need_root("give a process a capability")
        need("setpriv")
        options = self.as_nobody()
        python = self.everybodys_python()
        target = self.start(["setpriv", "--reuid", "nobody", "--regid", str(options["group"]), "--clear-groups", "--inh-caps", "+net_raw",
                             "--ambient-caps", "+net_raw", python, "-u", self.program(SPINNING)])
        self.ready(target)
        self.refused(("capabilities that linescope lacks: CAP_NET_RAW", "setcap cap_sys_ptrace"), "dump", "--pid", target.pid,
                     binary=self.nobodys_linescope(), **options)

    def test_set_uid_program(self):
        need_root("make a set-uid program")
        if not os.path.exists(STATIC):
            self.skipTest("no %s to make a set-uid copy of" % STATIC)
        options = self.as_nobody()
        program = self.folder / "setuid"
        shutil.copy2(STATIC, program)
        os.chmod(program, 0o4755)
        binary = self.nobodys_linescope()
        target = self.ready(self.start([str(program), "-u", self.program(SPINNING)], **options))
        if status_of(target.pid)["Uid"].split()[1] != "0":
            self.skipTest("set-uid programs have no effect in %s" % self.folder)
        self.refused(("rights of user 0 (a set-uid program)", "sudo linescope"), "attach", "--pid", target.pid, binary=binary, **options)
        # Launched, it runs all the same, and the reason is told.
        done = subprocess.run([binary, "run", "-o", "x.collapsed", "--display", "none", "--", str(program), "-c", "raise SystemExit(7)"],
                              capture_output=True, text=True, check=False, cwd=self.folder, **options)
        self.assertEqual(done.returncode, 7)
        done = subprocess.run([binary, "run", "-o", "x.collapsed", "--display", "none", "--", str(program), self.program(SPINNING), "0.5"],
                              capture_output=True, text=True, check=False, cwd=self.folder, **options)
        self.assertEqual((done.returncode, done.stdout), (0, "ready\n"))
        self.assertRegex(done.stderr, r"warning: .*rights of user 0 \(a set-uid program\).*sudo linescope run")

    def test_container_without_the_capability(self):
        """Its root is told to be given the capability, not to use sudo."""
        need_root("drop one of root's capabilities")
        need("setpriv")
        container = ["setpriv", "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
        if not permitted(*container, "true"):
            self.skipTest("capabilities cannot be dropped here")
        own = self.start([*container, PYTHON, "-u", self.program(SPINNING)])
        self.ready(own)
        done = subprocess.run([*container, LINESCOPE, "dump", "--json", "--pid", str(own.pid)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"hot"', done.stdout)
        others = self.spinning(**self.as_nobody())
        more = self.spinning()
        for target, words in ((others, ("belongs to user %d, linescope runs as user 0" % pwd.getpwnam("nobody").pw_uid,)),
                              (more, ("capabilities that linescope lacks: CAP_SYS_PTRACE",))):
            done = subprocess.run([*container, LINESCOPE, "dump", "--pid", str(target.pid)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, DENIED, done.stderr)
            for word in (*words, "docker run --cap-add SYS_PTRACE", "Kubernetes"):
                self.assertIn(word, done.stderr)
            self.assertNotIn("sudo", done.stderr)

    def test_user_namespace(self):
        """Root in a user namespace of its own has its capability there alone."""
        options = self.as_nobody()
        if subprocess.run(["unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False, **options).returncode != 0:
            self.skipTest("no permission for a user namespace of one's own")
        target = self.spinning(**options)
        self.refused(("lives in another user namespace",), "--user", "--map-root-user", self.nobodys_linescope(), "dump", "--pid",
                     target.pid, binary="unshare", **options)

    def simulated(self, target, yama=None):
        """Command for an ordinary user whom neither way is open to, and, of this kernel's Yama, what is said of it."""
        need_root("hide files of /proc")
        need("setpriv", "unshare")
        if not permitted("unshare", "--mount", "true"):
            self.skipTest("no permission for a mount namespace")
        locked = self.folder / "locked"
        locked.write_text("")
        os.chmod(locked, 0)
        os.chown(locked, pwd.getpwnam("nobody").pw_uid, -1)
        script = "mount --bind %s /proc/%d/mem && " % (locked, target.pid)
        if yama is not None:
            script += ("mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && "
                       "echo %d > /proc/sys/kernel/yama/ptrace_scope && " % yama)
        script += "exec setpriv --reuid nobody --regid %d --clear-groups %s dump --pid %d" % (
            pwd.getpwnam("nobody").pw_gid, self.nobodys_linescope(), target.pid)
        return ["unshare", "--mount", "sh", "-c", script]

    def test_seccomp(self):
        if PROCESS_VM_READV is None:
            self.skipTest("the number of process_vm_readv is not known for this machine")
        target = self.spinning(**self.as_nobody())
        program, *rest = self.simulated(target)
        self.refused(("a seccomp filter on linescope itself", "--security-opt seccomp=unconfined"), *rest, binary=program,
                     preexec_fn=seccomp(PROCESS_VM_READV, 1))

    def test_yama_simulated(self):
        """A refusal where Yama's file says what its scope is."""
        if PROCESS_VM_READV is None:
            self.skipTest("the number of process_vm_readv is not known for this machine")
        target = self.spinning(**self.as_nobody())
        for scope, words in ((1, ("its descendants only", "linescope run", "sudo sysctl kernel.yama.ptrace_scope=0")),
                             (2, ("only CAP_SYS_PTRACE", "setcap cap_sys_ptrace")),
                             (3, ("nobody may read", "reboot"))):
            with self.subTest(scope=scope):
                program, *rest = self.simulated(target, scope)
                self.refused(("kernel.yama.ptrace_scope is %d" % scope, *words), *rest, binary=program,
                             preexec_fn=seccomp(PROCESS_VM_READV, 1))


class Yama(Permissions):
    """With the real thing, where the kernel has it."""
    FILE = "/proc/sys/kernel/yama/ptrace_scope"

    def setUp(self):
        super().setUp()
        need_root("set Yama's scope")
        if not os.path.exists(self.FILE):
            self.skipTest("this kernel has no Yama")
        with open(self.FILE, encoding="ascii") as f:
            before = f.read()
        if before.strip() == "3":
            self.skipTest("Yama's scope is 3, which only a reboot changes")
        self.addCleanup(self.set_scope, before)

    def set_scope(self, scope):
        with open(self.FILE, "w", encoding="ascii") as f:
            f.write(str(scope))

    def test_scopes(self):
        options = self.as_nobody()
        binary = self.nobodys_linescope()
        target = self.spinning(**options)
        script = self.program(HOT + "hot(0.5)\n", "launched.py")
        launch = [binary, "run", "-o", "x.collapsed", "--display", "none", "--", self.everybodys_python(), script]
        for scope, attach, run in ((0, True, True), (1, False, True), (2, False, False)):
            with self.subTest(scope=scope):
                self.set_scope(scope)
                done = subprocess.run([binary, "dump", "--pid", str(target.pid)], capture_output=True, text=True, check=False, **options)
                self.assertEqual(done.returncode, 0 if attach else DENIED, done.stderr)
                if not attach:
                    self.assertIn("kernel.yama.ptrace_scope is %d" % scope, done.stderr)
                doctor = self.doctor(binary=binary, **options).stdout
                self.assertIn("your own processes %s be read" % ("can" if attach else "cannot"), doctor)
                done = subprocess.run(launch, capture_output=True, text=True, check=False, cwd=self.folder, **options)
                self.assertEqual("samples: 0" not in done.stderr, run, done.stderr)
                self.dump(target.pid)  # root may


OBSERVE = HOT + """
import json, os, sys
status = open("/proc/self/status").read()
print(json.dumps({"uid": os.getresuid(), "gid": os.getresgid(), "groups": sorted(os.getgroups()),
                  "caps": [line.split()[1] for line in status.splitlines() if line.startswith(("CapPrm", "CapEff", "CapAmb", "CapInh"))],
                  "environment": {k: v for k, v in os.environ.items() if k.startswith("SUDO_") or k in ("HOME", "USER", "LOGNAME")},
                  "dumpable": __import__("ctypes").CDLL(None).prctl(3) if len(sys.argv) < 2 else None}), flush=True)
hot(0.8)
"""


class Sudo(Permissions):
    """What sudo has started is the caller's: the program, the report; what is kept is what reading takes."""

    def setUp(self):
        super().setUp()
        need_root("be what sudo makes of a user")
        self.as_nobody()
        self.binary = self.nobodys_linescope()
        self.caller = next((u for u in pwd.getpwall() if u.pw_uid != 0 and u.pw_name in [m for g in grp.getgrall() for m in g.gr_mem]),
                           pwd.getpwnam("nobody"))

    def environment(self, command=None):
        return {**os.environ, "SUDO_UID": str(self.caller.pw_uid), "SUDO_GID": str(self.caller.pw_gid), "SUDO_USER": self.caller.pw_name,
                "SUDO_COMMAND": command or self.binary + " run app.py", "HOME": "/root", "USER": "root", "LOGNAME": "root"}

    def observed(self, *options, **environment):
        python = self.everybodys_python()
        done = subprocess.run([self.binary, "run", "--profile", "p.linescope", "-o", "r.html", "--display", "none", *options, "--",
                               python, self.program(OBSERVE)], capture_output=True, text=True, check=False, cwd=self.folder,
                              env=self.environment(**environment), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("samples: 0", done.stderr)
        return json.loads(done.stdout)

    def owners(self):
        return {((self.folder / name).stat().st_uid, (self.folder / name).stat().st_gid) for name in ("p.linescope", "r.html")}

    def test_the_program_is_the_callers(self):
        seen = self.observed()
        user = self.caller
        self.assertEqual((seen["uid"], seen["gid"]), ([user.pw_uid] * 3, [user.pw_gid] * 3))
        self.assertEqual(seen["groups"], sorted(os.getgrouplist(user.pw_name, user.pw_gid)))
        self.assertEqual({int(mask, 16) for mask in seen["caps"]}, {0})
        self.assertEqual(seen["environment"], {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name})
        self.assertEqual(seen["dumpable"], 1)
        self.assertEqual(self.owners(), {(user.pw_uid, user.pw_gid)})

    def test_roots_own_shell(self):
        """sudo -i was told to start a shell, not us: there a program is root's."""
        seen = self.observed(command="/bin/bash")
        self.assertEqual((seen["uid"], seen["environment"]["HOME"]), ([0, 0, 0], "/root"))
        self.assertEqual(self.owners(), {(0, 0)})

    def test_another_user_by_name(self):
        seen = self.observed("--user", "root")
        self.assertEqual(seen["uid"], [0, 0, 0])
        for name in ("p.linescope", "r.html"):
            (self.folder / name).unlink()
        nobody = pwd.getpwnam("nobody")
        self.assertEqual(self.observed("--user", "nobody")["uid"], [nobody.pw_uid] * 3)
        self.assertEqual(self.owners(), {(nobody.pw_uid, nobody.pw_gid)})
        done = subprocess.run([self.binary, "run", "--user", "no such user", "x.py"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 193)
        self.assertIn("no user 'no such user'", done.stderr)
        done = subprocess.run([self.binary, "run", "--user", "root", self.program("")], capture_output=True, text=True, check=False,
                              **self.as_nobody())
        self.assertEqual(done.returncode, DENIED)
        self.assertIn("only root may", done.stderr)

    def test_no_more_is_kept_than_reading_takes(self):
        process = self.start([self.binary, "run", "-o", "r.html", "--display", "none", "--", self.everybodys_python(), "-u",
                              self.program(SPINNING)], env=self.environment())
        self.ready(process)
        status = status_of(process.pid)
        self.assertEqual(set(status["Uid"].split()) | set(status["Gid"].split()), {str(self.caller.pw_uid), str(self.caller.pw_gid)})
        ours = int(status_of(os.getpid())["CapEff"], 16)
        wanted = sum(1 << bit for bit in (12, 19, 38, 40)) & ours  # NET_ADMIN, SYS_PTRACE, PERFMON, CHECKPOINT_RESTORE
        self.assertEqual({int(status[name], 16) for name in ("CapEff", "CapPrm")}, {wanted})
        self.assertEqual({int(status[name], 16) for name in ("CapInh", "CapAmb")}, {0})
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)

    def test_a_set_uid_program_is_read(self):
        if not os.path.exists(STATIC):
            self.skipTest("no %s to make a set-uid copy of" % STATIC)
        program = self.folder / "setuid"
        shutil.copy2(STATIC, program)
        os.chmod(program, 0o4755)
        done = subprocess.run([self.binary, "run", "--profile", "p.linescope", "-o", "x.collapsed", "--display", "none", "--",
                               str(program), self.program(SPINNING), "0.6"], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=self.environment(), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.stats()["functions"][0]["name"], "hot")

    def test_attach(self):
        """Another's process is read, and what comes of it is the caller's."""
        target = self.spinning()
        done = subprocess.run([self.binary, "attach", "--pid", str(target.pid), "--duration", "0.5", "--profile", "p.linescope", "-o",
                               "r.html", "--display", "none"], capture_output=True, text=True, check=False, cwd=self.folder,
                              env=self.environment(self.binary + " attach"), timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.owners(), {(self.caller.pw_uid, self.caller.pw_gid)})
        stats = self.stats()
        self.assertEqual(stats["functions"][0]["name"], "hot")
        self.assertTrue(stats["lines"][0]["source"])


class Doctor(Permissions):
    """Says what was tried, and is right."""

    def test_root(self):
        need_root("be allowed everything")
        text = self.doctor().stdout
        if int(status_of(os.getpid())["CapEff"], 16) >> 19 & 1:
            self.assertIn("linescope attach: your own processes can be read", text)
            self.assertNotIn("cannot be read", text)

    def test_ordinary_user(self):
        options = self.as_nobody()
        text = self.doctor(binary=self.nobodys_linescope(), **options).stdout
        self.assertIn("linescope run: programs that it launches can be read", text)
        if not os.path.exists(Yama.FILE):
            self.assertIn("your own processes can be read", text)
        if IS_ROOT:
            self.assertRegex(text, r"those of other users not \(process \d+\): it belongs to user \d+, linescope runs as user")
            self.assertIn("libraries that were deleted or replaced cannot be opened", text)

    def test_sudo(self):
        need_root("be what sudo makes of a user")
        nobody = pwd.getpwnam("nobody")
        text = self.doctor(env={**os.environ, "SUDO_UID": str(nobody.pw_uid), "SUDO_GID": str(nobody.pw_gid), "SUDO_USER": "nobody",
                                "SUDO_COMMAND": LINESCOPE + " doctor"}).stdout
        self.assertIn("programs run as nobody, who called sudo", text)


class Endings(Permissions):
    def test_a_parent_that_ignores_its_children(self):
        """SIGCHLD ignored by whoever started us: the system would reap the program, and its status be lost."""
        script = self.program(SPIN + "hot(0.4); sys.exit(5)")
        done = self.run_and_keep("--", PYTHON, script, preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.status, 5, done.stderr)
        self.assertEqual(self.stats()["run"]["state"], "complete")
        self.assertGreater(self.stats()["samples"], 100)

    def test_threads_that_end_between_listing_and_reading(self):
        """Each costs its own sample at most; all others are read."""
        target = self.ready(self.start([PYTHON, "-u", self.program(HOT + """
import threading
threading.Thread(target=hot, args=(60,), daemon=True, name="steady").start()
print("ready", flush=True)
while True:
    threads = [threading.Thread(target=lambda: None) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
""")]))
        self.attach(target.pid, "--duration", "1.5")
        stats = self.stats("a.linescope")
        hot = next(f for f in stats["functions"] if f["name"] == "hot")
        self.assertGreater(hot["samples"], 500, stats["functions"])


if __name__ == "__main__":
    unittest.main()
