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
    "PodDeletionCost": (True, "PODRANK_OPTIONS_POD_DELETION_COST_OFF"),
    "LogarithmicScaleDown": (True, "PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF"),
    "PreferForScaleDown": (False, "PODRANK_OPTIONS_PREFER_FOR_SCALE_DOWN_ON"),
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


def read(file):
    return json.loads((HERE / file).read_text(encoding="utf-8"))


def known(value, fields, where):
    unknown = set(value) - set(fields)
    if unknown:
        sys.exit(f"{where}: unknown fields {sorted(unknown)}")
    return value


def number(name):
    """Names the next case, and gives the comment with its number."""
    names.append(name)
    return f"/* {len(names)} */"


def text(string):
    """A C string literal, and its length in bytes."""
    data = string.encode("utf-8")
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else f"\\{b:03o}" for b in data)
    return f'"{plain}"', len(data)


def int32(value):
    return "INT32_MIN" if value == -(2**31) else str(value)


def time(value):
    if value is None:
        return "PODRANK_TIME_UNSET"
    if not -(2**63) < int(value) < 2**63:
        sys.exit(f"{value} is no time")
    return f"INT64_C({int(value)})"


def uid_bytes(hex_digits):
    return "{" + ", ".join(f"0x{b:02x}" for b in bytes.fromhex(hex_digits)) + "}"


def pod_literal(pod, rank):
    flags = [flag for flag in ("assigned", "ready", "preferred") if pod.get(flag, False)]
    fields = {
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
        "flags": " | ".join(f"PODRANK_POD_{flag.upper()}" for flag in flags) or "0",
    }
    return "{ " + ", ".join(f".{field} = {value}" for field, value in fields.items()) + " }"


def options_literal(policy, where):
    known(policy, ("now", "featureGates"), where)
    flags = [] if policy.get("now") is None else ["PODRANK_OPTIONS_NOW"]
    for gate, on in policy.get("featureGates", {}).items():
        default, flag = GATES[gate]
        flags += [flag] if on != default else []
    now = "0" if policy.get("now") is None else time(policy["now"])
    return f"{{ (uint32_t)sizeof(podrank_options), {' | '.join(flags) or '0'}, {now} }}"


def place(pod):
    """Where a pod counts: its node, or with all that have none."""
    return pod.get("node", 0) if pod.get("assigned", False) else "unassigned"


def victim_indices(pods, victims):
    """Which pods of the list are meant: of pods with one name, the one listed first goes first."""
    places = collections.defaultdict(list)
    for index, name in enumerate(pods):
        places[name].append(index)
    return [places[name].pop(0) for name in victims]


def array(kind, name, rows):
    print(f"static const {kind} {name}[] = {{")
    for row in rows:
        print(f"    {row},")
    print("};\n")


def slice_of(rows, more):
    """Adds to an array of the table, and gives where and how many."""
    rows += more
    return f"{len(rows) - len(more)}, {len(more)}"


def flag(case, field, default):
    return int(case.get(field, default))


