"""Mistakes that must be refuted. Each is planted in a copy of the sources, of which an archive is made. A claim about that archive must
fail, with two pods that show it, and the Rust API of the copy must put these two in another order than the naive oracle does, or
select others of them."""

import os
import pathlib
import shutil
import subprocess
from functools import partial

import functions
import lemmas
from ask import Refuted
from machine import Machine

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ["Cargo.toml", "Cargo.lock", "Makefile", ".cargo", "bench", "cli", "core", "examples-c", "ffi", "fuzz", "include",
          "judge/answer", "predict", "proof", "tests", "web"]  # fmt: skip
# A claim that refutes mistakes: the program that it is about, and what fails.
COMPARE, COMPARE_AT, ON_THUMB, HEADS, PREFILTER, SELECT = range(6)
CLAIMS = {
    COMPARE: ("x86-64", "", partial(functions.compare, size=None)),
    COMPARE_AT: ("x86-64", "", partial(functions.compare, size=16)),
    ON_THUMB: ("thumb", "", partial(functions.compare, size=None)),
    HEADS: ("x86-64", "lemmas", lemmas.heads_of_two),
    PREFILTER: ("x86-64", "lemmas", lemmas.prefilters_of_two),
    SELECT: ("x86-64", "lemmas", partial(lemmas.select, length=3, victims_len=1, candidates_len=2)),
}
# What is wrong; the file in core/src, its text and what takes its place; the claim that refutes it.
MISTAKES = [
    ("one bit: the tier lies one bit lower, over the cost", "order.rs", "value(Rule::Tier) << 38", "value(Rule::Tier) << 37", COMPARE),
    ("one bit: another sign bit of costs", "order.rs", "cost.cast_unsigned() ^ 1 << 31", "cost.cast_unsigned() ^ 1 << 30", COMPARE),
    ("one bit: the tier lacks its highest", "order.rs", "value(Rule::Tier) << 38", "(value(Rule::Tier) & 0x7fff) << 38", COMPARE),
    ("one comparison: the lower rank goes first", "order.rs", "(!pod.rank).into()", "pod.rank.into()", COMPARE),
    ("one comparison: UIDs from their last byte on", "order.rs", "from_be_bytes(pod.uid", "from_le_bytes(pod.uid", COMPARE),
    ("one comparison: ready times of pods that are not ready", "order.rs", "ReadyTime if pod.is_ready()", "ReadyTime if pod.is_assigned()", COMPARE),
    ("a boundary: an age of 0 is in the bucket of 1 ns", "policy.rs", "Some(age.checked", "Some(age.wrapping_add(i64::from(age == 0)).checked", COMPARE_AT),
    ("a boundary: an age of 1 ns is in the bucket of 0", "policy.rs", "Some(age.checked", "Some(age.wrapping_sub(i64::from(age == 1)).checked", COMPARE_AT),
    ("a boundary: ages wrap at one end of time", "policy.rs", "saturating_sub(time.bits())", "wrapping_sub(time.bits())", COMPARE_AT),
    ("a boundary: at the other end, ages are one less", "policy.rs", "Some(age.checked", "Some((age / 2 + age / 2 + 1).checked", COMPARE_AT),
    ("one bit: the rank lacks its highest, on Thumb", "order.rs", "value(Rule::Rank) << 32", "value(Rule::Rank) << 33", ON_THUMB),
    ("a boundary of heads: a tier of 15 does not end them", "head.rs", "if value < largest", "if value <= largest", HEADS),
    ("a boundary of heads: a count that does not fit does not end them", "head.rs", "None => Err(self),", "None => Ok(self),", HEADS),
    ("a boundary of the prefilter: the next later time", "prefilter.rs", "time) < self.later_times", "time) <= self.later_times", PREFILTER),
    ("one comparison of the prefilter: not of creation times", "prefilter.rs", "            && pod.creation_time == self.pod.creation_time\n", "", PREFILTER),
    ("a boundary of select: a full buffer loses the last victim", "select.rs", "len = k;", "len = k.wrapping_sub(1);", SELECT),
]  # fmt: skip


def run(*command, cwd, target):
    done = subprocess.run(command, cwd=cwd, env={**os.environ, "CARGO_TARGET_DIR": str(target)}, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def bytes_of(values, name):
    return bytes(values.get(f"{name}[{i}]", 0) for i in range(64))


def two_pods(values):
    """The two pods of a counterexample. Those of a model that are in different places are pods of different tiers."""
    if not any(name.startswith("place[") for name in values):
        return bytes_of(values, "a"), bytes_of(values, "b")
    first, *_, last = sorted({values.get(f"place[{i}]", 0) for i in range(8)})
    return [bytes(54) + place.to_bytes(2, "little") + bytes(8) for place in (first, last)]


def check(target, file, text, mistake, claim):
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
    valid = path.read_text(encoding="utf-8")
    assert valid.count(text) == 1, f"{file} has no longer one {text}"
    path.write_text(valid.replace(text, mistake), encoding="utf-8")
    return refuted(copy, target / "proof/copy-target", claim)


def refuted(copy, built, claim):
    """Two pods for which a claim is false, as the Rust API shows them, puts them in order and selects of them."""
    machine, part, prove = CLAIMS[claim]
    program = built / "program"
    run(str(copy / "proof/build"), machine, str(program), part, cwd=copy, target=built)
    try:
        prove(Machine(str(program)))
    except Refuted as found:
        a, b = two_pods(found.values)
        options = bytes_of(found.values, "options")
        flags, now = int.from_bytes(options[4:8], "little"), int.from_bytes(options[8:16], "little", signed=True)
        said = run("cargo", "run", "-q", "-p", "podrank-laws", "--example", "pair", a.hex(), b.hex(), str(flags), str(now), cwd=copy, target=built)
        lines = said.splitlines()
        answers = [line for line in lines if line.startswith("podrank ")]
        differ = [line for line in answers if line.split("podrank ")[1].split(", oracle ")[0] != line.split(", oracle ")[1].split(" of ")[0]]
        is_shown = differ and (claim not in (COMPARE, COMPARE_AT, ON_THUMB) or differ[0] == answers[0])
        assert is_shown, f"a counterexample that is none:\n{said}"
        return "\n".join([line for line in lines if line not in answers] + differ)
    raise AssertionError("this mistake was proved right")


# A function that returns 0, but not in every register what was there.
FORGETS = {
    "x86-64": (["cc", "-static"], ".globl forgets\nforgets: mov %rdi, %rbx\nxor %eax, %eax\nret\n", "rbx"),
    "thumb": (["arm-none-eabi-gcc", "-mthumb", "-mcpu=cortex-m3"], ".syntax unified\n.thumb\n.globl forgets\n.thumb_func\nforgets: mov r4, r0\nmovs r0, #0\nbx lr\n", "r4"),
}  # fmt: skip


def registers(target):
    """A function that changes a register that it must preserve is refused, on each machine whose compiler is here."""
    seen = []
    for name, (compiler, text, register) in FORGETS.items():
        if not shutil.which(compiler[0]):
            continue
        program, source = target / "proof/forgets", target / "proof/forgets.s"
        source.write_text(text, encoding="utf-8")
        run(*compiler, "-nostdlib", "-Wl,-e,forgets", str(source), "-o", str(program), cwd=target, target=target)
        try:
            Machine(str(program)).walk("forgets", [1])
        except AssertionError as refused:
            assert str(refused) == f"forgets does not preserve {register}", refused
            seen.append(f"{register} on {name}")
        else:
            raise AssertionError(f"{register} is not preserved, which was not seen")
    return f"refused, as it must be: {', '.join(seen)}"
