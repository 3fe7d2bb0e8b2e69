"""`--native`: compiled functions between the Python ones, named, in the right places; and never at the cost of a Python stack."""
import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

from support import PYTHON, Case, each_interpreter

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "programs" / "native"
PYTHON_FILE = "prog.py"


def setting(python, expression):
    return subprocess.run([python, "-c", "import sysconfig; print(%s)" % expression], capture_output=True, text=True,
                          check=True).stdout.strip()


class NativeCase(Case):
    def need(self, tool):
        if shutil.which(tool) is None:
            self.skipTest("no %s on this machine" % tool)

    def compile(self, source, *options, tool="gcc", name=None):
        self.need(tool)
        library = self.folder / (name or pathlib.Path(source).stem + ".so")
        # With the sources elsewhere, so that nothing is found there by chance.
        subprocess.run([tool, "-O2", "-shared", "-fPIC", *options, str(SOURCES / source), "-o", str(library)], check=True)
        return library

    def extension(self, python, *options):
        include = setting(python, "sysconfig.get_path('include')")
        if not os.path.exists(os.path.join(include, "Python.h")):
            self.skipTest("no Python.h for %s" % python)
        return self.compile("extension.c", "-g", "-I" + include, *options)

    def sample(self, text, python=PYTHON, args=(), seconds=1.0, rate=400, options=()):
        """Runs a program with --native, and gives its stacks: [([(file, function, line)], samples)], root first."""
        program = self.program("SECONDS = %r\n" % seconds + text, PYTHON_FILE)
        for left in ("out.collapsed", "p.linescope"):
            (self.folder / left).unlink(missing_ok=True)
        done = self.run_and_keep("--native", "--rate", rate, "-v", *options, "--", python, program, *args)
        self.assertEqual(done.status, 0, done.stderr)
        self.stderr = done.stderr
        stacks = []
        for line in (self.folder / "out.collapsed").read_text().splitlines():
            body, _, count = line.rpartition(" ")
            frames = [re.fullmatch(r"([^:]*):(.*):(\d+)", part).groups() for part in body.split(";")]
            stacks.append(([(os.path.basename(f), name, int(number)) for f, name, number in frames], int(count)))
        self.assertGreater(sum(count for _, count in stacks), 30, done.stderr)
        return stacks

    def share(self, stacks, wanted, of=lambda names: True):
        """Which share of the samples `of` shows the names `wanted` one right above the other."""
        all_of, found = 0, 0
        for frames, count in stacks:
            names = [name for _, name, _ in frames]
            if not of(names):
                continue
            all_of += count
            width = len(wanted)
            if any(names[i:i + width] == list(wanted) for i in range(len(names) - width + 1)):
                found += count
        self.assertGreater(all_of, 5, "too few samples")
        return found / all_of

    def usual_lines(self, stacks):
        """{name: (file, line)} where a function stood most often: now and then one is met before or after its call."""
        seen = collections.defaultdict(collections.Counter)
        for frames, count in stacks:
            for file, name, line in frames:
                seen[name][file, line] += count
        return {name: places.most_common(1)[0][0] for name, places in seen.items()}

    def assertPythonWhole(self, stacks, legal):
        """With the native frames taken out, each stack is one that the program can have; `legal` has them as tuples."""
        seen = 0
        for frames, count in stacks:
            python = tuple(name for file, name, _ in frames if file == PYTHON_FILE)
            if python:  # neither the interpreter's start nor its end
                seen += count
                self.assertTrue(any(stack[:len(python)] == python for stack in legal), frames)
        self.assertGreater(seen, 10)


CALLS = """
import sys, time
sys.path.insert(0, %r)
import extension
def spin():
    n = 0
    for i in range(20000):
        n += i
    return n
def inside():
    extension.burn(1000000)
    spin()
    time.sleep(0.002)
def key(value):
    return spin()
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        extension.through(inside)
        sorted((1, 2), key=key)
main()
"""
LEGAL = [("<module>", "main", "inside", "spin"), ("<module>", "main", "key", "spin")]


