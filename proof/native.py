"""angr's model of the processor fits the processor: what the paths say of concrete bytes is what the library does with them here."""

import ctypes
import random

import z3
from z3 import BitVecVal, Concat, If, simplify, substitute

from machine import Buffer
from spec import NOW

TIMES = [-(2**63), -(2**63) + 1, -1, 0, 1, 2**63 - 1, NOW - 1, NOW, NOW + 1, *(NOW - 2**bit + more for bit in (30, 49, 54, 60) for more in (-1, 0, 46))]


def random_pod(rng):
    """A record that is mostly valid, and mostly equal to other records."""
    pod = bytearray(64)
    pod[:16] = rng.choice([0, 1, 255]).to_bytes(16, rng.choice(["big", "little"]))
    for at in (16, 24):
        pod[at : at + 8] = (rng.choice(TIMES) % 2**64).to_bytes(8, "little")
    for at in range(32, 52, 4):
        pod[at : at + 4] = (rng.choice([-(2**31), -1, 0, 0, 0, 1, 2**31 - 1]) % 2**32).to_bytes(4, "little")
    pod[52] = rng.choice([2, 2, 2, 2, 0, 1, 2, 3])
    pod[53] = rng.choice([3, 3, 3, 7, 0, 1, 8])
    pod[54:56] = rng.choice([0, 0, 1, 65535]).to_bytes(2, "little")
    pod[56 + rng.randrange(8)] = rng.choice([0] * 15 + [1])
    return pod


def random_options(rng, size):
    flags = rng.choice([0, 1, 1, 1, rng.randrange(16), 16])
    now = rng.choice([NOW, NOW, *TIMES]) if flags & 1 or rng.random() < 0.1 else 0
    content = size.to_bytes(4, "little") + flags.to_bytes(4, "little") + (now % 2**64).to_bytes(8, "little")
    return content.ljust(size, rng.choice([b"\0", b"\0", b"\1"]))


def random_text(rng, size):
    digits = "0123456789abcdef" if size == 36 else "0123456789"
    text = [rng.choice(digits) for _ in range(size)]
    if size == 36:
        for at in (8, 13, 18, 23):
            text[at] = "-"
    elif size and rng.random() < 0.7:
        text[0] = rng.choice("-1+0")
    if size and rng.random() < 0.5:
        text[rng.randrange(size)] = rng.choice("-0:`/gG aA\0")
    return "".join(text).encode()


def random_content(rng, buffer):
    if buffer.name == "options":
        content = random_options(rng, buffer.size)
    elif buffer.name == "text":
        content = random_text(rng, buffer.size)
    elif buffer.name in ("a", "b", "pod", "pods"):
        content = b"".join(random_pod(rng) for _ in range(buffer.size // 64))
    else:
        content = rng.randbytes(buffer.size)
    return bytes(its.as_long() if z3.is_bv_value(its) else byte for its, byte in zip(buffer.bytes, content))


def check(library, walk, inputs, seed=1):
    """Compares the paths with the library on this machine. `library` is loaded by ctypes."""
    rng = random.Random(seed)
    buffers = [each for each in walk.arguments if isinstance(each, Buffer)]
    outputs = [each for each in buffers if each.writable]
    result = BitVecVal(-1, 32)  # of no path
    for path in walk.paths:
        result = If(path.condition, path.status, result)
    after = {each.name: list(each.bytes) for each in outputs}
    for path in walk.paths:
        for name, memory in path.after.items():
            after[name] = [If(path.condition, its, other) for its, other in zip(memory, after[name])]
    said = Concat(result, *[byte for memory in after.values() for byte in memory])
    statuses = set()
    for _ in range(inputs):
        contents = {each.name: bytearray(random_content(rng, each)) for each in buffers}
        memory = {name: (ctypes.c_uint64 * (len(content) // 8 + 1)).from_buffer_copy(content.ljust(len(content) // 8 * 8 + 8, b"\0"))
                  for name, content in contents.items()}  # fmt: skip
        status = getattr(library, walk.function)(*[
            memory[each.name] if isinstance(each, Buffer) else ctypes.c_size_t(each) for each in walk.arguments
        ])  # fmt: skip
        does = (status % 2**32).to_bytes(4, "big") + b"".join(bytes(memory[each.name])[: each.size] for each in outputs)
        values = [(its, BitVecVal(byte, 8)) for each in buffers for its, byte in zip(each.bytes, contents[each.name]) if not z3.is_bv_value(its)]
        answer = simplify(substitute(said, *values))
        assert answer.as_long() == int.from_bytes(does, "big"), (walk.function, {name: bytes(each).hex() for name, each in contents.items()})
        statuses.add(status)
    return statuses
