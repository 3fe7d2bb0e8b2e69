"""The parts of the bench but `real`: what each measures is in README.md. Every part prints lines of one row a profiler."""
import bisect
import collections
import math
import os
import random
import statistics
import subprocess
import time

import environment
import targets


def each(options, consistencies):
    """(python, profiler) for what was asked; a profiler that fails is named and passed over by its user."""
    for python in options.python:
        print("Python %s" % environment.version_of(python))
        for profiler in targets.profilers(consistencies, python):
            if not options.only or profiler.name in options.only:
                yield python, profiler


def row(name, text):
    print("  %-20s %s" % (name, text), flush=True)


def median_of(tries, measure, name):
    """The medians of the figures of several tries; None, with the reason printed, when one fails."""
    try:
        return [statistics.median(figures) for figures in zip(*(measure() for _ in range(tries)))]
    except RuntimeError as error:
        row(name, "failed: %s" % error)
        return None


# rate -------------------------------------------------------------------------------------------------------------------

def floor_us(target, seconds):
    program = environment.compiled(environment.HERE / "floor.c")
    if not program:
        return None
    command = environment.pinned(1) + [str(program), str(target.pid), str(target.facts["address"]),
                                       str(target.facts["stack_bytes"]), str(seconds)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    # Before 3.11 frames are objects, and what lies behind the first one may not be mapped as far as that.
    return float(done.stdout) if done.returncode == 0 else None


def rate(options):
    """CPU per sample, from the difference of a long and a short attach, so that start and end cancel out."""
    for python in options.python:
        for depth, asked in ((20, 1_000_000), (100, 1_000_000), (1000, 1_000_000), (20, 100_000), (20, 1000)):
            print("rate: Python %s, %d frames, %d Hz asked" % (environment.version_of(python), depth, asked))
            with targets.Target(python, "depth.py", depth) as target, environment.scratch() as folder:
                floor = floor_us(target, options.seconds / 4)
                if floor:
                    row("floor", "%.2f us: one process_vm_readv of %d bytes" % (floor, target.facts["stack_bytes"]))
                ours = None
                for profiler in targets.profilers(("free",) if asked > 10_000 else ("auto",), python):
                    if options.only and profiler.name not in options.only:
                        continue

                    def once(profiler=profiler):
                        short = profiler.attach(target.pid, asked, options.seconds / 4, folder)
                        long = profiler.attach(target.pid, asked, options.seconds, folder)
                        samples, cpu = long.samples - short.samples, long.cpu_s - short.cpu_s
                        if samples <= 0:
                            raise RuntimeError("no more samples in a longer time")
                        seconds = options.seconds * 3 / 4
                        return 1e6 * cpu / samples, samples / seconds, 100 * cpu / seconds

                    figures = median_of(options.repeat, once, profiler.name)
                    if figures:
                        us, reached, percent = figures
                        ours = ours or us
                        row(profiler.name, "%8.2f us/sample, %s%7.2f of the first row's, %8.0f samples/s, %5.2f %% of a core" % (
                            us, "%6.2f of the floor, " % (us / floor) if floor else "", us / ours, reached, percent))


# accuracy ---------------------------------------------------------------------------------------------------------------

def difference(p, q):
    """Half the sum of the differences of two sets of shares: the part of the time that is in the wrong place."""
    return sum(abs(p.get(k, 0) - q.get(k, 0)) for k in {*p, *q}) / 2


def ideal_difference(truth, samples, tries=200):
    """What an ideal sampler would be off with so many samples, by chance alone."""
    dice, total = random.Random(1), 0.0
    for _ in range(tries):
        drawn = {k: max(0.0, dice.gauss(samples * p, math.sqrt(samples * p * (1 - p)))) for k, p in truth.items()}
        whole = sum(drawn.values()) or 1
        total += difference(truth, {k: n / whole for k, n in drawn.items()})
    return total / tries


def accuracy(options):
    for asked, consistency in ((1000, "pinned"), (5000, "free")):
        print("accuracy: %d Hz, %.0f s; the part of the time that is in the wrong line" % (asked, options.seconds))
        for python, profiler in each(options, (consistency,)):
            def once(python=python, profiler=profiler):
                with targets.Target(python, "shares.py") as target, environment.scratch() as folder:
                    cost = profiler.attach(target.pid, asked, options.seconds, folder)
                    facts = target.finish()
                    truth = {k: ns / facts["total"] for k, ns in facts["lines"].items()}
                    truth["other"] = 1 - sum(truth.values())
                    counted = collections.Counter()
                    for frames, weight in profiler.read(cost.output):
                        keys = ("%s:%d" % (f.name, f.line) for f in reversed(frames) if f.file.endswith("shares.py"))
                        counted[next((k for k in keys if k in truth), "other")] += weight
                    samples = sum(counted.values())
                    error = difference(truth, {k: n / samples for k, n in counted.items()})
                    floor = ideal_difference(truth, samples)
                    return 100 * error, 100 * floor, error / floor, samples
            figures = median_of(options.repeat, once, profiler.name)
            if figures:
                row(profiler.name, "%5.2f %%, an ideal sampler %.2f %%: ratio %5.2f, %d samples" % tuple(figures))


# torn -------------------------------------------------------------------------------------------------------------------

def impossible_in_chains(frames):
    names = [f.name for f in frames if f.file.startswith("<chain")]
    order = [int(n[1:]) for n in names]
    return len({n[0] for n in names}) > 1 or order != list(range(1, len(order) + 1))


def impossible_in_tree(facts):
    def impossible(frames):
        names = [(f.name, f.line) for f in frames if f.file == "<tree>"]
        if not names:
            return False
        if names[0][0] != "f":
            return True
        for (caller, line), (callee, _) in zip(names, names[1:]):
            step = facts["branches"].find(callee[-1])
            if callee[:-1] != caller or line != facts["first_lines"].get(caller, 0) + 1 + step:
                return True
        return False
    return impossible


def rootless(frames):
    return not any(f.name in ("main", "work") for f in frames)


def torn(options):
    chains = lambda facts: impossible_in_chains  # noqa: E731
    workloads = (("chains.py", (), chains, False),
                 ("chains.py", ("4",), chains, False),
                 ("chains.py", (), chains, True),
                 ("tree.py", ("slow",), impossible_in_tree, False),
                 ("tree.py", ("medium",), impossible_in_tree, False),
                 ("tree.py", ("fast",), impossible_in_tree, False))
    for workload, arguments, make_check, crowded in workloads:
        print("torn: %s at 10000 Hz%s, stacks that cannot be" % (
            " ".join((workload, *arguments)), ", at nice 19 on a busy core" if crowded else ""))
        for python, profiler in each(options, ("pinned", "free")):
            try:
                with targets.Target(python, workload, *arguments) as target, environment.scratch() as folder, \
                        environment.busy_core(1 if crowded else None):
                    cost = profiler.attach(target.pid, 10_000, options.seconds, folder, ("nice", "-n", "19") if crowded else ())
                    impossible = make_check(target.facts)
                    total = wrong = cut = 0
                    for frames, weight in profiler.read(cost.output):
                        total += weight
                        wrong += weight * impossible(frames)
                        cut += weight * rootless(frames)
            except RuntimeError as error:
                row(profiler.name, "failed: %s" % error)
                continue
            row(profiler.name, "%8.4f %% impossible, %7.4f %% without a root, %6.3f %% dropped, %d stacks" % (
                100 * wrong / total, 100 * cut / total, 100 * cost.dropped / (cost.dropped + cost.samples), total))


# modes ------------------------------------------------------------------------------------------------------------------

def shares(profile, key):
    """Shares of the time by the innermost frame."""
    counted = collections.Counter()
    for frames, weight in profile:
        if frames:
            counted[key(frames[-1])] += weight
    total = sum(counted.values())
    return {k: n / total for k, n in counted.items()}


def modes(options):
    """Reading a target that runs, against stopping it for every sample, in the same process and in turns."""
    keys = {"function": lambda f: (os.path.basename(f.file), f.name), "line": lambda f: (os.path.basename(f.file), *f[1:])}
    for work in ("small", "application"):
        print("modes: mixture.py %s at 2000 Hz; the part of the time that is elsewhere than with the target stopped" % work)
        for python in options.python:
            print("Python %s" % environment.version_of(python))
            ours = {p.name: p for p in targets.profilers(("stop", "pinned", "free"), python)}
            reference = ours["linescope-stop"]
            names = [n for n in ours if n != reference.name and (not options.only or n in options.only)]
            seen = collections.defaultdict(list)
            try:
                with targets.Target(python, "mixture.py", work) as target, environment.scratch() as folder:
                    for turn in range(2 * options.repeat):
                        for profiler in [reference] + ([ours[n] for n in names] if turn % 2 else []):
                            cost = profiler.attach(target.pid, 2000, options.seconds, folder)
                            seen[profiler.name].append(list(profiler.read(cost.output)))
            except RuntimeError as error:
                row(names[0], "failed: %s" % error)
                continue
            # Half of the stopped runs against the other half is what chance and the program's own changes do.
            half = [sum(seen[reference.name][i::2], []) for i in (0, 1)]
            row("chance", ", ".join("%5.2f %% by %s" % (100 * difference(shares(half[0], key), shares(half[1], key)), what)
                                    for what, key in keys.items()))
            stopped = half[0] + half[1]
            for name in names:
                everything = sum(seen[name], [])
                row(name, ", ".join("%5.2f %% by %s" % (100 * difference(shares(everything, key), shares(stopped, key)), what)
                                    for what, key in keys.items()))


# period -----------------------------------------------------------------------------------------------------------------

def period(options):
    for asked in (1000,):
        print("period: a program that repeats every millisecond, at %d Hz" % asked)
        for python, profiler in each(options, ("auto",)):
            try:
                with targets.Target(python, "period.py") as target, environment.scratch() as folder:
                    cost = profiler.attach(target.pid, asked, options.seconds, folder)
                    truth = target.finish()["shares"]
                    counted = collections.Counter()
                    for frames, weight in profiler.read(cost.output):
                        name = next((f.name for f in reversed(frames) if f.name in truth), None)
                        if name:
                            counted[name] += weight
            except RuntimeError as error:
                row(profiler.name, "failed: %s" % error)
                continue
            total = sum(counted.values()) or 1
            off = {k: 100 * (counted[k] / total - truth[k]) for k in truth}
            row(profiler.name, "off by at most %.2f points: %s" % (
                max(map(abs, off.values())), ", ".join("%s %.2f %+.2f" % (k, 100 * truth[k], off[k]) for k in truth)))


# overhead ---------------------------------------------------------------------------------------------------------------

def overhead(options):
    """The target's own CPU time per round while profiled, against the rounds before and after in the same process."""
    for asked in (1000, 10_000):
        print("overhead: what the target's own work costs it more, at %d Hz" % asked)
        for python, profiler in each(options, ("auto", "free", "pinned")):
            try:
                row(profiler.name, measure_overhead(python, profiler, asked, options))
            except RuntimeError as error:
                row(profiler.name, "failed: %s" % error)


def measure_overhead(python, profiler, asked, options):
    on = []
    with targets.Target(python, "depth.py", 20) as target, environment.scratch() as folder:
        for _ in range(options.repeat + 1):
            time.sleep(options.seconds / 2)
            cost = profiler.attach(target.pid, asked, options.seconds, folder)
            on.append((cost.begin + 0.3 * options.seconds, cost.begin + 0.95 * options.seconds, cost.begin, cost.end))
        time.sleep(options.seconds / 2)
        marks = target.finish()["marks"]
    times, cpus = zip(*marks)

    def per_round(begin, end):
        first, last = bisect.bisect_left(times, begin), bisect.bisect_left(times, end) - 1
        if last - first < 5:
            raise RuntimeError("too few rounds; ask for more seconds")
        return (cpus[last] - cpus[first]) / (last - first)

    changes = []
    for i, (begin, end, attached, left) in enumerate(on):
        before = per_round(on[i - 1][3] if i else times[0], attached)
        after = per_round(left, on[i + 1][2] if i + 1 < len(on) else times[-1])
        changes.append(100 * (per_round(begin, end) / ((before + after) / 2) - 1))
    return "%+6.2f %% (from %+.2f to %+.2f in %d windows)" % (statistics.median(changes), min(changes), max(changes), len(changes))
