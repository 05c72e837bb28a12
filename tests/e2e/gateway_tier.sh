#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gateway is the next tier: an informerd with the gateway as its server has what the first one has, through changes, while the gateway is killed
# and another one takes its place at the socket that stayed open, its own or systemd's, and while the first informerd is killed. The API server is asked for no other
# list, and the second informerd lists once. With --goaway-chance about that share of answers closes its connection.
# Takes 5 s.
LISTENING_AT=${LISTENING_AT-} # a socket that outlives each gateway: descriptor 9
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 5 --pods-per-node 20
start_daemon --resource pods --resource nodes
wait_ready
listed_of() { "$B"/tests/stat_query "$1" | jq '[.resources[].lists] | add'; }
listed=$(listed_of "$S")
gateway() { start_open_gateway 'inheritFd: 9' 'drain: 1s'; }
gateway
sed "s|server:.*|server: $gateway_url|" "$T/kubeconfig" >"$T/kubeconfig.gateway"

mkdir "$T/second"
S2=$T/second/s.sock
"$B"/informerd --kubeconfig "$T/kubeconfig.gateway" --socket "$S2" --arena-dir "$T/second" --resource pods --resource nodes 2>"$T/second.log" 9<&- &
second=$!
content() { "$B"/informerctl --socket "$1" get pods -A -o json | jq -cS '.items[].metadata | [.namespace, .name, .uid, .resourceVersion]' | sort; }
same() {
	local first
	first=$(content "$S") && [ -n "$first" ] && [ "$first" = "$(content "$S2")" ] && [ "$(echo "$first" | wc -l)" = "$(on_server /api/v1/pods)" ]
}
until_true same || fail "the second informerd does not get what the first one has"
second_listed=$(listed_of "$S2")
[ "$("$B"/tests/stat_query "$S2" | jq -r .release)" = "$(stat .release)" ] || fail "the second informerd is told of another release: $(cat "$T/second.log")"
grep -q 'pods: listed .* of protobuf' "$T/second.log" || fail "the second informerd does not list in protobuf: $(cat "$T/second.log")"

changes() {
	curl -sf -X POST "$url/sim/churn?rate=500&count=500" >/dev/null
	"$@"
	until_true churn_over || fail "churn goes on"
	until_true same || fail "after $*: $(diff <(content "$S") <(content "$S2") | head -n 5)"
	[ "$(listed_of "$S2")" = "$second_listed" ] || fail "after $*: $(listed_of "$S2") lists instead of $second_listed"
	[ "$(listed_of "$S")" = "$listed" ] || fail "after $*: $(listed_of "$S") lists at the API server instead of $listed"
}
another_gateway() {
	stop_gateway KILL
	gateway
}
# systemd's socket activation: the socket is descriptor 3, and is known by the listener's name
cat >"$T/activated" <<END
#!/bin/sh
LISTEN_PID=\$\$ LISTEN_FDS=1 LISTEN_FDNAMES=node exec "$B/informer-gateway" "\$@" 3<&9 9<&-
END
chmod +x "$T/activated"
activated_gateway() {
	stop_gateway TERM
	GATEWAY=$T/activated start_open_gateway 'name: node' 'drain: 1s'
}
another_informerd() {
	stop_daemon KILL
	start_daemon --resource pods --resource nodes
	wait_ready
	listed=0 # it adopts what was left, and lists nothing
}
changes true
changes another_gateway
changes activated_gateway
changes activated_gateway
changes another_informerd
kill -TERM "$second"
wait "$second" || fail "the second informerd ends with $?"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"

# ---- several gateways behind one Service; nobody is told of an API server who is nobody
gateway_file "listen: '127.0.0.1:0', profile: insecure-loopback, scope: ['*', pods/exec]" 'server: https://10.0.0.1'
start_gateway --config "$T/gateway.yaml" --goaway-chance 0.02
curl -s -D "$T/headers" -o "$T/answers" "$gateway_url/livez?[1-2000]" || fail "no answers"
closed=$(grep -ci '^connection: close' "$T/headers" || true)
[ "$closed" -gt 0 ] && [ "$closed" -lt 200 ] || fail "$closed answers of 2000 close their connection"
curl -s -o "$T/said" -H 'Connection: Upgrade' -H 'Upgrade: websocket' "$gateway_url/api/v1/namespaces/default/pods/one/exec"
[ "$(jq -r '"\(.code) \(.message)"' "$T/said" | sed 's/ this.*;/;/')" = "501; this listener has none to name" ] || fail "exec: $(cat "$T/said")"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
echo ok
