"""The specification is the right one: it says of every vector what the vector says. Those of upstream.json were written by Kubernetes'
own code, and the tests hold the naive oracle against all of them."""

import json
import pathlib

import z3
from z3 import BitVec, BitVecVal, simplify

import spec
from spec import Options, Pod

VECTORS = pathlib.Path(__file__).resolve().parent.parent / "tests/vectors"
NUMBERS = {  # field of a vector: offset and width in the record
    "readyTime": (16, 8), "creationTime": (24, 8), "deletionCost": (32, 4), "rank": (36, 4), "restarts": (40, 4),
    "sidecarRestarts": (44, 4), "node": (48, 4), "phase": (52, 1), "tier": (54, 2),
}  # fmt: skip
COST_ERRORS = {"empty": 17, "leading plus": 18, "leading zero": 19, "no digits": 20, "not a digit": 21, "out of range": 22}
UID_ERRORS = {"not a hyphen": 15, "not a hex digit": 16}


def read(name):
    return json.loads((VECTORS / name).read_text(encoding="utf-8"))


def constants(data):
    return [BitVecVal(byte, 8) for byte in data]


def record(fields, rank=None):
    """The bytes of a vector's pod."""
    pod = bytearray(64)
    pod[16:32] = (1 << 63).to_bytes(8, "little") * 2  # no times
    pod[:16] = bytes.fromhex(fields.get("uid", "").replace("-", "")).ljust(16, b"\0")
    pod[53] = sum(bit for name, bit in (("assigned", 1), ("ready", 2), ("preferred", 4)) if fields.get(name))
    for name, (at, width) in NUMBERS.items():
        if name in fields:
            pod[at : at + width] = (int(fields[name]) % 2 ** (8 * width)).to_bytes(width, "little")
    if rank is not None:
        pod[36:40] = rank.to_bytes(4, "little")
    return bytes(pod)


def options(policy):
    """The bytes of a policy: its flags and its moment."""
    gates = policy.get("featureGates", {})
    flags = ("now" in policy) | (not gates.get("PodDeletionCost", True)) << 1
    flags |= (not gates.get("LogarithmicScaleDown", True)) << 2 | gates.get("PreferForScaleDown", False) << 3
    return flags, int(policy.get("now", 0))


def pairs():
    """Every pair of records in the vectors: two records, options, and what they say."""
    for group in read("order.json"):
        for pair in group.get("pairs", []):
            ranks = pair.get("ranks", [None, None])
            a, b = (record(group["pods"][pair[which]], rank) for which, rank in zip(("first", "second"), ranks))
            rule = pair.get("rule")
            yield spec.compare, a, b, pair.get("policy", group.get("policy", {})), (-1 if rule else 0, spec.NUMBERS.get(rule, 0))
    upstream = read("upstream.json")
    for pair in upstream["pairs"]:
        a, b = (record(upstream["pods"][pair[which]]) for which in ("first", "second"))
        before = pair["relation"] == "before"
        yield spec.upstream, a, b, pair.get("policy", {"now": upstream["now"]}), (-1 if before else 0, None)


def value(expression):
    return simplify(expression).as_signed_long()


def answers():
    """What the specification says of any two records, and how to put concrete ones into that."""
    a, b = ([BitVec(f"{name}[{i}]", 8) for i in range(64)] for name in "ab")
    symbols = [*a, *b, BitVec("flags", 32), BitVec("now", 64)]
    said = {each: each(Pod(a), Pod(b), Options(*symbols[-2:])) for each in (spec.compare, spec.upstream)}

    def answer(function, of_a, of_b, policy):
        values = [*constants(of_a + of_b), *(BitVecVal(number, width) for number, width in zip(options(policy), (32, 64)))]
        return [value(z3.substitute(each, *zip(symbols, values))) for each in said[function]]

    return answer


def error_of(errors):
    """The only status that fits, or 0."""
    fitting = [status for status, when in errors.items() if z3.is_true(simplify(z3.And(when, True)))]
    return fitting[0] if fitting else 0


def check():
    """Returns how many vectors were compared."""
    count, answer = 0, answers()
    for function, first, second, policy, (ordering, rule) in pairs():
        for a, b, expected in ((first, second, ordering), (second, first, -ordering)):
            said = answer(function, a, b, policy)
            assert said[0] == expected and rule in (None, said[1]), (function.__name__, a.hex(), b.hex(), policy, said)
        count += 1
    for case in read("deletion-cost.json"):
        cost, errors = spec.deletion_cost(constants(case["text"].encode()))
        fits = error_of(errors)
        assert fits == COST_ERRORS.get(case.get("error"), 0) and (fits or value(cost) == case["cost"]), case
        count += 1
    for case in read("uid.json"):
        if len(case["text"].encode()) == 36:
            uid, errors = spec.uid(constants(case["text"].encode()))
            fits = error_of(errors)
            assert fits == UID_ERRORS.get(case.get("error"), 0) and (fits or simplify(uid).as_long() == int(case["hex"], 16)), case
            count += 1
    return count
