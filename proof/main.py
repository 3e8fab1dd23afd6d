"""Proves every claim and prints a line for each: main.py TARGET_DIR [quick|all [START...]], where STARTs are starts of claims' names.

What has been proved is kept in TARGET_DIR/proof/proved. So a run goes on where another one stopped, as long as neither the programs nor the sources
of the proof, of core and of the naive oracle have changed.
"""

import ctypes
import fcntl
import hashlib
import itertools
import json
import pathlib
import re
import sys
import time
from functools import partial

import controls
import functions
import lemmas
import lists
import native
import order
import soundness
import vectors
from ask import by_cvc5
from machine import Machine

INPUTS = 10_000  # of each function, for the comparison with the processor
ROOT = pathlib.Path(__file__).resolve().parent.parent


def claims(machine):
    """The claims about one library: the name, what proves it, and whether that takes a moment."""
    for function in (functions.compare, functions.decide, functions.key, functions.upstream):
        for size in (None, 0, 15, 24, 1025, 16):
            if size == 16 and machine.is_thumb and function == functions.upstream:
                continue  # not in hours
            about = "without options" if size is None else f"options of {size} bytes"
            # The project's README says that compare is proved with all options, so that is checked whenever anything is.
            is_quick = size != 16 or function in (functions.compare, functions.key)
            yield f"{function.__name__}, {about}", partial(function, machine, size), is_quick
    for length in range(4):
        yield f"validate, {length} pods", partial(functions.validate, machine, length), length < 3
    # z3 takes hours for longer costs. Costs that are out of range start with the digits of the last cases.
    for length in range(8 if machine.is_thumb else 10):
        yield f"deletion_cost_parse, {length} bytes", partial(functions.deletion_cost_parse, machine, length), length < 5
    for start, length in itertools.product((b"21474", b"-21474"), () if machine.is_thumb else (10, 11, 12)):
        about = f"deletion_cost_parse, {length} bytes that start with {start.decode()}"
        yield about, partial(functions.deletion_cost_parse, machine, length, start), False
    yield "uid_parse, 36 bytes", partial(functions.uid_parse, machine, 36), False
    for places, symbols in lists.PLACES.items():
        for length in range(1, 3 if machine.is_thumb else 4):
            yield f"sort, {length} pods, {places}", partial(lists.sort, machine, length, symbols), length < 3
            for victims in range(1, length + 1):
                for memory in ("", ", scratch"):
                    about = f"select, {victims} of {length} pods, {places}{memory}"
                    yield about, partial(lists.select, machine, length, victims, symbols, bool(memory)), length < 3
    if not machine.is_thumb:
        # Enough for the buffer to be full, and for the prefilter to be asked. It sees pods of a lower rank go after.
        yield "select, 1 of 6 pods, places by rank, scratch", partial(lists.select, machine, 6, 1, {36: 1}, True), False
    yield "settle, 1 of 2 pods", partial(lists.settle, machine, 2, 1), False


def of_lemmas(machine):
    """The claims about what lemmas/ exports, and whether each takes a moment."""
    for part in (lemmas.head, lemmas.prefilter, lemmas.goes_before):
        if machine.is_thumb and part == lemmas.goes_before:
            continue  # not in seven minutes of z3, and not tried for longer
        yield f"lemma {part.__name__}", partial(part, machine), True
    for part in () if machine.is_thumb else (lemmas.head, lemmas.prefilter):
        yield f"lemma {part.__name__}, by cvc5", by_cvc5(partial(part, machine)), True
    for length, victims, candidates, is_quick in lemmas.SELECTIONS:
        if machine.is_thumb and not is_quick:
            continue  # not tried for long
        about = f"lemma select, {victims} of {length} pods, {candidates} candidates"
        yield about, partial(lemmas.select, machine, length, victims, candidates), is_quick


def documented_stack():
    """The worst case of each function on a Cortex-M3, by docs/small-machines.md."""
    text = (ROOT / "docs/small-machines.md").read_text(encoding="utf-8")
    return {name: int(stack) for name, stack in re.findall(r"^(podrank_\w+) +\d+ +\d+ +(\d+) +\d+$", text, re.M)}


