"""Measures where a program spends its time from inside, independently of LineScope.

usage: reference.py cprofile|timer OUT.json SCRIPT [arguments...]

Writes {measurement: {"file:qualified name": share of self time}}. The time of a C function belongs to the Python function
that called it, as in LineScope.

cprofile  the deterministic profiler. It adds a cost to each call, which inflates functions that call or are called much;
          `corrected` takes that cost off again, calibrated in this process.
timer     SIGPROF about every millisecond (every tick of the kernel, if that is longer). It costs nothing, but the
          interpreter runs the handler only at the next call or loop edge: short functions may get their callers' time.
"""
import collections
import cProfile
import gc
import json
import runpy
import signal
import sys
import time
import types


def codes():
    """All code objects alive, those nested in others too."""
    found, todo = set(), [f.__code__ for f in gc.get_objects() if isinstance(f, types.FunctionType)]
    while todo:
        code = todo.pop()
        if code not in found:
            found.add(code)
            todo += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return found


def key(code):
    return "%s:%s" % (code.co_filename, code.co_qualname)


def shares(seconds):
    total = sum(seconds.values()) or 1.0
    return {k: v / total for k, v in sorted(seconds.items(), key=lambda kv: -kv[1]) if v > 0}


def empty():
    pass


def calls_python(n):
    for _ in n:
        empty()


def calls_builtin(n, f=len, x=()):
    for _ in n:
        f(x)


def calls_nothing(n):
    for _ in n:
        pass


def cost_per_call(caller, callee_name):
    """Seconds that cProfile adds to the caller's own time and to the callee's own time for one call."""
    n = range(200_000)

    def bare(f):
        best = 1e9
        for _ in range(5):
            start = time.perf_counter()
            f(n)
            best = min(best, time.perf_counter() - start)
        return best

    really = (bare(caller) - bare(calls_nothing)) / len(n)
    outer = inner = 1e9
    for _ in range(5):
        profile = cProfile.Profile()
        profile.runcall(caller, n)
        profile.create_stats()
        own = {k[2]: v[2] for k, v in profile.stats.items()}
        inner = min(inner, next(v for k, v in own.items() if callee_name in k) / len(n))
        outer = min(outer, own[caller.__name__] / len(n))
    # Of the real cost of a call, half is taken to lie on either side of the profiler's events.
    return max(0.0, outer - bare(calls_nothing) / len(n) - really / 2), max(0.0, inner - really / 2)


def by_cprofile(run):
    python_cost = cost_per_call(calls_python, "empty")
    builtin_cost = cost_per_call(calls_builtin, "len")
    profile = cProfile.Profile()
    profile.runcall(run)
    profile.create_stats()
    named = {(c.co_filename, c.co_firstlineno, c.co_name): key(c) for c in codes()}
    raw, corrected = collections.Counter(), collections.Counter()
    for func, (_, calls, own, _, callers) in profile.stats.items():
        builtin = func[0] == "~"
        if not builtin:
            name = named.get(func, "%s:%s" % (func[0], func[2]))
            raw[name] += own
            corrected[name] += own - calls * python_cost[1]
        outer, inner = builtin_cost if builtin else python_cost
        for caller, (times_called, _, own_here, _) in callers.items():
            name = named.get(caller, "%s:%s" % (caller[0], caller[2]))
            if builtin:
                raw[name] += own_here
                corrected[name] += own_here - times_called * inner
            corrected[name] -= times_called * outer
    return {"cProfile": shares(raw), "corrected": shares(corrected)}


def by_timer(run):
    hits = collections.Counter()
    signal.signal(signal.SIGPROF, lambda _, frame: hits.update((key(frame.f_code),)))
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)
    try:
        run()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return {"timer": shares(hits)}


def main():
    method, out, script = sys.argv[1:4]
    del sys.argv[:3]
    kept = []       # the program's globals: its functions must live until their names are looked up

    def run():
        kept.append(runpy.run_path(script, run_name="__main__"))

    result = {"cprofile": by_cprofile, "timer": by_timer}[method](run)
    with open(out, "w", encoding="utf-8") as f:
        json.dump(result, f)


if __name__ == "__main__":
    main()
