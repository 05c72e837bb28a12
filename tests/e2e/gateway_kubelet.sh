#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GET /pods of informer-gateway is the kubelet's answer: a PodList of the node's own pods, each as the API server has it, and without a
# resourceVersion. A caller with a token needs get of nodes/pods or nodes/proxy, and is refused in the kubelet's words. /runningpods/ is refused.
# A node's own cache answers in the same way.
# Not upstream: it has reviews of its own making.
# Takes 4 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/reviews.sh"
command -v python3 >/dev/null || { echo "SKIP: needs python3"; exit 77; }

gateway_certificate
start_sim --nodes 3 --pods-per-node 20 --drop-fields
start_reviews "$url"
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[1].metadata.name')
# a pod that has ended is the node's until it is deleted
name=$(curl -s "$url/api/v1/pods?fieldSelector=spec.nodeName%3D$node" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
curl -sf -o /dev/null -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"status":{"phase":"Succeeded"}}' \
	"$url/api/v1/namespaces/$name/status" || fail "no pod ends"
curl -s -H 'Accept: application/json;drop=metadata.managedFields' "$url/api/v1/pods?fieldSelector=spec.nodeName%3D$node" |
	jq -cS '.metadata = {}' >"$T/want"
[ "$(jq '[.items | length > 1, any(.status.phase == "Succeeded")] | all' "$T/want")" = true ] || fail "the server: $(head -c 500 "$T/want")"

# answers CODE PATH CURL-ARGUMENTS...: the code; the answer is in $T/body
answers() {
	code=$(curl -q -s -m 60 --cacert "$T/gw.crt" -o "$T/body" -w '%{http_code} %{content_type}' "${@:3}" "$gateway_url$2")
	[ "$code" = "$1 application/json" ] || fail "${*:2}: $code: $(head -c 400 "$T/body")"
}
# says PATTERN: the Status in $T/body
says() { case $(jq -r .message "$T/body") in $1) ;; *) fail "not $1 but $(head -c 400 "$T/body")" ;; esac }
same_as_server() {
	jq -cS . "$T/body" | cmp -s "$T/want" - || fail "$1: $(diff "$T/want" <(jq -cS . "$T/body") | head -c 2000)"
}

# ---- all pods are cached
start_daemon --resource pods --resource nodes
wait_ready
export NODE_NAME=$node
start_open_gateway
until_true reached "$(newest_rv)" || fail "it does not come up to the server"
answers 200 /pods
same_as_server /pods
[ "$(head -c 65 "$T/body")" = '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"meta' ] || fail "$(head -c 65 "$T/body")"
answers 200 '/pods/?watch=1&limit=1&fieldSelector=spec.nodeName%3Dnone' -H 'Accept: application/json;as=Table;g=meta.k8s.io;v=v1'
same_as_server "/pods with parameters"
answers 501 /runningpods/
says '*GET /pods*'
answers 405 /pods -X POST -d '{}'
stop_gateway TERM

# ---- callers with tokens
gateway_file "listen: '127.0.0.1:0', profile: tokens, certificate: gw.crt, key: gw.key, audiences: [informer-gateway], passThrough: true" \
	'drain: 100ms'
start_gateway --kubeconfig "$T/kubeconfig.reviews" --config "$T/gateway.yaml" --node-name "$node"
for user in agent old-agent; do
	token $user
	until_true curl -q -sf --cacert "$T/gw.crt" -H "Authorization: Bearer $made" "$gateway_url/pods" || echo "not ready"
	answers 200 /pods -H "Authorization: Bearer $made"
	same_as_server "/pods of $user"
done
token viewer-of-pods
answers 403 /pods -H "Authorization: Bearer $made"
says 'Forbidden (user=viewer-of-pods, verb=get, resource=nodes, subresource(s)=\[pods proxy\]): no rule has it'
answers 401 /pods
[ ! -s "$T/passed" ] || fail "passed on: $(cat "$T/passed")"
stop_gateway TERM
stop_daemon TERM

# ---- a node's own cache
start_daemon --resource "pods?fieldSelector=spec.nodeName=$node"
wait_ready
start_open_gateway
answers 200 /pods
same_as_server "/pods of a part"
stop_gateway TERM
NODE_NAME=another start_open_gateway
answers 400 /pods
says "*cached with fieldSelector=spec.nodeName=$node alone*"
echo ok
