#!/usr/bin/env bash
# A history that has gone on without us (410) is listed again, and only differences are published; a server that is away is
# waited for, and what is known can be read meanwhile.
. "$(dirname "$0")/../support/daemon.sh"

start_sim --nodes 10 --pods-per-node 10 --history 20 --churn 200
start_daemon --resource pods
wait_ready
stop_daemon KILL
# more changes than the server's history holds
rv() { curl -s "$url/api/v1/pods?limit=1" | jq -r .metadata.resourceVersion; }
from=$(rv)
passed() { [ "$(rv)" -gt $((from + 200)) ]; }
until_true 30 passed || fail "no churn"
before=$(lists pods)
start_daemon --resource pods
until_true 20 grep -q 'listing again.*too old\|listing again.*Expired' "$T/daemon.log" || fail "no 410"
same() { [ "$(stat '.resources[0].watch_lists')" = 1 ] && [ "$(stat '.resources[0].objects')" = "$(on_server /api/v1/pods)" ]; }
until_true 20 same || fail "$(stat '.resources[0].objects') pods, the server has $(on_server /api/v1/pods)"
[ "$(lists pods)" -gt "$before" ] || fail "no LIST"

# the server goes away: what is known stays
stop_sim
n=$(stat '.resources[0].objects')
expect_stat '.resources[0].activity' backing-off
stat_is '.resources[0].state' synced || fail "not synced any more"
stat_is '.resources[0].objects' "$n" || fail "objects were lost"
stat '.resources[0].last_error' | grep -q 127.0.0.1 || fail "no word about the server: $(stat '.resources[0].last_error')"

told() { INFORMER_SOCKET=$S "$B"/informerctl stat | grep -q '^pods: WATCH failed: .*127.0.0.1.*; next try in [0-9.]* s$'; }
until_true 10 told || fail "$(INFORMER_SOCKET=$S "$B"/informerctl stat)"

# a daemon that starts while it is away publishes what it adopted, and waits
stop_daemon KILL
start_daemon --resource pods
until_true 20 grep -q 'discovery: .*trying again' "$T/daemon.log" || fail "no word about discovery"
stat_is '.resources[0].state' waiting || fail "state $(stat '.resources[0].state')"
stat '.trouble' | grep -q 127.0.0.1 || fail "no trouble: $(stat .trouble)"
! grep -q READY=1 "$notify_log" || fail "ready without a server"

# it comes back, at a lower RV than ours, as after a restore: 60 pods are the truth
start_sim --nodes 6 --pods-per-node 10 --start-rv 100000000
wait_ready
echo "ok"
