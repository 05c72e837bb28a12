#!/usr/bin/env bash
# informer-sim answers as upstream's API server does: one list of requests to both, status, type and body compared, in order.
# What must differ from run to run (RVs, UIDs, times, managedFields) is made equal first. And what differs with reason:
#   - empty objects and nulls, which upstream adds: it keeps typed objects where informer-sim keeps JSON;
#   - the lists of media types: informer-sim has no YAML and no protobuf;
#   - names of Go types in messages: here external types serve as internal ones, so they are not a cluster's;
#   - why a JSON patch does not apply: upstream does not say, informer-sim does, which helps;
#   - the server's address in GET /api, which informer-sim leaves out.
# Not asked: unknown pages (404, with a list of all pages), graceful deletion, server-side apply, fieldValidation.
. "$(dirname "$0")/../support/daemon.sh"

SERVER=sim start_sim
other_pid=$sim_pid sim_url=$url
# no watch of this script lasts long enough for a bookmark that only time brings
sim_port=0
SERVER=apiserver start_sim
real_url=$url
failed=0 asked=0

normal() {
	jq -cS 'def bare: if type == "object" then with_entries(.value |= bare | select(.value != {} and .value != null))
			elif type == "array" then map(bare) else . end;
		def token: (. + "==="[(length + 3) % 4:]) | gsub("-"; "+") | gsub("_"; "/") | @base64d | gsub("\"rv\":[0-9]+"; "\"rv\":RV");
		walk(if type == "object" then
			(if has("uid") then .uid = "UID" else . end)
			| (if has("resourceVersion") then .resourceVersion = "RV" else . end)
			| (if has("creationTimestamp") then .creationTimestamp = "TIME" else . end)
			| (if (.continue? // "") != "" then .continue |= token else . end)
			| (if (.message? | type) == "string" then .message |= (gsub("[0-9a-f]{8}-[0-9a-f-]{27}"; "UID")
				| if test("resource ?version"; "i") then gsub("[0-9]+"; "N") else . end) else . end)
			| if has("message") then .message |= (tostring
				| sub("(?<a>(media types include|representations): application/json).*"; "\(.a)")
				| sub("(?<a>a list \\().*"; "\(.a)") | sub("(?<a>cannot be handled as a Pod).*"; "\(.a)")
				| sub("(?<a>due to an error in our request).*"; "\(.a)")) else . end
			| del(.managedFields, .serverAddressByClientCIDRs) else . end) | bare' 2>/dev/null || echo "no JSON"
}

# one SIDE METHOD PATH CURL-ARGUMENTS...: what it says, in $T/SIDE.said; @RV in a path is the newest RV there, @OLD the one before
# the objects, @CONTINUE the token of `page`
one() {
	local side=$1 method=$2 path=$3 base=${1}_url; shift 3
	path=${path//@RV/$(<"$T/$side.rv")}
	path=${path//@OLD/$(<"$T/$side.old")}
	path=${path//@CONTINUE/$(<"$T/$side.continue")}
	curl -s -m 20 -X "$method" -D "$T/$side.head" -o "$T/$side.body" -A same-answers "$@" "${!base}$path" || true
	{
		head -n 1 "$T/$side.head" | cut -d ' ' -f 2
		tr -d '\r' <"$T/$side.head" | grep -i '^\(content-type\|retry-after\|warning\):' | tr A-Z a-z | sort
		normal <"$T/$side.body"
	} >"$T/$side.said"
}

# ask METHOD PATH CURL-ARGUMENTS...
ask() {
	asked=$((asked + 1))
	one sim "$@"
	one real "$@"
	cmp -s "$T/sim.said" "$T/real.said" && return
	failed=$((failed + 1))
	echo "DIFFERENT: $*" | cut -c 1-300
	diff <(cut -c 1-1500 "$T/real.said") <(cut -c 1-1500 "$T/sim.said") | sed 's/^</  upstream /; s/^>/  the sim  /' || true
}
json='Content-Type: application/json'
post() { ask POST "$1" -H "$json" -d "$2"; }
patch() { ask PATCH "$1" -H "Content-Type: application/$2-patch+json" -d "$3"; }
page() { # the newest RV, and the token of a first page
	for side in sim real; do
		base=${side}_url
		curl -s "${!base}$pods?limit=2" | jq -r .metadata.continue >"$T/$side.continue"
		curl -s "${!base}$pods" | jq -r .metadata.resourceVersion >"$T/$side.rv"
	done
}
pods=/api/v1/namespaces/wire/pods
pod() { printf '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","labels":{"app":"%s"}},"spec":{"nodeName":"%s","containers":[{"name":"c","image":"i"}]}}' "$1" "$2" "$3"; }
echo 0 >"$T/sim.rv"; echo 0 >"$T/real.rv"; echo x >"$T/sim.continue"; echo x >"$T/real.continue"; echo 0 >"$T/sim.old"; echo 0 >"$T/real.old"

# ---- create
ask GET $pods
post $pods "$(pod a0 w n1)"
for side in sim real; do base=${side}_url; curl -s "${!base}$pods" | jq -r .metadata.resourceVersion >"$T/$side.old"; done
for p in a1 a2 a3; do post $pods "$(pod $p w n2)"; done
post $pods "$(pod a4 x n1)"
post $pods "$(pod a0 w n1)"
post $pods '{"kind":"Pod",'
post $pods '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"q"}}' # not why: ours converts between other types than a cluster
post $pods "$(pod q w n1 | sed 's/"name":"q"/"name":"q","namespace":"other"/')"
post $pods "$(pod Bad_/Name w n1)"
post $pods '{"kind":"Pod","apiVersion":"v1","metadata":{}}'
post $pods "$(pod q w n1 | sed 's/"name":"q"/"name":"q","resourceVersion":"5"/')"
ask POST $pods -H 'Content-Type: text/csv' -d a,b
node='"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"architecture":"","bootID":"","containerRuntimeVersion":"","kernelVersion":"",
	"kubeProxyVersion":"","kubeletVersion":"","machineID":"","operatingSystem":"","osImage":"","systemUUID":""}'
post /api/v1/nodes '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{'"$node"'}}'
post /api/v1/namespaces/wire/configmaps '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"k":"v"}}'
post /api/v1/namespaces/wire/services '{"kind":"Service","apiVersion":"v1","metadata":{"name":"s"},"spec":{"ports":[{"port":80,"targetPort":0}],"selector":{"app":"w"}}}'
post /api/v1/namespaces '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"made"}}'
page

# ---- get, list, pages, selectors
ask GET $pods/a0
ask GET $pods/nope
ask GET "$pods/a0?resourceVersion=99999999"
ask GET /api/v1/pods
ask GET $pods
ask GET /api/v1/nodes/n1
ask GET /api/v1/namespaces/wire/configmaps
ask GET "$pods?limit=2"
ask GET "$pods?limit=2&continue=@CONTINUE"
ask GET "$pods?limit=500&continue=@CONTINUE"
ask GET "$pods?limit=2&labelSelector=app%3Dw"
ask GET "$pods?limit=2&resourceVersion=0"
ask GET "$pods?limit=-1"
ask GET "$pods?limit=2&resourceVersion=5&continue=@CONTINUE"
ask GET "$pods?limit=2&resourceVersion=0&continue=@CONTINUE"
ask GET "$pods?limit=2&continue=abc"
ask GET "$pods?limit=x"
ask GET "$pods?resourceVersion=abc"
ask GET "$pods?resourceVersion=99999999"
ask GET "$pods?resourceVersion=99999999&resourceVersionMatch=Exact"
ask GET "$pods?resourceVersionMatch=Exact"
ask GET "$pods?resourceVersionMatch=Exact&resourceVersion=0"
ask GET "$pods?resourceVersionMatch=Nonsense&resourceVersion=1"
ask GET "$pods?resourceVersionMatch=NotOlderThan&resourceVersion=@OLD"
ask GET "$pods?resourceVersionMatch=Exact&resourceVersion=@OLD"
ask GET "$pods?resourceVersionMatch=Exact&resourceVersion=@OLD&limit=1"
ask GET "$pods?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
for s in app%3Dw app!%3Dw 'app%20in%20(w,x)' 'app%20notin%20(w)' app '!app' app%3D%3D%3D 'app%20in%20w' 'a,' 'app%20exists' app%3Dw,nope; do
	ask GET "$pods?labelSelector=$s"
done
for s in spec.nodeName%3Dn1 spec.nodeName!%3Dn1 metadata.name%3Da2 metadata.namespace%3Dwire status.phase%3DPending spec.foo%3Dx spec.nodeName \
		spec.nodeName%3Dn1,metadata.name%3Da4; do
	ask GET "$pods?fieldSelector=$s"
done
ask GET "/api/v1/namespaces/wire/services?fieldSelector=spec.nodeName%3Dx"
ask GET "/api/v1/namespaces/wire/configmaps?fieldSelector=spec.nodeName%3Dx"
ask GET "/api/v1/nodes?fieldSelector=metadata.name%3Dn1"
ask GET /api/v1/namespaces/wire/widgets
ask PUT $pods -H "$json" -d "$(pod a0 w n1)"
ask GET $pods -H 'Accept: text/csv'

# ---- shapes
as='application/json;as=%s;g=meta.k8s.io;v=v1'
# shellcheck disable=SC2059
for s in PartialObjectMetadataList PartialObjectMetadata; do ask GET $pods -H "Accept: $(printf "$as" $s)"; done
# shellcheck disable=SC2059
ask GET $pods/a0 -H "Accept: $(printf "$as" PartialObjectMetadata)"

# ---- watch
w="$pods?watch=true&timeoutSeconds=1"
ask GET "$w&resourceVersion=@OLD"
ask GET "$w&resourceVersion=@RV"
ask GET "$w&resourceVersion=0"
ask GET "$w"
ask GET "$w&labelSelector=app%3Dw&resourceVersion=@OLD"
ask GET "$w&fieldSelector=spec.nodeName%3Dn2&resourceVersion=@OLD"
ask GET "$w&resourceVersion=99999999"
ask GET "$w&resourceVersion=abc"
ask GET "$w&resourceVersion=@RV&resourceVersionMatch=NotOlderThan"
ask GET "$w&sendInitialEvents=true"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=@RV"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=@OLD"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=@RV&labelSelector=app%3Dx"
ask GET "$w&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=@RV"
ask GET "$pods?watch=true&timeoutSeconds=5&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=99999999"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true" -H "Accept: ${as/\%s/PartialObjectMetadata}"
ask GET "/api/v1/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true&resourceVersion=0"
ask GET "/api/v1/configmaps?watch=1&timeoutSeconds=1&allowWatchBookmarks=true"

# ---- change, delete
patch $pods/a0 merge '{"metadata":{"labels":{"v":"2"}}}'
patch $pods/a0 merge '{"metadata":{"labels":{"v":"2"}}}'
patch $pods/a0 merge '{"metadata":{"labels":{"v":null}}}'
patch $pods/nope merge '{}'
patch $pods/a0 json '[{"op":"add","path":"/metadata/labels/z","value":"1"}]'
patch $pods/a0 json '[{"op":"test","path":"/metadata/labels/z","value":"2"}]'
patch $pods/a0 strategic-merge '{"metadata":{"labels":{"z":null}}}'
patch $pods/a0 merge '{"metadata":{"name":"other"}}'
patch $pods/a0/status merge '{"status":{"phase":"Running"},"metadata":{"labels":{"no":"no"}}}'
ask PUT $pods/a1 -H "$json" -d "$(pod a1 x n2)"
ask PUT $pods/a1 -H "$json" -d "$(pod a1 x n2 | sed 's/"name":"a1"/"name":"a1","resourceVersion":"1"/')"
ask PUT $pods/a1 -H "$json" -d "$(pod a2 x n2)"
ask PUT $pods/nope -H "$json" -d "$(pod nope x n2)"
ask DELETE $pods/a0 -H "$json" -d '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}'
ask DELETE $pods/nope
ask DELETE $pods/a2
ask DELETE /api/v1/namespaces/wire/configmaps/c
ask DELETE /api/v1/namespaces/wire/services/s
ask DELETE /api/v1/nodes/n1
ask DELETE "$pods?labelSelector=app%3Dw"
ask GET "$w&resourceVersion=@RV"
ask GET "$w&labelSelector=app%3Dw&resourceVersion=@RV"

# ---- discovery
ask GET /api
ask GET /apis/apps/v1/nope
ask GET /healthz
[ "$asked" -gt 100 ] || fail "$asked requests"
[ "$failed" = 0 ] || { echo "FAILED: $failed of $asked answers differ"; exit 1; }
echo "ok: $asked answers are the same"
