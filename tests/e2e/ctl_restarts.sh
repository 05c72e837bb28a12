#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who attaches anew while informerd ends and starts again and again, by kill -9, SIGTERM, SIGHUP and with a standby, always finds what is
# published: every informerctl get answers whole. TRIES of them (4000 by hand).
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
: "${TRIES:=400}"
export INFORMER_SOCKET=$S

start_sim --nodes 4 --pods-per-node 25
start_daemon --resource pods
wait_ready
total=$(on_server /api/v1/pods)
pods=$("$B"/informerctl get pods -A -o name | wc -l)
[ "$pods" = "$total" ] || fail "$pods pods of $total before anything happened"

get_on() {
	local i n
	for i in $(seq $((TRIES / 2))); do
		n=$("$B"/informerctl get pods -A -o name 2>"$T/err.$1" | wc -l)
		[ "$n" = "$total" ] || { echo "try $i: $n pods: $(cat "$T/err.$1")"; } >>"$T/missed.$1"
	done
	touch "$T/done.$1"
}
for reader in 1 2; do
	get_on "$reader" &
done
done_all() { [ -e "$T/done.1" ] && [ -e "$T/done.2" ]; }
restarts=0
restart() {
	stop_daemon "$1"
	start_daemon --resource pods
	restarts=$((restarts + 1))
}
while ! done_all; do
	restart KILL
	wait_ready
	before=$daemon_pid
	start_daemon --standby --resource pods
	wait_ready
	kill "$before"
	wait "$before" || fail "the one before ends with $?"
	restart TERM
	wait_ready
	kill -HUP "$daemon_pid"
	# killed in its first steps, after a time that is another each round
	restart KILL
	sleep "0.$(printf %03d $((restarts * 7 % 100)))"
	restart KILL
	wait_ready
done
cat "$T"/missed.* >"$T/missed" 2>/dev/null || true
[ ! -s "$T/missed" ] || fail "$(wc -l <"$T/missed") of $TRIES in $restarts restarts: $(head -n 5 "$T/missed")"
echo "ok: $TRIES attached beside $restarts restarts"