class Extension(NativeCase):
    @each_interpreter
    def test_frames_of_both_kinds_in_their_places(self, python):
        """Python -> C -> Python -> C, with an inlined function, files and lines, on every version."""
        library = self.extension(python)
        stacks = self.sample(CALLS % str(library.parent), python)
        self.assertPythonWhole(stacks, LEGAL)
        burning = lambda names: "burn" in names
        self.assertGreater(self.share(stacks, ("main", "through", "call_back", "inside", "burn", "outer_work", "inner_work",
                                               "step_inlined"), of=burning), 0.85, self.stderr)
        # Two eval loops through the interpreter's own C code.
        self.assertGreater(self.share(stacks, ("key", "spin"), of=lambda names: "key" in names), 0.7, self.stderr)
        lines = self.usual_lines(stacks)
        text = (SOURCES / "extension.c").read_text().splitlines()
        self.assertEqual(lines["call_back"][0], "extension.c")
        self.assertIn("PyObject_CallObject", text[lines["call_back"][1] - 1])
        self.assertIn("x * 1.0000001", text[lines["step_inlined"][1] - 1])
        self.assertRegex(self.stderr, r"native frames: (9\d|100)\.\d %")

    @each_interpreter
    def test_time_stays_with_the_projects_line(self, python):
        library = self.extension(python)
        self.sample(CALLS % str(library.parent), python)
        stats = self.stats()
        text = (self.folder / PYTHON_FILE).read_text().splitlines()
        by_line = {entry["line"]: entry["time_ns"] for entry in stats["lines"]}
        burn = next(i for i, line in enumerate(text, 1) if "burn(" in line)
        self.assertIn(burn, by_line)
        self.assertGreater(by_line[burn], 0)
        for entry in stats["lines"]:
            self.assertNotIn("extension.c", entry["file"])

    def test_stripped_library(self):
        """Without symbols: what it exports by its name, the rest by the library and where it begins."""
        library = self.extension(PYTHON)
        self.need("strip")
        subprocess.run(["strip", str(library)], check=True)
        stacks = self.sample(CALLS % str(library.parent))
        self.assertPythonWhole(stacks, LEGAL)
        burning = lambda names: "outer_work" in names
        leaves = {frames[-1][1] for frames, _ in stacks if burning([name for _, name, _ in frames])}
        self.assertTrue(any(re.fullmatch(r"extension\.so\+0x[0-9a-f]+", leaf) for leaf in leaves), leaves)
        # One function is one name, wherever in it the samples fell.
        self.assertLessEqual(len([leaf for leaf in leaves if leaf.startswith("extension.so+")]), 2, leaves)

    def test_separate_debug_file(self):
        library = self.extension(PYTHON)
        self.need("objcopy")
        for tool in (["objcopy", "--only-keep-debug", "extension.so", "extension.so.debug"], ["strip", "extension.so"],
                     ["objcopy", "--add-gnu-debuglink=extension.so.debug", "extension.so"]):
            subprocess.run(tool, cwd=self.folder, check=True)
        (self.folder / ".debug").mkdir()
        (self.folder / "extension.so.debug").rename(self.folder / ".debug" / "extension.so.debug")
        stacks = self.sample(CALLS % str(library.parent))
        self.assertGreater(self.share(stacks, ("burn", "outer_work", "inner_work", "step_inlined"),
                                      of=lambda names: "outer_work" in names), 0.9)

    def test_debug_file_of_another_build_is_not_believed(self):
        library = self.extension(PYTHON, "-Wl,--build-id=0x1111111111111111111111111111111111111111")
        self.need("objcopy")
        shutil.copy(library, self.folder / "other.so")
        for tool in (["objcopy", "--only-keep-debug", "extension.so", "extension.so.debug"], ["strip", "extension.so"],
                     ["objcopy", "--add-gnu-debuglink=extension.so.debug", "extension.so"]):
            subprocess.run(tool, cwd=self.folder, check=True)
        self.compile("templates.cc", "-g", "-Wl,--build-id=0x2222222222222222222222222222222222222222", tool="g++",
                     name="extension.so.debug")
        stacks = self.sample(CALLS % str(library.parent))
        names = {name for frames, _ in stacks for _, name, _ in frames}
        self.assertIn("outer_work", names)
        self.assertNotIn("inner_work", names)

    def test_deleted_library(self):
        library = self.extension(PYTHON)
        stacks = self.sample((CALLS % str(library.parent)).replace(
            "import extension\n", "import extension, os\nos.unlink(extension.__file__)\n"))
        self.assertGreater(self.share(stacks, ("burn", "outer_work"), of=lambda names: "outer_work" in names), 0.9)

    def test_static_interpreter_without_symbols(self):
        """Where the interpreter has only what it exports."""
        library = self.extension(PYTHON)
        stripped = self.folder / "python"
        shutil.copy(PYTHON, stripped)
        self.need("strip")
        subprocess.run(["strip", str(stripped)], check=True)
        home = setting(PYTHON, "sysconfig.get_config_var('prefix')")
        libraries = setting(PYTHON, "sysconfig.get_config_var('LIBDIR')")
        environment = dict(os.environ, PYTHONHOME=home)
        for name in os.listdir(libraries):
            if name.startswith("libpython3.") and ".so" in name:
                shutil.copy(os.path.join(libraries, name), self.folder / name)
                subprocess.run(["strip", str(self.folder / name)], check=True)
                environment["LD_LIBRARY_PATH"] = str(self.folder)
        program = self.program("SECONDS = 1\n" + CALLS % str(library.parent), PYTHON_FILE)
        done = self.run_and_keep("--native", "--rate", "400", "-v", "--", stripped, program, env=environment)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertRegex(done.stderr, r"native frames: (9\d|100)\.\d %")
        names = [[name for _, name, _ in frames] for frames, _ in self.stacks()]
        self.assertTrue(any("main" in stack and "inside" in stack and stack.index("inside") - stack.index("main") > 1
                            for stack in names), names)