def controller():
    """The arrays of controller.json, and how many keys one step has at most."""
    file = known(read("controller.json"), ("active", "plan", "slowStart", "expectations", "availability"), "controller.json")
    phases = []
    for case in file["active"]:
        known(case, ("source", "phase", "beingDeleted", "active"), str(case))
        if not case.get("beingDeleted", False):  # The caller's to look at.
            literal, length = text(case["phase"])
            phases.append(f"{number('phase ' + repr(case['phase']))} {{ {literal}, {length}, {int(case['active'])} }}")

    plans = []
    for case in file["plan"]:
        known(case, ("wanted", "active", "burst", "satisfied", "beingDeleted", "create", "delete"), str(case))
        flags = flag(case, "satisfied", True) * 1 + flag(case, "beingDeleted", False) * 2
        state = f"{{ {case['wanted']}u, {case['active']}u, {case['burst']}u, {flags}u }}"
        comment = number(f"plan: {case['wanted']} wanted, {case['active']} active")
        plans.append(f"{comment} {{ {state}, {case.get('create', 0)}u, {case.get('delete', 0)}u }}")

    batches, slow_starts = [], []
    for case in file["slowStart"]:
        known(case, ("source", "count", "batches", "failures", "missing"), str(case))
        place = slice_of(batches, [f"{batch}u" for batch in case["batches"]])
        comment = number(f"slow start of {case['count']}")
        slow_starts.append(f"{comment} {{ {place}, {case['count']}u, {case.get('failures', 0)}u, {case['missing']}u }}")

    keys, steps, expectations, most_keys = [], [], [], 1
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
            most_keys = max(most_keys, len(own))
            place = slice_of(keys, [f"{{ {uid_bytes(f'{key:032x}')} }}" for key in own])
            count = value if what and what[0] in ("expectCreations", "creationsObserved") else 0
            rows.append(
                f"{{ {time(step.get('now'))}, INT64_C({step['creations']}), INT64_C({step['deletions']}), {count}u, {place}, "
                f"VECTOR_{STEPS[what[0]] if what else 'WAIT'}, {flag(step, 'counted', False)}, {int(step['satisfied'])} }}"
            )
        expectations.append(f"{number(case['name'])} {{ {slice_of(steps, rows)} }}")

    pods, availabilities = [], []
    for case in file["availability"]:
        fields = ("name", "source", "pods", "minReadySeconds", "now", "ready", "available", "lookAgain")
        known(case, fields, case["name"])
        place = slice_of(pods, [pod_literal(known(pod, POD_FIELDS, case["name"]), 0) for pod in case["pods"]])
        availabilities.append(
            f"{number('availability: ' + case['name'])} {{ {time(case.get('now'))}, UINT64_C({int(case.get('lookAgain', 0))}), "
            f"{case['minReadySeconds']}u, {place}, {case['ready']}, {case['available']} }}"
        )

    arrays = [
        ("struct vector_phase", "vector_phases", phases),
        ("struct vector_plan", "vector_plans", plans),
        ("uint32_t", "vector_batches", batches),
        ("struct vector_slow_start", "vector_slow_starts", slow_starts),
        ("podrank_pod_key", "vector_keys", keys),
        ("struct vector_step", "vector_steps", steps),
        ("struct vector_expectations", "vector_expectations", expectations),
        ("podrank_pod", "vector_ready_pods", pods),
        ("struct vector_availability", "vector_availabilities", availabilities),
    ]
    return arrays, most_keys


def budget(value, percent_flag):
    """A number of pods or a percentage, and its flag."""
    return (value, []) if isinstance(value, int) else (int(value.removesuffix("%")), [percent_flag])


def deployment_literal(case, where):
    known(case, {"replicas", "statusReplicas", "strategy", "maxSurge", "maxUnavailable", "oldPodsRun", "paused",
                 "beingDeleted", "rollingBack"}, where)
    surge, surge_flag = budget(case.get("maxSurge", 0), "SURGE_PERCENT")
    unavailable, unavailable_flag = budget(case.get("maxUnavailable", 0), "UNAVAILABLE_PERCENT")
    flags = surge_flag + unavailable_flag + (["RECREATE"] if case.get("strategy") == "Recreate" else [])
    flags += [name for name, field in (("PAUSED", "paused"), ("BEING_DELETED", "beingDeleted"), ("ROLLING_BACK", "rollingBack"),
                                       ("OLD_PODS_RUN", "oldPodsRun")) if case.get(field, False)]
    flags = " | ".join(f"PODRANK_DEPLOYMENT_{flag}" for flag in flags) or "0"
    return f"{{ {case['replicas']}, {case.get('statusReplicas', 0)}, {surge}, {unavailable}, {flags}, {{ 0 }} }}"


