"""The part `size`: the report of a project of a million lines."""
import contextlib
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import time

import environment

LINES, PATHS, SECONDS, RATE = 1_000_000, 4_250, 8, 2_500  # about 50,000 stack nodes and 100,000 samples
# What a report of that size may take.
LIMIT_MB, LIMIT_S, LIMIT_RSS_MB = 15, 6, 500


def project(python):
    """A folder with the standard library, its tests, and as much of what else is installed as makes a million lines."""
    folder = environment.KEPT / "million"
    told = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))"], check=True, capture_output=True, text=True)
    root = pathlib.Path(told.stdout.strip())
    shutil.rmtree(folder, ignore_errors=True)
    files = sorted(root.rglob("*.py"), key=lambda path: ("site-packages" in path.parts, path))
    lines = count = 0
    for path in files:
        if lines >= LINES:
            break
        to = folder / path.relative_to(root)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
        lines += path.read_bytes().count(b"\n")
        count += 1
    return folder, count, lines


def size(options):
    linescope = environment.linescope()
    for python in options.python:
        root, files, lines = project(python)
        print("size: Python %s, %d lines in %d files" % (environment.version_of(python), lines, files))
        with environment.scratch() as scratch:
            folder = pathlib.Path(scratch)
            profile, report = folder / "p.linescope", folder / "r.html"
            subprocess.run([linescope, "run", "--rate", str(RATE), "--profile", str(profile), "-o", str(folder / "out.collapsed"), "--display",
                            "none", "--project-root", str(root), "--", python, str(environment.HERE / "workloads" / "million.py"), str(root),
                            str(PATHS), str(SECONDS)], check=True, capture_output=True)
            with contextlib.closing(sqlite3.connect(profile)) as database:
                nodes, samples = (database.execute("SELECT %s" % what).fetchone()[0] for what in
                                  ("count(*) FROM stack", "samples FROM run"))
            print("  %d stack nodes, %d samples, profile of %.2f MB" % (nodes, samples, os.path.getsize(profile) / 1e6))
            for _ in range(options.repeat):
                start = time.perf_counter()
                subprocess.run([linescope, "report", str(profile), "-o", str(report)], check=True, capture_output=True)
                wall = time.perf_counter() - start
                # Of all children, but no other comes near.
                rss = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
                mb = os.path.getsize(report) / 1e6
                print("  report: %.2f MB (%.2f of the limit), %.2f s (%.2f), %.0f MB of memory (%.2f)" %
                      (mb, mb / LIMIT_MB, wall, wall / LIMIT_S, rss, rss / LIMIT_RSS_MB), flush=True)
