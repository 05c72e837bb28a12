#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-sim answers as upstream's API server does, and so does a gateway (OURS=gateway): one list of requests to both, status, type and
# body compared, in order. What a gateway does not hold, and what is written, it passes on: that comes through as it was.
# What must differ from run to run (RVs, UIDs, times, managedFields) is made equal first. And what differs with reason:
#   - empty objects and nulls, which upstream adds: it keeps typed objects where informer-sim keeps JSON;
#   - the lists of media types: informer-sim has no YAML and no protobuf;
#   - names of Go types in messages: here external types serve as internal ones, so they are not a cluster's;
#   - why a JSON patch does not apply: upstream does not say, informer-sim does, which helps; nor which item of a strategic merge patch;
#   - what Go says of its own types when a body is of another one;
#   - descriptions of columns, the order of verbs, hashes of storage versions, an empty continue token;
#   - the server's address in GET /api, which informer-sim leaves out.
# Not asked: unknown pages (404, with a list of all pages), graceful deletion, server-side apply, fieldValidation; deletion in the
# foreground and orphaning, for which neither has a garbage collector; labels that are wrong in an update, which upstream tells twice; OpenAPI's documents; whole CustomResourceDefinitions, of which informer-sim
# defaults and checks less, and which go at once.
# Of a gateway:
#   - its warning that the API server was not heard of for 15 s: a quiet resource's watch has a bookmark each minute;
#   - a list as of an RV of the past (Exact) is 410: nobody keeps that state but who holds a continue token for it;
#   - its history is its own: what the server has forgotten it still has.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/sides.sh"

# no watch of this script lasts long enough for a bookmark that only time brings
start_sides
failed=0 asked=0

