#!/usr/bin/env python3
"""Fills the template of the krew manifest in, for the archives that are in a directory: krew.py TAG TEMPLATE DIRECTORY"""

import hashlib
import pathlib
import re
import sys

tag, template, directory = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
text = re.sub(r"(?m)^#.*\n", "", template.read_text()).replace("{{ .TagName }}", tag)
head, *platforms = re.split(r"(?m)^(?=  - selector:)", text)
address = re.compile(r'\{\{addURIAndSha "([^"]*)" [^}]*\}\}')
filled = []
for platform in platforms:
    uri = address.search(platform)
    if not uri:
        sys.exit(f"krew.py: {template}: a platform has no addURIAndSha: {platform}")
    archive = directory / uri[1].rsplit("/", 1)[1]
    if archive.exists():
        sum = hashlib.sha256(archive.read_bytes()).hexdigest()
        filled.append(address.sub(f"uri: {uri[1]}\n    sha256: {sum}", platform))
if not filled:
    sys.exit(f"krew.py: {directory} has no archive of the plugin")
print(head + "".join(filled), end="")
