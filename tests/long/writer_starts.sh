#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A start never fails for want of memory that readers hold: informerd is killed and started ten times, each time beside readers that hold a
# snapshot. On a tmpfs that has room for two arenas and not for three nothing is listed anew; where there is no room for two, the log says what is
# missing, and all is listed. Each snapshot says what it said before, or EXPIRED, and all that was there is there again.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/small.sh"

PODS=2700 STARTS=10

ctl() { "$B"/informerctl --socket "$S" "$@"; }
start() { start_daemon --arena-dir "$A" --resource pods; wait_ready; }

# hold N: so many more readers hold a snapshot
held=0
hold() {
	local i
	for i in $(seq "$1"); do
		held=$((held + 1))
		"$B"/tests/hold_snapshot "$S" >"$T/hold.$held" 2>>"$T/hold.log" &
		holders="$holders $!"
		until_true grep -q "^HELD $PODS" "$T/hold.$held" || fail "reader $held holds nothing: $(cat "$T/hold.$held")"
	done
}

# starts_beside SIZE READERS LINE LISTS: each start logs the line; LISTS: 0 none lists
starts_beside() {
	local i before
	small_tmpfs "$1"
	: >"$T/daemon.log"
	holders= held=0
	start
	expect_stat '.resources[0].objects' "$PODS"
	before=$(lists pods)
	for i in $(seq "$STARTS"); do
		hold "$2"
		stop_daemon KILL
		start
		[ "$(grep -c "$3" "$T/daemon.log")" = "$i" ] || fail "start $i: no '$3'"
		[ "$(ctl get pods -A -o name | wc -l)" = "$PODS" ] || fail "start $i: not all is there"
		[ "$(find "$A" -type f | wc -l)" -le 2 ] || fail "start $i: $(ls -l "$A")"
	done
	ctl verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"
	more=$(($(lists pods) - before))
	[ $((more > 0)) = "$4" ] || fail "$more LISTs more"
	# all but those who read in the last two generations were revoked, and said EXPIRED and nothing else
	for i in $(seq $((held - 2 * $2))); do
		until_true grep -q '^REVOKED' "$T/hold.$i" || fail "reader $i: $(cat "$T/hold.$i" "$T/hold.log")"
	done
	! grep -q 'the held snapshot says' "$T/hold.log" || fail "$(cat "$T/hold.log")"
	for i in $holders; do kill -0 "$i" || fail "a reader ended"; done
	kill -9 $holders
	wait $holders 2>/dev/null || true
	stop_daemon KILL
}

start_sim --nodes 20 --pods-per-node $((PODS / 20))
starts_beside 7m 1 'there is room for [0-9]* KiB beside it: enlarge its tmpfs' 1
starts_beside 14m 2 'adopted the arena' 0
echo ok
