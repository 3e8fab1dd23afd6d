#!/usr/bin/env python3
"""Fills in the template of a manifest, for the archives that are in a directory: manifests.py TAG TEMPLATE DIRECTORY

The template is krew's (.yaml) or Homebrew's (.rb). A platform whose archive is not in the directory is left out.
"""

import hashlib
import pathlib
import re
import sys

# The part of each platform, and what in it names the archive and is replaced.
KREW = re.compile(r'(?ms)^  - selector:.*?\{\{addURIAndSha "([^"]*)" [^}]*\}\}\n.*?(?=^  - |\Z)'), r"\{\{addURIAndSha .*\}\}"
HOMEBREW = re.compile(r'(?ms)^    on_\w+ do\n *url "([^"]*)".*?^    end\n'), r"\{\{ \.Sha256 \}\}"

tag, template, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
platform, place = {".yaml": KREW, ".rb": HOMEBREW}[template.suffix]
text = re.sub(r"(?m)^#.*\n", "", template.read_text())
text = text.replace("{{ .TagName }}", tag).replace("{{ .Version }}", tag.removeprefix("v"))
filled = 0


def fill(part):
    global filled
    archive = directory / part[1].rsplit("/", 1)[1]
    if not archive.exists():
        return ""
    filled += 1
    sum = hashlib.sha256(archive.read_bytes()).hexdigest()
    value = f"uri: {part[1]}\n    sha256: {sum}" if template.suffix == ".yaml" else sum
    return re.sub(place, value, part[0])


text = platform.sub(fill, text)
if not filled:
    sys.exit(f"manifests.py: {directory} has no archive of the plugin")
if "{{" in text:
    sys.exit(f"manifests.py: {template}: this is not filled in: {text[text.index('{{') :].splitlines()[0]}")
print(text, end="")
