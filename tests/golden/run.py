#!/usr/bin/env python3
"""Golden tests: what the program prints, byte by byte.

    run.py --linescope BINARY [--update] FILE.test...

A test file is a list of sections, each begun by a line of its own:

    == file NAME          the lines that follow are a file; folders are made; an empty folder's NAME ends in /
    == env NAME=VALUE     for the runs that follow
    == run ARGUMENTS      runs `linescope ARGUMENTS` (quoted as for a shell) in the test's own folder
    == exit N             what it must end with, and
    == stdout, == stderr  what it must print; a section that is missing stands for nothing printed

Lines before the first section are comment. $DIR stands for the test's folder, $VERSION for the program's version. With
--update the expectations are written anew from what the program does; review the difference.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

TIMEOUT_S = 60
EXPECTATIONS = ("exit", "stdout", "stderr")


def parse(text):
    """The comment, and [(keyword, argument, lines)]."""
    comment, sections = [], []
    for line in text.splitlines():
        if line.startswith("== "):
            keyword, _, argument = line[3:].partition(" ")
            sections.append((keyword, argument, []))
        elif sections:
            sections[-1][2].append(line)
        else:
            comment.append(line)
    return comment, sections


def block(keyword, argument, lines):
    head = f"== {keyword} {argument}".rstrip()
    return "\n".join([head, *lines])


class Runner:
    def __init__(self, linescope):
        self.linescope = linescope
        self.version = subprocess.run([linescope, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]

    def run(self, argument, folder, environment):
        done = subprocess.run([self.linescope, *shlex.split(argument)], cwd=folder, env=environment, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
        got = {"exit": [("exit", str(done.returncode), [])]}
        for name in ("stdout", "stderr"):
            text = getattr(done, name).decode("utf-8", "backslashreplace")
            text = text.replace(str(folder), "$DIR").replace(self.version, "$VERSION")
            got[name] = [(name, "", text.splitlines())] if text else []
        return [section for name in EXPECTATIONS for section in got[name]]

    def actual(self, sections):
        """The sections with the expectations replaced by what happened."""
        out = []
        with tempfile.TemporaryDirectory(prefix="linescope-golden-") as name:
            folder = pathlib.Path(name).resolve()
            environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8", "TERM": "dumb"}
            for keyword, argument, lines in sections:
                if keyword in EXPECTATIONS:
                    continue
                out.append((keyword, argument, lines))
                if keyword == "file":
                    path = folder / argument
                    if argument.endswith("/"):
                        path.mkdir(parents=True, exist_ok=True)
                        continue
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text("\n".join(lines) + "\n")
                elif keyword == "env":
                    variable, _, value = argument.partition("=")
                    environment[variable] = value
                elif keyword == "run":
                    out.extend(self.run(argument, folder, environment))
                else:
                    raise ValueError(f"unknown section '{keyword}'")
        return out


def trimmed(sections):
    """Blank lines at the end of an expectation separate it from the next section in the file."""
    out = []
    for keyword, argument, lines in sections:
        lines = list(lines)
        while lines and not lines[-1]:
            lines.pop()
        out.append((keyword, argument, lines))
    return out


def check(runner, path, update):
    comment, sections = parse(path.read_text())
    got, want = trimmed(runner.actual(sections)), trimmed(sections)
    if got == want:
        return True
    if update:
        path.write_text("\n".join(comment).rstrip() + "\n\n" + "\n\n".join(block(*section) for section in got) + "\n")
        print(f"updated {path}")
        return True
    import difflib
    lines = [[line for section in side for line in block(*section).splitlines()] for side in (want, got)]
    print("\n".join(difflib.unified_diff(*lines, str(path), "what happened", lineterm="")))
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--linescope", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    runner = Runner(os.path.abspath(arguments.linescope))
    good = [check(runner, path, arguments.update) for path in arguments.files]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
