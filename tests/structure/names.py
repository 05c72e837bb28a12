#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
File names in comments and pages: each name.c, name.h or path that a comment of a source, a page or a man page
gives must be a file's, so that a file which moves takes its mentions along. A path counts from the top, from
the file's own folder, or from a room; a bare name is that of a file under the same top folder, of shm-layout,
of a public header or of a test. Prints what names nothing, and exits 1.
"""
import os
import re
import sys

NAME = re.compile(r"(?<![\w./<-])((?:[\w-]+/)*[\w-]+\.[ch])\b(?![\w(/])")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def texts(path, text):
    """The parts that are looked at, each with the number of its first line."""
    if not path.endswith((".c", ".h")):
        return [(1, text)]
    return [(text.count("\n", 0, m.start()) + 1, m.group()) for m in COMMENT.finditer(text)]


def in_sight(path, other):
    """Whether a bare name in path may mean this file."""
    top = path.split("/")[0]
    return (top in ("tests", "README.md") or other.startswith((top + "/", "shm-layout/", "reader-lib/informer"))
            or other.endswith("_test.c"))


def main():
    sources = ["README.md"]
    for room in ("reader-lib", "shm-layout", "tests", "tools", "writer"):
        for folder, _, names in os.walk(room):
            sources += [os.path.join(folder, name) for name in names]
    files = set(sources)
    bare = {}
    for path in files:
        bare.setdefault(os.path.basename(path), []).append(path)
    bad = 0
    for path in sorted(files):
        if not re.search(r"\.([ch]|md|[1378])$", path):
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for first, part in texts(path, text):
            for m in NAME.finditer(part):
                name = m.group(1)
                if name in files or os.path.normpath(os.path.join(os.path.dirname(path), name)) in files:
                    continue
                if "/" in name and any(other.endswith("/" + name) for other in files):
                    continue
                if any(in_sight(path, other) for other in bare.get(name, ())):
                    continue
                line = first + part.count("\n", 0, m.start())
                print(f"{path}:{line}: {name} is no file's name")
                bad = 1
    return bad


sys.exit(main())
