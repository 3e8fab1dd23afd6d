#!/usr/bin/env python3
"""Plants one trap at a time in a copy of the checkout, and counts the executions until each fuzz target finds it.

Each run starts from an empty corpus, with a fixed seed, on one core, and without the dictionaries. The table goes into
RESULTS.md. `traps.py NAME...` plants only the named traps, and only prints their rows. It exits non-zero if a target does not
find within a minute a trap that it should find.

For each bit that a rule reads, there is one more trap: core ignores this bit. Only `order` must find them. They are one
build, because the environment says which bit it is. The name of a field stands for the traps of its bits.

`traps.py --check` builds nothing, and only says which traps can no longer be planted, because the code has changed since.

A run that was interrupted continues where it stopped, as long as no file has changed: each row is kept as soon as it
is known, in ${PODRANK_STATE:-${XDG_STATE_HOME:-~/.local/state}/podrank}/traps.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

FUZZ = pathlib.Path(__file__).resolve().parent
ROOT = FUZZ.parent
SEEDS = (1, 2, 3)
SECONDS = 60
ORDER, SELECT, SETTLE = "core/src/order.rs", "core/src/select.rs", "core/src/predict.rs"
ODDS, GO_SORT = "core/src/probabilities.rs", "core/src/go_sort.rs"
STEER, SPREAD = "core/src/steer.rs", "core/src/spread.rs"
UPSTREAM, COST, UID = "core/src/kubernetes.rs", "core/src/deletion_cost.rs", "core/src/uid.rs"
POLICY, TIME, RULE = "core/src/policy.rs", "core/src/time.rs", "core/src/rule.rs"
EXPLAIN = "core/src/explain.rs"
SLOW_START, EXPECTATIONS = "core/src/controller/slow_start.rs", "core/src/controller/expectations.rs"
CLAIM = "core/src/controller/claim.rs"
PLAN, AVAILABILITY = "core/src/controller/plan.rs", "core/src/controller/availability.rs"
HEAD, GLANCE, MEMORY = "core/src/head.rs", "core/src/prefilter.rs", "ffi/src/memory.rs"
FFI_UPSTREAM = "ffi/src/kubernetes.rs"

# For each trap: the targets that must find it, and the replacements that plant it. Each replaced text occurs once in its file.
TRAPS = {
    "a step that is true both ways": ("order select ffi", [
        (ORDER, ".map(|i| word(i, a, self).cmp(&word(i, b, self)))",
         ".map(|i| match word(i, a, self).cmp(&word(i, b, self)) { Ordering::Greater if i == 3 => Ordering::Less, o => o })")]),
    "phases compared as text": ("order select ffi", [
        (ORDER, "Rule::Phase => pod.phase.ordinal().into(),",
         "Rule::Phase => [0_u8, 2, 1].get(usize::from(pod.phase.ordinal())).copied().unwrap_or(3).into(),")]),
    "no zero-time rule: unset is long ago": ("order select settle", [
        (POLICY, "if !self.has_buckets() || time.is_unset() {", "if !self.has_buckets() {"),
        (UPSTREAM, "if self.has_buckets() && !time.is_unset() {", "if self.has_buckets() {")]),
    "inverted zero-time rule": ("order select settle ffi", [
        (TIME, "i64::MIN.wrapping_sub(self.0).cast_unsigned()", "i64::MAX.wrapping_sub(self.0).cast_unsigned()")]),
    "log2 of milliseconds": ("order select ffi", [
        (POLICY, "Some(age.checked_ilog2()", "Some((age / 1_000_000).checked_ilog2()")]),
    "a cost of `+10` is accepted": ("cost", [
        (COST, "[b'+', ..] => return Err(DeletionCostError::LeadingPlus),", "[b'+', digits @ ..] => (false, digits),")]),
    "a cost of `008` is accepted": ("cost", [
        (COST, "[b'0', _, ..] => return Err(DeletionCostError::LeadingZero),", "")]),
    "a second unstable sort over the first": ("order select ffi", [
        (SELECT, "        Ok(victims)\n",
         "        victims.sort_unstable_by_key(|&i| pods.get(i as usize).map(|pod| !pod.rank));\n        Ok(victims)\n")]),
    "all pods go: none is selected": ("order select ffi", [
        (SELECT, "let len = victims.len().min(pods.len());",
         "let len = if victims.len() == pods.len() { 0 } else { victims.len().min(pods.len()) };")]),
    "sidecar restarts left out of the order": ("order select settle ffi", [
        (ORDER, "Rule::SidecarRestarts => (!pod.sidecar_restarts).into(),", "Rule::SidecarRestarts => 0,")]),
    "two steps swapped: restarts before ready time": ("order select ffi", [
        (ORDER, "        2 => value(Rule::ReadyTime),\n        3 =>", "        3 => value(Rule::ReadyTime),\n        2 =>"),
        (RULE, "        Self::ReadyTime,\n        Self::Restarts,\n        Self::SidecarRestarts,\n",
         "        Self::Restarts,\n        Self::SidecarRestarts,\n        Self::ReadyTime,\n")]),
    "no UID step": ("order select ffi", [
        (ORDER, "Rule::Uid => u128::from_be_bytes(pod.uid.to_bytes()),", "Rule::Uid => 0,")]),
    "upstream's relation instead of the order": ("order select ffi", [
        (ORDER, "        self.compare_from::<0>(a, b)",
         "        match self.kubernetes_compare(a, b).0 {\n            crate::KubernetesOrdering::Before => Ordering::Less,\n"
         "            crate::KubernetesOrdering::After => Ordering::Greater,\n            crate::KubernetesOrdering::Tie => Ordering::Equal,\n        }")]),
    "heads that continue after a count that does not fit": ("select ffi", [
        (HEAD, "None => Err(self),", "None => Ok(self.with::<WIDTH>(0)),")]),
    "a prefilter that overlooks the phase": ("select order ffi", [
        (GLANCE, "[pod.phase.ordinal(), pod.flags", "[0, pod.flags")]),
    "a prefilter that overlooks sidecar restarts": ("select order", [
        (GLANCE, "            && pod.sidecar_restarts == self.pod.sidecar_restarts\n", "")]),
    "a prefilter with the ranks reversed": ("select order ffi", [
        (GLANCE, "(pod.rank < self.pod.rank", "(pod.rank > self.pod.rank")]),
    "a prefilter one age bucket too far": ("select order", [(GLANCE, "checked_pow(bucket.wrapping_add(1)", "checked_pow(bucket")]),
    "a prefilter at ready times that do not count": ("select order", [
        (GLANCE, "if pod.is_ready() { policy", "if true { policy")]),
    "ages in another bucket before 1970": ("order select settle", [
        (POLICY, "let age = self.now.bits().saturating_sub", "let age = self.now.bits().max(0).saturating_sub")]),
    "the rule `uid` reported as that of the time": ("settle ffi", [
        (UPSTREAM, "return (KubernetesOrdering::Before, Some(rule))",
         "return (KubernetesOrdering::Before, Some(if rule == Rule::Uid { Rule::ReadyTime } else { rule }))")]),
    "times reported as buckets with the gate off": ("order ffi", [
        (EXPLAIN, "Rule::CreationTime if self.has_buckets()", "Rule::CreationTime if !self.now.is_unset()")]),
    "a key that leaves out a byte of the UID": ("order select ffi", [
        (ORDER, "7 => value(Rule::Uid),", "7 => value(Rule::Uid) & !0xff00,")]),
    "a number of victims cut to 32 bits": ("ffi", [
        (FFI_UPSTREAM, "policy.predict(pods, k,", "policy.predict(pods, k & 0xffff_ffff,")]),
    "pods' keys compared without a byte": ("controller", [
        (EXPECTATIONS, "u128::from_ne_bytes(*other) == key", "(u128::from_ne_bytes(*other) ^ key) & !(0xff << 40) == 0")]),
    "counts that wrap": ("ffi", [
        (EXPECTATIONS, "self.creations.saturating_sub(count.into())", "self.creations.wrapping_sub(count.into())")]),
    "upstream's buckets without its rounding": ("settle", [
        (UPSTREAM, "if reached { next.cast_signed() } else { floor.cast_signed() }",
         "if reached && false { next.cast_signed() } else { floor.cast_signed() }")]),
    "possible pods called certain": ("settle ffi", [
        (SETTLE, "let (from, to) = group_at(order, scores, k);",
         "let (_, to) = group_at(order, scores, k);\n        let from = k.min(to);")]),
    "odds of one deletion more": ("odds", [
        (ODDS, "(prediction.possible(), prediction.quota());", "(prediction.possible(), prediction.quota().wrapping_add(1));")]),
    "lists that are not shuffled uniformly": ("odds", [
        (ODDS, "cells.get(pick(last.wrapping_add(1)) as usize)", "cells.get(pick(last.max(1)) as usize)")]),
    "a sort by insertion up to 11 pods": ("odds", [
        (GO_SORT, "pub(crate) const SHORT: usize = 12;", "pub(crate) const SHORT: usize = 11;")]),
    "another seed where the sort breaks a pattern": ("odds", [
        (GO_SORT, "Random(len as u64)", "Random((len as u64).wrapping_add(1))")]),
    "a sort by heap that leaves out the root": ("odds", [
        (GO_SORT, "for root in (0..=len.wrapping_sub(1) / 2).rev() {", "for root in (1..=len.wrapping_sub(1) / 2).rev() {")]),
    "a tier that ties with the next": ("steer", [
        (STEER, "d.wrapping_add(self.tier().cast_signed()) as i32", "d.wrapping_add(self.tier().cast_signed() / 2) as i32")]),
    "a gap too small for the tiers between": ("steer", [
        (STEER, "if own != last {", "if own > last.saturating_add(1) {")]),
    "a price that counts for nothing": ("steer", [
        (STEER, "best.saturating_add(price(place));", "best.saturating_add(1);"),
        (STEER, "left.wrapping_sub(price(place))", "left.wrapping_sub(1)")]),
    "a fixed cost is written": ("steer", [(STEER, "            (least, below) = (place.d(), place.index);\n", "")]),
    "costs beyond the end of their range": ("steer", [
        (STEER, "i64::from(i32::MAX).wrapping_sub(top.tier().cast_signed())", "i64::from(i32::MAX)")]),
    "outer levels that ignore the inner ones": ("steer", [
        (SPREAD, "        sort(order, &|a, b|", "        pods.iter_mut().for_each(|pod| pod.rank = 0);\n        sort(order, &|a, b|")]),
    "ranks counted from the wrong end": ("steer", [
        (SPREAD, "for &index in &*order {", "for &index in order.iter().rev() {")]),
    "a plan to create without a cap": ("controller", [
        (PLAN, "let shortfall = set.desired.saturating_sub(set.active).min(burst_replicas);",
         "let shortfall = set.desired.saturating_sub(set.active);")]),
    "slow start continues after a failure": ("controller", [
        (SLOW_START, "let next = if failures > 0 { 0 } else { self.batch.saturating_mul(2) };",
         "let next = self.batch.saturating_mul(2);")]),
    "a deletion that is observed twice counts twice": ("controller", [
        (EXPECTATIONS, "        self.keys = self.keys.saturating_sub(1);\n", "")]),
    "a key that is expected twice counts twice": ("controller", [
        (EXPECTATIONS, "let known = find(key_storage, len, key).is_some();", "let known = false;")]),
    "expected creations remove the keys of deletions": ("controller", [
        (EXPECTATIONS, "deletions: 0, is_set: 1, ..*self };", "deletions: 0, keys: 0, is_set: 1 };")]),
    "expectations time out a nanosecond early": ("controller", [
        (EXPECTATIONS, "age > EXPECTATIONS_TIMEOUT_NANOS", "age >= EXPECTATIONS_TIMEOUT_NANOS")]),
    "an orphan that is being deleted is adopted": ("controller", [
        (CLAIM, " && !pod.is_being_deleted => Claim::Adopt,", " => Claim::Adopt,")]),
    "available a nanosecond late": ("controller", [(AVAILABILITY, "if left > 0 {", "if left >= 0 {")]),
    "buffers that overlap are accepted": ("ffi", [(MEMORY, "a.start.max(b.start) < a.end.min(b.end)", "false")]),
    "misaligned buffers are accepted": ("ffi", [
        (MEMORY, "if !start.addr().is_multiple_of(align_of::<T>()) {", "if false {")]),
    "a UID in upper case is accepted": ("uid", [
        (UID, "b'a'..=b'f' => byte.wrapping_sub(b'a').wrapping_add(10),",
         "b'a'..=b'f' | b'A'..=b'F' => (byte | 0x20).wrapping_sub(b'a').wrapping_add(10),")]),
}
# The first bit of each field in a record, and how many of its bits a valid record can have.
FIELDS = {
    "uid": (0, 128), "ready_time": (128, 64), "creation_time": (192, 64), "deletion_cost": (256, 32), "rank": (288, 32),
    "restarts": (320, 32), "sidecar_restarts": (352, 32), "phase": (416, 2), "flags": (424, 3), "tier": (432, 16),
}
# Has the rules read a record without the bit that this variable names.
IGNORED = "PODRANK_IGNORED_BIT"
IGNORE = [
    ("core/src/lib.rs", "\nmod deletion_cost;\n", "\nextern crate std;\nmod deletion_cost;\n"),
    (ORDER, "    Some(match rule {\n", "    let pod = &ignoring(pod);\n    Some(match rule {\n"),
    (ORDER, "fn word(index: usize, pod: &Pod, policy: &Policy) -> u64 {\n", """\
