"""Interpreters that are not a python3 of this machine's: other C libraries, other programs around them, other roots, no file any more."""
import glob
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import zipapp
import zipfile

from kinds import HOT, SPINNING, KindCase, built, children_of, do, everybodys, need, need_root, permitted, root_with
from support import INTERPRETERS, LINESCOPE, PYTHON, each_interpreter, version_of, wait_until


def config(python):
    """sysconfig of an interpreter, and its prefix."""
    code = ("import json, sys, sysconfig; print(json.dumps([sys.prefix, sysconfig.get_path('include'), sysconfig.get_config_vars(), "
            "sys.version.split()[0]]))")
    return json.loads(subprocess.run([python, "-c", code], capture_output=True, check=True, text=True).stdout)


HOST = r"""
// A program with an interpreter inside: embedded MODE SCRIPT
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *run_in_thread(void *script) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyRun_SimpleFile(fopen(script, "r"), script);
  PyGILState_Release(state);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
#ifdef LOAD
  if (dlopen(getenv("OTHER"), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND) == NULL) return 3;
#endif
  Py_InitializeEx(0);
  if (strcmp(argv[1], "main") == 0) {
    PyRun_SimpleFile(fopen(argv[2], "r"), argv[2]);
  } else if (strcmp(argv[1], "thread") == 0) {
    PyThreadState *mine = PyEval_SaveThread();
    pthread_t thread;
    pthread_create(&thread, NULL, run_in_thread, argv[2]);
    pthread_join(thread, NULL);
    PyEval_RestoreThread(mine);
  } else {
    puts("ready");
    fflush(stdout);
    for (;;) sleep(1000);
  }
  return 0;
}
"""

