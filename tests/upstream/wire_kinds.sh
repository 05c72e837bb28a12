#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What upstream's server sends of made-up objects (every field, zeros, nothing, and COUNT drawn by SEED) of each kind that it has, informerd
# has from protobuf and from JSON alike, and prints as kubectl does (without kubectl: as the server). And $REAL_PODS.
# Takes 60 s.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"
: "${SEED:=$RANDOM}" "${COUNT:=10}"
echo "SEED=$SEED"
root=$(cd "$(dirname "$0")/../.." && pwd)
sh "$root/tests/schema/build.sh" "$T/schema" "$(sed -n 's/^releases .* //p' "$root/tools/schema/kubernetes.schema")" || exit

start_sim --load "${REAL_PODS:-$B/pods}"
resources="pods services nodes namespaces configmaps secrets endpoints events deployments.apps endpointslices.discovery.k8s.io"
# path APIVERSION KIND: where objects of this kind are created; nothing: the server has none
path() {
	case "$1 $2" in
	"v1 Namespace" | "v1 Node") echo "/api/v1/${2,,}s" ;;
	"v1 Pod" | "v1 Service" | "v1 ConfigMap" | "v1 Secret" | "v1 Event") echo "/api/v1/namespaces/default/${2,,}s" ;;
	"v1 Endpoints") echo /api/v1/namespaces/default/endpoints ;;
	"apps/v1 Deployment") echo /apis/apps/v1/namespaces/default/deployments ;;
	"discovery.k8s.io/v1 EndpointSlice") echo /apis/discovery.k8s.io/v1/namespaces/default/endpointslices ;;
	esac
}
"$T/schema" documents "$SEED" "$COUNT" | jq -c '[.apiVersion, .kind, tojson]' >"$T/documents"
jq -r '"\(.[0]) \(.[1])"' "$T/documents" >"$T/kinds"
made=0
paste -d '\n' "$T/kinds" "$T/documents" >"$T/pairs"
while read -r version kind && read -r document; do
	to=$(path "$version" "$kind")
	[ -n "$to" ] || continue
	jq -r '.[2]' <<<"$document" >"$T/document"
	curl -s -o "$T/answer" -w '%{http_code}' -X POST -H 'Content-Type: application/json' --data-binary @"$T/document" "$url$to" >"$T/code"
	[ "$(cat "$T/code")" = 201 ] || fail "SEED=$SEED: $to: $(cat "$T/code" "$T/answer") $(cat "$T/document")"
	made=$((made + 1))
done <"$T/pairs"
# times that are none any more, or none yet, where the server prints them: in UTC
curl -sf -o "$T/answer" -X POST -H 'Content-Type: application/json' --data-binary '{"kind":"Event","apiVersion":"v1","metadata":{"name":"far"},
	"involvedObject":{"namespace":"default"},"lastTimestamp":"9999-12-31T23:59:59-01:00","eventTime":"0000-01-01T00:00:00.500000+01:00"}' \
	"$url/api/v1/namespaces/default/events" || fail "an Event of far times was refused"
[ "$(jq -r '"\(.lastTimestamp) \(.eventTime)"' "$T/answer")" = "10000-01-01T00:59:59Z -0001-12-31T23:00:00.500000Z" ] ||
	fail "the server printed $(cat "$T/answer")"
made=$((made + 1))

# printed RESOURCE: what kubectl prints
printed() {
	if command -v kubectl >/dev/null; then
		kubectl --kubeconfig "$T/kubeconfig" get "$1" -A -o json
	else
		local group=${1#*.}
		[ "$group" != "$1" ] && curl -sf "$url/apis/$group/v1/${1%%.*}" || curl -sf "$url/api/v1/$1"
	fi
}
normal() {
	jq -S 'del(.items[].metadata.managedFields, .items[].kind, .items[].apiVersion) | .items | sort_by(.metadata.namespace, .metadata.name)'
}
objects=0
# shellcheck disable=SC2086
{ echo "allowSecrets: true"; echo "resources:"; printf -- '- resource: %s\n' $resources; } >"$T/config.yaml"
for r in $resources; do printed "$r" | normal >"$T/$r.server"; done
for wire in protobuf json; do
	start_daemon --config "$T/config.yaml" --wire $wire
	wait_ready
	! grep -q "asking for JSON" "$T/daemon.log" || fail "SEED=$SEED: it fell back to JSON"
	for r in $resources; do
		"$B"/informerctl --socket "$S" get "$r" -A -o json | normal >"$T/$r.$wire"
		cmp "$T/$r.server" "$T/$r.$wire" || { diff "$T/$r.server" "$T/$r.$wire" | head -n 20; fail "SEED=$SEED: $r from $wire differ"; }
		objects=$((objects + $(jq length "$T/$r.$wire")))
	done
	stop_daemon TERM
	rm -f "$T"/informer*.*
done
[ "$objects" -ge $((2 * made)) ] && [ "$made" -gt 0 ] || fail "$objects objects compared, $made made"
echo "$made objects made, $objects compared"
echo ok
