"""Walks every path through a function of the library, with symbols in place of bytes, by angr."""

import logging
from dataclasses import dataclass
from types import SimpleNamespace

for name in ("angr", "cle", "claripy", "pyvex"):
    logging.getLogger(name).setLevel("CRITICAL")

import angr
import claripy
import z3
from angr.concretization_strategies import SimConcretizationStrategyRange

STACK, STACK_SIZE = 0x7000_0000, 0x2000
to_z3 = claripy.backends.z3.convert


class Buffer:
    """Memory of the caller at a fixed address. Its bytes are symbols, but for those that `content` gives."""

    def __init__(self, name, address, size, content=b"", writable=False):
        self.name, self.address, self.size, self.writable = name, address, size, writable
        self.content = [claripy.BVV(byte, 8) if isinstance(byte, int) else byte for byte in content]
        self.content += [claripy.BVS(f"{name}[{i}]", 8, explicit_name=True) for i in range(len(content), size)]
        self.bytes = [to_z3(byte) for byte in self.content]


@dataclass
class Path:
    """One way through a function: it is taken if `condition` holds, and then returns `status` and leaves `after` in memory."""

    condition: z3.BoolRef
    status: z3.BitVecRef
    after: dict


@dataclass
class Walk:
    """All ways through a function, and what they touch."""

    function: str
    arguments: list
    paths: list
    stack: int  # the most bytes of stack that a path uses