def change_literal(change, where):
    known(change, ("replicas", "part", "reason"), where)
    reason = change["reason"].upper().replace("-", "_")
    return f"{{ {change['replicas']}, {int32(change['part'])}, PODRANK_DEPLOYMENT_REASON_{reason}, {{ 0 }} }}"


def deployment():
    """The arrays of deployment.json, and how many sets one Deployment has at most."""
    file = known(read("deployment.json"), ("percent", "annotation", "budgets", "steps"), "deployment.json")
    percents, annotations, budgets, sets, changes, steps, most_sets = [], [], [], [], [], [], 1
    for case in file["percent"]:
        known(case, ("text", "percent", "error"), case["text"])
        literal, length = text(case["text"])
        status = "PODRANK_ERR_PERCENT_" + PERCENT_ERRORS[case["error"]] if "error" in case else "PODRANK_OK"
        comment = number(f"percentage {case['text']!r}")
        percents.append(f"{comment} {{ {literal}, {length}, {status}, {case.get('percent', 0)}u }}")
    for case in file["annotation"]:
        known(case, ("text", "valid", "lenient"), case["text"])
        literal, length = text(case["text"])
        valid = case.get("valid")
        flags = "PODRANK_REPLICA_SET_DESIRED | PODRANK_REPLICA_SET_MAX" if valid is not None else "PODRANK_REPLICA_SET_DESIRED_LENIENT"
        flags = flags if valid is not None or "lenient" in case else "0"
        comment = number(f"annotation {case['text']!r}")
        desired = int32(case.get("valid", case.get("lenient", 0)))
        annotations.append(f"{comment} {{ {literal}, {length}, {flags}, {desired}, {valid or 0} }}")
    for case in file["budgets"]:
        where = f"budgets of {case['maxSurge']} and {case['maxUnavailable']} of {case['replicas']}"
        known(case, ("source", "replicas", "maxSurge", "maxUnavailable", "surge", "unavailable"), where)
        subject = {field: case[field] for field in ("replicas", "maxSurge", "maxUnavailable")}
        literal = deployment_literal(subject, where)
        budgets.append(f"{number(where)} {{ {literal}, {int32(case['surge'])}, {case['unavailable']} }}")
    for case in file["steps"]:
        where = case["name"]
        known(case, ("name", "source", "deployment", "sets", "path", "surge", "unavailable", "newSet", "missing", "creates",
                     "goesOn", "changes"), where)
        names = [listed["name"] for listed in case["sets"]]
        most_sets = max(most_sets, len(names))
        rows = []
        for listed in case["sets"]:
            known(listed, ("name", "creationTime", "replicas", "statusReplicas", "availableReplicas", "desired", "max",
                           "current"), where)
            # As bytes, which is how Python compares ASCII.
            order = sorted(names).index(listed["name"])
            numbers = ", ".join(str(listed.get(field, 0)) for field in ("replicas", "statusReplicas", "availableReplicas"))
            flags = "PODRANK_REPLICA_SET_CURRENT_TEMPLATE" if listed.get("current", False) else "0"
            (desired, desired_len), (most, most_len) = (text(listed.get(field, "")) for field in ("desired", "max"))
            rows.append(
                f"{{ {{ {time(listed.get('creationTime'))}, {order}u, {numbers}, 0, 0, {flags}, {{ 0 }} }}, "
                f"{desired}, {most}, {desired_len}, {most_len} }}"
            )
        place = slice_of(sets, rows)
        slice_of(changes, [change_literal(change, where) for change in case["changes"]])
        if "newSet" in case:
            index = names.index(case["newSet"])
            new, new_change = f"{index}u", change_literal(case["changes"][index], where)
        else:
            size = case.get("creates", 0)
            new, new_change = "PODRANK_NONE", change_literal({"replicas": size, "part": size, "reason": case["missing"]}, where)
        step = (
            f"{{ {case.get('surge', 0)}, {case.get('unavailable', 0)}, {new}, PODRANK_DEPLOYMENT_PATH_{case['path'].upper()}, "
            f"{int('creates' in case)}, {flag(case, 'goesOn', False)}, 0, {new_change} }}"
        )
        literal = deployment_literal(case["deployment"], where)
        steps.append(f"{number('Deployment: ' + where)} {{ {literal}, {step}, {place} }}")
    arrays = [
        ("struct vector_percent", "vector_percents", percents),
        ("struct vector_annotation", "vector_annotations", annotations),
        ("struct vector_budgets", "vector_budgets", budgets),
        ("struct vector_set", "vector_sets", sets),
        ("podrank_replica_set_change", "vector_changes", changes),
        ("struct vector_deployment", "vector_deployments", steps),
    ]
    return arrays, most_sets


