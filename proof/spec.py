"""The specification: what each function must answer, for z3. Nothing here is taken from core.

Start at `rules`: it turns a record into a list of numbers, and of two pods the one with the smaller list is deleted first. That is
the whole order, in the terms of docs/how-kubernetes-picks-pods.md. `upstream` is what Kubernetes' own comparator says.

All numbers are bit vectors: they have a fixed width and wrap. In z3, `<` and `>` are signed, so the unsigned ones have names: ULT,
UGE and so on. `If` and `==` make expressions, about which z3 is asked whether any values of the symbols make them true.
"""

from z3 import And, BitVecVal, Concat, Extract, If, Not, Or, UGE, UGT, ULT, ZeroExt

NOW = 1_773_144_000_000_000_000  # a moment for examples, in nanoseconds since 1970
EARLIEST = BitVecVal(-(2**63), 64)  # stands for "no time"


def number(memory, offset, width):
    """The little-endian number in a list of bytes."""
    return Concat(*reversed(memory[offset : offset + width])) if width > 1 else memory[offset]


class Pod:
    """A record of 64 bytes: see include/podrank.h."""

    def __init__(self, memory):
        self.uid = Concat(*memory[:16])  # the most significant byte first
        self.ready_time, self.creation_time = number(memory, 16, 8), number(memory, 24, 8)
        self.deletion_cost, self.rank = number(memory, 32, 4), number(memory, 36, 4)
        self.restarts, self.sidecar_restarts = number(memory, 40, 4), number(memory, 44, 4)
        self.phase, self.flags = memory[52], memory[53]
        self.tier, self.reserved = number(memory, 54, 2), number(memory, 56, 8)
        self.assigned, self.ready, self.preferred = (Extract(bit, bit, self.flags) for bit in range(3))

    def errors(self):
        """The possible statuses of an invalid record, each with its condition."""
        return {7: UGT(self.phase, 2), 8: UGT(self.flags, 7), 9: self.reserved != 0}


class Options:
    """The moment and the feature gates of a decision."""

    def __init__(self, flags=BitVecVal(0, 32), now=BitVecVal(0, 64)):  # without any: what NULL stands for
        self.flags, self.now = flags, now
        self.has_now, costs_off, log_scaled_off, self.preferred = (Extract(bit, bit, flags) == 1 for bit in range(4))
        self.costs = Not(costs_off)
        self.buckets = And(self.has_now, now != EARLIEST, Not(log_scaled_off))

    def errors(self):
        return {6: UGT(self.flags, 15), 24: If(self.has_now, self.now == EARLIEST, self.now != 0)}


def age(time, options):
    """The nanoseconds from a time to now, or the nearest number of 64 bits."""
    exact = ZeroExt(1, options.now ^ EARLIEST) - ZeroExt(1, time ^ EARLIEST)  # 65 bits hold every difference
    most, least = BitVecVal(2**63 - 1, 65), BitVecVal(-(2**63), 65)
    return Extract(63, 0, If(exact > most, most, If(exact < least, least, exact)))


def power(number, early=lambda exponent: 0):
    """floor(log2(number)) of a positive number: the last power of two that it reaches. Each is reached by that many numbers too early."""
    result = BitVecVal(0, 64)
    for exponent in range(1, 64):
        result = If(UGE(number, 2**exponent - early(exponent)), BitVecVal(exponent, 64), result)
    return result


