#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Killed at any moment of its start (the first LIST, the adoption, the making of key, lock, socket and arena), informerd leaves nothing
# behind that the next one does not clear away: in the end one arena file, and content that is whole. SIGTERM leaves an arena that says so.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"

A=$T/arena
mkdir "$A" "$T/run"
S=$T/run/s.sock
files() { ls "$T/run" "$A" | tr '\n' ' '; }
start() { start_daemon --arena-dir "$A" --resource pods --resource services; }
same() { [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ]; }

# kill_early TIMES: starts it and kills it within the time that it takes to be ready here
kill_early() {
	for i in $(seq "$1"); do
		NOTIFY_SOCKET='' "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$S" --arena-dir "$A" --resource pods --resource services ${WIRE:+--wire "$WIRE"} \
			2>>"$T/daemon.log" &
		daemon_pid=$!
		sleep "$(printf '0.%03d' $((RANDOM % ready_ms)))"
		stop_daemon KILL
		# at most: one half made, one made and not yet alone, and the one before that
		[ "$(ls "$A" | wc -l)" -le 3 ] || fail "after $i kills: $(files)"
	done 2>>"$T/shell.log"
}

start_sim --nodes 30 --pods-per-node 30 --churn 100
begin=$(date +%s%N)
start
wait_ready
ready_ms=$((($(date +%s%N) - begin) / 1000000))
[ $ready_ms -le 999 ] || ready_ms=999
stop_daemon KILL
rm -f "$A"/* "$T"/run/*
: >"$T/daemon.log"
kill_early 40
grep -q 'new arena' "$T/daemon.log" || fail "no daemon came as far as to make an arena"
start
wait_ready
until_true same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods)"
[ "$(ls "$A" | wc -l)" = 1 ] || fail "$(files)"

# the same while it adopts
stop_daemon KILL
before=$(lists pods)
kill_early 40
start
wait_ready
[ "$(lists pods)" = "$before" ] || fail "$(lists pods) LISTs instead of $before though the RV was known"
until_true same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods)"
[ "$(ls "$A" | wc -l)" = 1 ] || fail "$(files)"
[ "$(ls "$T/run" | tr '\n' ' ')" = 's.sock s.sock.key s.sock.lock ' ] || fail "$(files)"
! grep -q 'cannot be used\|damaged\|set aside' "$T/daemon.log" || fail "an arena was damaged"
"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"

# the state word of the header (LAYOUT.md): 1 is live, 2 stale
state() { od -An -tu4 -j384 -N4 "$A"/* | tr -d ' '; }
[ "$(state)" = 1 ] || fail "state $(state) of a running daemon"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
[ "$(state)" = 2 ] || fail "state $(state) after SIGTERM"
[ "$(ls "$T/run" | tr '\n' ' ')" = 's.sock.key s.sock.lock ' ] || fail "$(files)"
echo ok