# loader HOW-MANY SCRIPT LIBRARY...: each libpython in a namespace of its own, the first of them initialised; the last of those runs
# the script.
LOADER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int (*run)(const char *) = NULL;
  char code[4096];
  for (int i = 3; i < argc; ++i) {
    void *library = dlmopen(LM_ID_NEWLM, argv[i], RTLD_NOW);
    if (library == NULL) return fprintf(stderr, "%s\n", dlerror()), 3;
    if (i - 3 >= atoi(argv[1])) continue;
    ((void (*)(int))dlsym(library, "Py_InitializeEx"))(0);
    run = (int (*)(const char *))dlsym(library, "PyRun_SimpleString");
  }
  snprintf(code, sizeof code, "exec(compile(open('%s').read(), '%s', 'exec'))", argv[2], argv[2]);
  return run(code);
}
"""

# Scripts of embedded interpreters have no sys.argv.
SPINNING_FOREVER = HOT + "print('ready', flush=True)\nhot(60)\n"


def c_program(name, text, *options):
    def make(folder):
        need("cc")
        source = folder / (name + ".c")
        source.write_text(text)
        do("cc", "-O1", "-o", folder / name, source, *options)
    return built(name, text + repr(options), make)


def embedding(python, *options, name="embedded"):
    """(program that embeds the interpreter's shared library, environment that it needs)"""
    prefix, include, variables, _ = config(python)
    library = pathlib.Path(variables["LIBDIR"] or "", variables["INSTSONAME"] or "")
    if not variables.get("Py_ENABLE_SHARED") or not library.exists() or not pathlib.Path(include, "Python.h").exists():
        raise unittest.SkipTest("%s has no shared library and headers to embed" % python)
    program = c_program(name, HOST, "-I" + include, str(library), "-Wl,-rpath," + str(library.parent), "-lpthread", "-ldl", *options)
    return program, {**os.environ, "PYTHONHOME": prefix}


class Musl(KindCase):
    """Another C library, in a root of its own, as in Alpine's images."""

    def setUp(self):
        super().setUp()
        found = root_with("3.*-musl")
        if found is None:
            self.skipTest("no Python of musl's: tools/pythons --only 3.13-musl builds it")
        need_root("enter another root")
        self.root, self.python = found
        self.inside = pathlib.Path(tempfile.mkdtemp(dir=self.root / "tmp"))
        self.addCleanup(shutil.rmtree, self.inside, ignore_errors=True)

    def command(self, text):
        (self.inside / "prog.py").write_text(text)
        return ["chroot", str(self.root), self.python, "-u", "/tmp/%s/prog.py" % self.inside.name]

    def test_attach(self):
        process = self.ready(self.start(self.command(SPINNING)))
        dump = self.assertSeen(process.pid, "3.")
        self.assertIn("libpython3.", dump["python_file"])
        self.assertEqual(dump["threads"][0]["id"], process.pid)

    def test_run(self):
        done = self.run_and_keep("--include", "/tmp/**", "--", *self.command(HOT + "hot(0.6)\n"))
        self.assertEqual(done.status, 0, done.stderr)
        stats = self.stats()
        self.assertEqual(stats["functions"][0]["name"], "hot")

    def test_threads(self):
        process = self.ready(self.start(self.command(
            "import threading, time\n"
            "threading.Thread(target=time.sleep, args=(100,), name='napper', daemon=True).start()\n"
            "print('ready', flush=True)\ntime.sleep(100)\n")))
        threads = self.dump(process.pid)["threads"]
        self.assertEqual({t["id"] for t in threads}, {int(t) for t in os.listdir("/proc/%d/task" % process.pid)})
        self.assertIn("napper", {t["name"] for t in threads})


class PyInstaller(KindCase):
    """A program in one file, which unpacks its libpython into a temporary folder at every start."""

    def setUp(self):
        super().setUp()
        def make(folder):
            (folder / "prog.py").write_text(SPINNING)
            do(PYTHON, "-m", "venv", folder / "venv")
            do(folder / "venv" / "bin" / "pip", "install", "-q", "pyinstaller")
            do(folder / "venv" / "bin" / "pyinstaller", "--onefile", "--name", "onefile", "--distpath", folder, "--workpath",
               folder / "work", "--specpath", folder, folder / "prog.py", cwd=folder)
            shutil.rmtree(folder / "venv")
            shutil.rmtree(folder / "work")
        self.program_file = built("onefile", SPINNING + PYTHON, make)
        self.unpacked = self.folder / "unpacked"
        self.unpacked.mkdir(mode=0o777)
        os.chmod(self.unpacked, 0o777)

    def launch(self, **options):
        """(the process that unpacks, the process that runs Python)"""
        process = self.ready(self.start([str(self.program_file)], env={**os.environ, "TMPDIR": str(self.unpacked)}, **options))
        return process, self.only_child(process)

    def test_attach(self):
        _, pid = self.launch()
        dump = self.assertSeen(pid, source=False)
        self.assertIn("/unpacked/", dump["python_file"])
        frame = next(f for f in dump["threads"][0]["frames"] if f["name"] == "hot")
        self.assertEqual(frame["file"], "prog.py")
        self.assertGreater(frame["line"], 0)
        self.assertTrue(frame["source_note"])

    def test_run(self):
        done = self.run_and_keep("--", str(self.program_file), "0.8", env={**os.environ, "TMPDIR": str(self.unpacked)})
        self.assertEqual(done.status, 0, done.stderr)
        stats = self.stats()
        self.assertGreater(stats["samples"], 200)
        self.assertIn("hot", self.folder.joinpath("out.collapsed").read_text())
        self.assertEqual(list(self.unpacked.iterdir()), [], "the program could not tidy up")

    def test_deleted(self):
        _, pid = self.launch()
        shutil.rmtree(next(self.unpacked.iterdir()))
        self.assertSeen(pid, source=False)

    def test_deleted_and_no_privilege(self):
        """Where the deleted file may not be opened, its mapped pages tell enough."""
        options = self.as_nobody()
        _, pid = self.launch(**options)
        shutil.rmtree(next(self.unpacked.iterdir()))
        binary = self.nobodys_linescope()
        self.assertSeen(pid, source=False, binary=binary, **options)


class Embedded(KindCase):
    """An interpreter inside a program of another name, written in C."""

    def launch(self, python, mode, text=SPINNING_FOREVER):
        program, environment = embedding(python)
        return self.ready(self.start([str(program), mode, self.program(text, "script.py")], env=environment))

    @each_interpreter
    def test_main(self, python):
        process = self.launch(python, "main", SPINNING_FOREVER)
        self.assertSeen(process.pid, ".".join(map(str, version_of(python))))

    @each_interpreter
    def test_a_thread_of_the_hosts(self, python):
        process = self.launch(python, "thread", SPINNING_FOREVER)
        dump = self.assertSeen(process.pid)
        thread = next(t for t in dump["threads"] if "hot" in [f["name"] for f in t["frames"]])
        if version_of(python) >= (3, 11):
            self.assertNotEqual(thread["id"], process.pid)
            self.assertIn(thread["id"], {int(t) for t in os.listdir("/proc/%d/task" % process.pid)})

    @each_interpreter
    def test_no_frames(self, python):
        """An interpreter that is up and has nothing to run is idle: no error, and no time that was never spent."""
        process = self.launch(python, "idle")
        self.assertTrue(wait_until(lambda: open("/proc/%d/stat" % process.pid).read().rsplit(")")[1].split()[0] == "S"))
        dump = self.dump(process.pid)
        self.assertEqual([(t["state"], t["frames"]) for t in dump["threads"]], [("idle", [])])
        done = self.attach(process.pid)
        self.assertEqual(self.stats(str(self.folder / "a.linescope"))["functions"], [])
        self.assertNotIn("error", done.stderr)

    def test_run(self):
        program, environment = embedding(PYTHON)
        script = self.program(HOT + "hot(0.6)\n", "script.py")
        done = self.run_and_keep("--", str(program), "main", script, env=environment)
        self.assertEqual(done.status, 0, done.stderr)
        self.assertIn("hot", self.folder.joinpath("out.collapsed").read_text())


def shared_library(python):
    """Also of builds that were moved, and whose configuration names a place that was."""
    variables = config(python)[2]
    tree = pathlib.Path(os.path.realpath(python)).parents[1]
    places = (pathlib.Path(variables["LIBDIR"] or ""), tree / "lib", tree)
    return next((place / variables["INSTSONAME"] for place in places if (place / variables["INSTSONAME"]).exists()), None)


def shared_libraries():
    """{minor version: libpython} of the interpreters here."""
    found = {}
    for version, python in INTERPRETERS:
        _, _, variables, _ = config(python)
        library = pathlib.Path(variables["LIBDIR"] or "", variables["INSTSONAME"] or "")
        if variables.get("Py_ENABLE_SHARED") and library.exists():
            found.setdefault(version, (library, python))
    return found


class SeveralLibraries(KindCase):
    """Two libpythons mapped in one process."""

    def launch(self, started):
        libraries = shared_libraries()
        pair = [version for version in ("3.11", "3.12", "3.10", "3.9", "3.13") if version in libraries][:2]
        if len(pair) < 2:
            self.skipTest("needs shared libraries of two versions of Python")
        program = c_program("loader", LOADER, "-ldl")
        script = self.program(SPINNING_FOREVER, "script.py")
        prefix = config(libraries[pair[0]][1])[0]
        # The standard library of the first is not that of the second: only what is frozen or built in is needed to come up.
        process = self.start([str(program), str(started), script, *(str(libraries[version][0]) for version in pair)],
                             env={**os.environ, "PYTHONHOME": prefix})
        return self.ready(process), pair

    def test_one_runs(self):
        process, pair = self.launch(1)
        dump = self.assertSeen(process.pid, pair[0])
        self.assertEqual(dump["warnings"], [])

    def test_the_one_that_runs_is_mapped_last(self):
        libraries = shared_libraries()
        if len(libraries) < 2:
            self.skipTest("needs shared libraries of two versions of Python")
        (first, _), (last, python) = list(libraries.values())[:2]
        program = c_program("preloading", HOST, "-DLOAD", "-I" + config(python)[1], str(last), "-Wl,-rpath," + str(last.parent),
                            "-lpthread", "-ldl")
        process = self.ready(self.start([str(program), "main", self.program(SPINNING_FOREVER, "script.py")],
                                        env={**os.environ, "PYTHONHOME": config(python)[0], "OTHER": str(first)}))
        maps = pathlib.Path("/proc/%d/maps" % process.pid).read_text()
        self.assertIn(str(first), maps)
        dump = self.assertSeen(process.pid, ".".join(map(str, version_of(python))))
        self.assertEqual(dump["python_file"], str(last))


class Stripped(KindCase):
    """An interpreter linked into its program, without symbols, without sections."""

    def make(self, *options, name="static"):
        archive = next(iter(glob.glob("/usr/lib/python3.11/config-3.11-*/libpython3.11.a")), None)
        if archive is None:
            self.skipTest("no libpython3.11.a (libpython3.11-dev)")
        return c_program(name, HOST, "-I/usr/include/python3.11", archive, "-no-pie", "-lexpat", "-lz", "-lm", "-ldl", "-lutil",
                         "-lpthread", *options)

    def check(self, program):
        process = self.ready(self.start([str(program), "main", self.program(SPINNING_FOREVER, "script.py")]))
        return self.assertSeen(process.pid, "3.11")

    def test_symbols(self):
        need("strip")
        program = self.folder / "stripped"
        shutil.copy2(self.make(), program)
        do("strip", program)
        self.assertNotIn("_PyRuntime", do("nm", "-D", program))
        self.check(program)

    def test_sections(self):
        need("strip")
        program = self.folder / "sectionless"
        shutil.copy2(self.make(), program)
        do("strip", program)
        with open(program, "r+b") as f:  # e_shoff, e_shentsize, e_shnum, e_shstrndx of the header
            f.seek(0x28)
            f.write(bytes(8))
            f.seek(0x3a)
            f.write(bytes(6))
        self.check(program)

    def test_no_position_independence(self):
        self.check(self.make("-s", name="fixed"))

    def test_wholly_static(self):
        """No dynamic linker, no dynamic symbols, no libraries in the maps."""
        self.check(self.make("-static", "-s", name="wholly"))


class OddLayouts(KindCase):
    """ELF files whose segments do not lie as most linkers lay them."""

    def check(self, name, *options):
        program, environment = embedding(PYTHON, *options, name=name)
        process = self.ready(self.start([str(program), "main", self.program(SPINNING_FOREVER, "script.py")],
                                        env=environment))
        self.assertSeen(process.pid)

    def library(self, change):
        """A copy of the shared library that was changed, and runs."""
        _, include, variables, _ = config(PYTHON)
        if not variables.get("Py_ENABLE_SHARED"):
            self.skipTest("%s has no shared library" % PYTHON)
        library = self.folder / variables["INSTSONAME"]
        shutil.copy2(pathlib.Path(variables["LIBDIR"], variables["INSTSONAME"]), library)
        change(library)
        process = self.ready(self.start([PYTHON, "-u", self.program(SPINNING)], env={**os.environ, "LD_LIBRARY_PATH": str(self.folder)}))
        maps = pathlib.Path("/proc/%d/maps" % process.pid).read_text()
        self.assertIn(str(library), maps)
        self.assertSeen(process.pid)

    def test_segments_that_share_pages(self):
        self.check("packed", "-Wl,-z,noseparate-code")

    def test_huge_alignment(self):
        self.check("aligned", "-Wl,-z,max-page-size=0x200000")

    def test_linked_at_an_address(self):
        self.check("highup", "-no-pie", "-Wl,-Ttext-segment=0x60000000")

    def test_several_executable_segments(self):
        """As profile-guided linkers and post-link optimizers leave it: code before and behind the data."""
        text = HOST.replace("int main", "__attribute__((section(\".far\"), used)) int far(int a) { return a * 3; }\nint main")
        _, include, variables, _ = config(PYTHON)
        prefix = config(PYTHON)[0]
        if not variables.get("Py_ENABLE_SHARED"):
            self.skipTest("%s has no shared library" % PYTHON)
        library = pathlib.Path(variables["LIBDIR"], variables["INSTSONAME"])
        program = c_program("twice", text, "-I" + include, str(library), "-Wl,-rpath," + str(library.parent),
                            "-Wl,--section-start=.far=0x4000000", "-lpthread", "-ldl")
        process = self.ready(self.start([str(program), "main", self.program(SPINNING_FOREVER, "script.py")],
                                        env={**os.environ, "PYTHONHOME": prefix}))
        maps = pathlib.Path("/proc/%d/maps" % process.pid).read_text()
        self.assertGreater(len(re.findall("r-xp .*/twice", maps)), 1, maps)
        self.assertSeen(process.pid)

    def test_patched(self):
        """patchelf moves tables to the end, into segments of their own."""
        need("patchelf")
        self.library(lambda library: do("patchelf", "--set-rpath", "/" + "x" * 3000, library))

    def test_stripped_of_everything(self):
        need("strip")
        def change(library):
            do("strip", library)
            with open(library, "r+b") as f:
                f.seek(0x28)
                f.write(bytes(8))
                f.seek(0x3a)
                f.write(bytes(6))
        self.library(change)


class Uwsgi(KindCase):
    """Python inside uWSGI, whose workers mostly wait for a request without any Python frame."""

    APP = HOT + """
def application(env, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    hot(float(env["QUERY_STRING"] or 0))
    return [b"done"]
"""

    def launch(self, processes=2, under=()):
        """(uWSGI, or what it was started under; its workers)"""
        need("uwsgi")
        self.socket = str(self.folder / "http.sock")
        process = self.start([*under, "uwsgi", "--plugin", "http,python3", "--http-socket", self.socket, "--wsgi-file",
                              self.program(self.APP, "app.py"), "--master", "--processes", str(processes), "--need-app",
                              "--die-on-term"], stdout=subprocess.DEVNULL)
        if not wait_until(lambda: os.path.exists(self.socket) or process.poll() is not None) or process.poll() is not None:
            self.skipTest("uwsgi does not start (uwsgi-plugin-python3 may lack)")
        self.master = self.only_child(process) if under else process.pid
        self.assertTrue(wait_until(lambda: len(children_of(self.master)) == processes))
        return process, children_of(self.master)

    def request(self, seconds):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket)
        connection.sendall(b"GET /?%g HTTP/1.0\r\nHost: x\r\n\r\n" % seconds)
        self.addCleanup(connection.close)

    def test_idle_worker(self):
        _, workers = self.launch()
        for worker in workers:
            self.assertTrue(wait_until(lambda worker=worker: self.frames(self.dump(worker)) == []), "still loads the application")
            (thread,) = self.dump(worker)["threads"]
            self.assertEqual((thread["id"], thread["state"]), (worker, "idle"))
        done = self.linescope("dump", "--pid", workers[0])
        self.assertEqual(done.status, 0)
        self.assertIn("idle", done.stdout)
        attached = self.attach(workers[0])
        self.assertNotIn("error", attached.stderr)
        self.assertEqual(self.stats("a.linescope")["functions"], [])

    def test_busy_worker(self):
        _, workers = self.launch()
        self.request(20)
        busy = []  # the one in the request; another may still load the application
        self.assertTrue(wait_until(lambda: busy.extend(w for w in workers if "hot" in self.frames(self.dump(w))) or busy))
        self.assertSeen(busy[0])

    def test_run(self):
        """Workers are forked without a word to their interpreter."""
        process, (worker,) = self.launch(1, [LINESCOPE, "run", "--profile", "p.linescope", "-o", "x.collapsed", "--display", "none", "--"])
        self.request(2)
        self.assertTrue(wait_until(lambda: "hot" in self.frames(self.dump(worker))))
        self.assertTrue(wait_until(lambda: self.frames(self.dump(worker)) == []))
        os.kill(self.master, signal.SIGTERM)
        process.communicate(timeout=60)
        stats = self.stats()
        self.assertEqual(stats["functions"][0]["name"], "hot")
        self.assertGreater(stats["functions"][0]["time_ns"], 1e9)

    def test_whole_tree(self):
        master, workers = self.launch()
        self.request(20)
        self.attach(master.pid, "--subprocesses", "--duration", "1")
        stats = self.stats("a.linescope")
        self.assertEqual(stats["functions"][0]["name"], "hot")


