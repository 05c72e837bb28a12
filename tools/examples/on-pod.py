#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
A handler for informer-run: prints each event of a Pod on standard error.

    informer-run --resource pods --consumer dns --workers 4 -- tools/examples/on-pod.py
"""
import json
import sys

for line in sys.stdin:
    event = json.loads(line)
    if "object" not in event:  # COALESCED, RESYNC and RESYNC_END need no answer
        sys.stderr.write(event["type"] + "\n")
        continue
    pod = event["object"]
    name = pod["metadata"]["namespace"] + "/" + pod["metadata"]["name"]
    sys.stderr.write(f"{event['type']} {name} {pod.get('status', {}).get('podIP', 'none')}\n")
    # last: informer-run sends an event again until it is acknowledged; flush: Python buffers a pipe
    print("ack", event["seq"], flush=True)
