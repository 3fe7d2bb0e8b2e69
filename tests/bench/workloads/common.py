"""What the workloads share: they say READY with a line of JSON on stdout, work until SIGTERM, and print their own truth."""
import json
import os
import signal
import sys
import time

now = time.perf_counter_ns


class _Stop:
    asked = False


def _stop(_signum, _frame):
    _Stop.asked = True


def running():
    return not _Stop.asked


def ready(**facts):
    signal.signal(signal.SIGTERM, _stop)
    print(json.dumps({"pid": os.getpid(), **facts}), flush=True)


def truth(**facts):
    json.dump(facts, sys.stdout)
    sys.stdout.flush()