fn word(index: usize, pod: &Pod, policy: &Policy) -> u64 {
    let pod = &ignoring(pod);
"""),
    (ORDER, "/// Returns a signed number as", """\
fn ignoring(pod: &Pod) -> Pod {
    static BIT: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {
        std::env::var("%s").map_or(u32::MAX, |bit| bit.parse().unwrap())
    });
    let kept = |first: u32| !1_u128.checked_shl(BIT.wrapping_sub(first)).unwrap_or(0);
    let time = |time: Time, first| match time.bits() & kept(first) as i64 {
        i64::MIN => Time::UNSET,
        nanos => Time::from_unix_nanos(nanos),
    };
    Pod {
        uid: crate::Uid::from_bytes((u128::from_le_bytes(pod.uid.to_bytes()) & kept(0)).to_le_bytes()),
        ready_time: time(pod.ready_time, 128),
        creation_time: time(pod.creation_time, 192),
        deletion_cost: pod.deletion_cost & kept(256) as i32,
        rank: pod.rank & kept(288) as u32,
        restarts: pod.restarts & kept(320) as u32,
        sidecar_restarts: pod.sidecar_restarts & kept(352) as u32,
        phase: crate::Phase::from_ordinal(pod.phase.ordinal() & kept(416) as u8),
        flags: crate::Flags::from_bits(pod.flags.bits() & kept(424) as u8),
        tier: pod.tier & kept(432) as u16,
        ..*pod
    }
}