class Environments(KindCase):
    """Virtual environments: links to an interpreter somewhere else."""

    @each_interpreter
    def test_venv(self, python):
        environment = self.folder / ("venv" + "".join(map(str, version_of(python))))
        done = subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.skipTest("venv fails for %s: %s" % (python, done.stderr[-200:]))
        installed = next((environment / "lib").glob("python*")) / "site-packages" / "library.py"
        installed.write_text(HOT)
        script = self.program("import library\nlibrary.hot(0.5)\n")
        done = self.linescope("run", "--python", environment, "--profile", "v.linescope", "-o", "out.collapsed", "--display", "none",
                              script)
        self.assertEqual(done.status, 0, done.stderr)
        stats = self.stats("v.linescope")
        self.assertEqual((stats["lines"][0]["file"], stats["lines"][0]["line"]), (script, 2),
                         "time of installed code belongs to the line that calls it")
        process = self.ready(self.start([str(environment / "bin" / "python"), "-u", self.program(SPINNING, "spin.py")]))
        self.assertSeen(process.pid)


class Archives(KindCase):
    """Programs and packages that lie in zip files."""

    def application(self, prefix=b""):
        tree = self.folder / "tree"
        (tree / "package").mkdir(parents=True)
        (tree / "__main__.py").write_text("import package.work\npackage.work.hot(100)\n")
        (tree / "package" / "__init__.py").write_text("")
        (tree / "package" / "work.py").write_text(HOT.replace("\n    end =", "\n    print('ready', flush=True)\n    end ="))
        archive = self.folder / "app.pyz"
        zipapp.create_archive(tree, archive, interpreter="/usr/bin/env python3", compressed=True)
        shutil.rmtree(tree)
        if prefix:
            archive.write_bytes(prefix + archive.read_bytes())
        return archive

    @each_interpreter
    def test_zipapp(self, python):
        archive = self.application()
        process = self.ready(self.start([python, "-u", str(archive)]))
        dump = self.assertSeen(process.pid)
        frame = next(f for f in dump["threads"][0]["frames"] if f["name"] == "hot")
        self.assertEqual(frame["file"], str(archive) + "/package/work.py")
        stats = self.stats("a.linescope")
        self.assertEqual(stats["lines"][0]["file"], str(archive) + "/package/work.py")
        self.assertRegex(stats["lines"][0]["source"], "n \\+= i|for i in|while time")

    def test_relative_name(self):
        archive = self.application()
        process = self.ready(self.start([PYTHON, "-u", archive.name]))
        self.assertSeen(process.pid)

    def test_something_before_the_archive(self):
        """cat stub app.zip > app: offsets in the archive do not count the stub."""
        archive = self.application(prefix=b"#!/bin/sh\nexec python3 \"$0\"\n" + b"\0" * 1000)
        process = self.ready(self.start([PYTHON, "-u", str(archive)]))
        self.assertSeen(process.pid)

    def test_zip_on_the_path(self):
        archive = self.folder / "lib.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as file:
            file.writestr("stored.py", HOT)
        script = self.program("import sys\nsys.path.insert(0, %r)\nimport stored\nprint('ready', flush=True)\nstored.hot(100)\n"
                              % str(archive))
        process = self.ready(self.start([PYTHON, "-u", script]))
        self.assertSeen(process.pid)

    def test_replaced_archive(self):
        """An archive that is newer than the process shows no text that was never loaded."""
        archive = self.application()
        process = self.ready(self.start([PYTHON, "-u", str(archive)]))
        time.sleep(1.1)
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("package/work.py", "# another version\n" * 50)
        frame = next(f for f in self.dump(process.pid)["threads"][0]["frames"] if f["name"] == "hot")
        self.assertIsNone(frame["source"])
        self.assertTrue(frame["source_note"])

    def test_broken_archive(self):
        archive = self.application()
        process = self.ready(self.start([PYTHON, "-u", str(archive)]))
        with open(archive, "r+b") as file:
            file.truncate(200)
        frame = next(f for f in self.dump(process.pid)["threads"][0]["frames"] if f["name"] == "hot")
        self.assertIsNone(frame["source"])
        self.assertIn("app.pyz", frame["source_note"])


