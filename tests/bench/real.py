"""Part `real`: programs nobody here wrote, under LineScope and under measurements that owe nothing to it.

Each program does the same work every time: under `linescope run` at 1 kHz; under cProfile (as it is, and with its own cost
taken off); under a timer signal inside the process; under py-spy, which stops the process for each sample. cProfile changes
what it measures, so LineScope watches the process that runs cProfile as well (`beside`): those two saw the very same seconds.
Compared are the shares of self time of the ten hottest functions, and the hottest lines of the package.
"""
import collections
import json
import os
import subprocess

import environment
import stacks

PACKAGES = ("sympy==1.13.3", "mpmath==1.3.0", "docutils==0.21.2", "pandas==2.2.3", "numpy==2.1.3")
LIMIT_POINTS = 3.0
Program = collections.namedtuple("Program", "name seconds_fixed seconds_a_round packages")
PROGRAMS = (Program("sympy", 1.3, 1.4, ("sympy", "mpmath")),
            Program("docutils", 0.5, 1.3, ("docutils",)),
            Program("pandas", 1.8, 1.5, ("pandas", "numpy")))


def run(command, folder):
    # Hashes are randomised otherwise, and with them the order, hence the amount, of the work.
    subprocess.run(command, check=True, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": "0"})


def normalised(counts):
    total = sum(counts.values()) or 1
    return {k: v / total for k, v in counts.items()}


def in_scope(file, program):
    return file.endswith("_work.py") or any("/site-packages/%s/" % p in file for p in program.packages)


def measured_part(read):
    """Of a run of reference.py the stacks from inside its measurement, without its own preparations."""
    for frames, count in read:
        if any(f.file.endswith("reference.py") and f.name.endswith("<locals>.run") for f in frames):
            yield frames, count


def shares(read, program):
    """Shares of self time by function, and of the time of the innermost line of the program and its packages."""
    functions, lines = collections.Counter(), collections.Counter()
    for frames, count in read:
        if frames:
            functions["%s:%s" % (frames[-1].file, frames[-1].name)] += count
        line = next((f for f in reversed(frames) if in_scope(f.file, program)), None)
        if line:
            lines["%s:%d" % (line.file, line.line)] += count
    everything = sum(functions.values()) or 1
    return normalised(functions), {k: v / everything for k, v in lines.items()}


def measure(program, rounds, python, rate, folder):
    """{measurement: shares by function}, {measurement: shares by line}"""
    work = [str(environment.HERE / "real" / (program.name + "_work.py")), str(rounds)]
    out = os.path.join(folder, program.name)
    include = [a for p in program.packages for a in ("--include", p)]
    functions, lines = {}, {}
    linescope = [environment.linescope(), "run", "-q", "--display", "none", "--consistency", "auto", "--rate", str(rate), *include,
                 "-o", out + ".collapsed", "--python", python]
    run([python, work[0], "1"], folder)     # compiles the packages' modules and brings their files into memory
    run([*linescope, *work], folder)
    functions["LineScope"], lines["LineScope"] = shares(stacks.read_linescope(out + ".collapsed"), program)
    reference = str(environment.HERE / "real" / "reference.py")
    for method, prefix in (("cprofile", linescope), ("timer", [python])):
        run([*prefix, reference, method, out + ".json", *work], folder)
        with open(out + ".json", encoding="utf-8") as f:
            functions.update(json.load(f))
    functions["beside"], _ = shares(measured_part(stacks.read_linescope(out + ".collapsed")), program)
    peers = environment.peers_folder()
    if peers and (peers / "py-spy").exists():
        run([str(peers / "py-spy"), "record", "-r", "500", "--full-filenames", "-f", "raw", "-o", out + ".raw",
             "--", python, *work], folder)
        functions["py-spy"], lines["py-spy"] = shares(stacks.read_pyspy(out + ".raw"), program)
    else:
        environment.note("bench: py-spy is missing, so the lines of real programs are not compared")
    return functions, lines


def short(key):
    return key.rsplit("/site-packages/", 1)[-1].rsplit("/lib/", 1)[-1]


def percent(share):
    return "%6.2f" % (100 * share)


def print_functions(functions):
    ours = functions["LineScope"]
    others = [name for name in functions if name != "LineScope"]
    top = sorted(ours, key=ours.get, reverse=True)[:10]
    # What a reference has at its top and LineScope has not would be missed by looking only from one side.
    for name in ("cProfile", "py-spy"):
        for key in sorted(functions.get(name, {}), key=functions.get(name, {}).get, reverse=True)[:10]:
            if key not in top:
                top.append(key)
    print("  self time, %% %s  function" % " ".join("%10s" % n for n in ["LineScope"] + others))
    for key in top:
        cells = ["%10s" % percent(functions[n].get(key, 0)) for n in ["LineScope"] + others]
        print("               %s  %s" % (" ".join(cells), short(key)))
    for ours_, name in (("beside", "cProfile"), ("LineScope", "cProfile"), ("LineScope", "corrected"), ("LineScope", "timer"),
                        ("LineScope", "py-spy")):
        if name not in functions:
            continue
        off = {k: 100 * (functions[ours_].get(k, 0) - functions[name].get(k, 0)) for k in top}
        key = max(off, key=lambda k: abs(off[k]))
        print("  %-9s less %-9s %+6.2f points at most (limit %.0f)  %s" % (ours_, name, off[key], LIMIT_POINTS, short(key)))


def print_lines(lines):
    for name, shares_ in lines.items():
        print("  hottest lines by %s" % name)
        for key in sorted(shares_, key=shares_.get, reverse=True)[:3]:
            cells = "  ".join("%s %s" % (other, percent(lines[other].get(key, 0))) for other in lines)
            print("    %s  %s" % (cells, short(key)))


def main(options):
    bin_folder = environment.virtual_environment("real", PACKAGES, options.python[0])
    if not bin_folder:
        print("real: skipped")
        return
    python = str(bin_folder / "python")
    with environment.scratch() as folder:
        for program in PROGRAMS:
            if options.programs and program.name not in options.programs:
                continue
            rounds = max(1, round((options.real_seconds - program.seconds_fixed) / program.seconds_a_round))
            print("real %s, Python %s, %d rounds" % (program.name, environment.version_of(python), rounds), flush=True)
            functions, lines = measure(program, rounds, python, options.real_rate, folder)
            print_functions(functions)
            print_lines(lines)