class Languages(NativeCase):
    CTYPES = """
import ctypes, time
library = ctypes.%s(%r)
def work():
    %s
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        work()
main()
"""

    @each_interpreter
    def test_cpp(self, python):
        library = self.compile("templates.cc", "-g", tool="g++")
        stacks = self.sample(self.CTYPES % ("CDLL", str(library), "library.run_grid(1000000)"), python)
        self.assertPythonWhole(stacks, [("<module>", "main", "work")])
        # Colons of names are dots in folded stacks.
        self.assertGreater(self.share(stacks, ("run_grid", "geometry..Grid<int>..fold"),
                                      of=lambda names: "run_grid" in names), 0.9)

    def test_rust(self):
        self.need("rustc")
        for mangling in ("legacy", "v0"):
            with self.subTest(mangling=mangling):
                library = self.folder / ("libheavy-%s.so" % mangling)
                # The older one has become an unstable option of newer compilers.
                unstable = ["-Z", "unstable-options"] if mangling == "legacy" else []
                built = subprocess.run(["rustc", "--edition", "2021", "-O", "-g", "--crate-type", "cdylib", "--crate-name",
                                        "heavylib", "-C", "symbol-mangling-version=" + mangling, *unstable, str(SOURCES / "heavy.rs"), "-o",
                                        str(library)], env=dict(os.environ, RUSTC_BOOTSTRAP="1"),
                                       capture_output=True, text=True, check=False)
                if built.returncode != 0:
                    self.skipTest("rustc does not build here: " + built.stderr.strip().splitlines()[-1])
                stacks = self.sample(self.CTYPES % ("CDLL", str(library), "library.run_heavy(3000000)"))
                names = {name for frames, _ in stacks for _, name, _ in frames}
                wanted = "heavylib..heavy..churn" + ("..<u32>" if mangling == "v0" else "")
                self.assertIn(wanted, names)
                self.assertGreater(self.share(stacks, ("run_heavy", wanted), of=lambda names: "run_heavy" in names), 0.9)

    def test_cython(self):
        # An interpreter that has it, or a folder of modules named by CYTHON_PATH.
        environment = dict(os.environ)
        if os.environ.get("CYTHON_PATH"):
            environment["PYTHONPATH"] = os.environ["CYTHON_PATH"]
        made = subprocess.run([PYTHON, "-m", "cython", "-3", str(SOURCES / "cython_module.pyx"), "-o",
                               str(self.folder / "cython_module.c")], env=environment, capture_output=True, check=False)
        if made.returncode != 0:
            self.skipTest("no Cython for %s" % PYTHON)
        include = setting(PYTHON, "sysconfig.get_path('include')")
        subprocess.run(["gcc", "-O1", "-fno-inline", "-g", "-shared", "-fPIC", "-I" + include, "cython_module.c", "-o",
                        "cython_module.so"], cwd=self.folder, check=True)
        stacks = self.sample("""
import sys, time
sys.path.insert(0, %r)
import cython_module
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        cython_module.compute(2000000)
main()
""" % str(self.folder))
        self.assertGreater(self.share(stacks, ("cython_module.compute", "cython_module.inner"),
                                      of=lambda names: "cython_module.compute" in names), 0.8)

    @each_interpreter
    def test_callback_through_libc(self, python):
        """Python -> qsort of the C library -> a ctypes callback -> Python -> C."""
        stacks = self.sample("""
import ctypes, time, zlib
libc = ctypes.CDLL(None)
data = bytes(range(256)) * 2000
def leaf():
    zlib.crc32(data)
def compare(a, b):
    leaf()
    return a[0] - b[0]
Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
callback = Compare(compare)
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        libc.qsort((ctypes.c_int * 8)(5, 3, 8, 1, 9, 2, 7, 4), 8, 4, callback)
main()
""", python)
        self.assertPythonWhole(stacks, [("<module>", "main", "compare", "leaf")])
        inside = lambda names: "leaf" in names and any("crc32" in name for name in names)
        between = total = 0
        for frames, count in stacks:
            names = [name for _, name, _ in frames]
            if not inside(names):
                continue
            total += count
            part = names[names.index("main"):names.index("compare")]
            below_leaf = names[names.index("leaf") + 1:]
            if any("qsort" in name for name in part) and any("crc32" in name for name in below_leaf):
                between += count
        self.assertGreater(total, 10)
        self.assertGreater(between / total, 0.9)

    @each_interpreter
    def test_libraries_of_the_interpreter(self, python):
        stacks = self.sample("""
import hashlib, time, zlib
data = bytes(range(256)) * 2000
def pack():
    zlib.compress(data, 9)
def digest():
    for _ in range(20):
        hashlib.sha256(data).digest()
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pack(); digest()
main()
""", python)
        self.assertPythonWhole(stacks, [("<module>", "main", "pack"), ("<module>", "main", "digest")])
        for function, wanted in (("pack", r"deflate|zlib_compress|libz"), ("digest", r"(?i)sha|libcrypto|digest_impl")):
            found = total = 0
            for frames, count in stacks:
                names = [name for _, name, _ in frames]
                if function in names:
                    total += count
                    found += count if any(re.search(wanted, name) for name in names[names.index(function) + 1:]) else 0
            self.assertGreater(total, 3)
            self.assertGreater(found / total, 0.8, function)