def power_in_go(number):
    """Go's int64(math.Log2(float64(number))) of a positive number, which rounds up just below a power of two: the last 45 ns
    below 2^54 count as 2^54 already, twice as many below each higher power, and half as many below each lower one, down to one below 2^49. A fact
    about Go, measured by judge/code."""
    return power(number, lambda exponent: 45 * 2**exponent // 2**54)


def place(time, options, power=power):
    """The number by which times are compared: no time first, then the younger one. Ages are compared by their power of two."""
    since = age(time, options)
    bucket = If(since > 0, power(since) + 2, BitVecVal(1, 64))
    return If(And(options.buckets, time != EARLIEST), bucket, EARLIEST - time)


NUMBERS = {  # of the rules, in C
    "unassigned": 10, "phase": 20, "not-ready": 30, "tier": 35, "deletion-cost": 40, "rank": 50, "preferred": 60,
    "ready-time": 70, "restarts": 80, "sidecar-restarts": 85, "creation-time": 90, "uid": 100,
}  # fmt: skip


def rules(pod, options, power=power):
    """The key: of two pods, the one with the smaller list of unsigned numbers is deleted first."""
    return {
        "unassigned": pod.assigned,
        "phase": pod.phase,
        "not-ready": pod.ready,
        "tier": pod.tier,
        "deletion-cost": If(options.costs, pod.deletion_cost ^ 0x8000_0000, 0),  # signed: the lowest cost becomes 0
        "rank": ~pod.rank,  # the higher rank is deleted first
        "preferred": If(options.preferred, ~pod.preferred, 0),
        "ready-time": If(pod.ready == 1, place(pod.ready_time, options, power), 0),
        "restarts": ~pod.restarts,
        "sidecar-restarts": ~pod.sidecar_restarts,
        "creation-time": place(pod.creation_time, options, power),
        "uid": pod.uid,
    }


def smaller(a, b):
    """-1 if a is smaller, 1 if b is, 0 if they are equal."""
    return If(ULT(a, b), BitVecVal(-1, 32), If(a == b, BitVecVal(0, 32), BitVecVal(1, 32)))


def first_of(steps):
    """The first step (condition, ordering, rule) whose condition holds: its ordering and rule. 0 and 0 if none does."""
    ordering, rule = BitVecVal(0, 32), BitVecVal(0, 8)
    for decides, its_ordering, its_rule in reversed(steps):
        ordering, rule = If(decides, its_ordering, ordering), If(decides, its_rule, rule)
    return ordering, rule


def first_difference(a, b):
    """Compares two lists of numbers: the first that differ decide."""
    return first_of([(a[rule] != b[rule], smaller(a[rule], b[rule]), BitVecVal(NUMBERS[rule], 8)) for rule in a])


def compare(a, b, options):
    """podrank's order: which pod is deleted first, and by which rule."""
    return first_difference(rules(a, options), rules(b, options))


def upstream(a, b, options):
    """Kubernetes' comparator: no tiers, no preferred pods, no UID at the end. And if two different times are in one bucket, the
    UIDs decide immediately, or the pods tie."""
    of_a, of_b = rules(a, options, power_in_go), rules(b, options, power_in_go)
    steps = []
    for rule in (rule for rule in of_a if rule not in ("tier", "preferred", "uid")):
        steps.append((of_a[rule] != of_b[rule], smaller(of_a[rule], of_b[rule]), BitVecVal(NUMBERS[rule], 8)))
        if rule in ("ready-time", "creation-time"):
            steps.append((hidden(a, b, rule), smaller(a.uid, b.uid), If(a.uid == b.uid, BitVecVal(0, 8), NUMBERS["uid"])))
    return first_of(steps)


def hidden(a, b, rule):
    """Whether two times differ although their places may not."""
    if rule == "ready-time":
        return And(a.ready == 1, b.ready == 1, a.ready_time != b.ready_time)
    return a.creation_time != b.creation_time


def deletion_cost(text):
    """What a text of that many bytes costs, and the statuses that it may get, each with when."""
    if not text:
        return BitVecVal(0, 32), {17: True}
    negative = text[0] == ord("-")
    cost, too_much, wrong = BitVecVal(0, 32), False, []
    for at, byte in enumerate(text):
        is_digit = And(UGE(byte, ord("0")), Not(UGT(byte, ord("9"))))
        sign = negative if at == 0 else False
        wrong.append(And(Not(sign), Not(is_digit)))
        digit = ZeroExt(24, byte ^ ord("0"))
        # The last costs are -2147483648 and 2147483647.
        last = If(negative, BitVecVal(8, 32), 7)
        tenths = If(negative, -cost, cost)
        too_much = If(sign, False, Or(too_much, UGT(tenths, 214748364), And(tenths == 214748364, UGT(digit, last))))
        cost = If(sign, cost, cost * 10 + If(negative, -digit, digit))
    plus = text[0] == ord("+")
    zero = And(text[0] == ord("0"), len(text) > 1)
    bare = And(negative, len(text) == 1)
    others = Or(plus, zero, bare)
    return cost, {
        18: plus,
        19: zero,
        20: bare,
        21: And(Not(others), Or(wrong)),
        22: And(Not(others), Not(Or(wrong)), too_much),
    }


def uid(text):
    """The 16 bytes of a UID's text of 36, and the statuses that it may get, each with when."""
    digits, hyphens, digits_wrong = [], [], []
    for at, byte in enumerate(text):
        if at in (8, 13, 18, 23):
            hyphens.append(byte != ord("-"))
            continue
        decimal = And(UGE(byte, ord("0")), Not(UGT(byte, ord("9"))))
        letter = And(UGE(byte, ord("a")), Not(UGT(byte, ord("f"))))
        digits_wrong.append(Not(Or(decimal, letter)))
        digits.append(Extract(3, 0, If(decimal, byte - ord("0"), byte - ord("a") + 10)))
    return Concat(*digits), {15: Or(hyphens), 16: Or(digits_wrong)}
