#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo does what it says, to its end: it fails by itself where a step does not show what it tells of. It leaves nothing behind.
set -eu
T=$(mktemp -d "${TMPDIR:-/tmp}/informer-e2e-XXXXXX")
trap 'rm -rf "$T"' EXIT

fail() {
	echo "FAILED: $*"
	cat "$T/out"
	exit 1
}

TMPDIR=$T sh tools/demo/demo.sh "${B:-build}" >"$T/out" 2>&1 || fail "the demo ends with $?"
for step in 1 2 3 4 5 6 7 8 9 10; do
	grep -q "$step\. " "$T/out" || fail "step $step is missing"
done
grep -q '^ADDED\|^MODIFIED\|^DELETED' "$T/out" || fail "no event is shown"
grep -q 'before the kill 1, now 1' "$T/out" || fail "it does not tell of one list"
[ -z "$(find "$T" -mindepth 1 -name 'informer-demo*')" ] || fail "files stay: $(find "$T")"
echo "ok"
