"""Reads Thumb-2 code of a linked program: which functions there are, what each calls, and how much stack each takes at most.

The program is linked with --emit-relocs, so that it is known which functions are called by address. An instruction
that this module does not know is an error, never a guess. So the result is an upper bound.
"""

import collections
import re
import subprocess

Function = collections.namedtuple("Function", "name start size")

LINE = re.compile(r"^ *([0-9a-f]+):\t([0-9a-f ]+?) *\t(\S+)(?:\t(.*))?$")
CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
BRANCH = re.compile(rf"^b({CONDITIONS})?(?:\.[nw])?$")
RETURN = re.compile(rf"^bx({CONDITIONS})?$")
POP = re.compile(rf"^(pop|ldmia|ldm)({CONDITIONS})?(?:\.w)?$")
# Loads and stores that change sp.
UPDATES = re.compile(r"\[sp, #(-\d+)\]!$|\[sp\], #(\d+)$")
# These name sp as their first operand without changing it.
READS = re.compile(r"^(cmp|cmn|tst|str|strb|strh|strd|stm|push)")


class Unknown(Exception):
    """Code that this module does not understand."""


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def registers(operand):
    """How many registers a list such as {r4, r6-r8, pc} names, and whether pc is among them."""
    count = 0
    for part in operand.strip("{}").split(","):
        ends = part.strip().split("-")
        if len(ends) == 2:
            number = [int(end.strip()[1:]) for end in ends]
            count += number[1] - number[0] + 1
        else:
            count += 1
    return count, "pc" in operand


def constant(operand):
    return int(re.search(r"#(-?\d+)", operand).group(1))


