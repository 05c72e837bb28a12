#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What upstream's API server answers beside what a gateway before it does; and what a gateway promises that only the original can try:
# freshness: strict, misses: wait, deletedFor, passThrough. What differs, with reason, and is made equal first:
#   - managedFields, which informerd does not keep unless it is told to;
#   - empty objects, nulls and the order of keys: upstream prints typed objects, the arena has what protobuf or JSON said;
#   - the RV of a list, which there is of all resources and here the one that this resource's watch was told of;
#   - cells of tables: the test's server has simplified rows, where the gateway's are kubectl's. Names and their order are compared;
#   - what Go says of its own parser's errors in an RV or a limit: code and reason are compared of what is refused;
#   - an RV that is gone: the gateway's history is its own, the server's watch cache another; both say 410 of one that neither has.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"

command -v openssl >/dev/null || { echo "SKIP openssl is missing"; exit 77; }

echo '{"items":[]}' >"$T/rbac.json" # the one user is system:masters
start_sim --nodes 3 --pods-per-node 10 --rbac "$T/rbac.json"
start_daemon --resource pods --resource nodes --resource services
wait_ready
gateway_file "listen: '127.0.0.1:0', profile: insecure-loopback, scope: ['*', pods/status, /metrics], misses: wait, deletedFor: 60s"
start_gateway --config "$T/gateway.yaml"
until_true curl -sf "$gateway_url/readyz" || fail "the gateway is not ready: $(curl -s "$gateway_url/readyz")"

# ---- reads: code, and content
normal='def bare: if type == "object" then with_entries(.value |= bare | select(.value != {} and .value != null and .value != []))
	elif type == "array" then map(bare) else . end;
	walk(if type == "object" then del(.managedFields, .columnDefinitions, .cells) else . end)
	| if .items or .rows then del(.metadata.resourceVersion) | .metadata.continue? |= (if . then "token" else . end) else . end
	| if .kind == "Status" then {kind, code, reason} else . end | bare'
get() { curl -s -m 30 -w '\n%{http_code}' -H "Accept: ${2:-application/json}" "$1" >"$T/got"; tail -n 1 "$T/got"; sed '$d' "$T/got" | jq -cS "$normal"; }
failed=0 asked=0
both() {
	local there here
	asked=$((asked + 1))
	there=$(get "$url$1" "${2:-}") here=$(get "$gateway_url$1" "${2:-}")
	[ "$there" = "$here" ] && return
	failed=$((failed + 1))
	echo "DIFFERENT: $1 ${2:-}"
	diff <(echo "$there" | tr ',' '\n') <(echo "$here" | tr ',' '\n') | head -n 8 | cut -c 1-300 || true
}
pod=$(curl -s "$url/api/v1/pods?limit=1" | jq -r '.items[0].metadata | "/api/v1/namespaces/\(.namespace)/pods/\(.name)"')
in=${pod%/*} node=$(curl -s "$url/api/v1/nodes?limit=1" | jq -r '.items[0].metadata.name')
table='application/json;as=Table;g=meta.k8s.io;v=v1'
partial='application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
for path in "$pod" "$in" /api/v1/pods /api/v1/nodes "/api/v1/nodes/$node" /api/v1/services "$in/nobody" "$pod/status" "$in?limit=3" "/api/v1/pods?limit=-1" "$in?limit=x" \
	"/api/v1/pods?fieldSelector=spec.nodeName%3D$node" '/api/v1/pods?fieldSelector=status.phase!%3DRunning' '/api/v1/pods?fieldSelector=spec.nope%3D1' \
	'/api/v1/nodes?fieldSelector=spec.unschedulable%3Dfalse' '/api/v1/pods?fieldSelector=spec.nodeName' '/api/v1/pods?labelSelector=a%20in%20b' \
	'/api/v1/pods?labelSelector=!app' "$in?fieldSelector=metadata.name%3D${pod##*/}" "$in?resourceVersion=0" "$in?resourceVersionMatch=Exact" \
	"$in?resourceVersion=0&resourceVersionMatch=Exact" "$in?resourceVersion=abc" "$in?resourceVersionMatch=Nonsense&resourceVersion=1" \
	"$in?continue=abc" "$in?sendInitialEvents=true" "$in?resourceVersion=99999999" "$pod?resourceVersion=99999999" "$in?watch=1&resourceVersion=abc" \
	"$in?watch=1&sendInitialEvents=true" "$in?watch=1&timeoutSeconds=x"; do
	both "$path"
