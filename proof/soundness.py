"""Each exported function has its line in SOUNDNESS.md, and the line says what there is."""

import pathlib
import re

from controls import MISTAKES

ROOT = pathlib.Path(__file__).resolve().parent.parent


def check():
    """Returns how many functions there are. Fails if one of them has no line or two, if a line is of no function, if what it says is proved
    isn't walked here, if it names a test that doesn't name the function, or if it miscounts the mistakes."""
    read = lambda path: (ROOT / path).read_text(encoding="utf-8")
    functions = re.findall(r"^function (podrank_\w+):", read("ffi/abi.txt"), re.M)
    lines = re.findall(r"^\| `(podrank_\w+)` \| (.*) \|$", read("proof/SOUNDNESS.md").split("\n## Every exported function\n")[1], re.M)
    walked = set(re.findall(r'"(podrank_\w+)"', read("proof/functions.py") + read("proof/lists.py")))
    assert sorted(functions) == sorted(name for name, _ in lines), (
        f"SOUNDNESS.md and ffi/abi.txt differ in {sorted(set(functions) ^ {name for name, _ in lines}) or 'a line that is there twice'}"
    )
    for name, text in lines:
        assert text.startswith("proved") == (name in walked), f"{name}: SOUNDNESS.md says {text!r}, and the proof is about {sorted(walked)}"
        tests = re.findall(r"`([\w/.-]+)`", text.split("ested by ")[-1]) if "ested by " in text else []
        assert tests or text.startswith("proved"), f"{name}: SOUNDNESS.md names neither a proof nor a test"
        for path in tests:
            assert name in read(path), f"{name}: {path} does not name it"
    assert f"plants {len(MISTAKES)} mistakes in core" in read("proof/SOUNDNESS.md"), f"SOUNDNESS.md: {len(MISTAKES)} mistakes are planted"
    return len(functions)
