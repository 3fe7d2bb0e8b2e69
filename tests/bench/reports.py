"""The part `reports`: what the peers' HTML reports of the same program weigh, and what opening them takes."""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import environment
import size

PACKAGES = ("scalene==2.4.0", "memray==1.20.0", "linescope==0.1.0")
OPENER = environment.HERE / "open_report.mjs"
BROWSER_TESTS = environment.ROOT / "tests" / "browser"
LIMIT_S = 120  # of one profiled run, of writing a report, and of opening it
# What opening our own may take.
LIMITS = {"settled_ms": 300, "cpu_ms": 500, "elements": 1500, "scroll_ms": 12}


class Failed(Exception):
    pass


def must(argv, folder):
    try:
        done = subprocess.run([str(a) for a in argv], cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=LIMIT_S, errors="replace")
    except subprocess.TimeoutExpired as error:
        raise Failed("took more than %d s" % LIMIT_S) from error
    if done.returncode:
        raise Failed((done.stderr or done.stdout).strip().splitlines()[-1] if done.stderr or done.stdout else "status %d" % done.returncode)


def ours(program, args, root, folder, tools):
    must([environment.linescope(), "run", "--display", "none", "--project-root", root, "-o", "r.html", "--", tools["python"], program, *args], folder)
    # A source is what one scrolls through.
    return {"linescope": (folder / "r.html", "", ""), "linescope, a source": (folder / "r.html", "#f/0", ".scroller")}


def earlier(program, args, root, folder, tools):
    must([tools["bin"] / "python", "-m", "linescope", "--display", "none", "--no-memory", "-r", root, "-o", "r.html", program, *args], folder)
    return {"linescope 0.1.0": (folder / "r.html", "", "")}


def scalene(program, args, _root, folder, tools):
    must([tools["bin"] / "scalene", "run", "--cpu-only", "-o", "p.json", program, *(["---", *args] if args else [])], folder)
    must([tools["bin"] / "scalene", "view", "--standalone", "p.json"], folder)
    return {"Scalene 2.4.0": (next(folder.glob("*.html")), "", "")}


def memray(program, args, _root, folder, tools):
    must([tools["bin"] / "python", "-m", "memray", "run", "-o", "p.bin", program, *args], folder)
    must([tools["bin"] / "python", "-m", "memray", "flamegraph", "-o", "r.html", "p.bin"], folder)
    return {"memray 1.20.0": (folder / "r.html", "", "")}


def tachyon(program, args, _root, folder, tools):
    run = [tools["3.15"], "-m", "profiling.sampling", "run", "-r", "1khz"]
    must([*run, "--flamegraph", "-o", "r.html", program, *args], folder)
    must([*run, "--heatmap", "-o", "heat", program, *args], folder)
    index = folder / "heat" / "index.html"
    return {"Tachyon, flame graph": (folder / "r.html", "", ""), "Tachyon, heat map": (index, "", "")}


WRITERS = (ours, earlier, scalene, memray, tachyon)


def weight(file):
    files = [file] if file.name != "index.html" else [each for each in file.parent.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def opened(file, fragment, selector, repeat):
    looks = []
    for _ in range(repeat):
        try:
            done = subprocess.run(["node", str(OPENER), str(file), fragment, selector], capture_output=True, text=True, check=False,
                                  timeout=LIMIT_S)
        except subprocess.TimeoutExpired as error:
            raise Failed("%.2f MB, not open after %d s" % (weight(file) / 1e6, LIMIT_S)) from error
        if done.returncode:
            raise Failed("%.2f MB, cannot be opened: " % (weight(file) / 1e6) + (done.stderr.strip().splitlines() or ["?"])[-1])
        looks.append(json.loads(done.stdout))
    return {key: None if looks[0][key] is None else statistics.median(look[key] for look in looks) for key in looks[0]}


def newest(versions):
    """The first Python at hand that has Tachyon."""
    for name in versions:
        found = shutil.which(name)
        if found and environment.has_module(found, "profiling.sampling"):
            return found
    return None


def report_line(name, file, figures, ours_first):
    cells = ["%s %s" % (key, "-" if value is None else "%g" % value) for key, value in figures.items()]
    limits = ["%s %.2f" % (key, figures[key] / limit) for key, limit in LIMITS.items() if ours_first and figures.get(key) is not None]
    print("  %-22s %7.2f MB  %s%s" % (name, weight(file) / 1e6, "  ".join(cells), "  of the limit: " + ", ".join(limits) if limits else ""),
          flush=True)


def main(options):
    if not (BROWSER_TESTS / "node_modules" / "@playwright").is_dir():
        sys.exit("bench: the browser tests' packages are not installed: run npm ci in tests/browser")
    python = options.python[0]
    packages = environment.virtual_environment("reports", PACKAGES, python)
    made = environment.ROOT / "build" / "pythons"
    tools = {"python": python, "bin": packages,
             "3.15": newest([str(path) for path in sorted(made.glob("3.15*/bin/python3"))] + ["python3.15"])}
    root, files, lines = size.project(python)
    programs = (
        ("a script of 45 lines", environment.HERE / "workloads" / "small.py", (), environment.HERE / "workloads"),
        ("%d lines in %d files" % (lines, files), environment.HERE / "workloads" / "million.py", (root, size.PATHS, size.SECONDS), root),
    )
    for title, program, args, project in programs:
        print("reports: %s" % title, flush=True)
        for write in WRITERS:
            if write is not ours and (packages is None or write is tachyon and tools["3.15"] is None):
                print("  %-22s skipped: it is not at hand" % write.__name__)
                continue
            with environment.scratch() as scratch:
                folder = pathlib.Path(scratch)
                try:
                    copy = folder / program.name
                    shutil.copyfile(program, copy)
                    written = write(copy, [str(a) for a in args], os.path.realpath(project) if args else folder, folder, tools)
                    for name, (file, fragment, selector) in written.items():
                        report_line(name, file, opened(file, fragment, selector, options.repeat), write is ours)
                except Failed as failure:
                    print("  %-22s failed: %s" % (write.__name__, failure), flush=True)