/// Returns a signed number as""" % IGNORED),
]
TARGETS = ("order", "select", "settle", "odds", "steer", "controller", "ffi", "cost", "uid")


def plant(copy, changes):
    """Makes the changes. Returns the files as they were before."""
    files = {}
    for path, old, new in changes:
        text = (copy / path).read_text()
        files.setdefault(path, text)
        if text.count(old) != 1:
            sys.exit(f"{path}: {text.count(old)} times, not once: {old}")
        (copy / path).write_text(text.replace(old, new))
    return files


def build(copy, target):
    """Builds a target as lib.sh does. Returns the path of the program."""
    target_dir = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", FUZZ / "target")) + "/traps"
    done = subprocess.run(["bash", "-c", '. ./lib.sh && build "$1" none >&2 && program "$1" none', "./lib.sh", target],
                          cwd=copy / "fuzz", env={**os.environ, "CARGO_TARGET_DIR": target_dir},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.strip()


def executions(binary, seed, seconds=SECONDS, **environment):
    """Returns the number of executions until the target fails, or None if it does not fail in time."""
    with tempfile.TemporaryDirectory() as corpus:
        done = subprocess.run(
            [binary, f"-seed={seed}", f"-max_total_time={seconds}", "-timeout=20", "-print_final_stats=1",
             f"-artifact_prefix={corpus}/", corpus], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **environment})
    output = done.stdout.decode(errors="replace")
    if done.returncode == 0:
        return None
    if "panicked at" not in output:
        sys.exit(f"{binary} ended without having found anything:\n{output}")
    counts = re.findall(r"^#(\d+)", output, re.MULTILINE) + re.findall(r"number_of_executed_units: (\d+)", output)
    return max(map(int, counts), default=0) + ("number_of_executed_units" not in output)


