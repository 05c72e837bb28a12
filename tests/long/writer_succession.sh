#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who holds the lock and is about to end is waited for, and then the start goes on as any other; who lives and serves is named at once, and so
# is, after a while, who says nothing. Nothing is touched before the lock is ours.
# Takes 27 s.
. "$(dirname "$0")/../support/script.sh"

# hold PROGRAM ARGUMENTS...: start it, and wait until it says that it is in its place
hold() {
	: >"$T/holder.out" # so that what the one before said is not taken for its word
	"$B/tests/$1" "${@:2}" >"$T/holder.out" 2>>"$T/holder.log" &
	holder_pid=$!
	until_true grep -q 'HOLDING\|READY' "$T/holder.out" || fail "$1 does not start"
}
let_go() {
	kill -9 "$holder_pid"
	wait "$holder_pid" 2>/dev/null || true
	holder_pid=
}
# refused PATTERN FLAGS...: informerd does not start, and says why
refused() {
	code=0
	timeout "$PATIENCE" "$B"/informerd --socket "$S" --arena-dir "$T" --kubeconfig "$T/kubeconfig" --resource pods "${@:2}" \
		2>"$T/refused.out" || code=$?
	[ "$code" = 1 ] || fail "exit code $code, not 1: $(cat "$T/refused.out")"
	grep -q -- "$1" "$T/refused.out" || fail "no '$1' in: $(cat "$T/refused.out")"
}

start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods
wait_ready
before=$(lists pods)

# one that lives and serves
refused "another informerd (pid $daemon_pid).*serves this socket.*--takeover"

# killed, and not gone yet
killed=$daemon_pid
hold hold_exit "$killed"
kill -9 "$killed"
until_true grep -q ENDING "$T/holder.out" || fail "it is gone at once"
start_daemon --resource pods
logged "waiting for informerd (pid $killed), which is ending" || fail "no word about it"
kill -0 "$daemon_pid" || fail "it did not wait"
let_go
wait "$killed" 2>/dev/null || true
wait_ready
stat_is .resources[0].objects 10 || fail "$(stat .)"
[ "$(lists pods)" = "$before" ] || fail "another LIST"

# it ends in good order, and has not let go of the lock yet
stop_daemon TERM
hold lock_holder "$S" closed
start_daemon --resource pods
logged "waiting for informerd (pid $holder_pid), which does not serve" || fail "no word about it"
kill -0 "$daemon_pid" || fail "it did not wait"
let_go
wait_ready
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"

# who is told to end while it waits ends
hold lock_holder "$S" closed
start_daemon --resource pods
logged "waiting for informerd (pid $holder_pid), which does not serve" || fail "no word about it"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"

# nobody answers, for good
let_go
hold lock_holder "$S" silent
refused "informerd (pid $holder_pid) holds .*s.sock.lock and does not answer"
[ -S "$S" ] || fail "the socket was touched"
refused "informerd (pid $holder_pid) holds .*s.sock.lock and does not answer" --takeover
[ -S "$S" ] || fail "the socket was touched"
let_go

# one that knows nothing of takeovers lives, all the same
hold lock_holder "$S" old
refused "another informerd (pid $holder_pid).*serves this socket"
refused "informerd (pid $holder_pid) cannot hand over (no such message): stop it first" --takeover
let_go

# one that is asked to hand over, and dies of it
for how in dies gone; do
	hold lock_holder "$S" "$how"
	start_daemon --resource pods --takeover
	wait_ready
	wait "$holder_pid" 2>/dev/null || true
	holder_pid=
	stat_is .resources[0].objects 10 || fail "$how: $(stat .)"
	stop_daemon TERM
	[ "$code" = 0 ] || fail "$how: exit code $code"
	[ ! -e "$S" ] || fail "$how: the socket is left"
done
hold lock_holder "$S" wrong
refused "informerd 0.0.1 (pid $holder_pid) handed over something else" --takeover
let_go

start_daemon --resource pods --takeover
wait_ready
[ "$(lists pods)" = "$before" ] || fail "another LIST"
echo ok
