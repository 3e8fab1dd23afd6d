"""The lemmas: what is proved about the parts of core that read records for `podrank_select`, and about select over pods of which
nothing but these lemmas is known. The machine code is that of `lemmas/`, which exports each part as a function."""

import itertools

import claripy
from z3 import And, BitVec, BitVecVal, Bool, BoolVal, Concat, Extract, If, Implies, Not, Or, UGE, ULT, ZeroExt, substitute

import spec
from ask import Refuted, counterexample, prove
from functions import FIRST, MORE, OPTIONS, OUTPUT, SCRATCH, SECOND, options_of
from lists import says
from machine import Buffer, to_z3
from spec import Pod, number


def is_valid(options_errors, *pods):
    return Not(Or([when for errors in (options_errors, *(pod.errors() for pod in pods)) for when in errors.values()]))


def of_pods(machine, function, right):
    """A function of two records and options that returns a number: on every path, for all that is valid, `right(number, a, b, options)`."""
    a, b = Buffer("a", FIRST, 64), Buffer("b", SECOND, 64)
    argument, options, errors = options_of(16)
    # The prefilter computes a power of two by branches, in too many ways.
    walk = machine.walk(function, [a, b, argument], joins=machine.meetings(function))
    pods = Pod(a.bytes), Pod(b.bytes)
    valid = is_valid(errors, *pods)
    prove(
        Or([path.condition for path in walk.paths]),
        *(Implies(And(path.condition, valid), right(path.status, *pods, options)) for path in walk.paths),
    )
    return walk


def of_prefilter(machine, right):
    return of_pods(machine, "lemma_prefilter", lambda sees, *question: Implies(sees != 0, right(spec.compare(*question)[0])))


def prefilter(machine):
    """If the prefilter of a pod sees another go after it, the pod is before the other in the order."""
    return of_prefilter(machine, lambda ordering: ordering == -1)


def prefilters_of_two(machine):
    """Refutes a machine whose prefilters are wrong: a pod that is seen after another, and is before it in the order."""
    return of_prefilter(machine, lambda ordering: ordering != 1)


def goes_before(machine):
    """A pod compares with another's key as with the other."""
    said = lambda a, b, options: If(spec.compare(a, b, options)[0] == -1, BitVecVal(1, 32), BitVecVal(0, 32))
    return of_pods(machine, "lemma_goes_before", lambda before, *question: before == said(*question))


# How many bits of a head each rule's number gets. Of times, those of an age bucket, if ages are compared by them.
SMALL = {"phase": 2, "tier": 4}
COUNTS = {"rank": 8, "restarts": 10, "sidecar-restarts": 6}
HEAD, BUCKET = 96, 7


def shortened(numbers, has_buckets):
    """The rules' numbers side by side, each in its bits, cut off after 96 bits. A number that does not fit is replaced by the nearest
    that does, and is the last: zeros follow."""
    parts, ended = [], BoolVal(False)
    for rule, each in numbers.items():
        fits = BoolVal(True)
        if rule in SMALL:
            width = SMALL[rule]
            fits, nearest = ULT(each, 2**width - 1), 2**width - 1
        elif rule in COUNTS:
            width = COUNTS[rule]
            fits, nearest = UGE(each, 2**32 - 2**width), 0
        else:
            width, nearest = BUCKET if has_buckets and rule.endswith("time") else each.size(), 0
        part = If(fits, Extract(width - 1, 0, each), BitVecVal(nearest, width))
        parts.append(If(ended, BitVecVal(0, width), part))
        ended = Or(ended, Not(fits))
    whole = Concat(*parts)
    return Extract(whole.size() - 1, whole.size() - HEAD, whole)


def walk_head(machine):
    """The paths of lemma_head, with what they are about."""
    pod, out = Buffer("pod", FIRST, 64), Buffer("candidate", OUTPUT, 16, writable=True)
    argument, options, errors = options_of(16)
    index = claripy.BVS("index", 8 * machine.word, explicit_name=True)
    walk = machine.walk("lemma_head", [pod, argument, index, out])
    return walk, Pod(pod.bytes), options, errors, Extract(31, 0, to_z3(index))