def steering():
    """The arrays of steering.json, and how many pods and nodes one case has at most."""
    file = known(read("steering.json"), ("steer", "spread"), "steering.json")
    pods, prices, costs, blocked, steers, ranks, spreads = ([] for _ in range(7))
    most_pods = most_nodes = 1

    def literals(list_of, where):
        return [pod_literal(known(pod, POD_FIELDS, where), pod.get("rank", 0)) for pod in list_of]

    for case in file["steer"]:
        where = case["name"]
        known(case, ("name", "pods", "fixed", "prices", "costs", "blocked", "noRoom"), where)
        listed = case["pods"]
        most_pods = max(most_pods, len(listed))
        place = slice_of(pods, literals(listed, where))
        at = len(costs)
        costs += [int32(cost) for cost in case.get("costs", [0] * len(listed))]
        own = case.get("prices", [1] * len(listed))
        prices += ["PODRANK_STEER_PRICE_FIXED" if index in case.get("fixed", []) else str(own[index]) for index in range(len(listed))]
        rows = [f"{{ {pod}u, {before}u, PODRANK_RULE_{rule.upper().replace('-', '_')}, {{ 0 }} }}"
                for pod, before, rule in case.get("blocked", [])]
        lower, higher = case.get("noRoom", [0, 0])
        status = "PODRANK_ERR_NO_ROOM" if "noRoom" in case else "PODRANK_OK"
        steers.append(f"{number('steer: ' + where)} {{ {place}, {at}, {slice_of(blocked, rows)}, {lower}u, {higher}u, {status} }}")
    for case in file["spread"]:
        where = case["name"]
        known(case, ("name", "pods", "others", "nodes", "ranks"), where)
        most_pods, most_nodes = max(most_pods, len(case["pods"])), max(most_nodes, case["nodes"])
        place = slice_of(pods, literals(case["pods"], where))
        others = slice_of(pods, literals(case.get("others", []), where))
        at = len(ranks)
        ranks += [f"{rank}u" for rank in case["ranks"]]
        spreads.append(f"{number('spread: ' + where)} {{ {place}, {others}, {at}, {case['nodes']}u }}")

    arrays = [
        ("podrank_pod", "vector_tiered_pods", pods),
        ("uint8_t", "vector_prices", prices),
        ("int32_t", "vector_steered_costs", costs),
        ("podrank_blocked", "vector_blocked", blocked),
        ("struct vector_steer", "vector_steers", steers),
        ("uint32_t", "vector_spread_ranks", ranks),
        ("struct vector_spread", "vector_spreads", spreads),
    ]
    return arrays, most_pods, most_nodes


def constant(prefix, word):
    return f"PODRANK_{prefix}_{word.upper().replace('-', '_')}"


def flags_literal(prefix, words):
    return " | ".join(constant(prefix, word) for word in words) or "0"


def designated(fields):
    return "{ " + ", ".join(f".{field} = {value}" for field, value in fields.items()) + " }"


def seconds(value):
    return "PODRANK_TIME_UNSET" if value in (None, "unset") else time(value * 10**9)


