#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold the sources against what is said of their structure: check.py [--root DIR] [--objects DIR]

  arrows    every #include between rooms runs down, as tests/structure/rooms has it
  circles   no files that need each other, by the symbols of the objects in DIR (build/obj; it needs a build);
            no pairs (a .c and the .h of its name) that include each other, unless they are one concept: NAME
            and NAME_* of one folder. tests/structure/circles has the reason of each circle that stays
  names     no file name stands in two rooms for two things
  columns   C lines end at 110 columns, a tab is 8
  licence   each source has one SPDX line, at its top
  promises  the tables of tests/README.md name each test, and only tests that there are
  talks     the tables of tests/conversations/README.md name each script, and only scripts that there are
  mutants   what each of tests/mutants swaps stands in its file

Prints a sentence for each fault, with what to do, and exits 1; silent and 0 when there is none.
"""
import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict

COLUMNS = 110
SOURCES = ("shm-layout", "writer", "reader-lib", "tools", "tests")
WITH_ROOMS = ("shm-layout", "writer", "reader-lib", "tools")
LICENSED = (".c", ".h", ".go", ".py", ".sh", ".mk", ".awk", ".inc")
LICENCE = "SPDX-License-Identifier: Apache-2.0"
SAME_NAME = {"main.c", "README.md"}  # each program has one; each room may have one

faults = []


def fault(place, what):
    faults.append(f"{place}: {what}")


def files(root, tops, suffixes):
    for top in tops:
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith(suffixes):
                    yield os.path.relpath(os.path.join(folder, name), root)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as f:
        return f.read()


def table(root, name):
    """The lines of a table that say something, with their numbers."""
    path = os.path.join("tests/structure", name)
    for number, line in enumerate(read(root, path).splitlines(), 1):
        line = line.split("#", 1)[0].strip()
        if line:
            yield f"{path}:{number}", line


def read_rooms(root):
    rooms = {}
    for place, line in table(root, "rooms"):
        room, *below = line.split()
        for other in below:
            if other not in rooms:
                fault(place, f"{room} may include {other}, which does not stand above it in the table: arrows run down only")
        rooms[room] = set(below)
    return rooms


def check_arrows(root, rooms):
    for path in files(root, WITH_ROOMS, (".c", ".h")):
        room = os.path.dirname(path)
        if room not in rooms:
            fault(path, f"{room} is no room of tests/structure/rooms: say there what it may include")
            continue
        for number, line in enumerate(read(root, path).splitlines(), 1):
            m = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not m:
                continue
            other = os.path.dirname(m.group(1)) or room
            if other == room or other in rooms[room]:
                continue
            below = ", ".join(sorted(rooms[room])) or "nothing of ours"
            way = "up" if room in rooms.get(other, ()) else "aside"
            fault(f"{path}:{number}",
                  f"{m.group(1)} is an arrow {way}: {room} may include {below} (tests/structure/rooms). "
                  "Move what is needed down to where both may have it, or be handed it as a callback")


def includes_between(root):
    """What each pair includes of each other one."""
    why = defaultdict(set)
    for path in files(root, WITH_ROOMS, (".c", ".h")):
        folder, name = os.path.split(path)
        for header in re.findall(r'^\s*#\s*include\s+"([^"]+)"', read(root, path), re.M):
            other = header if "/" in header else os.path.join(folder, header)
            if os.path.exists(os.path.join(root, other)) and other[:-2] != path[:-2]:
                why[path[:-2], other[:-2]].add(f"{name} includes {os.path.basename(other)}")
    return why


def symbols_between(root, objects):
    """The symbols each source wants of each other one; objects whose source has gone are left over from earlier builds."""
    defined, wanted, why = {}, {}, defaultdict(set)
    for path in files(objects, WITH_ROOMS, (".o",)):
        if not os.path.exists(os.path.join(root, path[:-2] + ".c")):
            continue
        out = subprocess.run(["nm", os.path.join(objects, path)], capture_output=True, text=True, check=True).stdout
        source = path[:-2]
        wanted[source] = set()
        for line in out.splitlines():
            fields = line.split()
            if fields[-2] == "U":
                wanted[source].add(fields[-1])
            elif fields[-2] in "TDRBCVW":
                defined[fields[-1]] = source
    for source in wanted:
        for symbol in wanted[source]:
            other = defined.get(symbol, source)
            if other != source:
                why[source, other].add(symbol)
    return why


def find_circles(why):
    """Tarjan: the strongly connected components of more than one node."""
    index, low, stack, circles, graph = {}, {}, [], [], defaultdict(set)
    for a, b in why:
        graph[a].add(b)

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                circles.append(tuple(sorted(stack[at:])))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return circles


def is_one_concept(names):
    first = min(names, key=len)
    return all(name == first or name.startswith((first + "_", first + "-")) for name in names)


def check_circles(root, objects):
    calls = symbols_between(root, objects) if objects else {}
    includes = includes_between(root)
    circles = {circle: includes for circle in find_circles(includes) if not is_one_concept(circle)}
    circles.update((circle, calls) for circle in find_circles(calls))
    reasons = {}
    for place, line in table(root, "circles"):
        names, _, reason = line.partition(":")
        reasons[tuple(sorted(names.split()))] = place
        if not reason.strip():
            fault(place, "a circle that stays needs a reason behind the colon")
    for circle, why in sorted(circles.items(), key=lambda item: item[0]):
        if reasons.pop(circle, None):
            continue
        text = f"{len(circle)} files need each other:"
        for a in circle:
            for b in circle:
                if (a, b) in why:
                    text += f"\n    {a} -> {b}: {', '.join(sorted(why[a, b]))}"
        fault("circle", text + "\n    Cut it, or give the reason in tests/structure/circles")
    for names, place in reasons.items():
        fault(place, f"{' '.join(names)} is no circle any more: the line can go")


def check_names(root):
    places = defaultdict(set)
    for path in files(root, WITH_ROOMS, (".c", ".h")):
        places[os.path.basename(path)].add(os.path.dirname(path))
    for name, rooms in sorted(places.items()):
        if len(rooms) > 1 and name not in SAME_NAME:
            fault(name, f"stands in {' and '.join(sorted(rooms))}: one word, one thing; give one of them another name")


def check_lines(root):
    for path in files(root, SOURCES, (".c", ".h")):
        for number, line in enumerate(read(root, path).splitlines(), 1):
            width = len(line.expandtabs(8))
            if width > COLUMNS:
                fault(f"{path}:{number}", f"{width} columns; {COLUMNS} are the most")
    for path in [*files(root, SOURCES, LICENSED), "Makefile"]:
        head = read(root, path).splitlines()[:2]
        if not any(LICENCE in line for line in head):
            fault(path, f"no SPDX line at the top: {LICENCE}")


def check_promises(root):
    """Rows are | promise | test test ... |: ROOM/FILE of unit tests, FOLDER/SCRIPT.sh of a script."""
    page = "tests/README.md"
    tests = {path[len("tests/"):].replace("_test.c", "") for path in files(root, ("tests",), ("_test.c",))}
    tests |= {path[len("tests/"):] for folder in ("e2e", "long", "upstream") for path in files(root, (f"tests/{folder}",), (".sh",))}
    named = set()
    if os.path.exists(os.path.join(root, page)):
        for number, line in enumerate(read(root, page).splitlines(), 1):
            m = re.fullmatch(r"\| (.+) \| ([\w./ -]+) \|", line)
            for test in m.group(2).split() if m and "/" in m.group(2) else ():
                named.add(test)
                if test not in tests:
                    fault(f"{page}:{number}", f"{test} is no test. Which one holds \"{m.group(1)}\"?")
    for test in sorted(tests - named):
        fault(page, f"tests/{test} stands in no row: name the promise that it holds, or delete it")


def check_talks(root):
    page, folder = "tests/conversations/README.md", "tests/conversations"
    if not os.path.exists(os.path.join(root, page)):
        return
    named = set(re.findall(r"`(\w+)`", read(root, page).partition("## Which line")[2]))
    scripts = {os.path.basename(path)[:-len(".talk")] for path in files(root, (folder,), (".talk",))}
    for script in sorted(named ^ scripts):
        fault(page, f"{folder}/{script}.talk " + ("is not there" if script in named else "stands in no row: name the line that it proves"))


def check_mutants(root):
    for path in files(root, ("tests/mutants",), (".list",)):
        name = source = ""
        for number, line in enumerate(read(root, path).splitlines(), 1):
            word, _, rest = line.partition(" ")
            if word == "mutant":
                name = rest
            elif word == "file":
                source = read(root, rest) if os.path.exists(os.path.join(root, rest)) else ""
            elif word == "swap" and source.count(re.split(r" =>(?: |$)", rest)[0]) != 1:
                fault(f"{path}:{number}", f"what {name} swaps does not stand once in its file; name it as it stands there now, or delete the mutant")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", default=".", help="the checkout (default: here)")
    parser.add_argument("--objects", help="a build's obj folder; without it circles are looked for by #includes alone")
    args = parser.parse_args()
    rooms = read_rooms(args.root)
    check_arrows(args.root, rooms)
    check_names(args.root)
    check_lines(args.root)
    check_promises(args.root)
    check_talks(args.root)
    check_mutants(args.root)
    check_circles(args.root, args.objects)
    for sentence in faults:
        print(sentence, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
