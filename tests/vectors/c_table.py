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
PERCENT_ERRORS = {
    "no percent sign": "SIGN", "no digits": "NO_DIGITS", "not a digit": "DIGIT", "out of range": "RANGE",
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

STEPS = {  # By field: the step's name.
    "expectCreations": "EXPECT_CREATIONS",
    "expectDeletions": "EXPECT_DELETIONS",
    "creationsObserved": "CREATIONS_OBSERVED",
    "deletionObserved": "DELETION_OBSERVED",
    "clear": "CLEAR",
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


def texts(array, about, cases, field, value, prefix=None, errors=None):
    """Adds texts with what they are read as, or the error."""
    for case in cases:
        known(case, ("text", field, "error"), case["text"])
        status = constant(f"ERR_{prefix}", errors[case["error"]]) if "error" in case else "PODRANK_OK"
        add(array, f"{about} {case['text']!r}", *text(case["text"]), status, value(None if "error" in case else case[field]))


def int32(value):
    return "INT32_MIN" if value == -(2**31) else str(value)


def int64(value):
    return f"INT64_C({int(value or 0)})"


def time(value):
    if value is None:
        return "PODRANK_TIME_UNSET"
    if not -(2**63) < int(value) < 2**63:
        sys.exit(f"{value} is no time")
    return int64(value)


def seconds(value):
    return "PODRANK_TIME_UNSET" if value in (None, "unset") else time(value * 10**9)


def uid_bytes(hex_digits):
    return "{" + ", ".join(f"0x{b:02x}" for b in bytes.fromhex(hex_digits)) + "}"


def constant(prefix, word):
    return f"PODRANK_{prefix}_{word.upper().replace('-', '_')}"


def flags_literal(prefix, words):
    return " | ".join(constant(prefix, word) for word in words) or "0"


def flags_of(case, fields):
    """The flags of the fields that are there and not false."""
    return [flag for field, flag in fields.items() if case.get(field, False) is not False]


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


def flag(case, field, default):
    return int(case.get(field, default))


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
                slice_of("uint32_t vector_victims", [f"{index}u" for index in victims]), flag(case, "anyOrder", False),
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


def controller():
    file = read("controller.json", ("active", "plan", "slowStart", "expectations", "availability"))
    for case in file["active"]:
        known(case, ("source", "phase", "beingDeleted", "active"), str(case))
        if not case.get("beingDeleted", False):  # The caller's to look at.
            add("struct vector_phase vector_phases", f"phase {case['phase']!r}", *text(case["phase"]), int(case["active"]))

    for case in file["plan"]:
        known(case, ("wanted", "active", "burst", "satisfied", "beingDeleted", "create", "delete"), str(case))
        flags = flag(case, "satisfied", True) * 1 + flag(case, "beingDeleted", False) * 2
        add("struct vector_plan vector_plans", f"plan: {case['wanted']} wanted, {case['active']} active",
            f"{{ {case['wanted']}u, {case['active']}u, {case['burst']}u, {flags}u }}",
            f"{case.get('create', 0)}u", f"{case.get('delete', 0)}u")

    for case in file["slowStart"]:
        known(case, ("source", "count", "batches", "failures", "missing"), str(case))
        add("struct vector_slow_start vector_slow_starts", f"slow start of {case['count']}",
            slice_of("uint32_t vector_batches", [f"{batch}u" for batch in case["batches"]]),
            f"{case['count']}u", f"{case.get('failures', 0)}u", f"{case['missing']}u")

    for case in file["expectations"]:
        known(case, ("name", "source", "steps"), case["name"])
        rows = []
        for step in case["steps"]:
            known(step, ("now", *STEPS, "counted", "creations", "deletions", "satisfied"), case["name"])
            what = [field for field in STEPS if field in step]
            if len(what) > 1 or ("counted" in step) != ("deletionObserved" in step):
                sys.exit(f"{case['name']}: {step}")
            value = step[what[0]] if what else 0
            own = {"expectDeletions": value, "deletionObserved": [value]}.get(what[0] if what else None, [])
            keys = slice_of("podrank_pod_key vector_keys", [f"{{ {uid_bytes(f'{key:032x}')} }}" for key in own], "KEYS_MAX")
            count = value if what and what[0] in ("expectCreations", "creationsObserved") else 0
            rows.append(row(
                time(step.get("now")), int64(step["creations"]), int64(step["deletions"]), f"{count}u", keys,
                f"VECTOR_{STEPS[what[0]] if what else 'WAIT'}", flag(step, "counted", False), int(step["satisfied"]),
            ))
        add("struct vector_expectations vector_expectations", case["name"], slice_of("struct vector_step vector_steps", rows))

    for case in file["availability"]:
        known(case, ("name", "source", "pods", "minReadySeconds", "now", "ready", "available", "lookAgain"), case["name"])
        pods = slice_of("podrank_pod vector_ready_pods", pod_literals(case["pods"], case["name"]))
        add("struct vector_availability vector_availabilities", "availability: " + case["name"], time(case.get("now")),
            f"UINT64_C({int(case.get('lookAgain', 0))})", f"{case['minReadySeconds']}u", pods, case["ready"], case["available"])


def budget(value, percent_flag):
    """A number of pods or a percentage, and its flag."""
    return (value, []) if isinstance(value, int) else (int(value.removesuffix("%")), [percent_flag])


def deployment_literal(case, where):
    states = {"paused": "PAUSED", "beingDeleted": "BEING_DELETED", "rollingBack": "ROLLING_BACK", "oldPodsRun": "OLD_PODS_RUN"}
    known(case, {"replicas", "statusReplicas", "strategy", "maxSurge", "maxUnavailable", *states}, where)
    surge, surge_flag = budget(case.get("maxSurge", 0), "SURGE_PERCENT")
    unavailable, unavailable_flag = budget(case.get("maxUnavailable", 0), "UNAVAILABLE_PERCENT")
    flags = surge_flag + unavailable_flag + (["RECREATE"] if case.get("strategy") == "Recreate" else [])
    flags = flags_literal("DEPLOYMENT", flags + flags_of(case, states))
    return row(case["replicas"], case.get("statusReplicas", 0), surge, unavailable, flags, "{ 0 }")


def change_literal(change, where):
    known(change, ("replicas", "part", "reason", "annotates"), where)
    return row(change["replicas"], int32(change["part"]), constant("DEPLOYMENT_REASON", change["reason"]),
               flag(change, "annotates", False), "{ 0 }")


def deployment():
    file = read("deployment.json", ("percent", "annotation", "budgets", "steps"))
    texts("struct vector_text vector_percents", "percentage", file["percent"], "percent", int64, "PERCENT", PERCENT_ERRORS)
    for case in file["annotation"]:
        known(case, ("text", "valid", "lenient"), case["text"])
        valid = case.get("valid")
        flags = ["DESIRED", "MAX"] if valid is not None else ["DESIRED_LENIENT"] if "lenient" in case else []
        add("struct vector_annotation vector_annotations", f"annotation {case['text']!r}", *text(case["text"]),
            flags_literal("REPLICA_SET", flags), int32(case.get("valid", case.get("lenient", 0))), valid or 0)
    for case in file["budgets"]:
        where = f"budgets of {case['maxSurge']} and {case['maxUnavailable']} of {case['replicas']}"
        known(case, ("source", "replicas", "maxSurge", "maxUnavailable", "surge", "unavailable"), where)
        subject = {field: case[field] for field in ("replicas", "maxSurge", "maxUnavailable")}
        add("struct vector_budgets vector_budgets", where, deployment_literal(subject, where), int32(case["surge"]),
            case["unavailable"])
    for case in file["steps"]:
        where = case["name"]
        known(case, ("name", "source", "deployment", "sets", "path", "surge", "unavailable", "newSet", "missing", "creates",
                     "goesOn", "changes"), where)
        listed_names = [listed["name"] for listed in case["sets"]]
        rows = []
        for listed in case["sets"]:
            known(listed, ("name", "creationTime", "replicas", "statusReplicas", "availableReplicas", "desired", "max",
                           "current"), where)
            numbers = [listed.get(field, 0) for field in ("replicas", "statusReplicas", "availableReplicas")]
            flags = flags_literal("REPLICA_SET", flags_of(listed, {"current": "CURRENT_TEMPLATE"}))
            # As bytes, which is how Python compares ASCII.
            name_order = sorted(listed_names).index(listed["name"])
            record = row(time(listed.get("creationTime")), f"{name_order}u", *numbers, 0, 0, flags, "{ 0 }")
            (desired, desired_len), (maximum, max_len) = (text(listed.get(field, "")) for field in ("desired", "max"))
            rows.append(row(record, desired, maximum, desired_len, max_len))
        slice_of("podrank_replica_set_change vector_changes", [change_literal(change, where) for change in case["changes"]])
        if "newSet" in case:
            index = listed_names.index(case["newSet"])
            new, new_change = f"{index}u", change_literal(case["changes"][index], where)
        else:
            size = case.get("creates", 0)
            new, new_change = "PODRANK_NONE", change_literal({
                "replicas": size, "part": size, "reason": case["missing"], "annotates": "creates" in case}, where)
        step = row(case.get("surge", 0), case.get("unavailable", 0), new, constant("DEPLOYMENT_PATH", case["path"]),
                   int("creates" in case), flag(case, "goesOn", False), 0, new_change)
        add("struct vector_deployment vector_deployments", "Deployment: " + where, deployment_literal(case["deployment"], where),
            step, slice_of("struct vector_set vector_sets", rows, "SETS_MAX"))


def steering():
    file = read("steering.json", ("steer", "spread"))
    pods, costs, ranks = "podrank_pod vector_tiered_pods", "int32_t vector_steered_costs", "uint32_t vector_spread_ranks"
    for case in file["steer"]:
        where = case["name"]
        known(case, ("name", "pods", "fixed", "prices", "costs", "blocked", "noRoom"), where)
        listed = case["pods"]
        at = len(arrays[costs])
        slice_of(costs, [int32(cost) for cost in case.get("costs", [0] * len(listed))])
        own = case.get("prices", [1] * len(listed))
        slice_of("uint8_t vector_prices", ["PODRANK_STEER_PRICE_FIXED" if index in case.get("fixed", []) else str(own[index])
                                           for index in range(len(listed))])
        blocked = slice_of("podrank_blocked vector_blocked", [row(f"{pod}u", f"{before}u", constant("RULE", rule), "{ 0 }")
                                                              for pod, before, rule in case.get("blocked", [])])
        lower, higher = case.get("noRoom", [0, 0])
        add("struct vector_steer vector_steers", "steer: " + where, slice_of(pods, pod_literals(listed, where), "STEERED_MAX"),
            at, blocked, f"{lower}u", f"{higher}u", "PODRANK_ERR_NO_ROOM" if "noRoom" in case else "PODRANK_OK")
    for case in file["spread"]:
        where = case["name"]
        known(case, ("name", "pods", "others", "nodes", "ranks"), where)
        most["SPREAD_NODES"] = max(most["SPREAD_NODES"], case["nodes"])
        at = len(arrays[ranks])
        slice_of(ranks, [f"{rank}u" for rank in case["ranks"]])
        add("struct vector_spread vector_spreads", "spread: " + where,
            slice_of(pods, pod_literals(case["pods"], where), "STEERED_MAX"),
            slice_of(pods, pod_literals(case.get("others", []), where)), at, f"{case['nodes']}u")


def stateful_set():
    """C has no function for claims."""
    file = read("stateful_set.json", ("ordinal", "claim", "sync"))
    healthy = ["RUNNING", "UPDATED", "READY", "AVAILABLE"]
    without = {"old": ["UPDATED"], "pending": ["RUNNING", "READY", "AVAILABLE"], "starting": ["RUNNING"],
               "unready": ["READY", "AVAILABLE"], "unavailable": ["AVAILABLE"], "terminating": [],
               "finished": ["RUNNING", "READY", "AVAILABLE"]}
    states = {"parallel": "PARALLEL", "beingDeleted": "BEING_DELETED", "recreateGate": "RECREATE_GATE"}
    for case in file["ordinal"]:
        known(case, ("set", "pod", "ordinal"), case["pod"])
        (name, name_len), (pod, pod_len) = text(case["set"]), text(case["pod"])
        add("struct vector_ordinal vector_ordinals", f"ordinal of {case['pod']!r} in {case['set']!r}", name, pod, name_len,
            pod_len, case.get("ordinal", -1))
    for case in file["sync"]:
        where = case["name"]
        known(case, ("name", "source", "set", "pods"), where)
        of = known(case["set"], ("replicas", "start", "update", "partition", "maxUnavailable", "maxUnavailableGate", *states), where)
        unavailable, set_flags = budget(of.get("maxUnavailable", 1), "UNAVAILABLE_PERCENT")
        set_flags += {None: [], "OnDelete": ["ON_DELETE"], "Recreate": ["RECREATE"]}[of.get("update")]
        set_flags += flags_of(of, states) + ([] if of.get("maxUnavailableGate", True) else ["NO_MAX_UNAVAILABLE"])
        literal = designated({
            "replicas": of["replicas"], "start": of.get("start", 0), "partition": of.get("partition", 0),
            "max_unavailable": unavailable, "flags": flags_literal("STATEFUL_SET", set_flags),
        })
        rows, expected = [], []
        for pod in case["pods"]:
            state, outcome = pod.split(" -> ")
            ordinal, *words = state.split()
            gone = [flag for word in words for flag in without[word]]
            flags = [flag for flag in healthy if flag not in gone]
            flags += [word.upper() for word in words if word in ("terminating", "finished")]
            rows.append(designated({"ordinal": ordinal, "flags": flags_literal("STATEFUL_SET_POD", flags)}))
            verdict, reason, *by = outcome.split()
            if by and by[0] != "by":
                sys.exit(f"{where}: {pod}")
            expected.append(row(by[1] if by else -1, constant("VERDICT", verdict), constant("STATEFUL_SET_REASON", reason)))
        slice_of("struct vector_member_outcome vector_member_outcomes", expected)
        add("struct vector_stateful_set vector_stateful_sets", "StatefulSet: " + where, literal,
            slice_of("podrank_stateful_set_pod vector_members", rows, "MEMBERS_MAX"))


def outcomes(case, kind):
    """The slice of the pods' verdicts, reasons and, of those that are contested, quotas and letters of their groups."""
    rows = []
    for outcome in case["outcomes"]:
        verdict, reason, *group = outcome.split()
        if (verdict == "contested") != (len(group) == 3 and group[1] == "of"):
            sys.exit(f"{case['name']}: {outcome}")
        quota, letter = (group[0], f"'{group[2]}'") if group else (0, 0)
        rows.append(row(f"{quota}u", constant("VERDICT", verdict), constant(kind + "_REASON", reason), letter))
    return slice_of("struct vector_outcome vector_outcomes", rows)


def job():
    file = read("job.json", ("indexes", "syncs"))
    texts("struct vector_text vector_indexes", "index", file["indexes"], "index", int64)
    states = {"indexed": "INDEXED", "suspended": "SUSPENDED", "ending": "ENDING", "leftAlone": "LEFT_ALONE",
              "beingDeleted": "BEING_DELETED", "completions": "COMPLETIONS", "podFailurePolicy": "POD_FAILURE_POLICY",
              "successPolicy": "SUCCESS_POLICY", "activeDeadlineSeconds": "DEADLINE", "maxFailedIndexes": "MAX_FAILED_INDEXES"}
    counts = {"failed": "failed", "restarts": "restarts", "failedIndexes": "failed_indexes",
              "maxFailedIndexes": "max_failed_indexes"}
    for case in file["syncs"]:
        where = case["name"]
        known(case, ("name", "source", "parallelism", "succeeded", "backoffLimit", "startTime", "now", "pods", "outcomes", *states, *counts), where)
        literal = designated({
            "parallelism": case["parallelism"], "completions": case.get("completions", 0),
            "succeeded": case.get("succeeded", 0), "flags": flags_literal("JOB", flags_of(case, states)),
            **{member: case.get(field, 0) for field, member in counts.items()}, "backoff_limit": case.get("backoffLimit", 6),
            "active_deadline_seconds": int64(case.get("activeDeadlineSeconds")),
            "start_time": seconds(case.get("startTime")),
        })
        rows = []
        for pod in case["pods"]:
            known(pod, ("phase", "assigned", "ready", "restarts", "sidecarRestarts", "created", "index"), where)
            record = designated({
                "ready_time": seconds(pod.get("ready")), "creation_time": seconds(pod.get("created")),
                "restarts": f"{pod.get('restarts', 0)}u", "sidecar_restarts": f"{pod.get('sidecarRestarts', 0)}u",
                "phase": constant("PHASE", pod["phase"]),
                "flags": flags_literal("POD", flags_of(pod, {"assigned": "ASSIGNED", "ready": "READY"})),
            })
            rows.append(row(record, *text(pod.get("index", ""))))
        add("struct vector_job vector_jobs", "Job: " + where, literal, seconds(case.get("now")),
            slice_of("struct vector_job_pod vector_job_pods", rows, "OWNED_MAX"), outcomes(case, "JOB"))


def daemon_set():
    for case in read("daemon_set.json"):
        where = case["name"]
        known(case, ("name", "source", "maxSurge", "maxUnavailable", "onDelete", "nodes", "pods", "outcomes", "creates",
                     "blockedBy"), where)
        surge, surge_flag = budget(case["maxSurge"], "SURGE_PERCENT")
        unavailable, unavailable_flag = budget(case["maxUnavailable"], "UNAVAILABLE_PERCENT")
        flags = surge_flag + unavailable_flag + flags_of(case, {"onDelete": "ON_DELETE"})
        literal = designated({"max_surge": surge, "max_unavailable": unavailable, "flags": flags_literal("DAEMON_SET", flags)})
        rows = [
            designated({
                "creation_time": seconds(known(pod, ("node", "flags", "created"), where)["created"]), "name_order": f"{index}u",
                "node": f"{pod['node']}u", "flags": flags_literal("DAEMON_SET_POD", pod["flags"].split()),
            })
            for index, pod in enumerate(case["pods"])
        ]
        nodes = [flags_literal("DAEMON_SET_NODE", node.split()) for node in case["nodes"]]
        add("struct vector_daemon_set vector_daemon_sets", "DaemonSet: " + where, literal,
            slice_of("uint8_t vector_daemon_nodes", nodes),
            slice_of("podrank_daemon_set_pod vector_daemon_pods", rows, "OWNED_MAX"), outcomes(case, "DAEMON_SET"),
            f"{case['blockedBy']}u" if "blockedBy" in case else "PODRANK_NONE", case.get("creates", -1))


def array(declared, rows):
    print(f"static const {declared}[] = {{", *(f"    {row}," for row in rows), "};\n", sep="\n")


def main():
    """Reads the files in the order in which vectors.c runs their cases."""
    order()
    texts("struct vector_text vector_costs", "deletion cost", read("deletion-cost.json"), "cost", int64, "COST", COST_ERRORS)
    uid = lambda digits: uid_bytes(digits or "0" * 32)
    texts("struct vector_uid vector_uids", "UID", read("uid.json"), "hex", uid, "UID", UID_ERRORS)
    upstream()
    controller()
    deployment()
    steering()
    stateful_set()
    job()
    daemon_set()

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
