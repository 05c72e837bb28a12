#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Nodes behind a relay cost the API server what the relay costs it alone: 20 nodes' informerds go on, without a list of their own, while the API
# server is away and comes back, while the relay's gateway is killed, its informerd, and both; and a new gateway serves them on without a list. Another
# relay is seen by the first one, which asks clients to move until it has no more than its share and a fifth; they list nowhere. When the first one
# is gone, too, all go on at the other one. Takes NODES from the environment (20).
# Not upstream: after another gateway of the relay the nodes list pods once at it, for its history begins behind them.
# Takes 50 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/relay.sh"
: "${NODES:=20}"

start_api --nodes "$NODES" --pods-per-node 5
start_service
: >"$T/peer.ports"
front peer # the way from relay a to the other one, as long as there is one
peering=(--peer "http://127.0.0.1:$front_port" --peer-grace 1s)
start_relay_daemon a
start_relay_gateway a "${peering[@]}"
serve_relays a
start_nodes "$NODES"
until_true nodes_have || fail "the nodes do not get their pods"

# as_ever WHAT: the nodes come to have all that the API server has, and neither they nor the relays named have listed since the beginning
as_ever() {
	local what=$1 relay
	shift
	until_true nodes_have || fail "after $what: the nodes do not have what the API server has"
	[ "$(nodes_listed)" = $((2 * NODES)) ] || fail "after $what: the nodes have listed $(nodes_listed) times"
	for relay in "$@"; do
		[ "$(relay_listed "$relay")" = "${relay_lists[$relay]}" ] || fail "after $what: relay $relay has listed $(relay_listed "$relay") times"
	done
}
# unasked NAME: nobody has listed at this gateway since it began
unasked() {
	[ "$(relay_metric "$1" 'informer_gateway_reads_total{verb="list"}')" = 0 ] && [ "$(relay_metric "$1" informer_gateway_lists_made_total)" = 0 ] ||
		fail "lists at relay $1: $(curl -s "${relay_url[$1]}/metrics" | grep list)"
}
change() {
	curl -sf -X POST "$url/sim/churn?rate=500&count=300" >/dev/null || fail "no churn"
	until_true churn_over || fail "churn goes on"
}
# what a new process has of the time before it is proven by what was deleted: of nodes nobody else would delete any
curl -sf -X DELETE "$url/api/v1/nodes/$(curl -s "$url/api/v1/nodes" | jq -r '.items[-1].metadata.name')" >/dev/null || fail "no node is deleted"
declare -A relay_lists=([a]=2)
as_ever "the beginning" a
change
as_ever "300 changes" a

api_away
change
api_back
as_ever "a time without API server" a

kill_relay a gateway
change
start_relay_gateway a "${peering[@]}"
serve_relays a
as_ever "another gateway" a
unasked a

kill_relay a daemon
start_relay_daemon a
relay_lists[a]=0 # it adopts what was left
change
as_ever "another informerd of the relay" a

kill_relay a both
change
start_relay_daemon a
start_relay_gateway a "${peering[@]}"
serve_relays a
as_ever "another relay" a
unasked a

# ---- two
start_relay_daemon b
start_relay_gateway b --peer "$service_url" # where, most often, it meets nobody but itself
relay_lists[b]=2
clients() { relay_metric "$1" informer_gateway_watches; }
all_at() { [ "$(clients "$1")" = $((2 * NODES)) ]; }
until_true all_at a || fail "relay a has $(clients a) clients again"
# the new one knows nothing of the time before it: what all have seen is newer from here on
change
node=$(curl -s "$url/api/v1/nodes?limit=1" | jq -r '.items[0].metadata.name')
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"e2e":"new"}}}' "$url/api/v1/nodes/$node" >/dev/null || fail "no label"
as_ever "a second relay" a b
serve_relays a b
echo "${relay_url[b]##*:}" >"$T/peer.ports"
even() {
	local here there share
	here=$(clients a) there=$(clients b)
	share=$(((here + there + 1) / 2))
	[ $((here + there)) = $((2 * NODES)) ] && [ "$here" -le $((share + share / 5)) ]
}
until_true even || fail "relay a has $(clients a) clients, b $(clients b)"
echo "a has $(clients a) clients, b $(clients b), after $(relay_metric a informer_gateway_moves_asked_total) were asked"
as_ever "some have moved" a b

kill_relay a both
change
as_ever "the first relay is gone" b
unasked b
echo ok