class Vanished(KindCase):
    """The files of a running interpreter were renamed, replaced or deleted since it started, as by an upgrade."""

    def copy(self, python):
        """(folder with a copy of the interpreter, command)"""
        prefix, _, variables, _ = config(python)
        home = self.folder / "home"
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        program = home / "interpreter"
        shutil.copy2(os.path.realpath(python), program)
        if variables.get("Py_ENABLE_SHARED"):
            library = shared_library(python)
            if library is None:
                self.skipTest("the shared library of %s is not where it says" % python)
            shutil.copy2(library, home)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(home), "PYTHONHOME": prefix}
        return home, [str(program), "-u", self.program(SPINNING)], environment

    def check(self, change, python=PYTHON, nobody=False):
        home, command, environment = self.copy(python)
        options = self.as_nobody() if nobody else {}
        process = self.ready(self.start(command, env=environment, **options))
        change(home)
        binary = self.nobodys_linescope() if nobody else LINESCOPE
        self.assertSeen(process.pid, binary=binary, **options)

    def everybodys(self):
        """An interpreter with a shared library whose files an ordinary user may read."""
        shared = (python for _, python in INTERPRETERS if config(python)[2].get("Py_ENABLE_SHARED") and shared_library(python))
        python = everybodys(shared, lambda python: {**os.environ, "PYTHONHOME": config(python)[0]}, **self.as_nobody())
        if python is None:
            self.skipTest("no interpreter with a shared library that every user may start")
        return python

    def replace(self, home):
        for file in home.iterdir():
            text = file.read_bytes()
            file.unlink()
            file.write_bytes(b"something else" + bytes(len(text)))

    @each_interpreter
    def test_deleted(self, python):
        self.check(shutil.rmtree, python)

    def test_deleted_and_no_privilege(self):
        self.check(shutil.rmtree, self.everybodys(), nobody=True)

    def test_renamed(self):
        self.check(lambda home: home.rename(self.folder / "elsewhere"))

    def test_replaced(self):
        self.check(self.replace)

    def test_replaced_and_no_privilege(self):
        self.check(self.replace, self.everybodys(), nobody=True)

    def test_inside_one_program(self):
        """An interpreter without a library, its file deleted."""
        static = "/usr/bin/python3.11"
        if not os.path.exists(static):
            self.skipTest("no /usr/bin/python3.11")
        for nobody in (False, True):
            with self.subTest(nobody=nobody):
                program = self.folder / "interpreter"
                shutil.copy2(static, program)
                options = self.as_nobody() if nobody else {}
                process = self.ready(self.start([str(program), "-u", self.program(SPINNING)], **options))
                program.unlink()
                self.assertSeen(process.pid, "3.11", binary=self.nobodys_linescope() if nobody else LINESCOPE, **options)
                (self.folder / "a.collapsed").unlink()


