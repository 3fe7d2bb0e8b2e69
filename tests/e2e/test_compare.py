"""diff and check, on two versions of a program that was run for real."""
import json
import os
import re
import unittest

from support import Case

BEFORE = """
    import time

    class Loader:
        def load(self):
            time.sleep(0.4)

    def parse():
        rows = list(range(100))
        time.sleep(0.15)
        return rows

    def report():
        time.sleep(0.15)

    Loader().load()
    parse()
    report()
"""
# parse() is renamed, moved and slower; load() is faster; a function and an import are new.
AFTER = """
    import time
    import sys

    def report():
        time.sleep(0.15)

    class Loader:
        def load(self):
            time.sleep(0.1)

    def fresh(value):
        return sys.getsizeof(value)

    def parse_all():
        rows = list(range(100))
        time.sleep(0.55)
        return rows

    Loader().load()
    parse_all()
    report()
    fresh(1)
"""


class CompareTest(Case):
    def setUp(self):
        super().setUp()
        for name, text in (("before", BEFORE), ("after", AFTER)):
            (self.folder / name).mkdir()
            program = self.program(text, name + "/app.py")
            done = self.run_and_keep("--project-root", name, program, profile=name + ".linescope")
            self.assertEqual(done.status, 0, done.stderr)

    def diff(self, *args):
        done = self.linescope("diff", "before.linescope", "after.linescope", *args)
        self.assertEqual(done.status, 0, done.stderr)
        return done.stdout

    def test_lines_are_followed_through_edits(self):
        data = json.loads(self.diff("--json"))
        before, after = ((self.folder / name / "app.py").read_text().splitlines() for name in ("before", "after"))
        for line in data["lines"]:
            if line["match"] in ("same", "moved"):
                self.assertEqual(before[line["base_line"] - 1].strip(), after[line["new_line"] - 1].strip())
        # Every line that was measured and is in both versions is matched.
        for line in data["lines"]:
            if line["match"] == "none" and line["new_line"]:
                self.assertNotIn(after[line["new_line"] - 1], before)

    def test_functions_slower_faster_and_renamed(self):
        functions = {f["new_name"] or f["base_name"]: f for f in json.loads(self.diff("--json"))["functions"]}
        load, parse, report = functions["Loader.load"], functions["parse_all"], functions["report"]
        self.assertEqual(parse["base_name"], "parse")
        self.assertFalse(parse["noise"])
        self.assertGreater(parse["delta_ns"], 0.25e9)
        self.assertFalse(load["noise"])
        self.assertLess(load["delta_ns"], -0.15e9)
        self.assertLess(abs(report["delta_ns"]), 0.1e9)

    def test_totals_are_those_of_stats(self):
        data = json.loads(self.diff("--json"))
        self.assertEqual(data["total"]["base_ns"], self.stats("before.linescope")["total_ns"])
        self.assertEqual(data["total"]["new_ns"], self.stats("after.linescope")["total_ns"])
        for side, name in (("base", "before"), ("new", "after")):
            stats = self.stats(name + ".linescope")
            self.assertEqual(sum(line[side + "_ns"] for line in data["lines"]), stats["project_ns"])
            lines = {(line["line"]): line["time_ns"] for line in stats["lines"]}
            for line in data["lines"]:
                if line[side + "_samples"]:
                    self.assertEqual(line[side + "_ns"], lines[line[side + "_line"]])

    def test_reports_compare_like_profiles(self):
        for name in ("before", "after"):
            self.assertEqual(self.linescope("report", name + ".linescope", "-o", name + ".html").status, 0)
        done = self.linescope("diff", "before.html", "after.html", "--json")
        self.assertEqual(done.status, 0, done.stderr)
        from_reports, from_profiles = json.loads(done.stdout), json.loads(self.diff("--json"))
        for key in ("lines", "functions", "files", "total", "scaled"):
            self.assertEqual(from_reports[key], from_profiles[key], key)

    def test_text_markdown_and_report(self):
        text = self.diff()
        self.assertRegex(text, r"▲ \+\d.*app\.py:\d+ .*time\.sleep\(0\.55\)")
        self.assertIn("parse_all (was parse)", text)
        self.assertNotIn("\x1b", text)
        self.diff("-o", "d.md")
        markdown = (self.folder / "d.md").read_text()
        self.assertIn("### Lines", markdown)
        self.assertIn("<code>parse&#95;all &#40;was parse&#41;</code>", markdown)
        self.diff("-o", "d.html")
        self.assertIn('"compare":{"title":"app.py"', (self.folder / "d.html").read_text())

    def test_what_cannot_be_compared(self):
        (self.folder / "notes.txt").write_text("hello\n")
        (self.folder / "page.html").write_text("<!doctype html><p>hello\n")
        self.linescope("report", "after.linescope", "-o", "after.html")
        for args, status, message in (
                (("before.linescope", "notes.txt"), 198, "'notes.txt' is neither a profile (.linescope) nor a report"),
                (("before.linescope", "page.html"), 198, "'page.html': "),
                (("before.linescope", "gone.linescope"), 198, "No such file"),
                (("before.linescope", "."), 198, "is a folder"),
                (("before.linescope", "after.html", "-o", "x.html"), 193, "only be made from a profile"),
                (("before.linescope", "after.linescope", "-o", "x.pdf"), 193, "none of .html, .json, .md"),
                (("before.linescope",), 193, "NEW")):
            with self.subTest(args=args):
                done = self.linescope("diff", *args)
                self.assertEqual(done.status, status, done.stderr)
                self.assertIn(message, done.stderr)

    def check(self, *args, **options):
        return self.linescope("check", "after.linescope", *args, **options)

    def test_check_against_a_baseline(self):
        done = self.check("--baseline", "before.linescope")
        self.assertEqual(done.status, 1, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"function\s+app\.py:\d+\s+parse_all \(was parse\)")
        self.assertNotIn("load", done.stdout)
        done = self.linescope("check", "before.linescope", "--baseline", "before.linescope")
        self.assertEqual(done.status, 0, done.stdout + done.stderr)
        self.assertIn("ok: ", done.stdout)

    def test_check_against_budgets(self):
        self.assertEqual(self.check("--max-time", "10s").status, 0)
        self.assertEqual(self.check("--max-time", "10s", "-q").stdout, "")
        done = self.check("--max-function", "50%", "--json")
        self.assertEqual(done.status, 1)
        self.assertEqual([b["text"] for b in json.loads(done.stdout)["breaches"]], ["parse_all"])
        (self.folder / "budget.toml").write_text('time = "10 s"\n[functions]\nparse_all = 0.1\nold = "1%"\n[lines]\n"app.py:1" = 0\n')
        (self.folder / "budget.json").write_text('{"time": "10 s", "functions": {"parse_all": 0.1, "old": "1%"}, "lines": {"app.py:1": 0}}')
        for budget in ("budget.toml", "budget.json"):
            done = self.check("--budget", budget)
            self.assertEqual(done.status, 1, done.stderr)
            self.assertRegex(done.stdout, r"function\s+app\.py:\d+\s+parse_all")
            self.assertIn("the budget names the function 'old', which is not in the profile", done.stderr)

    def test_check_writes_summaries(self):
        page = self.folder / "page.md"
        page.write_text("before\n")
        environment = dict(os.environ, GITHUB_STEP_SUMMARY=str(page))
        done = self.check("--baseline", "before.linescope", "--markdown", "s.md", "--github-summary", env=environment)
        self.assertEqual(done.status, 1, done.stderr)
        summary = (self.folder / "s.md").read_text()
        self.assertIn("## LineScope check: over", summary)
        self.assertTrue(re.search(r"^\| ▲ \+", summary, re.M))
        self.assertEqual(page.read_text(), "before\n" + summary)
        environment.pop("GITHUB_STEP_SUMMARY")
        done = self.check("--max-time", "10s", "--github-summary", env=environment)
        self.assertEqual(done.status, 193)
        self.assertIn("$GITHUB_STEP_SUMMARY is not set", done.stderr)

    def test_check_says_what_is_wrong(self):
        (self.folder / "bad.toml").write_text('time = "10 s"\n[lines]\n"app.py" = 1\n')
        (self.folder / "bad.json").write_text("[1]")
        for args, message in (((), "there is nothing to check against"),
                              (("--fail-above", "10%", "--max-time", "1"), "need a --baseline"),
                              (("--baseline", "before.linescope", "--fail-above", "10"), "is no percentage"),
                              (("--max-time", "soon"), "is no limit"),
                              (("--budget", "bad.toml"), "'bad.toml', line 3: 'app.py' names no line"),
                              (("--budget", "bad.json"), "'bad.json': it is not a JSON object")):
            with self.subTest(args=args):
                done = self.check(*args)
                self.assertEqual(done.status, 193, done.stdout)
                self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