def stateful_set():
    """The arrays of stateful_set.json, and how many pods one set has at most. C has no function for claims."""
    file = known(read("stateful_set.json"), ("ordinal", "claim", "sync"), "stateful_set.json")
    healthy = ["RUNNING", "UPDATED", "READY", "AVAILABLE"]
    without = {"old": ["UPDATED"], "pending": ["RUNNING", "READY", "AVAILABLE"], "starting": ["RUNNING"],
               "unready": ["READY", "AVAILABLE"], "unavailable": ["AVAILABLE"], "terminating": [],
               "finished": ["RUNNING", "READY", "AVAILABLE"]}
    ordinals, members, outcomes, syncs, most = [], [], [], [], 1
    for case in file["ordinal"]:
        known(case, ("set", "pod", "ordinal"), case["pod"])
        (name, name_len), (pod, pod_len) = text(case["set"]), text(case["pod"])
        comment = number(f"ordinal of {case['pod']!r} in {case['set']!r}")
        ordinals.append(f"{comment} {{ {name}, {pod}, {name_len}, {pod_len}, {case.get('ordinal', -1)} }}")
    for case in file["sync"]:
        where = case["name"]
        known(case, ("name", "source", "set", "pods"), where)
        of = known(case["set"], ("replicas", "start", "parallel", "update", "partition", "maxUnavailable", "maxUnavailableGate",
                                 "recreateGate", "beingDeleted"), where)
        unavailable, set_flags = budget(of.get("maxUnavailable", 1), "UNAVAILABLE_PERCENT")
        update = of.get("update")
        set_flags += {None: [], "OnDelete": ["ON_DELETE"], "Recreate": ["RECREATE"]}[update]
        set_flags += [name for name, field in (("PARALLEL", "parallel"), ("BEING_DELETED", "beingDeleted"),
                                               ("RECREATE_GATE", "recreateGate")) if of.get(field, False)]
        set_flags += [] if of.get("maxUnavailableGate", True) else ["NO_MAX_UNAVAILABLE"]
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
            expected.append(f"{{ {by[1] if by else -1}, {constant('VERDICT', verdict)}, {constant('STATEFUL_SET_REASON', reason)} }}")
        most = max(most, len(rows))
        place = slice_of(members, rows)
        outcomes += expected
        syncs.append(f"{number('StatefulSet: ' + where)} {{ {literal}, {place} }}")
    arrays = [
        ("struct vector_ordinal", "vector_ordinals", ordinals),
        ("podrank_stateful_set_pod", "vector_members", members),
        ("struct vector_member_outcome", "vector_member_outcomes", outcomes),
        ("struct vector_stateful_set", "vector_stateful_sets", syncs),
    ]
    return arrays, most


def outcome_literal(outcome, kind, where):
    """A pod's verdict, its reason and, if it is contested, the quota and the letter of its group."""
    verdict, reason, *group = outcome.split()
    if (verdict == "contested") != (len(group) == 3 and group[1] == "of"):
        sys.exit(f"{where}: {outcome}")
    quota, letter = (group[0], f"'{group[2]}'") if group else (0, 0)
    return f"{{ {quota}u, {constant('VERDICT', verdict)}, {constant(kind + '_REASON', reason)}, {letter} }}"


