#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A reader that never ends its snapshot is named in the log, then left behind with the old generation: the daemon moves on without a LIST,
# and the snapshot still shows what it showed.
. "$(dirname "$0")/../support/daemon.sh"

start_sim --nodes 10 --pods-per-node 30 --churn 500
cat >"$T/config.yaml" <<END
arena: {holdBytes: 512Ki, holdSeconds: 1}
END
start_daemon --config "$T/config.yaml" --resource pods
wait_ready
before=$(lists pods)
timeout "$PATIENCE" "$B"/tests/hold_snapshot "$S" >"$T/hold.log" 2>&1 || fail "hold_snapshot: exit $?"
grep -q '^MOVED 1 to 2' "$T/hold.log" || fail "no move"
logged 'a reader has held a snapshot for' || fail "nobody was told"
wait_ready
[ "$(lists pods)" = "$before" ] || fail "$(lists pods) LISTs instead of $before"
alone() { [ "$(find "$T" -type f -name 'informer*.[0-9]*' | wc -l)" = 1 ]; }
until_true alone || fail "$(ls "$T")"
echo ok
