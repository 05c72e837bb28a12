#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prometheus takes tools/monitoring: its promtool finds no fault in the alerts, in their tests, or in the text of /metrics, and each alert
# has a test in which it fires.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"

find_agent promtool prometheus
rules=tools/monitoring/informer.rules.yaml tested=tools/monitoring/informer.rules.test.yaml
"$agent" check rules "$rules" >"$T/promtool.log" 2>&1 || fail "$rules"
"$agent" test rules "$tested" >"$T/promtool.log" 2>&1 || fail "$tested"
for alert in $(sed -n 's/^ *- alert: //p' "$rules"); do
	grep -q "labels: 'ALERTS{alertname=\"$alert\",alertstate=\"firing\"" "$tested" || fail "no test has $alert fire"
done

start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods --metrics-address "unix:$T/metrics.sock"
wait_ready
start_open_gateway
curl -sf --unix-socket "$T/metrics.sock" http://informer/metrics >"$T/informerd.metrics" || fail "no metrics of informerd"
of_gateway /metrics >"$T/informer-gateway.metrics" || fail "no metrics of informer-gateway"
for program in informerd informer-gateway; do
	grep -q '^process_' "$T/$program.metrics" || fail "metrics of $program: $(cat "$T/$program.metrics")"
	"$agent" check metrics <"$T/$program.metrics" >"$T/promtool.log" 2>&1 || fail "promtool on the metrics of $program"
done
echo ok