done
both /api/v1/pods "$table"
both "$pod" "$table"
both /api/v1/pods "$partial,application/json"
both "$pod" "${partial/List/}"
both /api/v1/pods text/csv
[ "$failed" = 0 ] || fail "$failed of $asked answers differ"
[ "$(of_gateway /version | jq -r '.major + "." + .minor')" = "$(curl -s "$url/version" | jq -r '.major + "." + .minor')" ] || fail "/version: $(of_gateway /version)"

# ---- watches from an RV: the same changes
from=$(newest_rv)
for side in "$url" "$gateway_url"; do
	curl -sN "$side/api/v1/pods?watch=1&resourceVersion=$from&timeoutSeconds=20" >"$T/watch.${side##*:}" &
done
curl -sf -X POST "$url/sim/churn?rate=200&count=300" >/dev/null
until_true churn_over || fail "churn goes on"
told() { jq -c '[.type, .object.metadata.name, .object.metadata.uid, .object.metadata.resourceVersion]' "$T/watch.${1##*:}" 2>/dev/null; }
same_told() { [ "$(told "$url" | wc -l)" -ge 300 ] && [ "$(told "$url")" = "$(told "$gateway_url")" ]; }
until_true same_told || fail "the watches differ: $(diff <(told "$url") <(told "$gateway_url") | head -n 4)"
gone=$(curl -sN -m 10 "$gateway_url/api/v1/pods?watch=1&resourceVersion=1" | jq -r '"\(.type) \(.object.code)"')
[ "$gone" = "ERROR 410" ] || fail "an RV of long ago: $gone"

# ---- what was deleted is found by its name for a while, and not in lists
json='Content-Type: application/json'
body() { printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","labels":{"n":"%s"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}' "$1" "$2"; }
at=/api/v1/namespaces/default/pods
uid=$(curl -s "$url$at" -H "$json" -d "$(body gone 0)" | jq -r .metadata.uid)
[ "$(of_gateway "$at/gone" | jq -r .metadata.uid)" = "$uid" ] || fail "what will be deleted is not there"
curl -sf -o /dev/null -X DELETE "$url$at/gone" || fail "no DELETE"
unlisted() { [ "$(of_gateway "$at?fieldSelector=metadata.name%3Dgone" | jq '.items | length')" = 0 ]; }
until_true unlisted || fail "it is still listed"
[ "$(of_gateway "$at/gone" | jq -r .metadata.uid)" = "$uid" ] || fail "it is not found any more"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code"

# ---- a pod that is 0 ms old, at a gateway that waits for what the cache lacks
start_open_gateway 'misses: wait'
for i in $(seq 20); do
	curl -sf -o /dev/null "$url$at" -H "$json" -d "$(body "m$i" 0)" || fail "no pod"
	[ "$(of_gateway "$at/m$i" | jq -r .metadata.name)" = "m$i" ] || fail "m$i is not found at once"
done
[ "$(curl -s -o /dev/null -w '%{http_code}' "$gateway_url$at/never")" = 404 ] || fail "what never was"
stop_gateway TERM

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/gw.key" -out "$T/gw.crt" -days 2 -subj /CN=gateway \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "no certificate"
start_token_gateway() { # FIELD...: and more of its listener
	gateway_file "listen: '127.0.0.1:0', profile: tokens, certificate: gw.crt, key: gw.key, passThrough: true${1:+, $1}" \
		'access: {keepAllowed: 5m}' 'drain: 1s'
	start_gateway --config "$T/gateway.yaml"
	until_true served || fail "no pods: $(code_of test-token /api/v1/pods)"
}
with() { curl -q -s -m 20 --cacert "$T/gw.crt" ${1:+-H "Authorization: Bearer $1"} "${@:2}"; }
code_of() { with "$1" -o /dev/null -w '%{http_code}' "$gateway_url$2"; }
served() { [ "$(code_of test-token /api/v1/pods)" = 200 ]; }

# ---- strict: what was written is read at once, always
start_token_gateway 'freshness: strict'
strictly() { with test-token "$gateway_url$1"; }
lists_here() { strictly /metrics | awk '$1 == "informer_gateway_reads_total{verb=\"list\"}" {print $2}'; }
for i in $(seq 30); do
	rv=$(curl -s "$url$at" -H "$json" -d "$(body "p$i" 0)" | jq -r .metadata.resourceVersion)
	[ "$(strictly "$at/p$i" | jq -r .metadata.resourceVersion)" = "$rv" ] || fail "p$i is not there at once"
	rv=$(curl -s -X PATCH "$url$at/p$i" -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"n":"1"}}}' | jq -r .metadata.resourceVersion)
	[ "$(strictly "$at?labelSelector=n%3D1" | jq -r --arg p "p$i" '.items[] | select(.metadata.name == $p) | .metadata.resourceVersion')" = "$rv" ] || fail "p$i is not as it was written"
