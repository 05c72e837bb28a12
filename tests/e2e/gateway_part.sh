#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A node's own cache has the pods of its node, and Deployments as metadata. Its gateway answers a GET of one of these pods by its name, and its
# lists with the selector. It says which part is cached to who asks for more, or gives the part where the listener narrows. Deployments are shown
# as metadata, and whole ones are refused.
# Takes 4 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 3 --pods-per-node 5
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[0].metadata.name')
# pods of the node, and one of another
pods=$(curl -s "$url/api/v1/pods")
mine=$(jq -r --arg n "$node" '[.items[] | select(.spec.nodeName == $n)][0].metadata | "namespaces/\(.namespace)/pods/\(.name)"' <<<"$pods")
other=$(jq -r --arg n "$node" '[.items[] | select(.spec.nodeName != $n)][0].metadata | "namespaces/\(.namespace)/pods/\(.name)"' <<<"$pods")
count=$(jq --arg n "$node" '[.items[] | select(.spec.nodeName == $n)] | length' <<<"$pods")
start_daemon --resource "pods?fieldSelector=spec.nodeName=$node" --resource 'deployments.apps?metadataOnly=true'
wait_ready
start_open_gateway

# answers CODE PATH FILTER EXPECTED CURL-ARGUMENTS...
answers() {
	code=$(curl -s -m 20 -o "$T/body" -w '%{http_code}' "${@:5}" "$gateway_url$2")
	[ "$code" = "$1" ] || fail "$2 is $code: $(head -c 400 "$T/body")"
	[ "$(jq -r "$3" "$T/body")" = "$4" ] || fail "$2 says: $(head -c 400 "$T/body")"
}
part="cached with fieldSelector=spec.nodeName=$node alone"
answers 200 "/api/v1/$mine" '.spec.nodeName' "$node"
answers 404 "/api/v1/$other" ".message | contains(\"$part\")" true
answers 404 "/api/v1/namespaces/default/pods/never" '.reason' NotFound
answers 200 "/api/v1/pods?fieldSelector=spec.nodeName%3D$node" '.items | length' "$count"
answers 400 /api/v1/pods ".message | contains(\"$part\")" true
answers 400 '/api/v1/pods?watch=1' '.code' 400
stop_gateway TERM

start_open_gateway 'narrow: true'
answers 200 /api/v1/pods '.items | length' "$count"
answers 200 "/api/v1/${mine%/*}" '[.items[].spec.nodeName] | unique | join(" ")' "$node"

whole='.message | contains("cached as metadata alone")'
answers 406 /apis/apps/v1/deployments "$whole" true
answers 406 '/apis/apps/v1/deployments?watch=1' "$whole" true
answers 200 /apis/apps/v1/deployments '[.kind, (.items | length > 0), (.items | all(has("spec") | not))] | join(" ")' \
	'PartialObjectMetadataList true true' -H 'Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'
echo ok
