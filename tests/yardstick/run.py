#!/usr/bin/env python3
"""Plants one mistake of mistakes.json at a time in a clone of the checkout, and notes what notices it in noticed.json.

    tests/yardstick/run.py [NUMBER...]

Without numbers, all that are not noted yet: a run that was interrupted goes on. A mistake that no test notices is noted as null.
"""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CLONE = ROOT / "target/yardstick"
NOTICED = HERE / "noticed.json"

CLI = "cargo test -p kubectl-podrank"
JUDGE = "cd judge/code && go test -count=1 ."
# The tests of each room, the quickest first.
TESTS = {
    "core": ["cargo test -p podrank -p podrank-laws -p podrank-ffi -p podrank-through-c", "make -s check-c"],
    "predict": ["cargo test -p podrank-predict", CLI, JUDGE],
    "cli": [CLI, ".ci/picture"],
    "ffi": ["cargo test -p podrank-ffi -p podrank-through-c", "make -s check-c"],
    "go": ["cd go && go test -count=1 ./...", "cd go && CGO_ENABLED=0 go test -count=1 ./...", JUDGE],
    "webhook": ["cd webhook && go test -count=1 ./..."],
}


def noticed_by(room):
    """Returns the first tests that fail, or None."""
    for command in TESTS[room]:
        ran = subprocess.run(command, shell=True, cwd=CLONE, capture_output=True, text=True, timeout=1800)
        if ran.returncode:
            output = ran.stdout + ran.stderr
            if re.search(r"^error(\[E\d+\])?: (?!test failed|\d+ target)", ran.stderr, re.M) and "test result" not in output:
                return "it does not compile: " + re.search(r"^error.*", ran.stderr, re.M).group()
            if "[build failed]" in output:
                return "it does not compile: " + command
            tests = re.findall(r"^(?:test (\S+) \.\.\. FAILED|--- FAIL: (\S+))", output, re.M)
            names = [one or other for one, other in tests]
            return f"{command}: " + (", ".join(names[:3]) or output.strip().splitlines()[-1])
    return None


def main():
    mistakes = json.loads((HERE / "mistakes.json").read_text())
    noticed = json.loads(NOTICED.read_text()) if NOTICED.exists() else {}
    if not CLONE.exists():
        subprocess.run(["git", "clone", "--quiet", ROOT, CLONE], check=True)
    subprocess.run(["git", "pull", "--quiet"], cwd=CLONE, check=True)
    for number in map(int, sys.argv[1:] or range(len(mistakes))):
        its = mistakes[number]
        if str(number) in noticed and len(sys.argv) == 1:
            continue
        path = CLONE / its["file"]
        sound = path.read_text()
        if sound.count(its["text"]) != 1:
            noticed[str(number)] = "it can no longer be planted"
        else:
            path.write_text(sound.replace(its["text"], its["mistake"]))
            try:
                noticed[str(number)] = noticed_by(its["file"].split("/")[0])
            finally:
                path.write_text(sound)
        NOTICED.write_text(json.dumps(noticed, indent=1, sort_keys=True) + "\n")
        print(number, its["file"], its["function"], noticed[str(number)], sep=": ", flush=True)


if __name__ == "__main__":
    main()
