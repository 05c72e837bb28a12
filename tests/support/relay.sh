# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests of relays, behind script.sh: relays (an informerd and a gateway each) behind one Service, and informerds of
# nodes that have the Service as their API server, as agents would.

# front NAME [PORT]: hands on to the ports in $T/NAME.ports; sets front_pid, front_port
front() {
	: >"$T/$1.out"
	python3 "$(dirname "${BASH_SOURCE[0]}")/service.py" "$T/$1.ports" ${2:+"$2"} >"$T/$1.out" 2>>"$T/$1.log" &
	front_pid=$!
	until_true grep -q ^READY "$T/$1.out" || fail "no Service $1"
	front_port=$(sed -n 's/^READY //p' "$T/$1.out")
}
# start_service: sets service_url, the relays' Service
start_service() {
	: >"$T/relays.ports"
	front relays
	service_url=http://127.0.0.1:$front_port
	printf '%s\n' 'apiVersion: v1' 'kind: Config' 'current-context: r' 'contexts: [{name: r, context: {cluster: r, user: r}}]' \
		"clusters: [{name: r, cluster: {server: '$service_url'}}]" 'users: [{name: r, user: {}}]' >"$T/kubeconfig.service"
}
# start_api FLAGS...: the API server, and the way that relays take to it, which api_away closes and api_back opens again
start_api() {
	start_sim "$@"
	echo "$sim_port" >"$T/api.ports"
	front api
	api_pid=$front_pid api_port=$front_port
	sed "s|\(server: .*\):[0-9]*|\1:$api_port|" "$T/kubeconfig" >"$T/kubeconfig.api"
}
api_away() {
	kill -9 "$api_pid"
	wait "$api_pid" 2>/dev/null || true
}
api_back() {
	front api "$api_port"
	api_pid=$front_pid
}

# of each relay by its name: pids of its two processes, the gateway's URL
declare -A relay_daemon relay_gateway relay_url
relay_socket() { echo "$T/$1/s.sock"; }

# start_relay_daemon NAME: its informerd, begun or begun again
start_relay_daemon() {
	mkdir -p "$T/$1"
	"$B"/informerd --kubeconfig "$T/kubeconfig.api" --socket "$(relay_socket "$1")" --arena-dir "$T/$1" --resource pods --resource nodes ${WIRE:+--wire "$WIRE"} \
		2>>"$T/relay-$1.log" &
	relay_daemon[$1]=$!
}
# start_relay_gateway NAME FLAGS...: its gateway, another port each time; ready when it returns
start_relay_gateway() {
	local name=$1
	shift
	: >"$T/relay-$name.gateway.log"
	"$B"/informer-gateway --socket "$(relay_socket "$name")" --kubeconfig "$T/kubeconfig.api" --listen 127.0.0.1:0 --insecure-loopback --allow '*' \
		--allow /metrics --allow /relay "$@" 2>>"$T/relay-$name.gateway.log" &
	relay_gateway[$name]=$!
	until_true grep -q 'listening at ' "$T/relay-$name.gateway.log" || fail "the gateway of relay $name does not listen"
	relay_url[$name]=$(sed -n 's/.*listening at \([^ ]*\) .*/\1/p' "$T/relay-$name.gateway.log" | head -n 1)
	until_true curl -sf "${relay_url[$name]}/readyz" || fail "relay $name is not ready: $(curl -s "${relay_url[$name]}/readyz")"
}
kill_relay() { # NAME gateway|daemon|both
	local of=
	[ "$2" = daemon ] || of+=" ${relay_gateway[$1]}"
	[ "$2" = gateway ] || of+=" ${relay_daemon[$1]}"
	kill -9 $of
	wait $of 2>/dev/null || true
}
# serve_relays NAME...: those behind the Service from now on
serve_relays() {
	local name
	for name in "$@"; do echo "${relay_url[$name]##*:}"; done >"$T/relays.new"
	mv "$T/relays.new" "$T/relays.ports"
}
# relay_metric NAME SAMPLE
relay_metric() { curl -sf "${relay_url[$1]}/metrics" | awk -v name="$2" '$1 == name {print $2}'; }
# relay_listed NAME: LISTs at the API server by its informerd, WatchLists too
relay_listed() { "$B"/tests/stat_query "$(relay_socket "$1")" | jq '[.resources[] | .lists + .watch_lists] | add'; }

# start_nodes COUNT: node0 ... each an informerd with its own pods and all nodes; names of nodes are $T/nodes
start_nodes() {
	local i=0 node
	node_count=$1
	curl -s "$url/api/v1/nodes" | jq -r '.items[].metadata.name' | head -n "$1" >"$T/nodes"
	while read -r node; do
		mkdir -p "$T/n$i"
		"$B"/informerd --kubeconfig "$T/kubeconfig.service" --socket "$T/n$i/s" --arena-dir "$T/n$i" --resource "pods?fieldSelector=spec.nodeName=$node" \
			--resource nodes 2>"$T/n$i.log" &
		i=$((i + 1))
	done <"$T/nodes"
}
# nodes_listed: by all of them
nodes_listed() {
	local i n=0
	for ((i = 0; i < node_count; i++)); do
		n=$((n + $("$B"/tests/stat_query "$T/n$i/s" | jq '[.resources[] | .lists + .watch_lists] | add')))
	done
	echo $n
}
# nodes_have: each of them has its pods and all nodes, as the API server has them. One request there for all.
nodes_have() {
	local i=0 node
	curl -s "$url/api/v1/pods" | jq -r '.items[] | "\(.spec.nodeName) \(.metadata.namespace)/\(.metadata.name) \(.metadata.resourceVersion)"' | LC_ALL=C sort >"$T/want.pods"
	curl -s "$url/api/v1/nodes" | jq -r '.items[].metadata | "\(.name) \(.resourceVersion)"' | LC_ALL=C sort >"$T/want.nodes"
	while read -r node; do
		"$B"/informerctl --socket "$T/n$i/s" get pods -A -o json | jq -r '.items[] | "\(.spec.nodeName) \(.metadata.namespace)/\(.metadata.name) \(.metadata.resourceVersion)"' |
			LC_ALL=C sort | cmp -s - <(grep "^$node " "$T/want.pods") || return 1
		"$B"/informerctl --socket "$T/n$i/s" get nodes -o json | jq -r '.items[].metadata | "\(.name) \(.resourceVersion)"' | LC_ALL=C sort |
			cmp -s - "$T/want.nodes" || return 1
		i=$((i + 1))
	done <"$T/nodes"
}