class Machine:
    """A program that is linked from libpodrank.a."""

    def __init__(self, program):
        self.project = angr.Project(program, auto_load_libs=False)
        self.arch = self.project.arch
        self.is_thumb = self.arch.name.startswith("ARM")
        self.word = self.arch.bytes
        # By the ABI of System V and by that of ARM. The stack pointer is checked, too.
        self.preserved = [f"r{i}" for i in range(4, 12)] if self.is_thumb else ["rbx", "rbp", "r12", "r13", "r14", "r15"]
        program = self.project.loader.main_object
        # A library without state writes to none of them.
        self.code = [(each.vaddr, each.vaddr + each.memsize, False) for each in program.segments]

    def loops(self):
        """Where each loop of the program begins."""
        self.project.analyses.CFGFast(normalize=True)
        return {each.entry.addr for each in self.project.analyses.LoopFinder().loops}

    def meetings(self, function):
        """Where branches of a function meet again."""
        self.project.analyses.CFGFast(normalize=True)
        graph = self.project.kb.functions[function].graph
        return {node.addr for node in graph if graph.in_degree(node) > 1}

    def call(self, function, arguments):
        """The state in which a function begins that is called with numbers and buffers as its arguments."""
        before = self.project.factory.blank_state(
            add_options={angr.options.SYMBOL_FILL_UNCONSTRAINED_MEMORY, angr.options.SYMBOL_FILL_UNCONSTRAINED_REGISTERS}
        )
        # The stack has whatever was there before the call: a symbol for each word, and none at the end of a page, because angr cannot
        # join paths in which it keeps a part of a longer symbol.
        for word in range(STACK - STACK_SIZE, STACK - 16, self.word):
            before.memory.store(word, claripy.BVS("stack", 8 * self.word))
        entry = lambda base: self.project.factory.call_state(
            self.project.loader.find_symbol(function).rebased_addr,
            *[each.address if isinstance(each, Buffer) else each for each in arguments],
            prototype=f"int f({', '.join(['size_t'] * len(arguments))})",
            stack_base=base,
            base_state=before,
        )
        # When a function begins, the stack is aligned to 8 bytes on ARM, and is 8 bytes off a multiple of 16 on x86-64.
        is_aligned = lambda state: state.solver.eval(state.regs.sp) % (8 if self.is_thumb else 16) == (0 if self.is_thumb else 8)
        state = next(filter(is_aligned, map(entry, range(STACK - 0x100, STACK - 0x110, -self.word))))
        for each in arguments:
            if isinstance(each, Buffer) and each.size:
                state.memory.store(each.address, claripy.Concat(*each.content))
        # Where an address depends on symbols, all its values count or the walk fails.
        state.memory.read_strategies = [SimConcretizationStrategyRange(1024)]
        state.memory.write_strategies = [SimConcretizationStrategyRange(128)]
        return state

    def watch(self, state, function, buffers):
        """Makes every read and write of the paths from this state fail that leaves the buffers, the stack and the library's own constants.
        Returns a list whose only element is the lowest address of the stack that any path has touched so far."""
        allowed = [(each.address, each.address + each.size, each.writable) for each in buffers]
        allowed += self.code + [(STACK - STACK_SIZE, STACK, True)]
        lowest = [state.solver.eval(state.regs.sp)]

        def check(state, address, length, writes):
            length = state.solver.max(length) if not isinstance(length, int) else length
            if address.symbolic:
                first, last = state.solver.min(address), state.solver.max(address)
            else:
                first = last = address.concrete_value
            last += length
            if not any(start <= first and last <= end and (may_write or not writes) for start, end, may_write in allowed):
                raise AssertionError(f"{function} {'writes' if writes else 'reads'} {first:#x} to {last:#x}")
            if STACK - STACK_SIZE <= first < STACK:
                lowest[0] = min(lowest[0], first)

        state.inspect.b("mem_read", when=angr.BP_BEFORE, action=lambda state: check(
            state, state.inspect.mem_read_address, state.inspect.mem_read_length, False))  # fmt: skip
        state.inspect.b("mem_write", when=angr.BP_BEFORE, action=lambda state: check(
            state, state.inspect.mem_write_address, state.inspect.mem_write_length, True))  # fmt: skip
        return lowest

    def walk(self, function, arguments, joins=None, assumes=(), most_paths=20_000):
        """Follows every path through a function, of the inputs that fit what it assumes. Fails if one touches memory that it may not, does not
        end, or does not preserve a register. `joins` are places at which paths become one."""
        buffers = [each for each in arguments if isinstance(each, Buffer)]
        state = self.call(function, arguments)
        state.add_constraints(*assumes)
        at_entry = {name: state.registers.load(name) for name in self.preserved}
        top = state.solver.eval(state.regs.sp)
        lowest = self.watch(state, function, buffers)
        manager = self.project.factory.simulation_manager(state)
        joins = joins or set()
        while manager.active:
            manager.step(extra_stop_points=joins)
            manager.move("active", "waiting", lambda state: state.addr in joins)
            if not manager.active and manager.waiting:
                # The first in the code: those that wait further on may have more to wait for.
                first = min(state.addr for state in manager.waiting)
                manager.move("waiting", "meeting", lambda state: state.addr == first)
                manager.merge(lambda *states: self.joined(states), stash="meeting")
                manager.move("meeting", "active")
            if len(manager.deadended) + len(manager.active) > most_paths:
                raise AssertionError(f"{function} has more than {most_paths} paths")
        for each in manager.errored:
            each.reraise()
        for each in manager.deadended:
            # On x86-64, the return address is off the stack by then.
            if each.addr != self.project.simos.return_deadend or each.solver.eval(each.regs.sp) != top + (0 if self.is_thumb else self.word):
                raise AssertionError(f"{function} ends elsewhere than at its return: {each}")
            for name, value in at_entry.items():
                at_return = each.registers.load(name)
                if at_return is not value and each.solver.satisfiable(extra_constraints=[at_return != value]):
                    raise AssertionError(f"{function} does not preserve {name}")
        strange = {name: states for name, states in manager.stashes.items() if states and name not in ("deadended", "pruned", "unsat")}
        assert not strange, f"{function} does not end: {strange}"
        paths = [self.path(state, buffers) for state in manager.deadended]
        return Walk(function, arguments, paths, top - lowest[0])

    def joined(self, states):
        """One state for several that are at the same place. No input leads to two of them, because the conditions of different paths
        exclude each other. angr on its own only looks at conditions since the states parted, as far as it remembers them."""
        state, *others = states
        if not others:
            return state
        each = [{condition.hash(): condition for condition in state.solver.constraints} for state in states]
        common = set.intersection(*map(set, each))
        apart = [claripy.And(*(condition for key, condition in conditions.items() if key not in common)) for conditions in each]
        joined, _, _ = state.merge(*others, merge_conditions=[[SimpleNamespace(to_claripy=lambda its=its: its)] for its in apart])
        joined.solver.reload_solver([*(each[0][key] for key in common), claripy.Or(*apart)])
        if joined.regs.cc_op.symbolic:
            # The paths computed their flags in different ways, which angr cannot express. So any flags must do.
            joined.regs.cc_op = 0
            joined.regs.cc_dep1 = claripy.BVS("flags", 8 * self.word)
        return joined

    def path(self, state, buffers):
        result = state.regs.r0 if self.is_thumb else state.regs.eax
        after = {
            each.name: [to_z3(state.memory.load(each.address + i, 1, inspect=False)) for i in range(each.size)]
            for each in buffers if each.writable
        }  # fmt: skip
        condition = z3.And([to_z3(each) for each in state.solver.constraints])
        return Path(condition, to_z3(result), after)