class Program:
    def __init__(self, path, tools):
        self.functions = {}
        self.aliases = {}
        self.sections = {}
        for line in run(tools + "objdump", "-h", path).splitlines():
            fields = line.split()
            if len(fields) == 7 and fields[0].isdigit():
                self.sections[fields[1]] = range(int(fields[3], 16), int(fields[3], 16) + int(fields[2], 16))
        for line in run(tools + "readelf", "-sW", path).splitlines():
            fields = line.split()
            if len(fields) == 8 and fields[3] == "FUNC" and fields[6] != "UND" and int(fields[2], 0) > 0:
                start = int(fields[1], 16) & ~1
                self.functions.setdefault(start, Function(fields[7], start, int(fields[2], 0)))
                self.aliases[fields[7]] = start
        # Functions whose address the program takes: a call through a register may call any of them.
        self.taken = set()
        for line in run(tools + "readelf", "-rW", path).splitlines():
            fields = line.split()
            if line.startswith("Relocation section"):
                section = fields[2].strip("'")
            elif len(fields) >= 5 and fields[2].startswith("R_ARM_") and not re.search(r"debug|exidx", section):
                if not re.fullmatch(r"R_ARM_THM_(CALL|JUMP\d+)", fields[2]):
                    self.taken.add(int(fields[3], 16) & ~1)
        self.taken &= set(self.functions)

        self.code = collections.defaultdict(list)  # By function: address, size, mnemonic, operands.
        for line in run(tools + "objdump", "-d", "-z", path).splitlines():
            match = LINE.match(line)
            if match:
                address, raw, mnemonic, operands = match.groups()
                size = len(raw.replace(" ", "")) // 2
                operands = re.split(r"\s*[@;<]", operands or "")[0].strip()
                self.code[self._owner(int(address, 16))].append((int(address, 16), size, mnemonic, operands))
        del self.code[None]
        self.frames = {start: self._frame(start) for start in self.functions}

    def in_section(self, address, section):
        return address in self.sections[section]

    def _owner(self, address):
        for function in self.functions.values():
            if function.start <= address < function.start + function.size:
                return function.start
        return None

    def _frame(self, start):
        """The function's own depth at each place where it calls, and its largest: ({callee: depth}, depth).

        Follows every path with the depth of the stack on it; two paths that meet at other depths are an error, so no loop
        takes more with each round.
        """
        function = self.functions[start]
        end = start + function.size
        code = {address: (size, mnemonic, operands) for address, size, mnemonic, operands in self.code[start]}
        depths, calls, deepest, frame_pointer = {}, collections.defaultdict(int), 0, None
        paths = [(start, 0)]

        def unknown(address, text):
            raise Unknown(f"{function.name}: {address:x}: {text}")

        def called(target, depth):
            calls[target] = max(calls[target], depth)

        def called_by_address(address, depth):
            if not self.taken:
                unknown(address, "a call by address, and no function's address is taken")
            for target in self.taken:
                called(target, depth)

        while paths:
            address, depth = paths.pop()
            if address in depths:
                if depths[address] != depth:
                    unknown(address, f"the stack is {depths[address]} or {depth} bytes deep")
                continue
            if address not in code:
                unknown(address, "a jump out of the function")
            depths[address] = depth
            size, mnemonic, operands = code[address]
            text = f"{mnemonic} {operands}"
            follows = address + size

            if branch := BRANCH.match(mnemonic):
                target = int(operands, 16)
                if start <= target < end:
                    paths.append((target, depth))
                elif target in self.functions:
                    called(target, depth)  # The last thing a function does may be a jump to another.
                else:
                    unknown(address, text)
                if branch.group(1):
                    paths.append((follows, depth))
                continue
            if mnemonic in ("cbz", "cbnz"):
                paths += [(int(operands.split(",")[1], 16), depth), (follows, depth)]
                continue
            if mnemonic in ("tbb", "tbh"):
                width, table = (1 if mnemonic == "tbb" else 2), b""
                while code.get(follows + len(table), (0, ""))[1] in (".word", ".short", ".byte"):
                    length, _, value = code[follows + len(table)]
                    table += int(value, 16).to_bytes(length, "little")
                for at in range(0, len(table) - width + 1, width):
                    offset = 2 * int.from_bytes(table[at : at + width], "little")
                    if offset >= len(table):  # Less is what fills the table up.
                        paths.append((follows + offset, depth))
                if not table:
                    unknown(address, text)
                continue
            if mnemonic in ("bl", "blx"):
                if re.match(r"^[0-9a-f]+$", operands):
                    if int(operands, 16) not in self.functions:
                        unknown(address, text)
                    called(int(operands, 16), depth)
                else:
                    called_by_address(address, depth)
                paths.append((follows, depth))
                continue
            if returns := RETURN.match(mnemonic):
                if operands != "lr":
                    called_by_address(address, depth)
                elif depth and not returns.group(1):
                    unknown(address, f"returns {depth} bytes deep")
                if returns.group(1):
                    paths.append((follows, depth))
                continue

            change, is_return, conditional = 0, False, False
            if mnemonic.startswith("push") or (mnemonic.startswith("stmdb") and operands.startswith("sp!")):
                change = 4 * registers(operands[operands.index("{") :])[0]
                conditional = mnemonic not in ("push", "push.w", "stmdb")
            elif (pop := POP.match(mnemonic)) and (pop.group(1) == "pop" or operands.startswith("sp!")):
                count, is_return = registers(operands[operands.index("{") :])
                change, conditional = -4 * count, pop.group(2) is not None
            elif re.match(r"^(add|sub)w?(\.w)?$", mnemonic) and re.match(r"^sp, (sp, )?#", operands):
                change = constant(operands) * (-1 if mnemonic.startswith("add") else 1)
            elif re.match(r"^(str|ldr|strd|ldrd)(\.w)?$", mnemonic) and (match := UPDATES.search(operands)):
                change = -int(match.group(1) or match.group(2))
                is_return = operands.startswith("pc")
            elif mnemonic == "add" and re.match(r"^r7, sp, #", operands):
                frame_pointer = depth - constant(operands)
            elif mnemonic == "mov" and operands == "r7, sp":
                frame_pointer = depth
            elif re.match(r"^subs?(\.w|w)?$", mnemonic) and re.match(r"^sp, r7, #", operands) and frame_pointer is not None:
                change = frame_pointer + constant(operands) - depth
            elif mnemonic == "mov" and operands == "sp, r7" and frame_pointer is not None:
                change = frame_pointer - depth
            elif (re.match(r"^(sp|r13)\b", operands) and not READS.match(mnemonic)) or "sp!" in operands:
                unknown(address, text)
            elif re.match(r"^pc\b", operands) or mnemonic in (".word", ".short", ".byte", ".inst", "udf"):
                unknown(address, text)

            if conditional and not is_return:
                unknown(address, text)
            if is_return:
                if depth + change:
                    unknown(address, f"returns {depth + change} bytes deep")
                if conditional:
                    paths.append((follows, depth))
            else:
                deepest = max(deepest, depth + change)
                paths.append((follows, depth + change))
        return dict(calls), deepest

    def stack(self, start, above=()):
        """The bytes of stack that a call of this function takes at most, with all that it calls."""
        if start in above:
            raise Unknown("recursion: " + ", ".join(self.functions[each].name for each in above[above.index(start) :]))
        calls, deepest = self.frames[start]
        below = [depth + self.stack(callee, above + (start,)) for callee, depth in calls.items()]
        return max([deepest, *below])

    def instructions(self):
        """Every instruction's function, mnemonic and operands."""
        for start, code in self.code.items():
            for _, _, mnemonic, operands in code:
                yield self.functions[start].name, mnemonic, operands
