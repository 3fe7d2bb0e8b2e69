"""A workload as a running process, and a profiler attached to it for a while."""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import time

import environment
import stacks

PATIENCE_S = 60
Cost = collections.namedtuple("Cost", "begin end cpu_s samples dropped output")


class Target:
    """A workload that has said it is ready. finish() ends it and returns its truth; leaving the block kills what remains."""

    def __init__(self, python, workload, *arguments):
        command = environment.pinned(0) + [python, str(environment.HERE / "workloads" / workload), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            sys.exit("bench: %s ended with status %s before it was ready" % (workload, self.process.returncode))
        self.facts = json.loads(line)
        self.pid = self.facts["pid"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def finish(self):
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=PATIENCE_S)[0])


class Profiler:
    """A profiler that can be attached to a process. command(pid, rate, seconds, output) is what is run."""

    def __init__(self, name, command, read, counts, stop_after=False):
        self.name = name
        self._command, self.read, self._counts, self._stop_after = command, read, counts, stop_after

    def attach(self, pid, rate, seconds, folder, under=()):
        """`under`: a command that runs it. Raises RuntimeError, with what the profiler said, when it has no samples to show."""
        output = os.path.join(folder, "%s.out" % self.name)
        if os.path.exists(output):
            os.unlink(output)
        command = environment.pinned(1) + list(under) + self._command(pid, rate, seconds, output)
        with open(output + ".log", "w+", encoding="utf-8", errors="replace") as log:
            begin = time.monotonic()
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            if self._stop_after:
                time.sleep(seconds)
                process.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            end = time.monotonic()
            log.seek(0)
            text = log.read()
        samples, dropped = self._counts(text, output)
        if not samples:
            said = " ".join(re.sub(r"\x1b\[\d*m", "", text).split())
            raise RuntimeError("status %d and no samples: %s" % (process.returncode, said[-200:]))
        return Cost(begin, end, usage.ru_utime + usage.ru_stime, samples, dropped, output)


def _numbers(samples, dropped):
    def counts(text, _output):
        found = [re.search(pattern, text) for pattern in (samples, dropped)]
        return tuple(int(m.group(1).replace(",", "")) if m else 0 for m in found)
    return counts


def _austin_counts(text, _output):
    found = re.search(r"Error rate : (?:\x1b\[\d+m)?(\d+)/(\d+)", text)
    return (int(found.group(2)), int(found.group(1))) if found else (0, 0)


def _linescope(consistency):
    def command(pid, rate, seconds, output):
        return [environment.linescope(), "attach", "--rate", str(rate), "--duration", str(seconds), "--consistency", consistency,
                "--format", "collapsed", "-o", output, "--display", "none", "--pid", str(pid)]
    return command


def _pyspy(program, *extra):
    def command(pid, rate, _seconds, output):
        return [program, "record", "--idle", *extra, "-r", str(rate), "-d", "100000", "-f", "raw", "-o", output, "-p", str(pid)]
    return command


def _austin(program):
    def command(pid, rate, seconds, output):
        return [program, "-i", str(max(1, round(1e6 / rate))), "-x", str(max(1, round(seconds))), "-o", output, "-p", str(pid)]
    return command


def _tachyon(python):
    def command(pid, rate, seconds, output):
        return [python, "-m", "profiling.sampling", "attach", "-a", "-r", str(rate), "-d", str(max(1, round(seconds))), "--collapsed",
                "-o", output, str(pid)]
    return command


def profilers(consistencies=("auto",), python=None):
    """LineScope in these modes, then every peer that can be had. `python`: the target's, which from 3.15 on brings one itself."""
    ours = _numbers(r"samples: ([\d,]+)", r"dropped: ([\d,]+)")
    found = [Profiler("linescope-" + c, _linescope(c), stacks.read_linescope, ours) for c in consistencies]
    folder = environment.peers_folder()
    pyspy = _numbers(r"Samples: ([\d,]+)", r"Errors: ([\d,]+)")
    for name, program, extra in (("py-spy-nonblocking", "py-spy", ("--nonblocking",)), ("py-spy", "py-spy", ())):
        if folder and (folder / program).exists():
            found.append(Profiler(name, _pyspy(str(folder / program), *extra), stacks.read_pyspy, pyspy, stop_after=True))
        else:
            environment.note("bench: %s is missing and left out" % name)
    if folder and (folder / "austin").exists():
        found.append(Profiler("austin", _austin(str(folder / "austin")), stacks.read_austin, _austin_counts))
    else:
        environment.note("bench: austin is missing and left out")
    if python and environment.has_module(python, "profiling.sampling"):
        # It tells its errors as a share, which torn shows by itself; what it missed is no error.
        found.append(Profiler("tachyon", _tachyon(python), stacks.read_tachyon, _numbers(r"Captured ([\d,]+) samples", r"(?!)")))
    return found
