#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each counter of informerd and informer-gateway is there from the start, at 0: no event that can be expected brings a new series, which
# increase() would miss. Alerts and dashboard (tools/monitoring) ask for metrics and labels that the two programs have.
# Not upstream: the faults are informer-sim's.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

M=$T/metrics.sock
of_daemon() { curl -s --max-time 20 --unix-socket "$M" http://informer/metrics; }
figure() { of_daemon | awk -v s="$1" 'index($0, s " ") == 1 {print $NF}'; }
above() { awk -v v="$("$1" "$2")" -v min="$3" 'BEGIN {exit !(v + 0 > min)}'; }
rises() { until_true above "$1" "$2" "${3:-0}" || fail "$2 stays at $("$1" "$2")"; }
# counters TEXT: the series of counters and histograms, with their labels
counters() {
	awk '/^# TYPE/ {counts = $4 != "gauge"; next} /^#/ {next} counts {sub(/ [^ ]*$/, ""); print}' "$1" | sort
}
faults() { curl -sf -o /dev/null -X POST "$url/sim/faults" --data-binary "$1" || fail "faults are not taken: $1"; }
take() { of_daemon >"$T/daemon.$1" && of_gateway /metrics >"$T/gateway.$1" || fail "no metrics"; }

start_sim --nodes 2 --pods-per-node 5
printf 'resources: [pods, services, "configmaps?namespace=kube-system"]\nmetricsAddress: unix:%s\n' "$M" >"$T/config.yaml"
start_daemon --config "$T/config.yaml"
wait_ready
start_open_gateway
until_true of_gateway /api/v1/services || fail "services are not served"
take start
for program in daemon gateway; do
	counters "$T/$program.start" >"$T/$program.series"
	[ "$(wc -l <"$T/$program.series")" -gt 20 ] || fail "hardly any counters of the $program"
done

# ---- informerd: changes, a reader, lists for two reasons, refusals, an API server that goes, a refused reload
INFORMER_SOCKET=$S "$B"/informerctl get pods -A -w >"$T/watch.out" 2>&1 &
rises figure 'informer_readers{name="informerctl"}'
pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null || fail "$pod is not deleted"
faults 'when LIST pods then 403 once
when WATCHLIST pods then 403 once
when WATCH pods idle then 410 once'
rises figure 'informer_relists_total{resource="pods",reason="expired"}'
rises figure 'informer_relists_total{resource="pods",reason="refused"}'
rises figure "rest_client_requests_total{code=\"403\",method=\"GET\",host=\"127.0.0.1:$sim_port\"}"
printf 'resources: [pods, services, "configmaps?namespace=kube-system"]\nmetricsAddress: unix:%s\nunknown: 1\n' "$M" >"$T/config.yaml"
kill -HUP "$daemon_pid"
rises figure 'informer_config_reloads_total{result="failure"}'
stop_sim
rises figure 'informer_failures_total{resource="services"}'
rises figure "rest_client_requests_total{code=\"<error>\",method=\"GET\",host=\"127.0.0.1:$sim_port\"}"

# ---- informer-gateway: reads and refusals
of_gateway '/api/v1/pods?limit=2' >"$T/list" || fail "no list"
of_gateway "/api/v1/namespaces/$(jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"' "$T/list")" >"$T/pod" || fail "no pod"
curl -s -N "$gateway_url/api/v1/pods?watch=1" >"$T/gateway.watch" &
rises metric informer_gateway_watches
curl -s -X POST "$gateway_url/api/v1/namespaces/default/pods" -d '{}' >/dev/null
curl -s "$gateway_url/api/v1/secrets" >/dev/null
rises metric 'informer_gateway_reads_total{verb="get"}'
take traffic

for program in daemon gateway; do
	counters "$T/$program.traffic" | diff "$T/$program.series" - >"$T/diff" || fail "counters of the $program come or go with events: $(cat "$T/diff")"
done

# ---- alerts and dashboard
command -v python3 >/dev/null || { echo "SKIP: needs python3 for alerts and dashboard"; exit 77; }
python3 tests/support/monitoring_names.py "$T/daemon.traffic" "$T/gateway.traffic" || fail "tools/monitoring asks for what is not there"
echo ok