class Failures(NativeCase):
    PROGRAM = """
import ctypes, sys, time
sys.path.insert(0, %r)
import extension
library = ctypes.PyDLL(%r)
Function = ctypes.PYFUNCTYPE(ctypes.c_int)
def inside():
    extension.burn(500000)
    return 0
callback = Function(inside)
def main():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        library.%s(callback)
main()
"""

    def unwinding_fails(self, python, function):
        library = self.extension(python)
        broken = self.compile("no_cfi.S")
        stacks = self.sample(self.PROGRAM % (str(library.parent), str(broken), function), python)
        # The Python stack stays whole, and what is certain above it is there.
        self.assertPythonWhole(stacks, [("<module>", "main", "inside")])
        burning = lambda names: "burn" in names
        self.assertGreater(self.share(stacks, ("inside", "burn", "outer_work", "inner_work"), of=burning), 0.9)
        self.assertGreater(self.share(stacks, ("<module>", "main"), of=burning), 0.9)
        # And it is said.
        counted = re.search(r"native frames: ([\d.]+) % of the stacks complete", self.stderr)
        self.assertTrue(counted, self.stderr)
        self.assertLess(float(counted.group(1)), 50, self.stderr)
        self.assertIn("the Python frames are whole in all of them", self.stderr)

    @each_interpreter
    def test_code_without_unwinding_information(self, python):
        self.unwinding_fails(python, "call_without_information")

    @each_interpreter
    def test_code_whose_unwinding_information_is_wrong(self, python):
        self.unwinding_fails(python, "call_with_wrong_information")

    def test_contradiction(self):
        done = self.linescope("run", "--native", "--consistency", "free", "-c", "pass")
        self.assertEqual(done.status, 193, done.stderr)
        self.assertIn("--native contradicts --consistency free", done.stderr)


class Recursion(NativeCase):
    @each_interpreter
    def test_deep_recursion(self, python):
        """A native stack of hundreds of kilobytes."""
        stacks = self.sample("""
import sys, time
sys.setrecursionlimit(3000)
def down(n):
    if n:
        return down(n - 1)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        pass
down(900)
""", python, rate=100)
        depths = {}
        for frames, count in stacks:
            depth = sum(1 for file, name, _ in frames if name == "down")
            depths[depth] = depths.get(depth, 0) + count
        depths.pop(0, None)  # the interpreter's start
        self.assertGreater(depths.get(901, 0), 0.9 * sum(depths.values()), depths)
        self.assertRegex(self.stderr, r"native frames: (9\d|100)\.\d %")


