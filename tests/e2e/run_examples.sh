#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# README's line with informer-run works as it stands. A handler that takes every line for an object's gets all objects just the same: the
# RESYNC is set aside, and no object.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/run.sh"
command -v python3 >/dev/null || { echo "SKIP: needs python3"; exit 77; }
start_sim --nodes 4 --pods-per-node 25
start_daemon --resource pods
wait_ready
present=$(curl -s "$url/api/v1/pods" | jq '.items | length')

# ---- README's line
line=$(sed -n 's/^    informer-run //p' README.md)
[ "$(wc -l <<<"$line")" = 1 ] || fail "README has other lines than the one: $line"
start_run --dead-letters "$T/dead" $line
until_true run_is dns processed "$present" || fail "README's line: processed $(run_stat dns processed) of $present"
until_true run_is dns state running || fail "README's line: $(run_stat dns state)"
told() { [ "$(grep -c '^RESYNC_END$' "$T/run.log")" = 4 ] && [ "$(grep -c '^ADDED ' "$T/run.log")" = "$present" ]; }
until_true told || fail "README's line: each worker is not told of the RESYNC, or not each pod is told"
curl -s "$url/api/v1/pods" | jq -r '.items[] | "ADDED \(.metadata.namespace)/\(.metadata.name) \(.status.podIP // "none")"' | LC_ALL=C sort >"$T/want"
grep '^ADDED ' "$T/run.log" | LC_ALL=C sort | cmp - "$T/want" || fail "README's line: other pods"
run_is dns restarts 0 || fail "README's line: it crashes $(run_stat dns restarts) times"
stop_run TERM
[ "$code" = 0 ] || fail "SIGTERM: exit $code"
[ ! -s "$T/dead" ] || fail "README's line: set aside: $(cat "$T/dead")"

# ---- a handler that takes each line for an object's
cat >"$T/naive.py" <<'PY'
import json, sys
for line in sys.stdin:
    event = json.loads(line)
    print(event["type"], event["object"]["metadata"]["name"], file=sys.stderr)
    print("ack", event["seq"], flush=True)
PY
: >"$T/run.log"
start_run --resource pods --consumer naive --workers 4 --dead-letters "$T/dead" -- python3 "$T/naive.py"
until_true run_is naive processed "$present" || fail "naive: processed $(run_stat naive processed) of $present"
until_true run_is naive state running || fail "naive: $(run_stat naive state)"
[ "$(jq -r .event.type "$T/dead")" = RESYNC ] || fail "naive: set aside: $(jq -c 'del(.event.object)' "$T/dead")"
grep -q 'RESYNC is set aside after' "$T/run.log" || fail "naive: what is set aside is not said"
grep -q 'answered nothing after RESYNC, which has no `object`' "$T/run.log" || fail "naive: the crash is not explained"
"$B"/informer-run status naive | grep -q '^naive crashed on RESYNC' || fail "naive: $("$B"/informer-run status naive)"
run_is naive deadLetters 1 || fail "naive: dead letters: $(run_stat naive deadLetters)"
stop_run TERM
[ "$code" = 0 ] || fail "naive, SIGTERM: exit $code"
echo ok