def job(outcomes):
    """The arrays of job.json, and how many pods one Job has at most. Adds to the outcomes."""
    file = known(read("job.json"), ("indexes", "syncs"), "job.json")
    phases = {"Pending": "PENDING", "Unknown": "UNKNOWN", "Running": "RUNNING"}
    indexes, pods, syncs, most = [], [], [], 1
    for case in file["indexes"]:
        known(case, ("text", "index"), case["text"])
        literal, length = text(case["text"])
        indexes.append(f"{number('index ' + repr(case['text']))} {{ {literal}, INT64_C({int(case['index'])}), {length} }}")
    states = {"indexed": "INDEXED", "suspended": "SUSPENDED", "ending": "ENDING", "leftAlone": "LEFT_ALONE",
              "beingDeleted": "BEING_DELETED", "completions": "COMPLETIONS", "podFailurePolicy": "POD_FAILURE_POLICY",
              "successPolicy": "SUCCESS_POLICY", "activeDeadlineSeconds": "DEADLINE", "maxFailedIndexes": "MAX_FAILED_INDEXES"}
    counts = {"failed": "failed", "restarts": "restarts", "failedIndexes": "failed_indexes",
              "maxFailedIndexes": "max_failed_indexes"}
    for case in file["syncs"]:
        where = case["name"]
        known(case, ("name", "source", "parallelism", "succeeded", "backoffLimit", "startTime", "now", "pods", "outcomes", *states, *counts), where)
        flags = [name for field, name in states.items() if case.get(field, False) is not False]
        literal = designated({
            "parallelism": case["parallelism"], "completions": case.get("completions", 0),
            "succeeded": case.get("succeeded", 0), "flags": flags_literal("JOB", flags),
            **{member: case.get(field, 0) for field, member in counts.items()}, "backoff_limit": case.get("backoffLimit", 6),
            "active_deadline_seconds": f"INT64_C({case.get('activeDeadlineSeconds', 0)})",
            "start_time": seconds(case.get("startTime")),
        })
        rows = []
        for pod in case["pods"]:
            known(pod, ("phase", "assigned", "ready", "restarts", "sidecarRestarts", "created", "index"), where)
            has = [flag for flag, is_set in (("ASSIGNED", pod.get("assigned", False)), ("READY", "ready" in pod)) if is_set]
            record = designated({
                "ready_time": seconds(pod.get("ready")), "creation_time": seconds(pod.get("created")),
                "restarts": f"{pod.get('restarts', 0)}u", "sidecar_restarts": f"{pod.get('sidecarRestarts', 0)}u",
                "phase": constant("PHASE", phases[pod["phase"]]), "flags": flags_literal("POD", has),
            })
            index, index_len = text(pod["index"]) if "index" in pod else ('""', 0)
            rows.append(f"{{ {record}, {index}, {index_len} }}")
        most = max(most, len(rows))
        at = slice_of(outcomes, [outcome_literal(outcome, "JOB", where) for outcome in case["outcomes"]])
        syncs.append(f"{number('Job: ' + where)} {{ {literal}, {seconds(case.get('now'))}, {slice_of(pods, rows)}, {at} }}")
    arrays = [
        ("struct vector_index", "vector_indexes", indexes),
        ("struct vector_job_pod", "vector_job_pods", pods),
        ("struct vector_job", "vector_jobs", syncs),
    ]
    return arrays, most


def daemon_set(outcomes):
    """The arrays of daemon_set.json, and how many pods one set has at most. Adds to the outcomes."""
    nodes, pods, syncs, most = [], [], [], 1
    for case in read("daemon_set.json"):
        where = case["name"]
        known(case, ("name", "source", "maxSurge", "maxUnavailable", "onDelete", "nodes", "pods", "outcomes", "creates",
                     "blockedBy"), where)
        surge, surge_flag = budget(case["maxSurge"], "SURGE_PERCENT")
        unavailable, unavailable_flag = budget(case["maxUnavailable"], "UNAVAILABLE_PERCENT")
        flags = surge_flag + unavailable_flag + (["ON_DELETE"] if case.get("onDelete", False) else [])
        literal = designated({"max_surge": surge, "max_unavailable": unavailable, "flags": flags_literal("DAEMON_SET", flags)})
        rows = []
        for index, pod in enumerate(case["pods"]):
            known(pod, ("node", "flags", "created"), where)
            rows.append(designated({
                "creation_time": seconds(pod["created"]), "name_order": f"{index}u", "node": f"{pod['node']}u",
                "flags": flags_literal("DAEMON_SET_POD", pod["flags"].split()),
            }))
        most = max(most, len(rows))
        on = slice_of(nodes, [flags_literal("DAEMON_SET_NODE", node.split()) for node in case["nodes"]])
        at = slice_of(outcomes, [outcome_literal(outcome, "DAEMON_SET", where) for outcome in case["outcomes"]])
        blocked_by = f"{case['blockedBy']}u" if "blockedBy" in case else "PODRANK_NONE"
        syncs.append(
            f"{number('DaemonSet: ' + where)} {{ {literal}, {on}, {slice_of(pods, rows)}, {at}, {blocked_by}, "
            f"{case.get('creates', -1)} }}"
        )
    arrays = [
        ("uint8_t", "vector_daemon_nodes", nodes),
        ("podrank_daemon_set_pod", "vector_daemon_pods", pods),
        ("struct vector_daemon_set", "vector_daemon_sets", syncs),
    ]
    return arrays, most


