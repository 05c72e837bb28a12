#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A history that has gone on without us (410) is listed again, and only differences are published; a server that is away is
# waited for, and what is known can be read meanwhile.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 10 --pods-per-node 10
start_daemon --resource pods
wait_ready
stop_daemon KILL
curl -sf -X POST "$url/sim/churn?rate=1000&count=300" >/dev/null || fail "no churn"
until_true churn_over || fail "the churn does not end: $(curl -s "$url/sim/stats")"
forget_history
before=$(lists pods)
start_daemon --resource pods
until_true grep -q 'listing again.*too old\|listing again.*Expired' "$T/daemon.log" || fail "no 410"
expect_stat '.resources[0] | .lists + .watch_lists' 1
expect_stat '.resources[0].objects' "$(on_server /api/v1/pods)"
[ "$(lists pods)" -gt "$before" ] || fail "no LIST"

# the server goes away: what is known stays
stop_sim
n=$(stat '.resources[0].objects')
expect_stat '.resources[0].activity' backing-off
stat_is '.resources[0].state' synced || fail "not synced any more"
stat_is '.resources[0].objects' "$n" || fail "objects were lost"
says_where() { stat '.resources[0].last_error' | grep -q 127.0.0.1; }
until_true says_where || fail "no word about the server: $(stat '.resources[0].last_error')"

told() { INFORMER_SOCKET=$S "$B"/informerctl stat | grep -q '^pods: WATCH failed: .*127.0.0.1.*; next try in [0-9.]* s$'; }
until_true told || fail "$(INFORMER_SOCKET=$S "$B"/informerctl stat)"

# a daemon that starts while it is away publishes what it adopted, and waits
stop_daemon KILL
start_daemon --resource pods
until_true grep -q 'trying again' "$T/daemon.log" || fail "no word about discovery"
expect_stat '.resources[0].state' waiting
is_trouble() { stat .trouble | grep -q 127.0.0.1; }
until_true is_trouble || fail "no trouble: $(stat .trouble)"
! grep -q READY=1 "$notify_log" || fail "ready without a server"

# another one comes in its place, whose history begins behind ours: its 60 pods are the truth
start_sim --nodes 6 --pods-per-node 10 --start-rv 5000
wait_ready
expect_stat '.resources[0].objects' 60
echo "ok"
