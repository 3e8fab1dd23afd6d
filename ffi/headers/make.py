#!/usr/bin/env python3
"""Makes the C headers from ffi/src and from the texts beside this script.

    make.py DIRECTORY     podrank.h and podrank/*.h, in DIRECTORY
    make.py --flat FILE   all that is in include/ as one file, for those who cannot have a folder; needs no cbindgen

A text says `@MODULE@` where the items of ffi/src/MODULE.rs belong: its constants, structs and functions in the order of the
source, as cbindgen writes them. Each struct gets an initialiser, and an assertion on its size at the end of the header. No struct has
padding, so with the right size each member is in its place. The unstable headers have one frame.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
FFI = HERE.parent
TOPICS = {"podrank.h": "podrank.h"} | {f"podrank/{name}.h": f"{name}.h" for name in ("controller", "probabilities", "steer")}
ITEM = re.compile(r"^pub (?:const (PODRANK_\w+): (\w+)|struct (podrank_\w+)|(?:unsafe )?extern \"C\" fn (podrank_\w+))", re.MULTILINE)
SIZES = {"int64_t": 8, "uint64_t": 8, "int32_t": 4, "uint32_t": 4, "uint16_t": 2, "uint8_t": 1}
UNSTABLE = """
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_{name}_H
#define PODRANK_{name}_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {{
#endif

{body}
@assertions@

#ifdef __cplusplus
}} // extern "C"
#endif

#endif // PODRANK_{name}_H
"""
# Times start as unset, everything else as zero.
UNSET = {"ready_time", "creation_time", "start_time"}
START = {
    ("podrank_options", "size"): "(uint32_t)sizeof(podrank_options)",
    ("podrank_plan_state", "burst_replicas"): "PODRANK_PLAN_BURST_REPLICAS",
}
ASSERTIONS = """
// The sizes, as the library has them. No struct has padding, so with the right size each member is in its place. If one of these does not
// hold, it declares an array of negative size, which no C or C++ compiler accepts.
#define PODRANK_ASSERT_NAMED(line, condition) extern char podrank_layout_differs_in_HEADER_##line[(condition) ? 1 : -1]
#define PODRANK_ASSERT_AT(line, condition) PODRANK_ASSERT_NAMED(line, condition)
#define PODRANK_ASSERT(condition) PODRANK_ASSERT_AT(__LINE__, condition)

{}

#undef PODRANK_ASSERT
#undef PODRANK_ASSERT_AT
#undef PODRANK_ASSERT_NAMED
"""


def items():
    """What cbindgen writes for each name."""
    with tempfile.NamedTemporaryFile(suffix=".h") as made:
        subprocess.run(["cbindgen", "--quiet", "--config", FFI / "cbindgen.toml", "--crate", "podrank-ffi", "--output", made.name],
                       check=True, cwd=FFI.parent)
        text = pathlib.Path(made.name).read_text()
    found = {}
    for block in re.split(r"\n\n+", text):
        code = "\n".join(line for line in block.split("\n") if not line.lstrip().startswith("//"))
        if match := re.search(r"#define (\w+)|typedef struct (\w+)|\b(podrank_\w+)\(", code):
            found[next(filter(None, match.groups()))] = block.strip("\n")
    return found


def fields(struct):
    """Name, type and number of elements of each field; 0 elements if it is not an array."""
    body = re.sub(r"//.*", "", struct[struct.index("{") + 1:struct.rindex("}")])
    for field in filter(None, (part.strip() for part in body.split(";"))):
        kind, name, count = re.fullmatch(r"(.*?[ *])(\w+)(?:\[(\w+)\])?", field).groups()
        yield name, kind.replace("struct ", "").strip(), int(count or 0)


def initialiser(name, structs):
    values = []
    for field, kind, count in fields(structs[name]):
        if kind in structs:
            values.append(initialiser(kind, structs))
        else:
            usual = "{ 0 }" if count else "PODRANK_TIME_UNSET" if field in UNSET else "0"
            values.append(START.get((name, field), usual))
    return "{ " + ", ".join(values) + " }"


def size(name, structs):
    """The size of a struct, in C."""
    total, words = 0, 0
    for _, kind, count in fields(structs[name]):
        # What has no known size is a pointer or size_t.
        number = int(size(kind, structs)) if kind in structs else SIZES.get(kind, 0)
        total, words = total + number * (count or 1), words + (number == 0)
    assert not (total and words), f"{name} would have other padding on other machines"
    return f"{words} * sizeof(void *)" if words else str(total)


def module(name, found, structs):
    """The items of a module of the source, and the names of its structs."""
    parts, own = [], []
    for constant, kind, struct, function in ITEM.findall((FFI / f"src/{name}.rs").read_text()):
        item = found.pop(constant or struct or function)
        if function:
            # It is a status.
            item = re.sub(r"^int32_t ", "PODRANK_NODISCARD\nint32_t ", item, flags=re.MULTILINE)
        if kind.startswith("u") and constant != "PODRANK_ABI":
            item = re.sub(r"(#define \w+ \d+)$", r"\1u", item)
        if struct:
            own.append(struct)
            values = textwrap.wrap(initialiser(struct, structs), 105, break_long_words=False)
            macro = struct.upper() + "_INIT"
            item += f"\n\n// `struct {struct} it = {macro};`\n#define {macro} \\\n    " + " \\\n      ".join(values)
        parts.append(item)
    return "\n\n".join(parts), own


def framed(topic):
    """The text of a header, in the frame of the unstable ones unless it is podrank.h."""
    text = (HERE / topic).read_text()
    if topic == "podrank.h":
        return text
    title, body = text.split("\n\n", 1)
    return title + UNSTABLE.format(name=topic.removesuffix(".h").upper(), body=body)


def header(topic, text, found, structs, version):
    own = []

    def place(match):
        made, names = module(match[1], found, structs)
        own.extend(names)
        return made

    text = re.sub(r"^@(?!assertions)(\w+)@$", place, text, flags=re.MULTILINE)
    assertions = [f"PODRANK_ASSERT(sizeof({name}) == {size(name, structs)});" for name in own]
    # Two headers have the same lines, but no two assertions the same name.
    in_header = ASSERTIONS.replace("HEADER", topic.removesuffix(".h"))
    text = text.replace("@assertions@\n", in_header.format("\n".join(assertions)).lstrip("\n"))
    for part, value in zip(("VERSION", "MAJOR", "MINOR", "PATCH"), (version, *re.match(r"(\d+)\.(\d+)\.(\d+)", version).groups())):
        text = text.replace(f"@{part}@", value)
    return text


def flat():
    texts = ((FFI.parent / "include" / path).read_text() for path in TOPICS)
    return "\n".join(re.sub(r'^#include "\.\./podrank\.h"\n\n', "", text, flags=re.MULTILINE) for text in texts)


def main(words):
    if words[0] == "--flat":
        pathlib.Path(words[1]).write_text(flat())
        return
    found = items()
    structs = {name: item for name, item in found.items() if item.splitlines()[-1].startswith("}")}
    version = re.search(r'^version = "(.*)"', (FFI.parent / "Cargo.toml").read_text(), re.MULTILINE)[1]
    headers = {path: header(text, framed(text), found, structs, version) for path, text in TOPICS.items()}
    if found:
        sys.exit(f"make.py: no header has a place for {', '.join(found)}")
    for path, text in headers.items():
        place = pathlib.Path(words[0]) / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
