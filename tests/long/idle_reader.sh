#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A reader with handlers to which nothing happens makes no system call, though the daemon commits changes of other resources.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

command -v strace >/dev/null || { echo "SKIP: no strace"; exit 77; }
services=/api/v1/namespaces/default/services
service() { printf '{"apiVersion":"v1","kind":"Service","metadata":{"name":"%s","namespace":"default"},"spec":{"ports":[{"port":80}]}}' "$1"; }

start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods --resource services
wait_ready
INFORMER_SOCKET=$S "$B"/tests/idle_reader >"$T/reader.out" 2>"$T/reader.log" &
reader=$!
daemon_pid="$daemon_pid $reader"
until_true grep -q ^synced "$T/reader.out" || fail "the reader is not synced"
strace -f -p "$reader" -o "$T/calls.log" 2>"$T/strace.log" &
tracer=$!
until_true grep -qi 'attached\|not permitted' "$T/strace.log" || fail "strace"
grep -q attached "$T/strace.log" || { echo "SKIP: strace may not attach"; exit 77; }
until_true asleep "$reader" || fail "the reader does not rest"
n=$(stat '.resources[1].objects')
for i in 1 2 3; do
	service "idle-$i" | curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$services" >/dev/null
	expect_stat '.resources[1].objects' $((n + i))
	sleep 0.7 # not a condition, but the time in which nothing must happen
done
kill "$tracer"
wait "$tracer" 2>/dev/null || true
# what was under way when strace came is shown as it is resumed, or interrupted
calls=$(grep -vcE 'resuming interrupted|<unfinished|<detached|^[0-9]+ +(pause|futex|poll|epoll_wait|restart_syscall)\(.*$' "$T/calls.log" || true)
threads=$(find "/proc/$reader/task" -mindepth 1 -maxdepth 1 | wc -l)
lines=$(grep -c . "$T/calls.log" || true)
[ "$calls" = 0 ] && [ "$lines" -le "$threads" ] || { cat "$T/calls.log"; fail "an idle reader made system calls"; }
