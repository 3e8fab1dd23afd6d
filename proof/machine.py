"""Walks every path through a function of the library, with symbols in place of bytes, by angr."""

import logging
from dataclasses import dataclass

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
        program = self.project.loader.main_object
        # A library without state writes to none of them.
        self.code = [(each.vaddr, each.vaddr + each.memsize, False) for each in program.segments]

    def loops(self):
        """Where each loop of the program begins."""
        self.project.analyses.CFGFast(normalize=True)
        return {each.entry.addr for each in self.project.analyses.LoopFinder().loops}

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

    def walk(self, function, arguments, joins=False, most_paths=20_000):
        """Follows every path through a function. Fails if one touches memory that it may not, or does not end. With `joins`, paths become
        one where they begin the same round of a loop."""
        buffers = [each for each in arguments if isinstance(each, Buffer)]
        state = self.call(function, arguments)
        top = state.solver.eval(state.regs.sp)
        lowest = self.watch(state, function, buffers)
        manager = self.project.factory.simulation_manager(state)
        loops = self.loops() if joins else set()
        while manager.active:
            manager.step()
            manager.move("active", "waiting", lambda state: state.addr in loops)
            if not manager.active and manager.waiting:
                manager.merge(stash="waiting")
                manager.move("waiting", "active")
            if len(manager.deadended) + len(manager.active) > most_paths:
                raise AssertionError(f"{function} has more than {most_paths} paths")
        for each in manager.errored:
            each.reraise()
        for each in manager.deadended:
            # On x86-64, the return address is off the stack by then.
            if each.addr != self.project.simos.return_deadend or each.solver.eval(each.regs.sp) != top + (0 if self.is_thumb else self.word):
                raise AssertionError(f"{function} ends elsewhere than at its return: {each}")
        strange = {name: states for name, states in manager.stashes.items() if states and name not in ("deadended", "pruned", "unsat")}
        assert not strange, f"{function} does not end: {strange}"
        paths = [self.path(state, buffers) for state in manager.deadended]
        return Walk(function, arguments, paths, top - lowest[0])

    def path(self, state, buffers):
        result = state.regs.r0 if self.is_thumb else state.regs.eax
        after = {
            each.name: [to_z3(state.memory.load(each.address + i, 1, inspect=False)) for i in range(each.size)]
            for each in buffers if each.writable
        }  # fmt: skip
        condition = z3.And([to_z3(each) for each in state.solver.constraints])
        return Path(condition, to_z3(result), after)