def main():
    options, pairs, selections, pods_out, victims_out = [], [], [], [], []
    most_pods = most_nodes = 0

    def options_index(policy, where):
        literal = options_literal(policy, where)
        if literal not in options:
            options.append(literal)
        return options.index(literal)

    groups = read("order.json")
    for group in groups:
        known(group, ("name", "source", "policy", "pods", "pairs", "selections"), group["name"])
        for pod in group["pods"].values():
            known(pod, POD_FIELDS, group["name"])
            most_nodes = max(most_nodes, pod.get("node", 0) + 1)
        for pair in group.get("pairs", []):
            where = f"{group['name']}: {pair['first']} before {pair['second']}"
            known(pair, ("first", "second", "ranks", "rule", "policy"), where)
            first, second = (group["pods"][pair[end]] for end in ("first", "second"))
            ranks = pair.get("ranks", [first.get("rank", 0), second.get("rank", 0)])
            index = options_index(pair.get("policy", group.get("policy", {})), where)
            rule = "PODRANK_RULE_" + pair.get("rule", "none").upper().replace("-", "_")
            pairs.append(
                f"{number(where)} {{ {pod_literal(first, ranks[0])},\n"
                f"      {pod_literal(second, ranks[1])}, {index}, {rule} }}"
            )

    for group in groups:
        for selection in group.get("selections", []):
            where = f"{group['name']}: {selection['delete']} of {', '.join(selection['pods'])}"
            known(selection, ("pods", "related", "delete", "victims", "anyOrder", "policy"), where)
            listed = [group["pods"][name] for name in selection["pods"]]
            ranks = [pod.get("rank", 0) for pod in listed]
            related, others, counted = selection.get("related"), [], False
            if related is not None:
                counts = collections.Counter(place(group["pods"][name]) for name in related)
                ranks = [counts[place(pod)] for pod in listed]
                # podrank_count_ranks always counts the pods themselves, so it can say the same only if they are
                # among the related ones; the others are the rest of those.
                rest = collections.Counter(related) - collections.Counter(selection["pods"])
                counted = not collections.Counter(selection["pods"]) - collections.Counter(related)
                others = [group["pods"][name] for name in rest.elements()] if counted else []
            most_pods = max(most_pods, len(listed))
            index = options_index(selection.get("policy", group.get("policy", {})), where)
            victims = victim_indices(selection["pods"], selection["victims"])
            selections.append(
                f"{number(where)} {{ {len(pods_out)}, {len(listed)}, {len(pods_out) + len(listed)}, {len(others)}, "
                f"{int(counted)}, {index}, {selection['delete']}, {len(victims_out)}, {len(victims)}, "
                f"{int(selection.get('anyOrder', False))} }}"
            )
            pods_out += [pod_literal(pod, rank) for pod, rank in zip(listed, ranks)]
            pods_out += [pod_literal(pod, 0) for pod in others]
            victims_out += victims

    costs = []
    for case in read("deletion-cost.json"):
        known(case, ("text", "cost", "error"), case["text"])
        literal, length = text(case["text"])
        status = "PODRANK_ERR_COST_" + COST_ERRORS[case["error"]] if "error" in case else "PODRANK_OK"
        comment = number(f"deletion cost {case['text']!r}")
        costs.append(f"{comment} {{ {literal}, {length}, {status}, {int32(case.get('cost', 0))} }}")

    uids = []
    for case in read("uid.json"):
        known(case, ("text", "hex", "error"), case["text"])
        literal, length = text(case["text"])
        status = "PODRANK_ERR_UID_" + UID_ERRORS[case["error"]] if "error" in case else "PODRANK_OK"
        comment = number(f"UID {case['text']!r}")
        uids.append(f"{comment} {{ {literal}, {length}, {status}, {uid_bytes(case.get('hex', '0' * 32))} }}")

    upstream = read("upstream.json")
    known(upstream, ("about", "kubernetes", "now", "pods", "pairs"), "upstream.json")
    places = {name: index for index, name in enumerate(upstream["pods"])}
    relation_pods = []
    for name, pod in upstream["pods"].items():
        known(pod, POD_FIELDS, name)
        relation_pods.append(pod_literal(pod, pod.get("rank", 0)))
    relations = []
    for pair in upstream["pairs"]:
        where = f"upstream: {pair['first']} and {pair['second']}"
        known(pair, ("first", "second", "relation", "policy"), where)
        index = options_index(pair.get("policy", {"now": upstream["now"]}), where)
        relations.append(
            f"{number(where)} {{ {places[pair['first']]}, {places[pair['second']]}, {index}, "
            f"PODRANK_UPSTREAM_{pair['relation'].upper()} }}"
        )

    controller_arrays, most_keys = controller()
    deployment_arrays, most_sets = deployment()
    steering_arrays, most_steered, most_spread = steering()
    stateful_set_arrays, most_members = stateful_set()
    outcomes = []
    job_arrays, most_job_pods = job(outcomes)
    daemon_set_arrays, most_daemon_pods = daemon_set(outcomes)
    outcome_array = [("struct vector_outcome", "vector_outcomes", outcomes)]

    print("/* Made from tests/vectors/ by tests/vectors/c_table.py: do not edit. Include it from ffi/check/vectors.c alone. */\n")
    print(f"#define VECTOR_CASES {len(names)}u /* what is numbered below */")
    print(f"#define VECTOR_PODS_MAX {most_pods}u /* in one selection */")
    print(f"#define VECTOR_NODES {most_nodes}u")
    print(f"#define VECTOR_STEERED_MAX {most_steered}u /* pods in one case of steering or spreading */")
    print(f"#define VECTOR_SPREAD_NODES {most_spread}u")
    print(f"#define VECTOR_KEYS_MAX {most_keys}u /* expected at once */")
    print(f"#define VECTOR_SETS_MAX {most_sets}u /* of one Deployment */")
    print(f"#define VECTOR_MEMBERS_MAX {most_members}u /* pods of one StatefulSet */")
    print(f"#define VECTOR_OWNED_MAX {max(most_job_pods, most_daemon_pods)}u /* pods of one Job or DaemonSet */\n")
    array("podrank_options", "vector_options", options)
    array("struct vector_pair", "vector_pairs", pairs)
    array("podrank_pod", "vector_relation_pods", relation_pods)
    array("struct vector_relation", "vector_relations", relations)
    array("podrank_pod", "vector_pods", pods_out)
    array("uint32_t", "vector_victims", [f"{index}u" for index in victims_out])
    array("struct vector_selection", "vector_selections", selections)
    array("struct vector_cost", "vector_costs", costs)
    array("struct vector_uid", "vector_uids", uids)
    for rows in (controller_arrays + deployment_arrays + steering_arrays + stateful_set_arrays + outcome_array + job_arrays
                 + daemon_set_arrays):
        array(*rows)
    print("#ifdef PODRANK_VECTORS_MAIN")
    array("char *const", "vector_names", [text(name)[0] for name in names])
    print("#endif")


main()
