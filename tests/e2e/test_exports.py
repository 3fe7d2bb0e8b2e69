"""Exports, each read by the tool it is meant for where this machine has it: the totals are those of `stats --json`."""
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from support import ROOT, Case

PROGRAM = """
    import subprocess, sys, threading, time

    def spin(seconds):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            sum(i * i for i in range(50))

    class Worker:
        def run(self):
            spin(0.15)

    def deep(n):
        return spin(0.05) if n == 0 else deep(n - 1)

    if len(sys.argv) > 1:
        Worker().run()
    else:
        child = subprocess.Popen([sys.executable, __file__, "child"])
        thread = threading.Thread(target=Worker().run, name="a;b <i>&\\n\\"=1+1\\"")
        thread.start()
        deep(30)
        exec(compile("def f(s):\\n    s(0.05)\\n", "</script><b>'\\";.py", "exec"))
        f(spin)
        thread.join()
        child.wait()
"""
TOOLS = ROOT / "build" / "tools"


def tool(name):
    """A program of tools/setup's, or one on PATH; None: there is none."""
    own = TOOLS / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


class ExportsTest(Case):

    def setUp(self):
        super().setUp()
        program = self.program(PROGRAM)
        done = self.run_and_keep("--subprocesses", program)
        self.assertEqual(done.status, 0, done.stderr)
        self.total = self.stats()["total_ns"]

    def export(self, name, *args):
        done = self.linescope("export", "p.linescope", "-o", name, *args)
        self.assertEqual(done.status, 0, done.stderr)
        return self.folder / name

    def need(self, name):
        found = tool(name)
        if found is None:
            self.skipTest("no %s on this machine" % name)
        return found

    def test_pprof(self):
        path = self.export("p.pb.gz")
        self.assertEqual(gzip.decompress(path.read_bytes())[:1], b"\x0a")
        pprof = [tool("pprof")] if tool("pprof") else [self.need("go"), "tool", "pprof"]
        environment = dict(os.environ, PPROF_TMPDIR=str(self.folder), GOFLAGS="")
        read = lambda *args: subprocess.run([*pprof, *args, str(path)], capture_output=True, text=True, timeout=300,
                                            env=environment, check=False, cwd=self.folder)
        done = read("-raw")
        self.assertEqual(done.returncode, 0, done.stderr)
        samples = re.search(r"^Samples:\n(.*?)^Locations", done.stdout, re.M | re.S)[1]
        times = [int(match[1]) for match in re.finditer(r"^\s+\d+\s+(\d+): ", samples, re.M)]
        self.assertEqual(sum(times), self.total)
        done = read("-top", "-unit=ms")
        self.assertRegex(done.stdout, r"\bspin\b")
        done = read("-tags")
        self.assertIn("thread", done.stdout)
        self.assertIn("state", done.stdout)

    def test_callgrind(self):
        path = self.export("p.callgrind")
        done = subprocess.run([self.need("callgrind_annotate"), "--auto=no", "--threshold=100", "--inclusive=yes", str(path)],
                              capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        whole = re.search(r"^\s*([\d,]+) \(100\.0%\).*PROGRAM TOTALS", done.stdout, re.M)
        self.assertEqual(int(whole[1].replace(",", "")), self.total)
        # deep() calls itself: it has no more than the whole, and what spin() took below it.
        deep = re.search(r"^\s*([\d,]+) \([^)]*\).*:deep\b", done.stdout, re.M)
        self.assertLess(int(deep[1].replace(",", "")), self.total)
        done = subprocess.run([self.need("callgrind_annotate"), "--auto=no", "--threshold=100", str(path)], capture_output=True, text=True,
                              timeout=300, check=False)
        self_times = re.findall(r"^\s*([\d,]+) \([^)]*\)\s+\S+ (?:\([^)]*\))?(?!.*PROGRAM TOTALS)", done.stdout, re.M)
        self.assertAlmostEqual(sum(int(t.replace(",", "")) for t in self_times), self.total, delta=self.total * 0.01)

    def test_chrome_trace(self):
        trace = json.loads(self.export("p.trace.json").read_text())
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
        self.assertIn('a;b <i>&\n"=1+1"', names.values())
        total = 0
        for key in names:
            stack, since = [], 0
            for event in trace["traceEvents"]:
                if (event["pid"], event["tid"]) != key or event["ph"] == "M":
                    continue
                at = round(event["ts"] * 1000)
                if event["ph"] == "B":
                    since = since if stack else at
                    stack.append(event["name"])
                else:
                    self.assertEqual(stack.pop(), event["name"])
                    total += 0 if stack else at - since
            self.assertEqual(stack, [])
        self.assertEqual(total, self.total)

    def test_speedscope(self):
        data = json.loads(self.export("p.speedscope.json").read_text())
        total = 0
        for profile in data["profiles"]:
            stack, at = [], profile["startValue"]
            for event in profile["events"]:
                self.assertGreaterEqual(event["at"], at)
                total += (event["at"] - at) if stack else 0
                at = event["at"]
                if event["type"] == "O":
                    stack.append(event["frame"])
                else:
                    self.assertEqual(stack.pop(), event["frame"])
            self.assertEqual(stack, [])
            self.assertLessEqual(at, profile["endValue"])
        self.assertEqual(total, self.total)
        self.assertEqual(len({p["name"] for p in data["profiles"]}), len(data["profiles"]))

    def test_firefox(self):
        data = json.loads(self.export("p.firefox.json").read_text())
        self.assertAlmostEqual(sum(sum(t["samples"]["weight"]) for t in data["threads"]) * 1e6, self.total, delta=100)
        self.assertEqual(len({t["pid"] for t in data["threads"]}), 2)

    def test_json_and_csv(self):
        data = json.loads(self.export("p.json").read_text())
        self.assertEqual(data["totals"]["all"]["time_ns"], self.total)
        self.assertEqual(sum(data["samples"]["wall_ns"]), self.total)
        stats = self.stats()
        lines = {(data["files"][l["file"]]["path"], l["line"]): l["time_ns"] for l in data["lines"]}
        for line in stats["lines"]:
            self.assertEqual(lines[line["file"], line["line"]], line["time_ns"])
        with open(self.export("p.csv"), newline="") as f:
            rows = list(csv.DictReader(f))
        self.assertEqual(sum(int(row["self_ns"]) for row in rows), self.total)
        self.assertEqual(sum(int(row["time_ns"]) for row in rows), stats["project_ns"])
        for row in rows:
            self.assertNotIn(row["file"][:1], "=+-@")

    def test_svg(self):
        path = self.export("p.svg")
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual([e.tag for e in root.iter() if e.tag.endswith("}script")], [])
        titles = [e.text for e in root.iter("{http://www.w3.org/2000/svg}title")]
        self.assertTrue(any(t.startswith("Worker.run\n") for t in titles))
        self.assertTrue(any("</script><b>" in t for t in titles))
        lint = tool("xmllint")
        if lint is None:
            self.skipTest("no xmllint on this machine; Python's parser has read it")
        done = subprocess.run([lint, "--noout", str(path)], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_collapsed_keeps_processes_apart(self):
        pids = {str(t["pid"]) for t in json.loads(self.export("p.json").read_text())["processes"]}
        text = self.export("p.collapsed").read_text()
        roots = {line.split(";")[0] for line in text.splitlines()}
        found = {re.search(r"of process (\d+)$", root)[1] for root in roots}
        self.assertTrue(found <= pids and len(found) == 2, roots)
        counts = lambda path: sum(int(line.rpartition(" ")[2]) for line in path.read_text().splitlines())
        whole = counts(self.folder / "p.collapsed")
        for split in ("none", "process", "thread"):
            self.assertEqual(counts(self.export("p.collapsed", "--split", split)), whole)
        data = json.loads((self.folder / "p.json").read_text())
        self.assertEqual(whole, data["totals"]["all"]["samples"] - data["totals"]["no_python"]["samples"])

    def test_refusals(self):
        (self.folder / "mine.csv").write_text("a,b\n1,2\n")
        for args, status, message in ((("-o", "mine.csv"), 198, "exists and is not a table of lines made by LineScope"),
                                      (("-o", "x.pdf"), 193, "its ending is none of .html, .collapsed, .speedscope.json"),
                                      (("--format", "pdf"), 193, "is not one of html, collapsed, speedscope"),
                                      (("--format", "csv", "--split", "thread"), 193, "--split is for collapsed and svg"),
                                      (("--format", "html"), 193, "name it with --output")):
            with self.subTest(args=args):
                done = self.linescope("export", "p.linescope", *args)
                self.assertEqual(done.status, status, done.stderr)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