class Proofs:
    """What has been proved of these bytes, by the claim's name."""

    def __init__(self, target):
        sources = [*(ROOT / "proof").rglob("*"), *ROOT.glob("core/src/**/*.rs"), *ROOT.glob("tests/laws/**/*.rs")]
        digest = hashlib.sha256()
        programs = [target / "proof" / f"{part}{machine}" for machine in ("x86-64", "thumb") for part in ("", "lemmas-")]
        for path in sorted(sources) + programs:
            if path.is_file() and path.suffix not in (".md", ".pyc"):
                digest.update(path.read_bytes())
        self.file = (target / "proof/proved").open("a+")
        fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # of two runs, the second fails
        self.file.seek(0)
        # A line that was cut off has no end.
        first, *rows = [line for line in self.file if line.endswith("\n")] or [""]
        self.rows = {row["claim"]: row for row in map(json.loads, rows)} if first.strip() == digest.hexdigest() else {}
        self.seen = 0
        self.file.truncate(0)
        self.file.writelines([digest.hexdigest() + "\n", *(json.dumps(row) + "\n" for row in self.rows.values())])

    def of(self, name, prove):
        """Proves a claim, unless that is done. `prove` returns a dictionary whose "text" says what was seen. Prints a line."""
        if name not in self.rows:
            start = time.monotonic()
            row = {"claim": name, **prove(), "seconds": round(time.monotonic() - start)}
            self.rows[name] = row
            self.file.write(json.dumps(row) + "\n")
            self.file.flush()
        row = self.rows[name]
        self.seen += 1
        print(f"{name}: {row['text']} ({row['seconds']} s)", flush=True)
        return row


def of_machine(library, claim, is_native):
    """Proves a claim about machine code. If its function is compared with the processor by this claim, compares."""
    walk = claim()
    text = f"proved: {len(walk.paths)} paths, {walk.stack} bytes of stack"
    if is_native:
        statuses = native.check(library, walk, INPUTS)
        text += f"; {INPUTS} inputs as on this processor, with the statuses {', '.join(map(str, sorted(statuses)))}"
    return {"text": text, "function": walk.function, "stack": walk.stack}


def of_machines(target, proofs, names, wanted):
    library = ctypes.CDLL(str(target / "c/libpodrank.so"))
    for machine_name in names:
        of_archive = list(claims(Machine(str(target / "proof" / machine_name))))
        machine = Machine(str(target / "proof" / f"lemmas-{machine_name}"))
        each = [*of_archive, *of_lemmas(machine)]
        # Of each function whose records are any, the claim with the most symbols that answers something.
        most = {name.split(",")[0]: name for name, _, _ in of_archive
                if not name.startswith(("sort", "select", "settle")) and not re.search("start with|options of (0|15|24|1025) bytes", name)}  # fmt: skip
        stack = {}
        for name, claim, quick in each:
            full = f"{machine_name} {name}"
            if wanted(full, quick):
                row = proofs.of(full, partial(of_machine, library, claim, name in most.values()))
                stack[row["function"]] = max(row["stack"], stack.get(row["function"], 0))
        print(f"{machine_name}: the most stack of a path, in bytes: {', '.join(f'{name} {most}' for name, most in stack.items())}")
        if machine.is_thumb:
            more = {name: most for name, most in stack.items() if name.startswith("podrank_") and most > documented_stack()[name]}
            assert not more, f"docs/small-machines.md says less stack: {more}"


def main(target, which="all", *starts):
    wanted = lambda name, quick=True: (quick or which != "quick") and (not starts or name.startswith(starts))
    proofs = Proofs(target)
    for name, claim in order.CLAIMS.items():
        if wanted(name):
            proofs.of(name, lambda: {"text": f"proved: {claim() or ''}".strip()})
    if wanted("vectors"):
        print(f"vectors: the specification agrees with {vectors.check()}", flush=True)
        proofs.seen += 1
    if wanted("soundness"):
        print(f"soundness: SOUNDNESS.md has a line for each of {soundness.check()} functions", flush=True)
        proofs.seen += 1
    of_machines(target, proofs, ("x86-64",) if which == "quick" else ("x86-64", "thumb"), wanted)
    if wanted("control: preserved registers"):
        print(f"control: preserved registers: {controls.registers(target)}", flush=True)
        proofs.seen += 1
    for name, *mistake in controls.MISTAKES:
        if wanted(f"control: {name}", False):
            proofs.of(f"control: {name}", lambda: {"text": f"refuted, as it must be:\n{controls.check(target, *mistake)}"})
    if not proofs.seen:
        sys.exit(f"no claim starts with {' or '.join(starts)}")
    print(f"proof: ok, {proofs.seen} claims")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
