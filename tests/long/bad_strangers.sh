#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Idle connections of users who may not attach, many of many users, lock nobody out: they are refused at once, in words, which the log has
# now and then, and report and metrics count them. Nor do idle connections of users who may attach.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/hogs.sh"

M=$T/metrics.sock
start_sim --nodes 2 --pods-per-node 10
start_daemon --resource pods --metrics-address "unix:$M" --allow-uid 54340 --allow-uid 54341 --allow-uid 54342 --allow-uid 54343
wait_ready
pods=$(on_server /api/v1/pods)
gets() { # UID N: all of so many succeed
	for i in $(seq "$2"); do
		[ "$(as "$1" "$T/informerctl" --socket "$S" get pods -A -o name 2>"$T/ctl.log" | wc -l)" = "$pods" ] || fail "get $i of user $1: $(cat "$T/ctl.log")"
	done
}

for uid in 54331 54332 54333 54334; do
	start_hog "$uid" 17 -
done
gets 0 20
gets 54340 5
stat_is .connections.denied 68 || fail "$(stat .connections)"
[ "$(curl -s --unix-socket "$M" http://informer/metrics | awk '$1 == "informer_readers_denied_total" {print $2}')" = 68 ] || fail "no metric"
"$T/informerctl" --socket "$S" stat | grep -q '68 connections of users who may not attach' || fail "$("$T/informerctl" --socket "$S" stat)"
grep -q 'uid 54331) refused: user 54331 may not attach: allow it with --allow-uid 54331' "$T/daemon.log" || fail "no word in the log"
[ "$(grep -c 'may not attach' "$T/daemon.log")" -le $((20 * (SECONDS / 10 + 2))) ] || fail "$(grep -c 'may not attach' "$T/daemon.log") lines in the log"
as 54331 "$T/informerctl" --socket "$S" get pods >"$T/out" 2>&1 && fail "a stranger reads"
grep -q 'user 54331 may not attach: .* --allow-uid 54331 or access.uids, .* --allow-gid or access.gids' "$T/out" || fail "a stranger is not told: $(cat "$T/out")"

for uid in 54340 54341 54342 54343; do
	start_hog "$uid" 17 -
	start_hog "$uid" 64 -
done
gets 0 20
gets 54340 5

# thousands, of both kinds
start_hog 54331 3000 -
start_hog 54340 3000 -
gets 0 20
gets 54341 5
until_true stat_is '.connections.pending <= 64 and .connections.denied >= 3068' true || fail "$(stat .connections)"
for pid in $hogs; do kill -9 "$pid" 2>/dev/null || true; done
expect_stat .connections.pending 1 # who asks
echo ok