class Namespaces(KindCase):
    """Containers: other mounts, other roots, other process ids."""

    def unshared(self, *flags, command):
        argv = ["unshare", *flags]
        if not permitted(*argv, "true"):
            self.skipTest("no permission for %s" % " ".join(argv))
        return self.start([*argv, *command])

    def contained(self):
        """(the process's id here, in its own namespace)"""
        process = self.ready(self.unshared("--pid", "--fork", "--kill-child", "--mount-proc",
                                           command=["sh", "-c", "true; %s -u %s; true" % (PYTHON, self.program(SPINNING))]))
        shell = self.only_child(process)
        self.assertTrue(wait_until(lambda: len(children_of(shell)) == 1))
        pid = children_of(shell)[0]
        with open("/proc/%d/status" % pid, encoding="ascii") as f:
            inner = int(re.search(r"NSpid:.*\s(\d+)\n", f.read()).group(1))
        return pid, inner

    def test_another_root(self):
        """A whole distribution with another C library, from outside."""
        found = root_with(".debian-*")
        if found is None:
            self.skipTest("no distribution in a root of its own: tools/pythons --only 3.15 makes one")
        need_root("enter another root")
        root, python = found
        # By its loader: the interpreter's file may name one that is there from outside only. So the executable is no Python.
        loader = next((root / "usr" / "lib64").glob("ld-linux-*.so.*"))
        libraries = next((root / "usr" / "lib").glob("*-linux-gnu"))
        inside = pathlib.Path(tempfile.mkdtemp(dir=root / "tmp"))
        self.addCleanup(shutil.rmtree, inside, ignore_errors=True)
        (inside / "prog.py").write_text(SPINNING)
        process = self.ready(self.start(["chroot", str(root), "/" + str(loader.relative_to(root)), "--library-path",
                                         "/" + str(libraries.relative_to(root)), python, "-u", "/tmp/%s/prog.py" % inside.name]))
        dump = self.assertSeen(process.pid)
        self.assertTrue(dump["threads"][0]["frames"][0]["file"].startswith("/tmp/"))

    def test_another_mount_namespace(self):
        """Its files are on a file system that is not mounted here, and another file lies at the same path."""
        prefix, _, variables, _ = config(PYTHON)
        if not variables.get("Py_ENABLE_SHARED"):
            self.skipTest("%s has no shared library" % PYTHON)
        hidden = self.folder / "hidden"
        hidden.mkdir()
        library = pathlib.Path(variables["LIBDIR"], variables["INSTSONAME"])
        (hidden / library.name).write_text("not a library")
        (hidden / "prog.py").write_text("# not the program\n" * 30)
        script = self.program(SPINNING, "real.py")
        setup = "mount -t tmpfs none {0} && cp {1} {2} {0}/ && mv {0}/real.py {0}/prog.py && exec {3} -u {0}/prog.py".format(
            hidden, library, script, PYTHON)
        process = self.ready(self.unshared("--mount", command=["env", "LD_LIBRARY_PATH=" + str(hidden), "sh", "-c", setup]))
        dump = self.assertSeen(process.pid)
        self.assertEqual(dump["python_file"], str(hidden / library.name))

    def test_pid_of_ones_own_namespace(self):
        pid, inner = self.contained()
        self.assertNotEqual(pid, inner)
        dump = self.assertSeen(pid)
        self.assertEqual((dump["pid"], dump["namespace_pids"]), (pid, [pid, inner]))
        self.assertIn("%d in its own" % inner, self.linescope("dump", "--pid", pid).stdout)
        self.assertIn("%d in its own" % inner, self.linescope("doctor", "--pid", pid).stdout)

    def test_pid_of_the_other_namespace(self):
        """Refused, with the id that it has here."""
        pid, inner = self.contained()
        # Here there is no such process, or another: a thread of the kernel, or what the machine runs first.
        for command in ("dump", "attach", "doctor"):
            done = self.linescope(command, "--pid", inner)
            self.assertNotIn(done.status, (0, 1, 2))
            self.assertRegex(done.stderr + done.stdout, r"own process %d, which is here: .*--pid %d \(" % (inner, pid))

    def test_inside_the_container(self):
        """linescope in the namespace itself, by the ids that are known there."""
        script = self.program("""
            import subprocess, sys
            target = subprocess.Popen([sys.executable, "-u", sys.argv[2]], stdout=subprocess.PIPE)
            target.stdout.readline()
            done = subprocess.run([sys.argv[1], "dump", "--json", "--pid", str(target.pid)], capture_output=True, text=True)
            print(target.pid, done.returncode, "hot" in done.stdout, done.stderr)
            target.kill()
        """, "inside.py")
        process = self.unshared("--pid", "--fork", "--mount-proc", command=[PYTHON, script, LINESCOPE,
                                                                            self.program(SPINNING, "target.py")])
        out, err = process.communicate(timeout=60)
        self.assertRegex(out.decode(), r"^\d+ 0 True", err)

    def test_proc_of_another_namespace(self):
        """The ids that /proc shows are not those that the system takes: said, not misread."""
        process = self.unshared("--pid", "--fork", command=[LINESCOPE, "dump", "--pid", "1"])
        _, err = process.communicate(timeout=60)
        self.assertNotIn(process.returncode, (0, 1, 2))
        self.assertIn("mount -t proc", err.decode())


