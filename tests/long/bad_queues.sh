#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A user who may attach asks for 64 queues over each of 128 connections, while a memory cgroup leaves informerd 128 MiB: it gets what its share
# is, and informerd lives; other users get theirs. Queues that are given up, or belong to one that is gone, give their memory back though
# their descriptors are kept; and what is kept counts for its user, so that nobody gets more by coming again and again.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 42 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/hogs.sh"
. "$(dirname "$0")/../support/small.sh"

limit=$((128 << 20))
! sanitized || limit=$((1 << 30)) # what it uses says nothing then
small_memory "$limit"
used() { cat "$G/memory.usage_in_bytes" 2>/dev/null || cat "$G/memory.current"; }

start_sim --nodes 5 --pods-per-node 20 --churn 1000
start_daemon --resource pods --allow-uid 54331 --allow-uid 54332 --allow-uid 54333
echo "$daemon_pid" >"$G/cgroup.procs"
wait_ready
alive() { kill -0 "$daemon_pid" 2>/dev/null || fail "informerd is gone; $(used) bytes are used"; }

start_hog 54331 128 64
alive
[ "$(hog_has queues)" -ge 64 ] && [ "$(hog_has queues_refused)" -ge 1000 ] || fail "$(cat "$hog_out")"
stat .queue_memory >"$T/memory"
jq -e --argjson limit "$limit" '.bytes > 1000000 and .bytes < .limit_bytes and .limit_bytes < $limit / 4 and .refused > 1000' "$T/memory" >/dev/null || fail "$(cat "$T/memory")"
"$T/informerctl" --socket "$S" stat | grep -q '^queues: .* of .*, [0-9]* refused' || fail "$("$T/informerctl" --socket "$S" stat)"
# every ring goes round, with what it has
turned() { [ "$(stat .seq)" -gt "$1" ]; }
until_true turned $(($(stat .seq) + 5000)) || fail "no more changes"
alive
hungry=$hog_pid

# honest ones get theirs
start_hog 54332 4 8
[ "$(hog_has queues)" = 32 ] && [ "$(hog_has queues_refused)" = 0 ] || fail "another user: $(cat "$hog_out")"
start_hog 0 4 8
[ "$(hog_has queues)" = 32 ] && [ "$(hog_has queues_refused)" = 0 ] || fail "root: $(cat "$hog_out")"

# memory that was given back can be had again, and nobody keeps it
kill -9 "$hungry"
wait "$hungry" 2>/dev/null || true
expect_stat '.readers | length' 8
start_hog 54331 16 64
alive
[ "$(hog_has queues)" -ge 64 ] || fail "$(cat "$hog_out")"
kill -9 "$hog_pid"
wait "$hog_pid" 2>/dev/null || true
expect_stat '.readers | length' 8

# who keeps what has ended gets no more in the end, and others get theirs
start_hog 54331 16 64 3
alive
[ "$(hog_has queues_refused)" -ge 64 ] || fail "$(cat "$hog_out")"
sanitized || [ "$(used)" -lt $((limit / 2)) ] || fail "$(used) bytes are used"
before=$(used)
start_hog 54333 1000 +
alive
[ "$(hog_has attached)" -le 112 ] || fail "$(cat "$hog_out")"
sanitized || [ $(($(used) - before)) -lt 2097152 ] || fail "$(($(used) - before)) bytes are kept"
as 54333 "$T/informerctl" --socket "$S" get pods >"$T/out" 2>&1 && fail "there is room for one that has kept all it may have"
grep -q 'of this user; its processes have [0-9]* descriptors of ended ones open; raise access.maxReaders' "$T/out" || fail "$(cat "$T/out")"
as 54332 "$T/informerctl" --socket "$S" get pods >/dev/null || fail "another user gets nothing"
"$T/informerctl" --socket "$S" get pods >/dev/null || fail "root gets nothing"
kill -9 "$hog_pid"
wait "$hog_pid" 2>/dev/null || true
for i in $(seq 40); do
	as 54333 "$T/informerctl" --socket "$S" get pods >/dev/null || fail "get $i of one that keeps nothing any more"
done
for pid in $hogs; do kill -9 "$pid" 2>/dev/null || true; done
expect_stat .queue_memory.bytes 0
expect_stat '.readers | length' 0
alive
"$T/informerctl" --socket "$S" verify >"$T/verify.log" 2>&1 || fail "$(cat "$T/verify.log")"
echo ok
