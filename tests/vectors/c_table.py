#!/usr/bin/env python3
"""Turns the vectors that C can check into a C header on standard output.

ffi/check/vectors.c reads it, on this machine and on those that have no JSON. A field that README.md of this folder
does not name is an error, so that no case is silently read as less than it says.
"""

import collections
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
COST_ERRORS = {
    "empty": "EMPTY",
    "leading plus": "PLUS",
    "leading zero": "ZERO",
    "no digits": "NO_DIGITS",
    "not a digit": "DIGIT",
    "out of range": "RANGE",
}
UID_ERRORS = {"length": "LENGTH", "not a hyphen": "HYPHEN", "not a hex digit": "DIGIT"}
GATES = {  # By name: the default, and the flag that changes it.
    "PodDeletionCost": (True, "POD_DELETION_COST_OFF"),
    "LogarithmicScaleDown": (True, "LOGARITHMIC_SCALE_DOWN_OFF"),
    "PreferForScaleDown": (False, "PREFER_FOR_SCALE_DOWN_ON"),
}
POD_FIELDS = {
    "uid", "assigned", "phase", "ready", "readyTime", "deletionCost", "rank", "tier", "preferred", "restarts",
    "sidecarRestarts", "creationTime", "node",
}

names = []  # What each case is about; its number is its place, from 1.
arrays = collections.defaultdict(list)  # By type and name: the rows.
most = collections.Counter()  # By macro: how many there are at most in one case.


def read(file, parts=None):
    content = json.loads((HERE / file).read_text(encoding="utf-8"))
    return known(content, parts, file) if parts else content


def known(value, fields, where):
    unknown = set(value) - set(fields)
    if unknown:
        sys.exit(f"{where}: unknown fields {sorted(unknown)}")
    return value


def row(*values):
    return "{ " + ", ".join(str(value) for value in values) + " }"


def add(array, name, *values):
    """Adds the next case, with a comment that has its number."""
    names.append(name)
    arrays[array].append(f"/* {len(names)} */ {row(*values)}")


def slice_of(array, rows, macro=None):
    """Adds rows to an array that the cases share, and gives where and how many."""
    if macro:
        most[macro] = max(most[macro], len(rows))
    arrays[array] += rows
    return f"{len(arrays[array]) - len(rows)}, {len(rows)}"


def text(string):
    """A C string literal, and its length in bytes."""
    data = string.encode("utf-8")
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'"{plain}"', len(data)


def texts(array, about, cases, field, value, prefix, errors):
    """Adds texts with what they are read as, or the error."""
    for case in cases:
        known(case, ("text", field, "error"), case["text"])
        status = constant(f"ERR_{prefix}", errors[case["error"]]) if "error" in case else "PODRANK_OK"
        add(array, f"{about} {case['text']!r}", *text(case["text"]), status, value(None if "error" in case else case[field]))


def int32(value):
    return "INT32_MIN" if value == -(2**31) else str(value)


def time(value):
    if value is None:
        return "PODRANK_TIME_UNSET"
    if not -(2**63) < int(value) < 2**63:
        sys.exit(f"{value} is not a time")
    return f"INT64_C({int(value)})"


def uid_bytes(hex_digits):
    return "{" + ", ".join(f"0x{b:02x}" for b in bytes.fromhex(hex_digits)) + "}"


def constant(prefix, word):
    return f"PODRANK_{prefix}_{word.upper().replace('-', '_')}"


def flags_literal(prefix, words):
    return " | ".join(constant(prefix, word) for word in words) or "0"


def designated(fields):
    return row(*(f".{field} = {value}" for field, value in fields.items()))


def pod_literal(pod, rank):
    return designated({
        "uid": uid_bytes(pod.get("uid", "0" * 32).replace("-", "")),
        "ready_time": time(pod.get("readyTime")),
        "creation_time": time(pod.get("creationTime")),
        "deletion_cost": int32(pod.get("deletionCost", 0)),
        "rank": f"{rank}u",
        "restarts": f"{pod.get('restarts', 0)}u",
        "sidecar_restarts": f"{pod.get('sidecarRestarts', 0)}u",
        "node": f"{pod.get('node', 0)}u",
        "tier": f"{pod.get('tier', 0)}u",
        "phase": str(pod.get("phase", 0)),
        "flags": flags_literal("POD", [flag for flag in ("assigned", "ready", "preferred") if pod.get(flag, False)]),
    })


def pod_literals(pods, where):
    return [pod_literal(known(pod, POD_FIELDS, where), pod.get("rank", 0)) for pod in pods]


def options_index(policy, where):
    """The place of these options among all that differ."""
    known(policy, ("now", "featureGates"), where)
    flags = [] if policy.get("now") is None else ["NOW"]
    for gate, on in policy.get("featureGates", {}).items():
        default, flag = GATES[gate]
        flags += [flag] if on != default else []
    now = "0" if policy.get("now") is None else time(policy["now"])
    literal = row("(uint32_t)sizeof(podrank_options)", flags_literal("OPTIONS", flags), now)
    options = arrays["podrank_options vector_options"]
    if literal not in options:
        options.append(literal)
    return options.index(literal)