class OnlyReads(KindCase):
    def test_nothing_of_the_target_is_executed(self):
        """A version is read, never asked for by running the target's binary."""
        need("strace")
        process = self.ready(self.start([PYTHON, "-u", self.program(SPINNING)]))
        trace = self.folder / "trace"
        for command in (["dump", "--locals", "--pid", str(process.pid)],
                        ["attach", "--pid", str(process.pid), "--duration", "0.3", "-o", "x.html", "--display", "none"],
                        ["doctor", "--pid", str(process.pid)]):
            with self.subTest(command=command[0]):
                do("strace", "-f", "-qq", "-e", "trace=execve,execveat", "-o", trace, LINESCOPE, *command, cwd=self.folder)
                executed = [line for line in trace.read_text().splitlines() if "exec" in line]
                self.assertEqual(len(executed), 1, executed)
                self.assertIn(LINESCOPE, executed[0])


class Searched(KindCase):
    def test_what_was_tried(self):
        """A failure names the files, the sections and the versions."""
        sleeper = self.start(["sleep", "60"])
        for command in ("dump", "attach", "doctor"):
            done = self.linescope(command, "--pid", sleeper.pid)
            self.assertEqual(done.status, 196)
            text = done.stdout + done.stderr
            for word in ("_PyRuntime", ".PyRuntime", "3.8 to 3.15", os.path.realpath(shutil.which("sleep")), "libc"):
                self.assertIn(word, text)

    def test_small_memory(self):
        """Whatever the size of a libpython and its symbol tables, little of it is read."""
        # A child that Python starts has Python's own peak at first.
        peak = c_program("peak", """
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  struct rusage usage;
  if (fork() == 0) {
    dup2(2, 1);
    execv(argv[1], argv + 1);
  }
  wait(NULL);
  getrusage(RUSAGE_CHILDREN, &usage);
  printf("%ld\\n", usage.ru_maxrss);
  return 0;
}
""")
        for version, python in INTERPRETERS:
            with self.subTest(python=version):
                process = self.ready(self.start([python, "-u", self.program(SPINNING)]))
                done = subprocess.run([peak, LINESCOPE, "dump", "--pid", str(process.pid)], capture_output=True, text=True, check=True)
                self.assertIn("hot", done.stderr)
                self.assertLess(int(done.stdout), 10_000, "kB, the program itself among it")
                process.kill()


if __name__ == "__main__":
    unittest.main()
