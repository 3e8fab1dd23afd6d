"""What is proved about each function: on every path through its machine code, it answers what the specification says."""

from z3 import And, BitVec, BoolVal, Concat, If, Not, Or, ZeroExt

import spec
from ask import prove
from machine import Buffer
from spec import Options, Pod, number

# Where the buffers of the caller are: apart, and aligned.
FIRST, SECOND, OPTIONS, OUTPUT, MORE, SCRATCH = (0x1000_0000 + 0x1_0000 * i for i in range(6))


def pods_of(buffer):
    """The records in a buffer."""
    return [Pod(buffer.bytes[at : at + 64]) for at in range(0, buffer.size, 64)]


def holds(walk, errors, right, written=()):
    """Proves that a call that is wrong in no way returns 0 and is right, and that any other returns a status that fits and does not change
    what it would have written. And that every input takes one of the paths. Returns the walk."""
    errors = [(status, when) for each in errors for status, when in each.items()]
    is_valid = Not(Or([when for _, when in errors]))
    claims = [Or([path.condition for path in walk.paths])]
    for path in walk.paths:
        answered = And(path.status == 0, right(path.after))
        fits = Or([And(path.status == status, when) for status, when in errors])
        untouched = [after == before for each in written for after, before in zip(path.after[each.name], each.bytes)]
        claims.append(Or(Not(path.condition), If(is_valid, answered, And(fits, *untouched))))
    prove(*claims)
    return walk


def options_of(size):
    """Options that say they have this size, as an argument, and as the specification reads them. None are NULL."""
    if size is None:
        return 0, Options(), {}
    if not 16 <= size <= 1024:
        # Beyond the size itself, nothing is read.
        return Buffer("options", OPTIONS, 4, size.to_bytes(4, "little")), Options(), {5: BoolVal(True)}
    # In longer ones, only what lies beyond 16 bytes is any: the same code reads the rest.
    content = size.to_bytes(4, "little") + (bytes(12) if size > 16 else b"")
    buffer = Buffer("options", OPTIONS, size, content)
    options = Options(number(buffer.bytes, 4, 4), number(buffer.bytes, 8, 8))
    return buffer, options, {5: Or([byte != 0 for byte in buffer.bytes[16:]]), **options.errors()}


def of_two_pods(machine, function, answer, size, has_rule=True):
    """compare, decide and upstream."""
    a, b = Buffer("a", FIRST, 64), Buffer("b", SECOND, 64)
    ordering, rule = Buffer("ordering", OUTPUT, 4, writable=True), Buffer("rule", MORE, 1, writable=True)
    argument, options, errors = options_of(size)
    outputs = [ordering, rule] if has_rule else [ordering]
    walk = machine.walk(function, [a, b, argument, *outputs])
    pods = Pod(a.bytes), Pod(b.bytes)
    its_ordering, its_rule = answer(*pods, options)

    def right(after):
        same = number(after["ordering"], 0, 4) == its_ordering
        return And(same, after["rule"][0] == its_rule) if has_rule else same

    return holds(walk, [errors, *(pod.errors() for pod in pods)], right, outputs)


def compare(machine, size):
    return of_two_pods(machine, "podrank_compare", spec.compare, size, has_rule=False)


def decide(machine, size):
    return of_two_pods(machine, "podrank_decide", spec.compare, size)


def upstream(machine, size):
    return of_two_pods(machine, "podrank_kubernetes_compare", spec.upstream, size)


# The lowest bit of each rule's number in a key, which is a number of 512 bits with the most significant byte first.
KEY_BITS = {
    "unassigned": 511, "phase": 503, "not-ready": 502, "tier": 486, "deletion-cost": 454, "rank": 416, "preferred": 415,
    "ready-time": 320, "restarts": 288, "sidecar-restarts": 256, "creation-time": 192, "uid": 0,
}  # fmt: skip


def as_key(numbers):
    """The rules' numbers side by side, in one number."""
    return sum(ZeroExt(512 - each.size(), each) << KEY_BITS[rule] for rule, each in numbers.items())


def key(machine, size):
    """The bytes of a key are the rules' numbers side by side. And numbers that are made so compare as the lists of which they are
    made. So memcmp compares keys as `spec.compare` compares pods."""
    pod, out = Buffer("pod", FIRST, 64), Buffer("key", OUTPUT, 64, writable=True)
    argument, options, errors = options_of(size)
    walk = machine.walk("podrank_key", [pod, argument, out, 64])
    numbers = spec.rules(Pod(pod.bytes), options)
    a, b = ({rule: BitVec(f"{rule} of {of}", each.size()) for rule, each in numbers.items()} for of in "ab")
    prove(spec.smaller(as_key(a), as_key(b)) == spec.first_difference(a, b)[0])
    return holds(walk, [errors, Pod(pod.bytes).errors()], lambda after: Concat(*after["key"]) == as_key(numbers), [out])


def validate(machine, length):
    """podrank_validate returns the index of the first invalid record, and why it is invalid."""
    pods = Buffer("pods", FIRST, 64 * length)
    first, why = Buffer("first", OUTPUT, machine.word, writable=True), Buffer("why", MORE, 4, writable=True)
    walk = machine.walk("podrank_validate", [pods if length else 0, length, first, why])
    errors = [pod.errors() for pod in pods_of(pods)]

    def right(after):
        index, status = number(after["first"], 0, machine.word), number(after["why"], 0, 4)
        result = And(index == length, status == 0)
        for i, each in reversed(list(enumerate(errors))):
            fits = Or([And(status == its, when) for its, when in each.items()])
            result = If(Or(list(each.values())), And(index == i, fits), result)
        return result

    return holds(walk, [], right)


def deletion_cost_parse(machine, length, start=b""):
    text, out = Buffer("text", FIRST, length, start), Buffer("cost", OUTPUT, 4, writable=True)
    walk = machine.walk("podrank_deletion_cost_parse", [text if length else 0, length, out])
    cost, errors = spec.deletion_cost(text.bytes)
    return holds(walk, [errors], lambda after: number(after["cost"], 0, 4) == cost, [out])


def uid_parse(machine, length):
    text, out = Buffer("text", FIRST, length), Buffer("uid", OUTPUT, 16, writable=True)
    walk = machine.walk("podrank_uid_parse", [text, length, out, 16], joins=machine.loops())
    uid, errors = spec.uid(text.bytes)
    return holds(walk, [errors], lambda after: Concat(*after["uid"]) == uid, [out])
