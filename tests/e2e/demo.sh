#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The demo does what it says, to its end: it fails by itself where a step does not show what it tells of. It leaves nothing behind; with
# KEEP=1 it leaves all running, each command that it then proposes shows something, and the last one clears up.
# Not upstream: it is informer-sim's.
# Takes 18 s.
set -eu
T=$(mktemp -d "${TMPDIR:-/tmp}/informer-e2e-XXXXXX")
done_with=
clean_up() {
	eval "$done_with" 2>/dev/null || true
	rm -rf "$T"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
	echo "FAILED: $*"
	cat "$T/out"
	exit 1
}
demo() { TMPDIR=$T sh tools/demo/demo.sh "${B:-build}" >"$T/out" 2>&1; }
nothing_stays() { [ -z "$(find "$T" -mindepth 1 -name 'informer-demo*')" ] || fail "files stay: $(find "$T")"; }

demo || fail "the demo ends with $?"
for step in 1 2 3 4 5 6 7 8 9 10; do
	grep -q "$step\. " "$T/out" || fail "step $step is missing"
done
grep -q '^ADDED\|^MODIFIED\|^DELETED' "$T/out" || fail "no event is shown"
grep -q 'before the kill 1, now 1' "$T/out" || fail "it does not tell of one list"
nothing_stays

code=0
KEEP=1 demo || code=$?
done_with=$(sed -n 's/^When done: //p' "$T/out")
[ "$code" = 0 ] && [ -n "$done_with" ] || fail "the demo with KEEP=1 ends with $code"
# what it proposes: commands, what the # says may be typed as well
sed -n '/Left running/,/^When done/s/^   //p' "$T/out" | sed 's/# or: /\n/; s/# then look at: /\n/; s/ *#.*//' >"$T/proposed"
grep -q '^export' "$T/proposed" && [ "$(wc -l <"$T/proposed")" -ge 8 ] || fail "too little is proposed"
tries=0
shows() { [ "$(timeout 20 bash -c "$1" 2>"$T/err" | head -n 2 | wc -l)" = 2 ]; }
while read -r line; do
	case $line in
	export\ *|kill\ *) eval "$line" ;;
	*)	# a watch goes on for ever, and what was killed may be some moments in dying
		until shows "$line"; do
			tries=$((tries + 1))
			[ "$tries" -lt 20 ] || fail "$line: shows nothing: $(cat "$T/err")"
			sleep 0.5
		done ;;
	esac
done <"$T/proposed"
eval "$done_with" 2>/dev/null || fail "$done_with: ends with $?"
done_with=
nothing_stays
echo "ok"
