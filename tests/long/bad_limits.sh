#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits of the process: with too few descriptors or too little address space informerd says what is missing, and ends or goes on; a reader
# that comes when descriptors have run out is told so.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 9 s.
. "$(dirname "$0")/../support/script.sh"

ended() { ! kill -0 "$daemon_pid" 2>/dev/null; }
# libcurl has one word for all sockets that it cannot make
complains() { grep -qi "too many open files\|Couldn't connect to server" "$T/daemon.log"; }
is_ready() { grep -q ' ready: ' "$T/daemon.log"; }
is_decided() { is_ready || ended || complains; }
# run_limited ULIMIT-ARGUMENTS: starts it under that; $code is its exit code, or ready, or waiting
run_limited() {
	: >"$T/daemon.log"
	printf '#!/bin/bash\nulimit %s\nexec "%s" "$@"\n' "$*" "$(realpath "$B/informerd")" >"$T/limited"
	chmod +x "$T/limited"
	INFORMERD=$T/limited start_daemon --resource pods
	until_true is_decided || fail "with ulimit $* it says nothing: $(cat "$T/daemon.log")"
	code=waiting
	if is_ready; then
		code=ready
	elif ! grep -q ', socket ' "$T/daemon.log"; then
		# it does not come as far as that: it ends
		code=0
		wait "$daemon_pid" 2>/dev/null || code=$?
		daemon_pid=
	fi
}
descriptors() { find "/proc/$daemon_pid/fd" -mindepth 1 | wc -l; }
no_readers() { [ "$(stat '.readers | length')" = 0 ]; }

start_sim --nodes 1 --pods-per-node 5

# address space
if ! sanitized; then
	run_limited -v 500000
	[ "$code" = 1 ] || fail "without address space: exit ${code:-none}"
	grep -q 'ulimit -v.*--arena-max' "$T/daemon.log" || fail "it does not say what to do: $(cat "$T/daemon.log")"
fi

# descriptors, from too few to begin, over too few to reach the server, to enough
for n in $(seq 4 60); do
	run_limited -n "$n"
	[ "$code" != ready ] || break
	complains || fail "with $n descriptors it says only: $(cat "$T/daemon.log")"
	if [ "$code" = waiting ]; then
		stop_daemon TERM
		[ "$code" = 0 ] || fail "with $n descriptors: exit $code at the end"
	else
		[ "$code" = 1 ] || fail "with $n descriptors: exit $code: $(cat "$T/daemon.log")"
	fi
done
[ "$code" = ready ] || fail "60 descriptors are not enough: $(cat "$T/daemon.log")"
stop_daemon TERM
[ "$code" = 0 ] || fail "the end: $code"

# the soft limit is no limit
run_limited -Sn 50
limits=$(awk '/^Max open files/ {print $4, $5}' "/proc/$daemon_pid/limits")
[ "${limits% *}" = "${limits#* }" ] || fail "soft and hard limit: $limits"

# and at the hard one readers are told
until_true no_readers || fail "who reads?"
used=$(descriptors)
# what a reader had, which is looked at each second; the arena's, for readers, stays
given_back() { [ "$(descriptors)" -le $((used + 1)) ]; }
told=0 served=
for more in $(seq 1 12); do
	prlimit --pid "$daemon_pid" "--nofile=$((used + more)):${limits#* }"
	if "$B"/informerctl --socket "$S" get pods -A >"$T/got" 2>"$T/said"; then
		served=$more
		break
	fi
	grep -qi 'too many open files' "$T/said" || fail "with $more descriptors: $(cat "$T/said")"
	told=$((told + 1))
	until_true no_readers || fail "who reads?"
	until_true given_back || fail "$(descriptors) descriptors, $used before there were readers"
done
[ "$told" -gt 0 ] || fail "nobody was told"
[ -n "$served" ] || fail "12 descriptors more are not enough: $(cat "$T/said")"
