#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A reader with handlers that have nothing to be told makes no system call in 10 s, while others' objects change: with threads of the library's
# own, and in an event loop. One that keeps up at 1,000 changes a second is told each of them, without COALESCED, and its queue never
# overflows. SECONDS_LONG (15) is for how long.
# Takes 26 s.
. "$(dirname "$0")/../support/script.sh"
long=${SECONDS_LONG:-15}
pids=
rv() { curl -s "$url/api/v1/pods?limit=1" | jq -r .metadata.resourceVersion; }
beyond() { [ "$(rv)" -gt "$1" ]; }

start_sim --nodes 10 --pods-per-node 30
start_daemon --resource pods --resource nodes --resource configmaps
wait_ready

# ---- idle: of another namespace, and of another resource
if ! strace -V >/dev/null 2>&1; then
	echo "SKIP: no strace: idle readers' system calls are not counted"
elif ! strace -o "$T/probe" true 2>/dev/null; then
	echo "SKIP: ptrace is not allowed here: idle readers' system calls are not counted"
else
	for how in "run pods quiet" "dispatch pods quiet" "run configmaps -" "dispatch configmaps -"; do
		set -- $how
		out="$T/idle.$1.$2"
		[ "$3" != - ] || set -- "$1" "$2" ""
		"$B"/tests/event_lag "$S" "$@" >"$out" 2>>"$T/idle.log" &
		pids="$pids $!"
		until_true grep -q READY "$out" || fail "event_lag $how does not start"
	done
	curl -s -X POST "$url/sim/churn?rate=200" >/dev/null
	until_true beyond "$(rv)" || fail "nothing changes"
	traced=
	for p in $pids; do
		strace -f -ttt -o "$T/trace.$p" -p "$p" 2>"$T/strace.$p" &
		traced="$traced $!"
	done
	for p in $pids; do until_true grep -q attached "$T/strace.$p" || fail "strace: $(cat "$T/strace.$p")"; done
	# being attached to ends a wait and begins it anew
	for p in $pids; do until_true asleep "$p" || fail "event_lag does not rest"; done
	before=$(rv) from=$(date +%s.%N)
	sleep 10 # not a condition, but the time in which nothing must happen
	until_true beyond $((before + 500)) || fail "hardly anything changed: $before to $(rv)"
	for p in $traced; do kill -INT "$p"; wait "$p" 2>/dev/null || true; done
	for p in $pids; do
		awk -v from="$from" '$2 ~ /^[0-9.]+$/ && $2 + 0 > from && !/<detached/ {print} ' "$T/trace.$p" >"$T/calls.$p"
		[ ! -s "$T/calls.$p" ] || fail "$(tr '\0' ' ' <"/proc/$p/cmdline"): $(wc -l <"$T/calls.$p") system calls: $(head -20 "$T/calls.$p")"
	done
	curl -s -X POST "$url/sim/churn?rate=0" >/dev/null
	kill -9 $pids
	pids=
fi

# ---- keeping up: as many events as a watch of the server's own has lines
lines() { grep -c '"type":"\(ADDED\|MODIFIED\|DELETED\)"' "$T/watched" || true; }
# rest: no more changes come, and informerd's readers have read the last one, which is ours
markers=0
rest() {
	until_true churn_over || fail "the churn does not end"
	markers=$((markers + 1))
	curl -sf -X POST -H 'Content-Type: application/json' "$url/api/v1/namespaces/default/pods" -d '{"apiVersion":"v1","kind":"Pod",
		"metadata":{"name":"marker-'$markers'"},"spec":{"containers":[{"name":"c","image":"i"}]}}' >/dev/null || fail "no marker"
	until_true "$B"/informerctl --socket "$S" get pod "marker-$markers" -n default || fail "informerd lags behind"
	until_true stat_is '[.readers[].queues[].unread] | add // 0' 0 || fail "not all is read: $(stat '[.readers[].queues[]]')"
	for p in $pids; do until_true asleep "$p" || fail "event_lag does not rest"; done
}
rest
for how in run dispatch; do
	: >"$T/keeps.$how"
	"$B"/tests/event_lag "$S" $how pods "" >"$T/keeps.$how" 2>>"$T/keeps.log" &
	pids="$pids $!"
	until_true grep -q READY "$T/keeps.$how" || fail "event_lag $how does not start"
done
begin=$(rv)
curl -sN "$url/api/v1/pods?watch=true&timeoutSeconds=600&resourceVersion=$begin" >"$T/watched" &
count_pid=$!
watched() { curl -s "$url/sim/log" | grep -q "^WATCH pods rv=$begin timeout=600 -> 200"; }
until_true watched || fail "the server is not watched: $(curl -s "$url/sim/log" | tail)"
curl -s -X POST "$url/sim/churn?rate=1000&count=$((long * 1000))" >/dev/null
started=$(date +%s%N)
until_true churn_over || fail "the churn does not end"
took=$((($(date +%s%N) - started) / 1000000))
rest
until_true grep -q "\"name\":\"marker-$markers\"" "$T/watched" || fail "the server's own watch lags behind"
for p in $pids; do kill -USR1 "$p"; done
for how in run dispatch; do
	until_true grep -q EVENTS "$T/keeps.$how" || fail "no report"
	set -- $(grep EVENTS "$T/keeps.$how")
	[ "$4" = 0 ] && [ "$6" = 0 ] || fail "$how: $* in $took ms"
	[ "$2" = "$(lines)" ] || fail "$how: $2 events, the server sent $(lines)"
	[ "$2" -ge $((long * 800)) ] || fail "$how: only $2 events"
done
[ "$(stat '[.readers[].queues[].overflows] | add')" = 0 ] || fail "overflows: $(stat '[.readers[].queues[]]')"
echo "ok: $2 events in $took ms"
