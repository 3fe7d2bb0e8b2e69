"""Threads with names of every kind. Prints `ident name` per thread, then waits for its stdin."""
import os
import sys
import threading


class Slotted(threading.Thread):
    __slots__ = ("extra",)


class Renamed(threading.Thread):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.before = 1


class Rich(threading.Thread):
    """More attributes than shared keys hold."""

    def __init__(self, *args, **kwargs):
        for i in range(40):
            setattr(self, f"attribute_{i}", i)
        super().__init__(*args, **kwargs)


stop = threading.Event()
threads = [
    threading.Thread(target=stop.wait, name="plain"),
    threading.Thread(target=stop.wait, name=""),
    threading.Thread(target=stop.wait, name="n\u00e4ive Gr\u00fc\u00dfe \u00ff"),
    threading.Thread(target=stop.wait, name="\u0436\u6f22\u5b57"),
    threading.Thread(target=stop.wait, name="rocket \U0001f680"),
    threading.Thread(target=stop.wait, name="x" * 5000),
    threading.Thread(target=stop.wait, name="with\nnew line"),
    threading.Thread(target=stop.wait),
    Slotted(target=stop.wait, name="slotted"),
    Renamed(target=stop.wait, name="to be renamed"),
    Rich(target=stop.wait, name="rich"),
    threading.Timer(10000, print),
]
materialised = threading.Thread(target=stop.wait, name="materialised")
assert "_name" in materialised.__dict__
replaced = threading.Thread(target=stop.wait, name="replaced")
replaced.__dict__ = dict(replaced.__dict__)
late = threading.Thread(target=stop.wait, name="late attribute")
late.another = 1
gone = threading.Thread(target=stop.wait, name="attribute removed")
gone.temporary = 1
del gone.temporary
for thread in threads + [materialised, replaced, late, gone]:
    thread.daemon = True
    thread.start()
threads[9].name = "renamed"
finished = threading.Thread(target=int, name="finished")
finished.start()
finished.join()
for ident, thread in list(threading._active.items()):
    print(ident, thread.name.encode().hex(), flush=True)
print("ready", flush=True)
os.read(0, 1)
