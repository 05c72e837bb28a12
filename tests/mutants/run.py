#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts small faults into the sources, one at a time, and sees that a test turns red for each.

A list (tests/mutants/*.list; README.md beside them has its words) names for each mutant a file, the change,
and the tests of which one must fail. The sources are not touched: the changed file is compiled from a folder
of its own, and linked before an archive of all other objects, with the named tests only.

Exit 0: all were killed, or survive for a reason that is written down. 1: one survived, or one that should
survive was killed. 2: one no longer applies, does not compile, or its test fails without it.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time


def stood_in_for(source):
    """Calls that a test stands in for, itself or by what it takes from tests/support."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for header in re.findall(r'#include "(tests/support/\w+)\.h"', text):
        if os.path.exists(header + ".c"):
            with open(header + ".c", encoding="utf-8") as file:
                text += file.read()
    return sorted(set(re.findall(r"\b__real_(\w+)\(", text)))


class Mistake(Exception):
    """The list and the sources do not fit."""


class Mutant:
    def __init__(self, name, where):
        self.name = name
        self.where = where
        self.file = None
        self.also = []
        self.tests = []
        self.change = []    # ("=", line), ("-", line), ("+", line)
        self.swap = None    # (old, new)
        self.survives = None

    def check(self):
        if not self.file or not self.tests or bool(self.swap) == bool(self.change):
            raise Mistake(f"{self.where}: mutant {self.name} needs a file, one change, and a test")

    def mutated(self):
        with open(self.file, encoding="utf-8") as file:
            return self.mutate(file.read())

    def mutate(self, text):
        """The changed text. What is changed must be there exactly once."""
        if self.swap:
            count = text.count(self.swap[0])
            changed = text.replace(*self.swap)
        else:
            lines = text.split("\n")
            old = [line for sign, line in self.change if sign != "+"]
            at = [i for i in range(len(lines) - len(old) + 1)
                  if [line.strip() for line in lines[i:i + len(old)]] == old]
            count = len(at)
            if count == 1:
                lines[at[0]:at[0] + len(old)] = [line for sign, line in self.change if sign != "-"]
            changed = "\n".join(lines)
        if count != 1 or changed == text:
            raise Mistake(f"mutant {self.name} no longer applies: what it changes stands {count} times "
                          f"in {self.file}")
        return changed


def read_list(path):
    mutants = []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            word, _, rest = line.strip().partition(" ")
            rest = rest.strip()
            where = f"{path}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if word == "mutant":
                mutants.append(Mutant(rest, where))
                continue
            if not mutants:
                raise Mistake(f"{where}: a list begins with 'mutant NAME'")
            m = mutants[-1]
            if word == "file":
                m.file = rest
            elif word == "also":
                m.also += rest.split()
            elif word == "test":
                m.tests += rest.split()
            elif word == "survives":
                m.survives = rest
            elif word == "swap" and " => " in rest + " ":
                old, _, new = (rest + " ").partition(" => ")
                m.swap = (old, new.rstrip())
            elif word in ("=", "-", "+"):
                m.change.append((word, rest))
            else:
                raise Mistake(f"{where}: no such word: {word}")
    for m in mutants:
        m.check()
    return mutants


def read_lists(paths):
    mutants = [m for path in paths for m in read_list(path)]
    names = [m.name for m in mutants]
    for name in names:
        if names.count(name) > 1:
            raise Mistake(f"two mutants are called {name}")
    return mutants


class Runner:
    def __init__(self, args):
        self.args = args
        self.dir = os.path.join(args.build, "mutants")
        self.results_path = os.path.join(self.dir, "results.json")
        self.lock = threading.Lock()
        self.results = {}
        self.running = set()
        self.stopped = False
        self.world = hashlib.sha256((args.compile + args.link + args.libs + args.wraps).encode())
        for path in self.objects():
            with open(path, "rb") as file:
                self.world.update(file.read())
        os.makedirs(self.dir, exist_ok=True)
        if os.path.exists(self.results_path) and not args.anew:
            with open(self.results_path, encoding="utf-8") as file:
                self.results = json.load(file)

    def objects(self):
        """The archive; of a thin one, which only names them, what it names."""
        with open(self.args.archive, "rb") as file:
            if file.read(7) != b"!<thin>":
                return [self.args.archive]
        listed = subprocess.run(["ar", "t", self.args.archive], check=True, capture_output=True, text=True)
        return listed.stdout.split()

    def call(self, command, log, seconds):
        """Exit code; -SIGKILL when it took too long. Nothing that it started outlives it."""
        if self.stopped:
            raise KeyboardInterrupt
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                              start_new_session=True) as process:
            self.running.add(process)
            try:
                return process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                return -signal.SIGKILL
            finally:
                self.kill(process)
                self.running.discard(process)

    @staticmethod
    def kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def stop(self):
        self.stopped = True
        for process in list(self.running):
            self.kill(process)

    def key(self, mutant, changed):
        key = self.world.copy()
        key.update(repr(vars(mutant)).encode())
        key.update(changed.encode())
        for test in mutant.tests:
            with open(self.object_of(f"tests/{test}_test.c"), "rb") as file:
                key.update(file.read())
        return key.hexdigest()

    def object_of(self, source):
        return os.path.join(self.args.build, "obj", source[:-2] + ".o")

    def keep(self, name, result):
        with self.lock:
            self.results[name] = result
            with open(self.results_path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.results, file, indent=1)
            os.replace(self.results_path + ".new", self.results_path)

    def link_and_run(self, test, objects, own, log):
        source = f"tests/{test}_test.c"
        program = os.path.join(own, test.replace("/", "_"))
        first = objects.get(source, self.object_of(source))
        room, _, wraps = self.args.wraps.partition("=")
        wraps = wraps.split() if os.path.dirname(test) == room else stood_in_for(source)
        # of the libraries what it needs: a test that forks much is quicker with little mapped
        command = (shlex.split(self.args.link) + ["-Wl,--as-needed", "-o", program, first] +
                   [o for s, o in objects.items() if s != source] + [self.args.archive] +
                   [f"-Wl,--wrap={name}" for name in wraps] + shlex.split(self.args.libs))
        if self.call(command, log, 300) != 0:
            raise Mistake(f"{test} cannot be linked: {log.name}")
        return self.call([program], log, self.args.timeout)

    def baseline(self, test):
        """Without a fault the test passes."""
        own = os.path.join(self.dir, "none." + test.replace("/", "_"))
        name = "none: " + test
        nothing = Mutant(name, "")
        nothing.tests = [test]
        key = self.key(nothing, "")
        if self.results.get(name, {}).get("key") == key:
            return
        os.makedirs(own, exist_ok=True)
        with open(os.path.join(own, "log"), "wb") as log:
            code = self.link_and_run(test, {}, own, log)
        if code != 0:
            raise Mistake(f"{test} says {code} without any fault: {own}/log")
        shutil.rmtree(own)
        self.keep(name, {"key": key, "verdict": "passes"})

    def run(self, mutant):
        changed = mutant.mutated()
        for test in mutant.tests:
            if not os.path.exists(self.object_of(f"tests/{test}_test.c")):
                raise Mistake(f"mutant {mutant.name}: there is no test {test}")
        key = self.key(mutant, changed)
        known = self.results.get(mutant.name)
        if known and known["key"] == key:
            return dict(known, resumed=True)
        begun = time.monotonic()
        own = os.path.join(self.dir, mutant.name)
        shutil.rmtree(own, ignore_errors=True)
        place = os.path.join(own, "src", mutant.file)
        os.makedirs(os.path.dirname(place))
        with open(place, "w", encoding="utf-8") as file:
            file.write(changed)
        result = {"key": key, "verdict": "survived"}
        with open(os.path.join(own, "log"), "wb") as log:
            objects = self.compile(mutant, own, log)
            for test in mutant.tests:
                code = self.link_and_run(test, objects, own, log)
                if code != 0:
                    how = "hangs" if code == -signal.SIGKILL else "dies" if code < 0 else "fails"
                    result.update(verdict="killed", test=test, how=how)
                    break
        result["seconds"] = round(time.monotonic() - begun, 1)
        # what is worth a look stays: the source, and what the tests said
        for entry in os.listdir(own):
            if entry not in ("src", "log"):
                os.unlink(os.path.join(own, entry))
        self.keep(mutant.name, result)
        return result

    def compile(self, mutant, own, log):
        objects = {}
        for source in ([] if mutant.file.endswith(".h") else [mutant.file]) + mutant.also:
            text = os.path.join(own, "src", source) if source == mutant.file else source
            objects[source] = os.path.join(own, source.replace("/", "_")[:-2] + ".o")
            # quotes look beside the file first, and then where the changed header stands
            command = (shlex.split(self.args.compile) + ["-w", "-Wno-error", "-iquote", os.path.join(own, "src")] +
                       ["-iquote", os.path.dirname(source)] + ["-c", "-o", objects[source], text])
            if self.call(command, log, 300) != 0:
                raise Mistake(f"mutant {mutant.name} does not compile: {own}/log")
        return objects


def judge(mutant, result):
    """What to print, and whether all is well."""
    verdict = result["verdict"]
    if verdict == "killed" and mutant.survives:
        return f"{mutant.name}: killed by {result['test']}, and should survive: {mutant.survives}", False
    if verdict == "killed":
        return f"{mutant.name}: killed, {result['test']} {result['how']}", True
    if mutant.survives:
        return f"{mutant.name}: survives: {mutant.survives}", True
    return f"{mutant.name}: SURVIVED {' '.join(mutant.tests)}", False


def apply_all(mutants):
    """Whichever are drawn: all that no longer apply are told at once."""
    mistakes = []
    for mutant in mutants:
        try:
            mutant.mutated()
        except (Mistake, OSError) as mistake:
            mistakes.append(str(mistake))
    if mistakes:
        raise Mistake("\nmutants: ".join(mistakes))


def chosen(mutants, args):
    if args.only:
        mutants = [m for m in mutants if args.only in m.name or args.only in m.file]
    if args.draw and args.draw < len(mutants):
        print(f"drawing {args.draw} of {len(mutants)}: SEED={args.seed}", flush=True)
        mutants = random.Random(args.seed).sample(mutants, args.draw)
    return mutants


def work_through(mutants, runner, args):
    counts = {"killed": 0, "survived": 0, "explained": 0, "broken": 0}
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        tests = sorted({test for m in mutants for test in m.tests})
        futures = {pool.submit(runner.baseline, test): None for test in tests}
        futures.update({pool.submit(runner.run, m): m for m in mutants})
        try:
            for future in concurrent.futures.as_completed(futures):
                mutant = futures[future]
                try:
                    result = future.result()
                except concurrent.futures.CancelledError:
                    continue
                except (Mistake, OSError) as mistake:
                    counts["broken"] += 1
                    print(f"mutants: {mistake}", flush=True)
                    result = None
                if result is None:
                    well = mutant is None
                else:
                    line, well = judge(mutant, result)
                    seconds = " (known)" if result.get("resumed") else f" ({result['seconds']} s)"
                    print(line + seconds, flush=True)
                    counts["explained" if well and mutant.survives else
                           "killed" if well else "survived"] += 1
                if not (well and counts["broken"] == 0 or args.keep_going):
                    raise KeyboardInterrupt
        except KeyboardInterrupt:
            for future in futures:
                future.cancel()
            runner.stop()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--archive", required=True, help="all objects but the tests' own")
    parser.add_argument("--compile", required=True)
    parser.add_argument("--link", required=True)
    parser.add_argument("--libs", default="")
    parser.add_argument("--wraps", default="", help="ROOM=CALL...: calls that a world of this room stands in for")
    parser.add_argument("--only", help="names or files with this in them")
    parser.add_argument("--draw", type=int, help="only so many, drawn")
    parser.add_argument("--seed", default=str(int(time.time())))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=float, default=120, help="seconds that a test has; more: it hangs")
    parser.add_argument("--keep-going", action="store_true", help="do not stop at the first that is not well")
    parser.add_argument("--anew", action="store_true", help="forget what is known")
    parser.add_argument("lists", nargs="+")
    args = parser.parse_args()
    try:
        mutants = read_lists(args.lists)
        apply_all(mutants)
        mutants = chosen(mutants, args)
    except (Mistake, OSError) as mistake:
        print(f"mutants: {mistake}")
        return 2
    if not mutants:
        print("mutants: none is called so")
        return 2
    counts = work_through(mutants, Runner(args), args)
    print(", ".join(f"{count} {name}" for name, count in counts.items()) + f", of {len(mutants)}")
    done = counts["killed"] + counts["explained"]
    return 2 if counts["broken"] else 0 if done == len(mutants) else 1


sys.exit(main())
