"""select, sort and settle, for lists of up to three pods.

These functions compare records and then move indices. Other proofs, on whole records of two pods, show that the
comparison is correct. For more pods, each record has few symbols, which stand for its position. Any order of three
pods, with ties, is one of the cases, because a list of n pods has at most n positions. These proofs hold for the
moving of indices, whatever decides the positions.
"""

import itertools

import claripy
from z3 import And, Or

import spec
from functions import FIRST, MORE, OPTIONS, OUTPUT, SCRATCH, holds, pods_of
from machine import Buffer
from spec import NOW, Options, number


def records(length, symbols):
    """A buffer of pods that are ready, and equal but for the bytes that `symbols` names, each with the number of its lowest bits that are
    free."""
    plain = bytearray(64)
    plain[16:32] = (NOW - 600 * 10**9).to_bytes(8, "little") + (NOW - 700 * 10**9).to_bytes(8, "little")
    plain[52:54] = 2, 3  # running; assigned and ready
    content = []
    for pod in range(length):
        for at, byte in enumerate(plain):
            bits = symbols.get(at, 0)
            free = claripy.BVS(f"pods[{pod}][{at}]", bits, explicit_name=True) if bits else None
            content.append(claripy.BVV(byte, 8) if not bits else free if bits == 8 else claripy.BVV(byte, 8) ^ free.zero_extend(8 - bits))
    return Buffer("pods", FIRST, 64 * length, content)


# Four places, by the tier, of which heads are made, or by the UID, which only whole keys have.
PLACES = {"places by tier": {54: 2}, "places by UID": {15: 2}}


def in_order(pods, indices):
    """Whether these are the first of all pods, in order. Of pods that tie, the lower index is first."""
    goes_before = lambda i, j: spec.compare(pods[i], pods[j], Options())[0] < (1 if i < j else 0)
    rest = [i for i in range(len(pods)) if i not in indices]
    return And([goes_before(i, j) for i, j in [*itertools.combinations(indices, 2), *itertools.product(indices, rest)]])


def says(memory, width, numbers):
    """Whether a buffer has these numbers."""
    return And([number(memory, width * i, width) == each for i, each in enumerate(numbers)])


def sort(machine, length, symbols):
    """sort is a permutation of all pods, in order."""
    buffer, order = records(length, symbols), Buffer("order", OUTPUT, 4 * length, writable=True)
    pods = pods_of(buffer)
    walk = machine.walk("podrank_sort", [buffer, length, 0, order, length, 0, 0])
    each_order = list(itertools.permutations(range(length)))
    return holds(walk, [], lambda after: Or([And(says(after["order"], 4, each), in_order(pods, each)) for each in each_order]))


def select(machine, length, victims_len, symbols, has_scratch):
    """select's victims are the first of all pods, in order: the first of sort."""
    buffer, victims = records(length, symbols), Buffer("victims", OUTPUT, 4 * victims_len, writable=True)
    scratch, selected = Buffer("scratch", SCRATCH, 64 * victims_len, writable=True), Buffer("selected", MORE, machine.word, writable=True)
    pods = pods_of(buffer)
    memory = [scratch, victims_len] if has_scratch else [0, 0]
    walk = machine.walk("podrank_select", [buffer, length, 0, victims, victims_len, *memory, selected])
    each_order = list(itertools.permutations(range(length), victims_len))

    def right(after):
        first = Or([And(says(after["victims"], 4, each), in_order(pods, each)) for each in each_order])
        return And(says(after["selected"], machine.word, [victims_len]), first)

    return holds(walk, [], right)


def insertion_sort(goes_before, indices):
    """Go's sort of at most 12 elements."""
    result = []
    for each in indices:
        at = len(result)
        while at > 0 and goes_before(each, result[at - 1]):
            at -= 1
        result.insert(at, each)
    return result


def deleted_by_kubernetes(relation, length, deleted):
    """The sets of pods that go in each list order, if `relation[i, j]` says -1, 0 or 1 of i before j."""
    goes_before = lambda i, j: relation[i, j] == -1 if i < j else relation[j, i] == 1
    return {frozenset(insertion_sort(goes_before, each)[:deleted]) for each in itertools.permutations(range(length))}


def settle(machine, length, deleted):
    """The certain pods are deleted in every list order, whatever Kubernetes' comparison says about each pair,
    contradictions included. The safe ones are kept in every list order, and the number of deleted possible ones is right."""
    # UIDs, ready times in one bucket, and restarts: what contradictions are made of.
    buffer = records(length, {15: 2, 16: 1, 40: 1})
    options = Buffer("options", OPTIONS, 16, b"".join(each.to_bytes(size, "little") for each, size in ((16, 4), (1, 4), (NOW, 8))))
    pods, its = pods_of(buffer), Options(number(options.bytes, 4, 4), number(options.bytes, 8, 8))
    order, scores = Buffer("order", OUTPUT, 4 * length, writable=True), Buffer("scores", SCRATCH, 8 * length, writable=True)
    certain, contested = (Buffer(name, at, machine.word, writable=True) for name, at in (("certain", MORE), ("contested", MORE + 64)))
    walk = machine.walk("podrank_predict", [buffer, length, options, deleted, order, length, scores, length, certain, contested])
    pairs = list(itertools.combinations(range(length), 2))
    said = {(i, j): spec.upstream(pods[i], pods[j], its)[0] for i, j in pairs}
    answers = {}  # which answers are right, for each thing that the comparator may say of all pairs
    for values in itertools.product((-1, 0, 1), repeat=len(pairs)):
        relation = dict(zip(pairs, values))
        outcomes = deleted_by_kubernetes(relation, length, deleted)
        always_go, may_go = frozenset.intersection(*outcomes), frozenset.union(*outcomes)
        when = And([said[pair] == value for pair, value in relation.items()])
        answers.setdefault((always_go, may_go), []).append(when)

    def right(after):
        is_long = lambda name, length: says(after[name], machine.word, [length])
        cases = []
        for (always_go, may_go), whens in answers.items():
            for each in itertools.permutations(range(length)):
                for n in range(deleted + 1):
                    for m in range(length - n + 1):
                        # No certain pod may be kept, and no safe one deleted.
                        if set(each[:n]) <= always_go and may_go <= set(each[: n + m]):
                            cases.append(And(Or(whens), says(after["order"], 4, each), is_long("certain", n), is_long("contested", m)))
        return Or(cases)

    return holds(walk, [], right)