normal() {
	jq -cS 'def bare: if type == "object" then with_entries(.value |= bare | select(.value != {} and .value != null))
			elif type == "array" then map(bare) else . end;
		def token: (. + "==="[(length + 3) % 4:]) | gsub("-"; "+") | gsub("_"; "/") | @base64d | gsub("\"rv\":[0-9]+"; "\"rv\":RV");
		walk(if type == "object" then
			(if has("uid") then .uid = "UID" else . end)
			| (if has("resourceVersion") then .resourceVersion = "RV" else . end)
			| (if has("creationTimestamp") then .creationTimestamp = "TIME" else . end)
			| (if has("deletionTimestamp") then .deletionTimestamp = "TIME" else . end)
			| (if (.continue? // "") != "" then .continue |= token else . end)
			| (if (.message? | type) == "string" then .message |= (gsub("[0-9a-f]{8}-[0-9a-f-]{27}"; "UID")
				| if test("resource ?version"; "i") then gsub("[0-9]+"; "N") else . end) else . end)
			| if has("message") then .message |= (tostring
				| sub("(?<a>(media types include|representations): application/json).*"; "\(.a)")
				| sub("(?<a>a list \\().*"; "\(.a)") | sub("(?<a>cannot be handled as a Pod).*"; "\(.a)")
				| sub("(?<a>due to an error in our request).*"; "\(.a)") | sub("(?<a>json parse error: )(json: cannot|it is no).*"; "\(.a)")
				| sub("map: map\\[.*\\] does"; "map does") | sub(".*following media types are accepted.*"; "406: Not Acceptable\n\nAvailable representations: application/json")
				| sub("^415: Unsupported Media Type$"; "the body of the request was in an unknown format - accepted media types include: application/json")) else . end
			| if .continue? == "" then del(.continue) else . end
			| if has("columnDefinitions") then .columnDefinitions |= (. // [] | map(del(.description))) else . end
			| if has("cells") then .cells |= map(if type == "string" and test("^([0-9]+m)?[0-9]+s$") then "AGE" else . end) else . end
			| if (.verbs? | type) == "array" then .verbs |= sort else . end
			| del(.managedFields, .serverAddressByClientCIDRs, .storageVersionHash) else . end) | bare' 2>/dev/null || echo "no JSON"
}

# one SIDE METHOD PATH CURL-ARGUMENTS...: what it says, in $T/SIDE.said; @RV in a path is the newest RV there, @OLD the one before
# the objects, @CONTINUE the token of `page`, @FIRST that of the first `page`
one() {
	local side=$1 method=$2 path=$3 base=${1}_url; shift 3
	path=${path//@RV/$(<"$T/$side.rv")}
	path=${path//@OLD/$(<"$T/$side.old")}
	path=${path//@CONTINUE/$(<"$T/$side.continue")}
	path=${path//@FIRST/$(<"$T/$side.first")}
	curl -s -m 20 -X "$method" -D "$T/$side.head" -o "$T/$side.body" -A same-answers "$@" "${!base}$path" || true
	{
		head -n 1 "$T/$side.head" | cut -d ' ' -f 2
		tr -d '\r' <"$T/$side.head" | grep -i '^\(content-type\|retry-after\|warning\):' | tr A-Z a-z | sort | allow
		normal <"$T/$side.body"
	} >"$T/$side.said"
}

# allow: the headers, without the warning that a gateway's answer may have
allow() {
	case $OURS in
	gateway) grep -v '^warning: 299 - "the api server was last heard of [0-9]* s ago' || true ;;
	*) cat ;;
	esac
}
# ask_sim ...: what a gateway answers otherwise, with reason
ask_sim() { [ "$OURS" != sim ] || ask "$@"; }
# ask METHOD PATH CURL-ARGUMENTS...
ask() {
	asked=$((asked + 1))
	settle
	one ours "$@" &
	one real "$@"
	wait $!
	cmp -s "$T/ours.said" "$T/real.said" && return
	failed=$((failed + 1))
	echo "DIFFERENT: $*" | cut -c 1-300
	diff <(cut -c 1-1500 "$T/real.said") <(cut -c 1-1500 "$T/ours.said") | sed "s/^</  upstream /; s/^>/  $OURS /" || true
}
json='Content-Type: application/json'
post() { ask POST "$1" -H "$json" -d "$2"; }
patch() { ask PATCH "$1" -H "Content-Type: application/$2-patch+json" -d "$3"; }
page() { # page COLLECTION: its newest RV, and the token of a first page
	settle
	for side in ours real; do
		base=${side}_url
		curl -s "${!base}$1?limit=2" | jq -r .metadata.continue >"$T/$side.continue"
		curl -s "${!base}$1" | jq -r .metadata.resourceVersion >"$T/$side.rv"
	done
}
pods=/api/v1/namespaces/wire/pods
pod() { printf '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","labels":{"app":"%s"}},"spec":{"nodeName":"%s","containers":[{"name":"c","image":"i"}]}}' "$1" "$2" "$3"; }
for side in ours real; do for what in rv old continue first; do echo 0 >"$T/$side.$what"; done; done

# ---- create
ask GET $pods
post $pods "$(pod a0 w n1)"
settle
for side in ours real; do base=${side}_url; curl -s "${!base}$pods" | jq -r .metadata.resourceVersion >"$T/$side.old"; done
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
post $pods '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","labels":{"bad key":"v"}}}'
post $pods '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","labels":{"k":"no value"}}}'
post $pods '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"q","annotations":{"<k>":"v"}}}'
post $pods '{"kind":"Pod","apiVersion":"v2","metadata":{"name":"q"}}'
post $pods '[]'
post $pods ''
post /api/v1/pods "$(pod q w n1)"
post $pods/q "$(pod q w n1)"
post /api/v1/namespaces/wire/nodes '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n9"}}'
node='"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"architecture":"","bootID":"","containerRuntimeVersion":"","kernelVersion":"",
	"kubeProxyVersion":"","kubeletVersion":"","machineID":"","operatingSystem":"","osImage":"","systemUUID":""}'
post /api/v1/nodes '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{'"$node"'}}'
post /api/v1/namespaces/wire/configmaps '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"c"},"data":{"k":"v"}}'
post /api/v1/namespaces/wire/services '{"kind":"Service","apiVersion":"v1","metadata":{"name":"s"},"spec":{"ports":[{"port":80,"targetPort":0}],"selector":{"app":"w"}}}'
post /api/v1/namespaces '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"made"}}'
page $pods
for side in ours real; do cp "$T/$side.continue" "$T/$side.first"; done

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
ask_sim GET "$pods?resourceVersionMatch=Exact&resourceVersion=@OLD"
ask_sim GET "$pods?resourceVersionMatch=Exact&resourceVersion=@OLD&limit=1"
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

ask GET "$pods?limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=@OLD"
ask GET "$pods?limit=2&resourceVersionMatch=NotOlderThan&resourceVersion=0"
ask GET "$pods?limit=2&resourceVersion=@RV"
ask GET "$pods?limit=2&continue=@CONTINUE&resourceVersionMatch=Exact"
ask GET "$pods?resourceVersionMatch=NotOlderThan"
ask GET "$pods?continue=@CONTINUE&labelSelector=app%3Dx"
ask GET "$pods?limit=0"
ask GET "$pods?timeoutSeconds=5"
ask GET "$pods?sendInitialEvents=false"
ask GET "/api/v1/pods?fieldSelector=metadata.namespace%3Dwire,metadata.name%3Da1"
ask GET "/api/v1/pods?fieldSelector=metadata.namespace!%3Dwire"
ask GET "$pods?fieldSelector=metadata.name%3D"
ask GET "$pods?labelSelector=app%3Dw&fieldSelector=spec.nodeName%3Dn2&limit=1"
ask GET $pods/a0/status
ask GET $pods/a0/nope
ask GET $pods/a0/scale
ask GET $pods/nope/status
ask GET "$pods/a0?resourceVersion=0"
ask GET "$pods/a0?resourceVersion=abc"
ask GET /api/v1/namespaces/wire
ask GET /api/v1/namespaces/nope
ask DELETE /api/v1/pods
ask PATCH $pods -H 'Content-Type: application/merge-patch+json' -d '{}'
ask POST $pods/a0 -H "$json" -d '{}'

# ---- shapes
as='application/json;as=%s;g=meta.k8s.io;v=v1'
# shellcheck disable=SC2059
for s in PartialObjectMetadataList PartialObjectMetadata; do ask GET $pods -H "Accept: $(printf "$as" $s)"; done
# shellcheck disable=SC2059
ask GET $pods/a0 -H "Accept: $(printf "$as" PartialObjectMetadata)"
# shellcheck disable=SC2059
for s in Table Nonsense; do
	accept="Accept: $(printf "$as" $s)"
	ask GET $pods -H "$accept"
	ask GET $pods/a0 -H "$accept"
	ask GET $pods/nope -H "$accept"
	ask GET "$pods?limit=2&includeObject=None" -H "$accept"
	ask GET "$pods?limit=1&includeObject=Object" -H "$accept,application/json"
	ask GET "$pods?includeObject=nope" -H "$accept"
	ask GET /api/v1/namespaces/wire/configmaps -H "$accept"
	ask GET "$pods?watch=true&timeoutSeconds=1&resourceVersion=@OLD" -H "$accept"
done
# shellcheck disable=SC2059
for accept in '*/*' 'application/*' 'text/html, application/xhtml+xml, */*;q=0.8' 'application/json;q=0.5' 'text/html' \
		"$(printf "$as" PartialObjectMetadataList),application/json" "$(printf "$as" PartialObjectMetadata),application/json" \
		'application/json;as=Table;v=v1beta1;g=meta.k8s.io' 'application/json;as=Table;v=v7;g=meta.k8s.io' 'application/json;stream=watch'; do
	ask GET "$pods?limit=1" -H "Accept: $accept"
done

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
for rv in '' '&resourceVersion=' '&resourceVersion=0'; do
	ask GET "$w&sendInitialEvents=false&resourceVersionMatch=NotOlderThan$rv"
	ask GET "$w&sendInitialEvents=&resourceVersionMatch=NotOlderThan$rv"
	ask GET "$w&sendInitialEvents=$rv"
done
ask GET "$pods?sendInitialEvents="
ask GET "$pods?Watch=1&limit=1"
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
patch $pods/a0 strategic-merge '{"spec":{"containers":[{"name":"d","image":"j"}]}}'
patch $pods/a0 strategic-merge '{"spec":{"containers":[{"name":"d","$patch":"delete"}]}}'
patch $pods/a0 strategic-merge '{"spec":{"$setElementOrder/containers":[{"name":"e"},{"name":"c"}],"containers":[{"name":"e","image":"k"}]}}'
patch $pods/a0 strategic-merge '{"spec":{"containers":[{"$patch":"replace"},{"name":"c","image":"i"}]}}'
patch $pods/a0 strategic-merge '{"metadata":{"finalizers":["a.b/c","d.e/f"]}}'
patch $pods/a0 strategic-merge '{"metadata":{"$deleteFromPrimitiveList/finalizers":["a.b/c"]}}'
patch $pods/a0 strategic-merge '{"metadata":{"finalizers":null}}'
patch $pods/a0 strategic-merge '{"metadata":{"labels":{"$patch":"replace","app":"w","only":"1"}}}'
patch $pods/a0 strategic-merge '{"spec":{"containers":[{"image":"without a name"}]}}'
patch $pods/a0 strategic-merge '[]'
patch $pods/a0 merge '[]'
patch $pods/a0 merge '"text"'
patch $pods/a0 merge '{"metadata":'
patch $pods/a0 merge '{"metadata":{"resourceVersion":"1"}}'
patch $pods/a0 merge '{"metadata":{"uid":"x"}}'
patch $pods/a0 json '[{"op":"copy","from":"/metadata/labels/app","path":"/metadata/labels/copied"},{"op":"move","from":"/metadata/labels/copied","path":"/metadata/labels/moved"}]'
patch $pods/a0 json '[{"op":"remove","path":"/metadata/labels/moved"},{"op":"replace","path":"/spec/containers/0/image","value":"r"}]'
patch $pods/a0 json '[{"op":"add","path":"/spec/containers/-","value":{"name":"z","image":"z"}}]'
patch $pods/a0 json '[{"op":"remove","path":"/spec/containers/1"}]'
patch $pods/a0 json '{}'
patch $pods/a0 nonsense '{}'
ask PATCH $pods/a0 -H 'Content-Type: text/plain' -d '{}'
patch $pods/a0/status merge '{"status":{"phase":"Running"},"metadata":{"labels":{"no":"no"}}}'
ask PUT $pods/a1 -H "$json" -d "$(pod a1 x n2)"
ask PUT $pods/a1 -H "$json" -d "$(pod a1 x n2 | sed 's/"name":"a1"/"name":"a1","resourceVersion":"1"/')"
ask PUT $pods/a1 -H "$json" -d "$(pod a2 x n2)"
ask PUT $pods/nope -H "$json" -d "$(pod nope x n2)"
ask DELETE $pods/a0 -H "$json" -d '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"x"}}'
ask DELETE $pods/a0 -H "$json" -d '{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"1"}}'
ask DELETE $pods/a0 -H "$json" -d '{"kind":"DeleteOptions",'
ask DELETE "$pods/a0?propagationPolicy=Nonsense"
ask DELETE "$pods/a0?gracePeriodSeconds=x"
ask DELETE "$pods?fieldSelector=spec.nope%3Dx"
patch $pods/a4 merge '{"metadata":{"finalizers":["a.b/c"]}}'
ask DELETE "$pods/a4?gracePeriodSeconds=0"
ask DELETE $pods/a4
post $pods "$(pod a4 x n1)"
patch $pods/a4 merge '{"metadata":{"finalizers":["a.b/d"]}}'
patch $pods/a4 merge '{"metadata":{"finalizers":null}}'
ask GET $pods/a4
post $pods "$(pod f1 x n1)"
ask DELETE $pods/f1 -H "$json" -d '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Nonsense"}'
ask DELETE $pods/f1
post $pods "$(pod f2 x n1)"
ask DELETE $pods/f2 -H "$json" -d '{"propagationPolicy":"Background"}'
ask DELETE $pods/nope
ask DELETE $pods/a2
ask DELETE /api/v1/namespaces/wire/configmaps/c
ask DELETE /api/v1/namespaces/wire/services/s
ask DELETE /api/v1/nodes/n1
ask DELETE "$pods?labelSelector=app%3Dw"
ask GET "$w&resourceVersion=@RV"
ask GET "$w&labelSelector=app%3Dw&resourceVersion=@RV"

# ---- scale
post /apis/apps/v1/namespaces/wire/deployments '{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d"},"spec":{"replicas":2,"strategy":{},
	"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}'
d=/apis/apps/v1/namespaces/wire/deployments
ask GET $d/d/scale
patch $d/d/scale merge '{"spec":{"replicas":4}}'
ask GET $d/d
ask PUT $d/d/scale -H "$json" -d '{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d","namespace":"wire"},"spec":{"replicas":1}}'
ask PUT $d/d/scale -H "$json" -d '{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"name":"d","namespace":"wire","resourceVersion":"1"},"spec":{"replicas":3}}'
ask GET $d/nope/scale
ask DELETE $d/d

# ---- custom resources
crds=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
gadgets=/apis/example.com/v1/namespaces/wire/gadgets
crd() { # SCOPE VERSION...
	local scope=$1 versions= storage=true; shift
	for v in "$@"; do
		versions="$versions${versions:+,}"'{"name":"'$v'","served":true,"storage":'$storage',"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}'
		storage=false
	done
	printf '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"%s","names":{"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList","shortNames":["gd"]},"versions":[%s],"conversion":{"strategy":"None"}}}' "$scope" "$versions"
}
everywhere() { # CODE PATH: both answer with that, within a while
	for side in ours real; do
		base=${side}_url
		is() { [ "$(curl -s -o "$T/waited" -w '%{http_code}' "${!base}$2")" = "$1" ]; }
		until_true is "$1" "$2" || fail "$side: $2 is not $1"
	done
}
gadget() { printf '{"kind":"Gadget","apiVersion":"example.com/v1","metadata":{"name":"%s","labels":{"team":"%s"}},"spec":{"size":%s}}' "$1" "$2" "$3"; }
ask GET $gadgets
ask GET /apis/example.com
ask GET /apis/example.com/v1
post $crds "$(crd Nowhere v1)"
post $crds "$(crd Namespaced v1 | sed 's/"group":"example.com"/"group":"example.org"/')"
crd Namespaced v1 v1beta1 >"$T/crd"
for side in ours real; do base=${side}_url; curl -sf -H "$json" --data-binary "@$T/crd" -o "$T/made" "${!base}$crds" || fail "$side: not defined"; done
everywhere 200 $gadgets
post $crds "$(crd Namespaced v1)"
ask GET $gadgets
ask GET /apis/example.com
ask GET /apis/example.com/v1
ask GET /apis/example.com/v1beta1
ask GET /apis/example.com/v2
post $gadgets "$(gadget g1 a 1)"
post $gadgets "$(gadget g1 a 1)"
post $gadgets "$(gadget g2 b 2)"
post $gadgets "$(gadget Bad_Name b 2)"
page $gadgets
ask GET $gadgets
ask GET $gadgets/g1
ask GET ${gadgets/v1/v1beta1}/g1
ask GET $gadgets/nope
ask GET "$gadgets?labelSelector=team%3Db"
ask GET "$gadgets?fieldSelector=metadata.name%3Dg1"
ask GET "$gadgets?fieldSelector=spec.size%3D1"
ask GET "$gadgets?limit=1"
ask GET /apis/example.com/v1/gadgets
# shellcheck disable=SC2059
for s in Table PartialObjectMetadataList; do ask GET $gadgets -H "Accept: $(printf "$as" $s)"; done
patch $gadgets/g1 merge '{"spec":{"size":3,"list":[1,2]}}'
patch $gadgets/g1 json '[{"op":"remove","path":"/spec/list/0"}]'
patch $gadgets/g1 strategic-merge '{"spec":{"size":4}}'
patch $gadgets/g1/status merge '{"status":{"phase":"Ready"},"spec":{"size":9}}'
ask PUT $gadgets/g1 -H "$json" -d "$(gadget g1 c 5)"
ask GET "$gadgets?watch=true&timeoutSeconds=1&resourceVersion=@RV"
ask GET "$gadgets?watch=true&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
ask DELETE $gadgets/g2
ask DELETE $gadgets
ask GET $crds/nope
for side in ours real; do base=${side}_url; curl -sf -X DELETE -o "$T/deleted" "${!base}$crds/gadgets.example.com" || fail "$side: not deleted"; done
everywhere 404 $crds/gadgets.example.com
ask GET $gadgets
ask GET /apis/example.com
ask GET /apis/example.com/v1

# ---- forgotten history: upstream's watch cache has it in its memory still, and begins anew
for side in ours real; do base=${side}_control; curl -sf -X POST "${!base}/sim/compact" >/dev/null || fail "not compacted"; done
stop_sim
restart_real
ask_sim GET "$pods?limit=1&continue=@FIRST" # a gateway holds the list for a while
ask GET "$pods?resourceVersion=@OLD&resourceVersionMatch=Exact"
ask GET "$pods?limit=1&resourceVersion=@OLD&resourceVersionMatch=Exact"
ask GET "$pods?resourceVersion=@OLD&resourceVersionMatch=NotOlderThan"
ask GET "$pods?resourceVersion=@OLD"
ask_sim GET "$w&resourceVersion=@OLD"
ask_sim GET "$w&resourceVersion=@OLD&allowWatchBookmarks=true"
ask GET "$w&resourceVersion=1"
ask GET "$w&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=@OLD"

# ---- discovery
ask GET /api
ask GET /apis/apps
ask GET /apis/apps/v1/nope
ask GET /apis/apps/v2
ask GET /apis/nope.example.com
ask GET /apis/nope.example.com/v1
ask GET /apis/nope.example.com/v1/namespaces/wire/things
for page in healthz livez readyz; do ask GET /$page; done
[ "$asked" -gt 100 ] || fail "$asked requests"
[ "$failed" = 0 ] || { echo "FAILED: $failed of $asked answers differ"; exit 1; }
echo "ok: $asked answers are the same"
