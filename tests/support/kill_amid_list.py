#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill_amid_list.py PID DIR: kill informerd (-9) as soon as its arena in DIR shows objects of a first list that is not whole yet

Looks as LAYOUT.md says, without being a reader that informerd would know of. Fails when the list is whole before.
"""
import glob
import os
import signal
import struct
import sys
import time

LIVE, LISTING = 1, 1


def number(file, at, size):
    return int.from_bytes(os.pread(file, size, at), "little")


def first_resource(path):
    """Its state and how many objects it has; None while there is none."""
    file = os.open(path, os.O_RDONLY)
    try:
        if number(file, 384, 4) != LIVE or not (root := number(file, 256, 8)):
            return None
        root += 16
        if not number(file, root + 80, 4) or not (ref := number(file, root + 96, 4)):
            return None
        return struct.unpack("<IQ", os.pread(file, 12, ref * 16 + 16 + 4))
    finally:
        os.close(file)


pid, directory = int(sys.argv[1]), sys.argv[2]
while True:
    os.kill(pid, 0)
    for path in glob.glob(directory + "/informer*.[0-9]*"):
        found = first_resource(path)
        if found and found[1] > 0:
            os.kill(pid, signal.SIGKILL)
            sys.exit(found[0] != LISTING)
    time.sleep(0.0005)