done
next=$(strictly "$at?limit=20" | jq -r .metadata.continue)
[ "$(strictly "$at?limit=20&continue=$next" | jq '.items | length')" -ge 10 ] || fail "a list does not go on"
[ "$(lists_here)" = 0 ] || fail "the newest was read from the arena"
any_is_here() { [ "$(code_of test-token "$at?resourceVersion=0")" = 200 ] && [ "$(lists_here)" -ge 1 ]; }
until_true any_is_here || fail "a list with an RV is not read from the arena"
stop_gateway TERM

# ---- the rest with the caller's own token
start_token_gateway
[ "$(code_of '' /api/v1/configmaps)" = 401 ] || fail "configmaps without a token"
[ "$(code_of strange /api/v1/configmaps)" = 401 ] || fail "configmaps with a strange token"
[ "$(with test-token "$gateway_url/api/v1/configmaps" | jq -r .kind)" = ConfigMapList ] || fail "configmaps"
if command -v kubectl >/dev/null; then
	export HOME=$T
	sed "s|server:.*|server: $gateway_url|; s|certificate-authority-data:.*|certificate-authority-data: $(base64 -w 0 "$T/gw.crt")|" \
		"$T/kubeconfig" >"$T/kubeconfig.gateway"
	k() { kubectl --kubeconfig "$T/kubeconfig.gateway" "$@" 2>"$T/kubectl.err"; }
	printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: by-kubectl, namespace: default}\ndata: {k: v}\n' >"$T/map.yaml"
	k apply -f "$T/map.yaml" --validate=false >"$T/kubectl.out" || fail "apply: $(cat "$T/kubectl.err")"
	[ "$(k get configmap by-kubectl -o 'jsonpath={.data.k}')" = v ] || fail "what was applied: $(cat "$T/kubectl.err")"
	k delete -f "$T/map.yaml" >"$T/kubectl.out" || fail "delete: $(cat "$T/kubectl.err")"
	k get pods -n default -o name >"$T/before" || fail "get: $(cat "$T/kubectl.err")"
	k api-resources >"$T/resources" || fail "discovery: $(cat "$T/kubectl.err")"
	stop_sim # what is cached, and what was decided, is still to be had, and discovery of what is cached
	k get pods -n default -o name >"$T/after" || fail "get while the server is away: $(cat "$T/kubectl.err")"
	[ -s "$T/before" ] && cmp -s "$T/before" "$T/after" || fail "$(wc -l <"$T/after") pods while the server is away, not $(wc -l <"$T/before")"
	rm -rf "$T/.kube"
	k api-resources >"$T/after" || fail "discovery while the server is away: $(cat "$T/kubectl.err")"
	[ "$(awk '{print $1}' "$T/after" | sort | xargs)" = "NAME nodes pods services" ] || fail "discovery while the server is away: $(cat "$T/after")"
	grep -q '^configmaps' "$T/resources" || fail "discovery: $(cat "$T/resources")"
fi
stop_gateway TERM
echo ok