def head(machine):
    """In three steps: on every path, the head of a record is its rules' numbers, shortened. Of two lists of numbers, the one with the
    smaller head is the smaller list. And if ages are compared by bucket, they are the numbers of which the second step speaks."""
    walk, pod, options, errors, index = walk_head(machine)
    numbers = spec.rules(pod, options)
    expected = If(options.buckets, shortened(numbers, True), shortened(numbers, False))
    valid = is_valid(errors)
    claims = [Or([path.condition for path in walk.paths])]
    for path in walk.paths:
        after = number(path.after["candidate"], 0, 16)
        claims.append(Implies(And(path.condition, valid), after == Concat(expected, index)))
    for has_buckets in (False, True):
        a, b = ({rule: BitVec(f"{rule} of {of}", each.size()) for rule, each in numbers.items()} for of in "ab")
        fits = [ULT(each[rule], 2**BUCKET) for each in (a, b) for rule in each if has_buckets and rule.endswith("time")]
        smaller = ULT(shortened(a, has_buckets), shortened(b, has_buckets))
        claims.append(Implies(And(*fits, smaller), spec.first_difference(a, b)[0] == -1))
    claims += [Implies(options.buckets, ULT(numbers[rule], 2**BUCKET)) for rule in ("ready-time", "creation-time")]
    prove(*claims)
    return walk


def heads_of_two(machine):
    """Refutes a machine whose heads are wrong, by two records of which the one with the smaller head is not before the other. Refutes
    none of which the lemma is proved."""
    try:
        return head(machine)
    except Refuted:
        pass  # by one record, or by none
    walk, pod, options, errors, _ = walk_head(machine)
    bits = BitVecVal(0, 128)
    for path in walk.paths:
        bits = If(path.condition, number(path.after["candidate"], 0, 16), bits)
    names = [[BitVec(f"{name}[{i}]", 8) for i in range(64)] for name in ("pod", "a", "b")]
    of = [Extract(127, 32, substitute(bits, *zip(names[0], each))) for each in names[1:]]
    pods = [Pod(each) for each in names[1:]]
    valid = is_valid(errors, *pods)
    values = counterexample(Implies(And(valid, ULT(*of)), spec.compare(*pods, options)[0] == -1))
    if values is not None:
        raise Refuted(values)


# How many pods, victims and candidates reach which part of select, and whether that takes a moment.
SELECTIONS = [
    (4, 2, 0, True),  # without a buffer: a heap of the first pods so far
    (3, 1, 2, True),  # the buffer is full
    (4, 1, 2, True),  # then the prefilter is asked
    (5, 1, 2, False),  # the prefilter of a second buffer that was full is asked
    (5, 2, 4, False),  # two victims, which are sorted by heads
]


def model(length):
    """The records of a model: places and heads of a few bits, and the numbers of the pods that each pod's prefilter sees after it. And what
    the lemmas say about them."""
    bits = 2 if length <= 4 else 3
    names = lambda what, bits: [claripy.BVS(f"{what}[{i}]", bits, explicit_name=True) for i in range(length)]
    places, heads, seen = names("place", bits), names("head", bits), names("seen after", length)
    content, lemmas = [], []
    for i in range(length):
        content += [places[i].zero_extend(8 - bits), heads[i].zero_extend(8 - bits), seen[i].zero_extend(8 - length), claripy.BVV(i, 8)]
        for j in range(length):
            before = claripy.ULT(places[i], places[j])
            lemmas.append(claripy.Or(claripy.UGE(heads[i], heads[j]), before))
            lemmas.append(claripy.Or(seen[i][j] == 0, before))
    return Buffer("pods", FIRST, 4 * length, content), [to_z3(each) for each in places], lemmas


def select(machine, length, victims_len, candidates_len):
    """For all places, and all heads and prefilters that the lemmas allow, the victims are the first pods by place. Of pods that tie, the one
    with the lower index is first."""
    pods, places, lemmas = model(length)
    victims = Buffer("victims", OUTPUT, 4 * victims_len, writable=True)
    candidates = Buffer("candidates", SCRATCH, 16 * candidates_len, writable=True)
    walk = machine.walk("lemma_select", [pods, length, victims, victims_len, candidates, candidates_len], assumes=lemmas)
    goes_before = lambda i, j: Or(ULT(places[i], places[j]), And(places[i] == places[j], BoolVal(i < j)))
    cases = []
    for each in itertools.permutations(range(length), victims_len):
        rest = [i for i in range(length) if i not in each]
        pairs = [*itertools.pairwise(each), *((each[-1], i) for i in rest)]
        cases.append((each, And([goes_before(i, j) for i, j in pairs])))
    claims = [Implies(And([to_z3(each) for each in lemmas]), Or([path.condition for path in walk.paths]))]
    for path in walk.paths:
        right = Or([And(says(path.after["victims"], 4, each), first) for each, first in cases])
        claims.append(Implies(path.condition, And(path.status == victims_len, right)))
    prove(*claims)
    return walk
