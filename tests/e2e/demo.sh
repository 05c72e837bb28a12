#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/demo/demo.sh runs to its end and shows all its steps; it fails by itself where a step does not show what it says. It leaves nothing behind.
# With KEEP=1 it leaves all running, each command that it then proposes shows something, and the last command clears up.
# The agent prints ten lines a second instead of one, and the two demos run beside each other.
# Not upstream: it is informer-sim's.
# Takes 9 s.
set -eu
T=$(mktemp -d "${TMPDIR:-/tmp}/informer-e2e-XXXXXX")
mkdir "$T/plain" "$T/keep"
done_with= ended=
clean_up() {
	trap "" INT TERM
	# a demo that is told to end clears up
	kill $(jobs -p) 2>/dev/null || true
	wait || true
	[ -n "$ended" ] || { proposed_end; eval "$done_with" 2>/dev/null || true; }
	rm -rf "$T"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
	echo "FAILED: $*"
	cat "$T"/*.out
	exit 1
}
# demo NAME: its files are in $T/NAME, what it prints in $T/NAME.out
demo() { TMPDIR=$T/$1 AGENT_MS=100 exec sh tools/demo/demo.sh "${B:-build}" >"$T/$1.out" 2>&1; }
proposed_end() { done_with=$(sed -n 's/^When done: //p' "$T/keep.out"); }
nothing_stays() { # NAME
	[ -z "$(ls -A "$T/$1")" ] || fail "files stay: $(find "$T/$1")"
}

(demo plain) &
plain=$!
(KEEP=1 demo keep) &
keep=$!
wait "$plain" || fail "the demo ends with $?"
for step in 1 2 3 4 5 6 7 8 9 10; do
	grep -q "$step\. " "$T/plain.out" || fail "step $step is missing"
done
grep -q '^ *\(ADDED\|MODIFIED\|DELETED\) ' "$T/plain.out" || fail "no event is shown"
grep -q 'before the kill 1, now 1' "$T/plain.out" || fail "it does not tell of one list"
nothing_stays plain

code=0
wait "$keep" || code=$?
proposed_end
[ "$code" = 0 ] && [ -n "$done_with" ] || fail "the demo with KEEP=1 ends with $code"
# what it proposes: commands, what the # says may be typed as well
sed -n '/Left running/,/^When done/s/^   //p' "$T/keep.out" | sed 's/# or: /\n/; s/# then look at: /\n/; s/ *#.*//' >"$T/proposed"
grep -q '^export' "$T/proposed" && [ "$(wc -l <"$T/proposed")" -ge 8 ] || fail "too little is proposed"
shows() { [ "$(timeout 120 bash -c "$1" 2>"$T/err" | head -n 2 | wc -l)" = 2 ]; }
while read -r line; do
	case $line in
	export\ *|kill\ *) eval "$line" ;;
	*)	deadline=$((SECONDS + 300))
		# a watch goes on for ever, and what was killed may be some moments in dying
		until shows "$line"; do
			[ "$SECONDS" -lt "$deadline" ] || fail "$line: shows nothing: $(cat "$T/err")"
			sleep 0.05
		done ;;
	esac
done <"$T/proposed"
eval "$done_with" 2>/dev/null || fail "$done_with: ends with $?"
ended=yes
nothing_stays keep
echo "ok"