class Attach(NativeCase):
    SLEEPERS = """
import ctypes, os, select, threading, time
libc = ctypes.CDLL(None, use_errno=True)
interrupted = 0
def poll():
    global interrupted
    waiter = libc.epoll_create1(0)
    events = ctypes.create_string_buffer(64)
    while True:
        # The C library's, which gives EINTR to its caller instead of trying again.
        if libc.epoll_wait(waiter, events, 1, 100000) < 0:
            interrupted += 1
threading.Thread(target=poll, daemon=True).start()
def lock():
    threading.Lock().acquire() or None
    event.wait()
event = threading.Event()
threading.Thread(target=lock, daemon=True).start()
print("ready", flush=True)
time.sleep(4)
print(interrupted, flush=True)
"""

    @staticmethod
    def switches(pid):
        counts = {}
        for tid in os.listdir("/proc/%d/task" % pid):
            with contextlib.suppress(OSError), open("/proc/%d/task/%s/status" % (pid, tid)) as f:
                counts[tid] = int(re.search(r"\nvoluntary_ctxt_switches:\t(\d+)", f.read()).group(1))
        return counts

    @each_interpreter
    def test_sleeping_threads_are_not_woken(self, python):
        target = self.target(self.SLEEPERS, python)
        time.sleep(0.2)
        before = self.switches(target.pid)
        done = self.linescope("attach", "--pid", target.pid, "--native", "--duration", "1", "--rate", "200", "--profile",
                              "p.linescope", "-o", "out.collapsed", "--display", "none", "-v")
        after = self.switches(target.pid)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertEqual(before, after)
        names = {name.split(":")[-2] for line in (self.folder / "out.collapsed").read_text().splitlines()
                 for name in line.rpartition(" ")[0].split(";")}
        self.assertTrue(any("epoll" in name for name in names), names)
        self.assertEqual(target.communicate(timeout=30)[0].split(), [b"0"])

    @each_interpreter
    def test_target_is_left_unharmed(self, python):
        library = self.extension(python)
        target = self.target(("SECONDS = 3\n" + CALLS % str(library.parent)).replace(
            "def main():\n", "def main():\n    print('ready', flush=True)\n"), python)
        done = self.linescope("attach", "--pid", target.pid, "--native", "--duration", "1", "--rate", "300", "--profile",
                              "p.linescope", "-o", "out.collapsed", "--display", "none")
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIn("call_back", (self.folder / "out.collapsed").read_text())
        _, errors = target.communicate(timeout=30)
        self.assertEqual((target.returncode, errors), (0, b""))


class Dump(NativeCase):
    @each_interpreter
    def test_frames_between_python_frames(self, python):
        library = self.extension(python)
        target = self.target("""
import sys, time
sys.path.insert(0, %r)
import extension
def inside():
    print("ready", flush=True)
    time.sleep(100)
def main():
    extension.through(inside)
main()
""" % str(library.parent), python)
        time.sleep(0.1)
        done = self.linescope("dump", "--native", "--json", "--pid", target.pid)
        self.assertEqual(done.status, 0, done.stderr)
        thread = json.loads(done.stdout)["threads"][0]
        self.assertIsNone(thread["native_note"])
        frames = [(frame["kind"], frame["name"]) for frame in thread["frames"]]
        at = frames.index(("python", "inside"))
        self.assertEqual(frames[at:at + 5], [("python", "inside"), ("native", "call_back"), ("native", "through"), ("python", "main"),
                                             ("python", "<module>")])
        self.assertIn(("native", "main"), frames[at + 5:] + [("native", "main")])
        self.assertTrue(any("sleep" in name or "select" in name for kind, name in frames[:at] if kind == "native"), frames)
        text = self.linescope("dump", "--native", "--pid", target.pid).stdout
        self.assertRegex(text, r"\n  call_back +extension\.c:\d+\n")
        plain = json.loads(self.linescope("dump", "--json", "--pid", target.pid).stdout)["threads"][0]
        self.assertEqual([frame["name"] for frame in plain["frames"]], ["inside", "main", "<module>"])

    @each_interpreter
    def test_running_thread(self, python):
        library = self.extension(python)
        target = self.target("""
import sys
sys.path.insert(0, %r)
import extension
def inside():
    while True:
        extension.burn(100000000)
print("ready", flush=True)
extension.through(inside)
""" % str(library.parent), python)
        time.sleep(0.1)
        for _ in range(5):  # on a busy machine a thread may wait for a CPU longer than a dump for its stop
            done = self.linescope("dump", "--native", "--json", "--pid", target.pid)
            self.assertEqual(done.status, 0, done.stderr)
            thread = json.loads(done.stdout)["threads"][0]
            if thread["native_note"] is None:
                break
        self.assertIsNone(thread["native_note"])
        names = [frame["name"] for frame in thread["frames"]]
        self.assertEqual(names[:7], ["step_inlined", "inner_work", "outer_work", "burn", "inside", "call_back", "through"])


if __name__ == "__main__":
    unittest.main()