def place(pod):
    """Where a pod counts: its node, or with all that have none."""
    return pod.get("node", 0) if pod.get("assigned", False) else "unassigned"


def victim_indices(pods, victims):
    """Which pods of the list are meant: of pods with one name, the one listed first goes first."""
    places = collections.defaultdict(list)
    for index, name in enumerate(pods):
        places[name].append(index)
    return [places[name].pop(0) for name in victims]


def order():
    groups = read("order.json")
    for group in groups:
        known(group, ("name", "source", "policy", "pods", "pairs", "selections"), group["name"])
        for pod in group["pods"].values():
            known(pod, POD_FIELDS, group["name"])
            most["NODES"] = max(most["NODES"], pod.get("node", 0) + 1)
        for pair in group.get("pairs", []):
            where = f"{group['name']}: {pair['first']} before {pair['second']}"
            known(pair, ("first", "second", "ranks", "rule", "policy"), where)
            pods = [group["pods"][pair[end]] for end in ("first", "second")]
            ranks = pair.get("ranks", [pod.get("rank", 0) for pod in pods])
            literals = [pod_literal(pod, rank) for pod, rank in zip(pods, ranks)]
            index = options_index(pair.get("policy", group.get("policy", {})), where)
            add("struct vector_pair vector_pairs", where, *literals, index, constant("RULE", pair.get("rule", "none")))
    for group in groups:
        for case in group.get("selections", []):
            where = f"{group['name']}: {case['delete']} of {', '.join(case['pods'])}"
            known(case, ("pods", "related", "delete", "victims", "anyOrder", "policy"), where)
            listed = [group["pods"][name] for name in case["pods"]]
            ranks = [pod.get("rank", 0) for pod in listed]
            related, others, counted = case.get("related"), [], False
            if related is not None:
                counts = collections.Counter(place(group["pods"][name]) for name in related)
                ranks = [counts[place(pod)] for pod in listed]
                # podrank_count_ranks always counts the pods themselves, so it can say the same only if they are
                # among the related ones; the others are the rest of those.
                rest = collections.Counter(related) - collections.Counter(case["pods"])
                counted = not collections.Counter(case["pods"]) - collections.Counter(related)
                others = [group["pods"][name] for name in rest.elements()] if counted else []
            index = options_index(case.get("policy", group.get("policy", {})), where)
            victims = victim_indices(case["pods"], case["victims"])
            pods = "podrank_pod vector_pods"
            add(
                "struct vector_selection vector_selections", where,
                slice_of(pods, [pod_literal(pod, rank) for pod, rank in zip(listed, ranks)], "PODS_MAX"),
                slice_of(pods, [pod_literal(pod, 0) for pod in others]), int(counted), index, case["delete"],
                slice_of("uint32_t vector_victims", [f"{index}u" for index in victims]), int(case.get("anyOrder", False)),
            )


def upstream():
    file = read("upstream.json", ("about", "kubernetes", "now", "pods", "pairs"))
    places = {name: index for index, name in enumerate(file["pods"])}
    slice_of("podrank_pod vector_relation_pods", pod_literals(file["pods"].values(), "upstream.json"))
    for pair in file["pairs"]:
        where = f"upstream: {pair['first']} and {pair['second']}"
        known(pair, ("first", "second", "relation", "policy"), where)
        index = options_index(pair.get("policy", {"now": file["now"]}), where)
        add("struct vector_relation vector_relations", where, places[pair["first"]], places[pair["second"]], index,
            {"before": -1, "tie": 0}[pair["relation"]])


def array(declared, rows):
    print(f"static const {declared}[] = {{", *(f"    {row}," for row in rows), "};\n", sep="\n")


def main():
    """Reads the files in the order in which vectors.c runs their cases."""
    order()
    texts("struct vector_cost vector_costs", "deletion cost", read("deletion-cost.json"), "cost", lambda cost: int32(cost or 0), "COST", COST_ERRORS)
    uid = lambda digits: uid_bytes(digits or "0" * 32)
    texts("struct vector_uid vector_uids", "UID", read("uid.json"), "hex", uid, "UID", UID_ERRORS)
    upstream()

    print("/* Made from tests/vectors/ by tests/vectors/c_table.py: do not edit. Include it from ffi/check/vectors.c alone. */\n")
    print(f"#define VECTOR_CASES {len(names)}u /* what is numbered below */")
    print("/* Of these, one case has so many at most. */")
    for macro, number in most.items():
        print(f"#define VECTOR_{macro} {number}u")
    for declared, rows in arrays.items():
        array(declared, rows)
    print("#ifdef PODRANK_VECTORS_MAIN")
    array("char *const vector_names", [text(name)[0] for name in names])
    print("#endif")


main()