def field_row(binary, field):
    """Ignores one bit of a field after the other. Returns the row of the field."""
    first, bits = FIELDS[field]
    found, missed = [], 0
    for bit in range(bits):
        start = time.monotonic()
        count = executions(binary, SEEDS[0], **{IGNORED: str(first + bit)})
        found.append((time.monotonic() - start, bit, count))
        missed += count is None
    seconds, bit, count = max(found)
    return f"| `{field}` | {bits} | {bit} | {'missed' if missed else f'{count:,}'} | {seconds:.1f} |"


def state_directory():
    """Where totals.sh and this script keep what they have counted."""
    state = os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state"
    return pathlib.Path(os.environ.get("PODRANK_STATE") or pathlib.Path(state) / "podrank")


def kept_rows(path, files):
    """Returns the rows that a run on these files left here, by trap. If it was on other files, empties the file."""
    first, *rows = path.read_text().splitlines() or [""] if path.is_file() else [""]
    if first != files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{files}\n")
        rows = []
    return {row.split(" | ")[0].removeprefix("| "): row for row in rows}


def changes_by_name():
    return {name: changes for name, (_, changes) in TRAPS.items()} | {"ignored bits": IGNORE}


def check():
    """Says which replaced texts do not occur exactly once."""
    stale = 0
    for name, changes in changes_by_name().items():
        for path, text, _ in changes:
            found = (ROOT / path).read_text().count(text)
            if found != 1:
                print(f"{name}: {path} has this text {found} times: {text}")
                stale += 1
    print(f"{len(TRAPS)} traps and those of {sum(bits for _, bits in FIELDS.values())} bits, {stale} stale")
    return bool(stale)


