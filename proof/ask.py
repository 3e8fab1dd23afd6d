"""Asks a solver: z3, or cvc5 as the second one. A claim is proved if no values of its symbols make it false."""

import multiprocessing
import os

import cvc5
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


def counterexample_by_cvc5(claim):
    """Asks cvc5, which reads the question as text, whether a claim is false. Returns no values then, because z3 has them, or None if it
    holds for all."""
    asked = z3.SolverFor("QF_BV")
    # Simplified, because z3 writes an empty disjunction in a way that cvc5 does not read.
    asked.add(z3.simplify(z3.Not(claim)))
    solver = cvc5.Solver()
    solver.setOption("tlimit", str(SECONDS * 1000))
    solver.setOption("bitblast", "eager")
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "(set-logic QF_BV)\n" + asked.to_smt2(), "claim")
    answer = ""
    while not (command := parser.nextCommand()).isNull():
        answer += command.invoke(solver, parser.getSymbolManager())
    if answer.strip() not in ("sat", "unsat"):
        raise TimeoutError(f"cvc5 gave up: {answer}")
    return {} if answer.strip() == "sat" else None


solve = counterexample


def by_cvc5(claim):
    """What proves a claim, with cvc5."""

    def prove_again():
        global solve
        solve = counterexample_by_cvc5
        try:
            return claim()
        finally:
            solve = counterexample

    return prove_again


def of_number(index):
    return solve(claims[index])


def prove(*these):
    """Proves each of these claims, on all cores."""
    claims[:] = these
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for values in pool.imap_unordered(of_number, range(len(these))):
            if values is not None:
                raise Refuted(values)
