"""Where the bench keeps what it installs, and the programs it measures.

LINESCOPE names the binary (default: build/release/bin/linescope, else the one on PATH), PEERS_BIN a folder with py-spy
and austin. Without PEERS_BIN they are installed by pip into a virtual environment under build/; a peer that
cannot be had is skipped by name.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = ROOT / "build" / "bench"
PEER_PACKAGES = ("py-spy==0.4.3", "austin-dist==3.7.0")


def note(text):
    print(text, file=sys.stderr, flush=True)


def linescope():
    named = os.environ.get("LINESCOPE")
    built = ROOT / "build" / "release" / "bin" / "linescope"
    found = shutil.which(named) if named else (str(built) if built.exists() else shutil.which("linescope"))
    if not found:
        sys.exit("bench: there is no linescope binary: build the release preset, or name one in LINESCOPE")
    return os.path.abspath(found)


def virtual_environment(name, packages, python=sys.executable):
    """The bin folder of a virtual environment with these packages; None, with a note, when pip cannot install them."""
    folder = KEPT / name
    stamp = folder / "installed"
    wanted = "%s\n%s\n" % (os.path.realpath(python), "\n".join(packages))
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        KEPT.mkdir(parents=True, exist_ok=True)
        steps = ([python, "-m", "venv", str(folder)], [str(folder / "bin" / "pip"), "install", "-q", *packages])
        for step in steps:
            done = subprocess.run(step, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
            if done.returncode:
                note("bench: cannot install %s: %s" % (", ".join(packages), (done.stderr.strip() or "?").splitlines()[-1]))
                return None
        stamp.write_text(wanted, encoding="utf-8")
    return folder / "bin"


def peers_folder():
    """The folder of py-spy and austin, or None."""
    if os.environ.get("PEERS_BIN"):
        return pathlib.Path(os.environ["PEERS_BIN"])
    return virtual_environment("peers", PEER_PACKAGES)


def compiled(source):
    """A small C program of this folder, built by the system's compiler; None, with a note, where there is none."""
    binary = KEPT / source.stem
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        compiler = next(filter(None, map(shutil.which, (os.environ.get("CC", "cc"), "gcc", "clang"))), None)
        if not compiler:
            note("bench: no C compiler, so the floor is not measured")
            return None
        KEPT.mkdir(parents=True, exist_ok=True)
        subprocess.run([compiler, "-O2", "-o", str(binary), str(source)], check=True)
    return binary


def has_module(python, name):
    code = ("from importlib.util import find_spec; import sys; name = sys.argv[1]\n"
            "sys.exit(not find_spec(name.partition('.')[0]) or not find_spec(name))")
    return subprocess.run([python, "-c", code, name], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def busy_core(core):
    """Somebody else works on that core meanwhile; None: nobody does."""
    if core is None:
        yield
        return
    hog = subprocess.Popen(pinned(core) + [sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        hog.kill()
        hog.wait()


def pinned(core):
    """A prefix that keeps a command on one core, where there are two."""
    if core is None or len(os.sched_getaffinity(0)) < 2 or not shutil.which("taskset"):
        return []
    return ["taskset", "-c", str(sorted(os.sched_getaffinity(0))[core])]


def scratch():
    return tempfile.TemporaryDirectory(prefix="linescope-bench-")


def version_of(python):
    return subprocess.run([python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], capture_output=True,
                          text=True, check=True).stdout.strip()
