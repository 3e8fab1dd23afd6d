"""Proves every claim and prints a line for each: main.py TARGET_DIR [quick|all [START...]], where STARTs are starts of claims' names."""

import ctypes
import pathlib
import re
import sys
import time
from functools import partial

import controls
import functions
import lists
import native
import order
import vectors
from machine import Machine, Walk

INPUTS = 10_000  # of each function, for the comparison with the processor
ROOT = pathlib.Path(__file__).resolve().parent.parent


def claims(machine):
    """The claims about one library: the name, what proves it, and whether that takes a moment."""
    for function in (functions.compare, functions.decide, functions.key, functions.upstream):
        for size in (None, 0, 15, 16, 24, 1025):
            about = "without options" if size is None else f"options of {size} bytes"
            # The project's README says that compare is proved with all options, so that is checked whenever anything is.
            is_quick = size not in (16, 24) or size == 16 and function in (functions.compare, functions.key)
            yield f"{function.__name__}, {about}", partial(function, machine, size), is_quick
    for length in range(4):
        yield f"validate, {length} pods", partial(functions.validate, machine, length), length < 3
    for length in range(13):
        yield f"deletion_cost_parse, {length} bytes", partial(functions.deletion_cost_parse, machine, length), length < 5
    yield "uid_parse, 36 bytes", partial(functions.uid_parse, machine, 36), False
    for places, symbols in lists.PLACES.items():
        for length in range(1, 5):
            yield f"sort, {length} pods, {places}", partial(lists.sort, machine, length, symbols), length < 3
            for victims in range(1, length + 1):
                for memory in ("", ", scratch"):
                    about = f"select, {victims} of {length} pods, {places}{memory}"
                    yield about, partial(lists.select, machine, length, victims, symbols, bool(memory)), length < 3
    for length in (2, 3):
        for deleted in range(1, length):
            yield f"settle, {deleted} of {length} pods", partial(lists.settle, machine, length, deleted), False


def documented_stack():
    """The worst case of each function on a Cortex-M3, by docs/small-machines.md."""
    text = (ROOT / "docs/small-machines.md").read_text(encoding="utf-8")
    return {name: int(stack) for name, stack in re.findall(r"^(podrank_\w+) +\d+ +\d+ +(\d+) +\d+$", text, re.M)}


def timed(name, prove):
    """Proves one claim and prints its line. Returns what the claim returned."""
    start = time.monotonic()
    result = prove()
    about = f"{len(result.paths):5} paths, {result.stack:4} bytes of stack" if isinstance(result, Walk) else str(result or "")
    print(f"proved: {name}: {about} ({time.monotonic() - start:.0f} s)", flush=True)
    return result


def main(target, which="all", *starts):
    wanted = lambda name, quick=True: (quick or which != "quick") and (not starts or name.startswith(starts))
    for name, claim in order.CLAIMS.items():
        if wanted(name):
            timed(name, claim)
    if wanted("vectors"):
        timed("vectors", lambda: f"the specification agrees with {vectors.check()}")
    library = ctypes.CDLL(str(target / "c/libpodrank.so"))
    for machine_name in ("x86-64",) if which == "quick" else ("x86-64", "thumb"):
        machine = Machine(str(target / "proof" / machine_name))
        stack, walks = {}, {}
        for name, claim, quick in claims(machine):
            name = f"{machine_name} {name}"
            if wanted(name, quick):
                walk = timed(name, claim)
                stack[walk.function] = max(walk.stack, stack.get(walk.function, 0))
                if walk.function not in ("podrank_sort", "podrank_select", "podrank_settle"):
                    walks[walk.function] = walk  # the last has the most symbols
        for function, walk in walks.items() if which != "quick" else ():
            statuses = native.check(library, walk, INPUTS)
            print(f"{machine_name} {function}: {INPUTS} inputs as on this processor, with the statuses {sorted(statuses)}", flush=True)
        print(f"{machine_name}: the most stack of a path, in bytes: {', '.join(f'{name} {most}' for name, most in stack.items())}")
        if machine.is_thumb:
            more = {name: most for name, most in stack.items() if most > documented_stack()[name]}
            assert not more, f"docs/small-machines.md says less stack: {more}"
    if which != "quick" and wanted("controls"):
        controls.check(target)
    print("proof: ok")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]).resolve(), *sys.argv[2:])
