#!/usr/bin/env python3
"""Prints how much of a Cortex-M3 each function takes, and checks it against the budget: see budget.sh."""

import collections
import math
import re
import sys

import arm

STACK = 1024
# Of whole programs, with the start code and the mem functions. What has everything is only printed.
IMAGES = {"order and choose victims": 4096, "a node agent": 5120, "examples-c/firmware": 8192,
          "order, predict, controller": 12 * 1024}
# All of podrank in a program that calls one function.
ALONE = {"podrank_spread": 2560, "podrank_steer": 5376,}
# How much faster than n log2 k the number of instructions may grow from one n to the next.
GROWTH = 1.1
TOOLS = "arm-none-eabi-"


def table(path):
    with open(path, encoding="ascii") as lines:
        return {name: int(number) for name, number in map(str.split, lines)}


def sizes(path):
    """Of each section."""
    rows = (line.split() for line in arm.run(TOOLS + "size", "-A", path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 3 and row[1].isdigit()}


def growth(path):
    """Prints the instructions of selecting, as growth.c counted them. Returns where they grow faster than n log2 k."""
    with open(path, encoding="ascii") as lines:
        rows = [(name, int(n), int(ticks)) for name, n, ticks in map(str.split, lines)]
    (_, instructions, scale), *rows = rows
    counts = collections.defaultdict(dict)
    for name, n, ticks in rows:
        counts[name][n] = ticks * instructions / scale
    sizes = sorted({n for _, n, _ in rows})
    grown = []
    print("\ninstructions to select k = n/2 of n pods, and divided by n log2 k")
    print(f"{'pods listed':<24}" + "".join(f"{f'n = {n}':>16}" for n in sizes))
    for name, count in counts.items():
        step = {n: count[n] / (n * math.log2(n / 2)) for n in sizes}
        print(f"{name.replace('-', ' '):<24}" + "".join(f"{f'{count[n]:.0f} {step[n]:4.0f}':>16}" for n in sizes))
        grown += [f"{name}: n = {b}" for a, b in zip(sizes, sizes[1:]) if step[b] > GROWTH * step[a]]
    return grown


def main(path, alone, measured, grown, images, undefined):
    alone, measured, images = table(alone), table(measured), table(images)
    program = arm.Program(path, TOOLS)
    sections = sizes(path)
    stacks = {name: program.stack(program.aliases[name]) for name in alone}
    ours = {start for start in program.functions if program.in_section(start, ".podrank")}
    own = {name: program.functions[program.aliases[name]].size for name in alone}
    functions = sum(program.functions[start].size for start in ours)
    floats = sorted({f"{name}: {what}" for name, what, _ in program.instructions() if re.match(r"^v[a-z]", what)})
    failed = []

    width = max(map(len, [*alone, *images]))

    def check(what, value, most):
        within = value <= most
        print(f"{what:<{width}} {value:>6}   at most {most:>5}   {'ok' if within else 'OVER'}")
        if not within:
            failed.append(what)

    for name, flash in images.items():
        name = name.replace("-", " ") if "/" not in name else name
        if most := IMAGES.get(name):
            check(name, flash, most)
        else:
            print(f"{name:<{width}} {flash:>6}")
    print(f"\n{'function':<{width}} {'bytes':>6} {'alone':>6} {'stack':>6} {'measured':>9}")
    for name in sorted(alone):
        print(f"{name:<{width}} {own[name]:>6} {alone[name]:>6} {stacks[name]:>6} {measured[name]:>9}")
    print(f"{'what they share':<{width}} {functions - sum(own.values()):>6}")
    print(f"{'constants':<{width}} {sections['.podrank'] - functions:>6}\n")
    for name, most in ALONE.items():
        check(name, alone[name], most)
    check("static RAM", sections.get(".podrank_ram", 0), 0)
    check("stack", max(stacks.values()), STACK)
    check("float instructions", len(floats), 0)
    # freestanding.sh checked that these are all.
    check("undefined but mem", len([name for name in undefined.split() if "mem" not in name]), 0)
    check("panic paths", undefined.split().count("podrank_has_a_panic_path"), 0)
    for name, depth in measured.items():
        if depth > stacks[name]:
            failed.append(f"{name}: measured {depth} bytes of stack, {stacks[name]} at most by its code")
        if depth == 0:
            failed.append(f"{name}: never called")
    failed += [f"faster than n log k: {what}" for what in growth(grown)]
    for what in floats + failed:
        print(what, file=sys.stderr)
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