def write_table(name, head, rows):
    """Replaces a table of RESULTS.md."""
    page = FUZZ / "RESULTS.md"
    lines = [f"<!-- {name} -->", f"| {' | '.join(head)} |", "|---" * len(head) + "|", *rows, f"<!-- end of {name} -->"]
    table = "\n".join(lines)
    text = re.sub(f"<!-- {name} -->.*<!-- end of {name} -->", lambda _: table, page.read_text(), flags=re.DOTALL)
    page.write_text(text)


def main(names):
    if names == ["--check"]:
        return check()
    unknown = set(names) - set(TRAPS) - set(FIELDS)
    if unknown:
        sys.exit(f"no such trap: {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as directory:
        copy = pathlib.Path(directory) / "copy"
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.splitlines()
        digest = hashlib.sha256()
        for path in listed:
            if (ROOT / path).is_file():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / path, copy / path)
                digest.update(f"{path}\0".encode() + (copy / path).read_bytes())
        kept = state_directory() / "traps"
        known = {} if names else kept_rows(kept, digest.hexdigest())

        def keep(name, row):
            known[name] = row
            print(row, flush=True)
            if not names:
                with kept.open("a") as file:
                    file.write(row + "\n")

        # Before anything is built, every replaced text must be found.
        for changes in changes_by_name().values():
            for path, text in plant(copy, changes).items():
                (copy / path).write_text(text)
        # Without a trap, no target may find anything.
        left = [name for name in names or TRAPS if name in TRAPS and name not in known]
        for target in sorted({target for name in left for target in TRAPS[name][0].split()}):
            if executions(build(copy, target), SEEDS[0], seconds=5) is not None:
                sys.exit(f"{target} fails without a trap")
        for name in left:
            targets, changes = TRAPS[name]
            planted = plant(copy, changes)
            cells = {}
            for target in targets.split():
                binary = build(copy, target)
                found = [executions(binary, seed) for seed in SEEDS]
                cells[target] = ", ".join("missed" if count is None else f"{count:,}" for count in found)
            for path, text in planted.items():
                (copy / path).write_text(text)
            keep(name, f"| {name} | " + " | ".join(cells.get(target, "") for target in TARGETS) + " |")
        fields = [field for field in names or FIELDS if field in FIELDS and f"`{field}`" not in known]
        if fields:
            plant(copy, IGNORE)
            binary = build(copy, "order")
            if executions(binary, SEEDS[0], seconds=5) is not None:
                sys.exit("order fails without an ignored bit")
        for field in fields:
            keep(f"`{field}`", field_row(binary, field))
    rows = list(known.values())
    missed = sum(row.count("missed") for row in rows)
    if not names:
        write_table("traps", ["trap", *(f"`{target}`" for target in TARGETS)], [known[name] for name in TRAPS])
    if all(f"`{field}`" in known for field in FIELDS):
        head = ["field", "bits", "slowest bit", "executions", "seconds"]
        write_table("bits", head, [known[f"`{field}`"] for field in FIELDS])
    if not names:
        kept.unlink()
    print(f"{len(rows)} traps, {missed} runs missed theirs")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
