"""Asks z3. A claim is proved if no values of its symbols make it false."""

import multiprocessing
import os

import z3

SECONDS = 3600  # for one question. A time-out is a failure, never a proof.
claims = []  # those that are being proved: the processes of the pool are copies of this one, and find them here


class Refuted(Exception):
    """A claim is false: `values` has symbols, by name, for which it is."""

    def __init__(self, values):
        super().__init__("refuted")
        self.values = values


def counterexample(claim):
    """Returns values, by name, for which a claim is false, or None if it holds for all."""
    solver = z3.SolverFor("QF_BV")
    solver.set("timeout", SECONDS * 1000)
    solver.add(z3.Not(claim))
    answer = solver.check()
    if answer == z3.unknown:
        raise TimeoutError(f"z3 gave up: {solver.reason_unknown()}")
    if answer == z3.unsat:
        return None
    model = solver.model()
    return {each.name(): model[each].as_long() for each in model.decls() if z3.is_bv_value(model[each])}


def of_number(index):
    return counterexample(claims[index])


def prove(*these):
    """Proves each of these claims, on all cores."""
    claims[:] = these
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for values in pool.imap_unordered(of_number, range(len(these))):
            if values is not None:
                raise Refuted(values)
