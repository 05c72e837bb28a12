#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Small machines, defaults, 1,000 changes a second, and a reader that is stopped for good with a snapshot open: it is revoked when there is no
# room left, or none for a copy of the arena beside it, and nobody else notices. No new generation, no LIST, no WATCH; memory stays within the tmpfs. The stopped reader goes on where it
# was once it is continued, also when somebody has filled the tmpfs: no SIGBUS, its calls say EXPIRED, it is attached again by itself, its handler has missed nothing. The same where there is
# room, and holdBytes and holdSeconds are reached.
# Not upstream: it needs thousands of changes a second.
# Takes 106 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/small.sh"

small_tmpfs 40m
start_sim --nodes 50 --pods-per-node 20 --churn 1000 --history 1000000 # whoever starts slowly need not list

# ask PID FILE WORD: what a program prints at SIGUSR1, after a word
ask() {
	local lines
	lines=$(grep -c "^$3" "$2" || true)
	kill -USR1 "$1"
	answered() { [ "$(grep -c "^$3" "$2")" -gt "$lines" ]; }
	until_true answered "$@" || fail "no answer: $(cat "$2")"
	sed -n "s/^$3 \([0-9]*\).*/\1/p" "$2" | tail -n 1
}
watches() { curl -s "$url/sim/log" | grep -c '^WATCH' || true; }
seq_is_past() { [ "$(stat .seq)" -gt "$1" ]; }
told_past() { [ "$(ask "$honest" "$T/honest.log" EVENTS)" -gt 100 ]; }
on_server_now() { curl -s "$url/api/v1/pods" | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.resourceVersion)"' | LC_ALL=C sort; }

nothing_buried() { stat_is '.arena.buried_bytes' 0; }

# small_machine WHY FLAGS…
small_machine() {
	why=$1
	start_daemon --arena-dir "$A" --resource pods "${@:2}"
	wait_ready
	: >"$T/honest.log" >"$T/hold.log" # so that what those before said is not taken for their word
	"$B"/tests/event_lag "$S" run pods "" >"$T/honest.log" 2>&1 &
	honest=$!
	"$B"/tests/hold_snapshot "$S" >"$T/hold.log" 2>"$T/hold.err.log" &
	holder=$!
	until_true grep -q READY "$T/honest.log" || fail "no reader"
	until_true grep -q HELD "$T/hold.log" || fail "nobody holds a snapshot"
	kill -STOP "$holder"
	lists=$(lists pods) watches=$(watches) generation=$(stat .generation)
	ask "$honest" "$T/honest.log" EVENTS >/dev/null

	logged "reader hold_snapshot .* revoked: it held a snapshot for .* MiB waited for that$why" || fail "nobody is revoked: $(stat .arena)"
	ask "$honest" "$T/honest.log" EVENTS >/dev/null
	until_true told_past || fail "the other reader is told nothing"
	# as much again as the tmpfs holds
	until_true seq_is_past $(($(stat .seq) + 8000)) || fail "nothing changes any more: $(stat .trouble)"
	stat_is '.readers[] | select(.name == "hold_snapshot") | .revoked' true || fail "$(stat .readers)"
	stat_is '.revoked > 0' true || fail "$(stat .revoked) were revoked"
	stat_is '.generation' "$generation" || fail "another generation"
	stat_is '.arena.present_bytes <= .arena.limit_bytes' true || fail "$(stat .arena)"
	[ "$(lists pods)" = "$lists" ] || fail "$(lists pods) LISTs instead of $lists"
	[ "$(watches)" = "$watches" ] || fail "$(watches) WATCHes instead of $watches"
	! grep -q 'the arena is full (' "$T/daemon.log" || fail "changes had to wait"

	cat /dev/zero 2>/dev/null >"$A/full" || true
	kill -CONT "$holder"
	until_true grep -q REVOKED "$T/hold.log" || fail "$(cat "$T/hold.log" "$T/hold.err.log")"
	rm "$A/full"
	until_true grep -q BACK "$T/hold.log" || fail "it does not come back: $(cat "$T/hold.err.log")"
	grep -q 'refused this reader: revoked: it held a snapshot' "$T/hold.err.log" || fail "it was not told why"
	until_true nothing_buried || fail "$(stat .arena)"
	curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
	until_true churn_over || fail "churn goes on"
	on_server_now >"$T/server.txt"
	kill -TERM "$holder"
	wait "$holder" || fail "hold_snapshot: exit $?"
	grep / "$T/hold.log" | LC_ALL=C sort | cmp - "$T/server.txt" || fail "the handler was told otherwise"
	kill -9 "$honest"
	stop_daemon TERM
	[ "$code" = 0 ] || fail "exit code $code"
}

again() {
	curl -sf -X POST "$url/sim/churn?rate=1000" >/dev/null
	: >"$T/daemon.log"
	small_machine "$@"
}

# for want of room alone: on a busy machine the time could be up first
printf 'arena: {holdSeconds: 3600}\n' >"$T/config.yaml"
small_machine '; a restart would find no room to copy the arena$' --config "$T/config.yaml"
small_tmpfs 96m
again '; the arena is full$' --config "$T/config.yaml" --arena-max 40Mi
printf 'arena: {holdBytes: 2Mi, holdSeconds: 2}\n' >"$T/config.yaml"
again '$' --config "$T/config.yaml"

# One that is revoked when nothing changes any more: what it held back comes free all the same, bit by bit.
printf 'arena: {holdBytes: 1Mi, holdSeconds: 8}\n' >"$T/config.yaml"
start_daemon --resource pods --config "$T/config.yaml"
wait_ready
used=$(stat .arena.used_bytes)
: >"$T/hold.log"
"$B"/tests/hold_snapshot "$S" >"$T/hold.log" 2>"$T/hold.err.log" &
holder=$!
until_true grep -q HELD "$T/hold.log" || fail "nobody holds a snapshot"
kill -STOP "$holder"
curl -sf -X POST "$url/sim/churn?rate=20000&count=60000" >/dev/null
until_true churn_over || fail "churn goes on"
stat_is ".arena | .used_bytes + .buried_bytes > 5 * $used" true || fail "little is held back: $(stat .arena)"
until_true stat_is .revoked 1 || fail "nobody is revoked: $(stat .arena)"
until_true stat_is ".arena.used_bytes < 4 * $used" true || fail "$(stat .arena), at first $used"
kill -CONT "$holder"
until_true nothing_buried || fail "$(stat .arena)"
kill -9 "$holder"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
