"""Mistakes that must be refuted. Each is planted in a copy of the sources, of which an archive is made. A claim about that archive must
fail, with two pods that show it, and the Rust API of the copy must put these two in another order than the naive oracle does."""

import os
import pathlib
import shutil
import subprocess

import functions
from ask import Refuted
from machine import Machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ["Cargo.toml", "Cargo.lock", "Makefile", ".cargo", "bench", "cli", "core", "ffi", "fuzz", "include",
          "judge/answer", "preview", "tests", "web"]  # fmt: skip
# What is wrong; the file in core/src, its text and what takes its place; the size of the options with which it shows.
MISTAKES = [
    ("one bit: the tier lies one bit lower, over the cost", "order.rs", "value(Rule::Tier) << 38", "value(Rule::Tier) << 37", None),
    ("one bit: another sign bit of costs", "order.rs", "cost.cast_unsigned() ^ 1 << 31", "cost.cast_unsigned() ^ 1 << 30", None),
    ("one bit: the tier lacks its highest", "order.rs", "value(Rule::Tier) << 38", "(value(Rule::Tier) & 0x7fff) << 38", None),
    ("one comparison: the lower rank goes first", "order.rs", "(!pod.rank).into()", "pod.rank.into()", None),
    ("one comparison: UIDs from their last byte on", "order.rs", "from_be_bytes(pod.uid", "from_le_bytes(pod.uid", None),
    ("one comparison: ready times of pods that are not ready", "order.rs", "ReadyTime if pod.is_ready()", "ReadyTime if pod.is_assigned()", None),
    ("a boundary: an age of 0 is in the bucket of 1 ns", "policy.rs", "Some(age.checked", "Some(age.wrapping_add(i64::from(age == 0)).checked", 16),
    ("a boundary: an age of 1 ns is in the bucket of 0", "policy.rs", "Some(age.checked", "Some(age.wrapping_sub(i64::from(age == 1)).checked", 16),
    ("a boundary: ages wrap at one end of time", "policy.rs", "saturating_sub(time.bits())", "wrapping_sub(time.bits())", 16),
    ("a boundary: at the other end, ages are one less", "policy.rs", "Some(age.checked", "Some((age / 2 + age / 2 + 1).checked", 16),
]  # fmt: skip


def run(*command, cwd, target):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def bytes_of(values, name):
    return bytes(values.get(f"{name}[{i}]", 0) for i in range(64))


def check(target, file, text, mistake, size):
    """Plants a mistake in a copy of what the archive is built from, and returns how it is refuted."""
    copy = target / "proof/copy"
    shutil.rmtree(copy, ignore_errors=True)
    for each in COPIED:
        to = copy / each
        to.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / each).is_dir():
            shutil.copytree(ROOT / each, to, ignore=shutil.ignore_patterns("target", "node_modules"))
        else:
            shutil.copy2(ROOT / each, to)
    path = copy / "core/src" / file
    sound = path.read_text(encoding="utf-8")
    assert sound.count(text) == 1, f"{file} has no longer one {text}"
    path.write_text(sound.replace(text, mistake), encoding="utf-8")
    return refuted(copy, target / "proof/copy-target", size)


def refuted(copy, built, size):
    """Two pods for which compare is not what the specification says, as the Rust API shows them and puts them in order."""
    run("make", "-s", "archive", cwd=copy, target=built)
    program = built / "program"
    run(str(ROOT / "proof/link"), str(built / "c/libpodrank.a"), str(program), os.environ.get("CC", "cc"), "-static", cwd=copy, target=built)
    try:
        functions.compare(Machine(str(program)), size)
    except Refuted as found:
        a, b, options = (bytes_of(found.values, each) for each in ("a", "b", "options"))
        flags, now = int.from_bytes(options[4:8], "little"), int.from_bytes(options[8:16], "little", signed=True)
        said = run("cargo", "run", "-q", "-p", "podrank-laws", "--example", "pair", a.hex(), b.hex(), str(flags), str(now), cwd=copy, target=built)
        ours, oracle = said.split("podrank ")[1].split(", oracle ")
        assert ours.strip() != oracle.strip(), f"a counterexample that is none:\n{said}"
        return said.strip()
    raise AssertionError("this mistake was proved right")
