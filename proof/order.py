"""What follows from the specification, for any three records: it is an order, and how it differs from Kubernetes' comparator."""

from z3 import And, AtMost, BitVec, BitVecVal, Implies, Not, Or, Solver, ULE, sat

import spec
from ask import prove
from spec import NOW, Options, Pod

FIELDS = ["uid", "ready_time", "creation_time", "deletion_cost", "rank", "restarts", "sidecar_restarts", "phase", "flags", "tier", "reserved"]


def pods(names):
    """Sound records whose bytes are symbols."""
    records = [Pod([BitVec(f"{name}[{i}]", 8) for i in range(64)]) for name in names]
    return records, And([Not(Or(list(record.errors().values()))) for record in records])


def of_any_lists(first, names="abc"):
    """Three lists of numbers, each as wide as those of a record, but with a symbol in place of each: what is proved about them holds
    for any lists."""
    return [{rule: BitVec(f"{rule} of {name}", number.size()) for rule, number in first.items()} for name in names]


def strict_weak_order():
    """Over lists of numbers, as records are: none comes before itself, and "comes before" and "ties" are transitive."""
    (record,), _ = pods("a")
    a, b, c = of_any_lists(spec.rules(record, Options(BitVec("flags", 32), BitVec("now", 64))))
    ordering = lambda x, y: spec.first_difference(x, y)[0]
    prove(
        ordering(a, a) == 0,
        ordering(a, b) == -ordering(b, a),
        Implies(And(ordering(a, b) == -1, ordering(b, c) == -1), ordering(a, c) == -1),
        Implies(And(ordering(a, b) == 0, ordering(b, c) == 0), ordering(a, c) == 0),
        # Lists tie only if the UIDs are equal.
        Implies(ordering(a, b) == 0, a["uid"] == b["uid"]),
    )


def strict_weak_order_of_records():
    """The same once more, of three records themselves."""
    (a, b, c), sound = pods("abc")
    options = Options(BitVec("flags", 32), BitVec("now", 64))
    ordering = lambda x, y: spec.compare(x, y, options)[0]
    prove(
        Implies(And(sound, ordering(a, b) == -1, ordering(b, c) == -1), ordering(a, c) == -1),
        Implies(And(sound, ordering(a, b) == 0, ordering(b, c) == 0), ordering(a, c) == 0),
        Implies(And(sound, a.uid != b.uid), ordering(a, b) != 0),
    )


def equal_to_kubernetes():
    """Where Kubernetes' comparator depends on none of its exceptions, it says what podrank says. The exceptions:
    - two different times that count are in one bucket, so it compares UIDs immediately, and
    - it ties, because it does not compare UIDs at the end.
    The proof also assumes that tiers are equal, that PreferForScaleDown is off, and that no age is so close below a
    power of two that Go's logarithm rounds it up. The first two are rules of podrank and not of Kubernetes, and the
    third is a property of Go."""
    (a, b), sound = pods("ab")
    options = Options(BitVec("flags", 32), BitVec("now", 64))
    theirs, ours = spec.upstream(a, b, options), spec.compare(a, b, options)
    exact, in_go = ([spec.rules(pod, options, power) for pod in (a, b)] for power in (spec.power, spec.power_in_go))
    times = ("ready-time", "creation-time")
    no_rounding = And([exact[i][rule] == in_go[i][rule] for i in range(2) for rule in times])
    one_bucket = Or([And(spec.hidden(a, b, rule), exact[0][rule] == exact[1][rule]) for rule in times])
    plain = And(sound, a.tier == b.tier, Not(options.preferred), no_rounding, Not(one_bucket), theirs[0] != 0)
    prove(Implies(plain, And(theirs[0] == ours[0], theirs[1] == ours[1])))


def plain(pod):
    ready = Or(pod.ready_time == NOW - 600 * 10**9, pod.ready_time == NOW - 601 * 10**9)
    return And(pod.phase == 2, pod.flags == 3, ready, pod.creation_time == NOW - 700 * 10**9, ULE(pod.restarts, 1),
               pod.sidecar_restarts == 0, ULE(pod.uid, 3))  # fmt: skip


def text(model, pod):
    """A pod of a counterexample, in the words of docs/how-kubernetes-picks-pods.md."""
    number = lambda expression: model.eval(expression, model_completion=True)
    seconds = lambda time: (NOW - number(time).as_signed_long()) / 1e9
    return f"ready for {seconds(pod.ready_time):.0f} s, {number(pod.restarts)} restarts, UID …{number(pod.uid).as_long():02x}"


def kubernetes_is_no_order():
    """Kubernetes' comparator puts each of three pods before the next, in a circle. Returns three that differ in as few fields as possible."""
    (x, y, z), sound = pods("XYZ")
    options = Options(BitVecVal(1, 32), BitVecVal(NOW, 64))
    before = lambda a, b: spec.upstream(a, b, options)[0] == -1
    solver = Solver()
    solver.add(sound, before(x, y), before(y, z), before(z, x))
    # Ready for 600 or 601 s, with few restarts and small UIDs, so that one can see what differs.
    solver.add([plain(pod) for pod in (x, y, z)])
    differ = [Or([getattr(pod, field) != getattr(x, field) for pod in (y, z)]) for field in FIELDS]
    for most in range(len(FIELDS)):
        if solver.check(AtMost(*differ, most)) == sat:
            model = solver.model()
            return f"it is cyclic; {most} fields differ:" + "".join(f"\n    {name}: {text(model, pod)}" for name, pod in zip("XYZ", (x, y, z)))
    raise AssertionError("no three pods: Kubernetes' comparator is an order")


CLAIMS = {
    "order: lists of numbers are in a strict weak order, and tie only with equal UIDs": strict_weak_order,
    "order: so are any three records": strict_weak_order_of_records,
    "order: it is Kubernetes' where that depends on none of its exceptions": equal_to_kubernetes,
    "order: Kubernetes' comparator is none": kubernetes_is_no_order,
}
