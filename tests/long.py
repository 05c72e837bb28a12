#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the long half of the tests: long.py BUILD_DIR TEST...  `make test-long` calls it.

A TEST is what run.sh takes. From the environment, besides what run.sh takes:
  SEED=N     what the tests draw by; drawn itself if it is not given, and printed
  MINUTES=N  a slice of the tests, drawn by SEED, that takes about N minutes; ONLY then picks whole scripts and programs
A script says how long it takes in a line "# Takes N s.". Prints a table at the end and writes BUILD_DIR/long.json.
"""
import json
import os
import random
import re
import subprocess
import sys
import time

SECONDS_OF_A_PROGRAM = 60


def seconds_of(test):
    """What the test says that it takes."""
    path = test.split(":")[-1]
    if not path.endswith(".sh"):
        return SECONDS_OF_A_PROGRAM
    with open(path, encoding="utf-8") as file:
        said = re.search(r"^# Takes (\d+) s\.$", file.read(), re.M)
    if not said:
        sys.exit(f"{path}: does not say '# Takes N s.'")
    return int(said.group(1))


def slice_of(tests, seed, seconds):
    drawn = []
    for test in random.Random(seed).sample(tests, len(tests)):
        if seconds_of(test) <= seconds:
            seconds -= seconds_of(test)
            drawn.append(test)
    return drawn


def main():
    build, tests = sys.argv[1], sys.argv[2:]
    seed = int(os.environ.get("SEED") or random.randrange(2**31))
    jobs = int(os.environ.get("JOBS") or os.cpu_count())
    if os.environ.get("MINUTES"):
        tests = [test for test in tests if os.environ.get("ONLY", "") in test]
        tests = slice_of(tests, seed, float(os.environ["MINUTES"]) * 60 * jobs)
    verdicts = os.path.join(build, "long.verdicts")
    print(f"SEED={seed}: {len(tests)} tests, {jobs} at a time, "
          f"about {sum(map(seconds_of, tests)) // (60 * jobs) + 1} minutes", flush=True)
    began = time.time()
    # the longest first, so that no processor idles at the end
    code = subprocess.call(
        ["sh", "tests/run.sh", build] + sorted(tests, key=seconds_of, reverse=True),
        env=os.environ | {"LONG": "1", "SEED": str(seed), "JOBS": str(jobs), "VERDICTS": verdicts,
                          "TEST_SECONDS": os.environ.get("TEST_SECONDS", "3600")})
    rows = []
    with open(verdicts, encoding="utf-8") as file:
        for line in file:
            verdict, seconds, test = line.rstrip("\n").split(" ", 2)
            rows.append({"test": test, "seconds": int(seconds), "verdict": verdict})
    rows.sort(key=lambda row: (row["verdict"] != "failed", row["verdict"], -row["seconds"]))
    print(f"\n{'seconds':>7}  verdict  test")
    for row in rows:
        print(f"{row['seconds']:7}  {row['verdict']:7}  {row['test']}")
    with open(os.path.join(build, "long.json"), "w", encoding="utf-8") as file:
        json.dump({"seed": seed, "seconds": round(time.time() - began), "tests": rows}, file, indent=1)
    counts = [sum(row["verdict"] == verdict for row in rows) for verdict in ("passed", "failed", "skipped")]
    print("{} passed, {} failed, {} skipped".format(*counts))
    return code


sys.exit(main())
