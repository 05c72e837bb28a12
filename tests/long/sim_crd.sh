#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A CustomResourceDefinition makes a resource while the server runs, in all its versions; deleting it takes resource,
# objects and watches away, and leaves everything else alone.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
start_sim --rv-wait 100
CRDS=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
GADGETS=/apis/example.com/v1/namespaces/n/gadgets
crd() { # crd SCOPE [VERSION...]
	local scope=$1 versions=
	shift
	for v in "$@"; do versions="$versions${versions:+,}{\"name\":\"$v\",\"served\":true,\"storage\":$([ -z "$versions" ] && echo true || echo false),\"subresources\":{\"status\":{}}}"; done
	echo '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"'$scope'","names":{"plural":"gadgets","kind":"Gadget","shortNames":["gd"],"categories":["all"]},"versions":['$versions']}}'
}
discovered() { api GET "/apis/example.com/$1" | jq -c '[.resources[]?|[.name,.kind,.namespaced,.shortNames[0]]]'; }

# ---- what is no definition
same "the name must fit" '422 Invalid CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group' "$(status POST $CRDS -d "$(crd Namespaced v1 | sed 's/"group":"example.com"/"group":"example.org"/')")"
same "one version is the stored one" '422 Invalid CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: spec.versions: Invalid value: must have exactly one version marked as storage version' "$(status POST $CRDS -d "$(crd Namespaced)")"
same "the scope is one of two" 422 "$(code POST $CRDS -d "$(crd Nowhere v1)")"
same "without a definition there is nothing" "404 404" "$(code GET $GADGETS) $(code GET /apis/example.com/v1)"

# ---- create
same "it is made" 201 "$(code POST $CRDS -d "$(crd Namespaced v1 v1beta1)")"
same "and established" "True gadget GadgetList v1" "$(api GET $CRDS/gadgets.example.com | jq -r '"\(.status.conditions[]|select(.type=="Established").status) \(.status.acceptedNames.singular) \(.status.acceptedNames.listKind) \(.status.storedVersions[0])"')"
same "discovery has it" '[["gadgets","Gadget",true,"gd"],["gadgets/status","Gadget",true,null]]' "$(discovered v1)"
same "in both versions" '[["gadgets","Gadget",true,"gd"],["gadgets/status","Gadget",true,null]]' "$(discovered v1beta1)"
same "aggregated too" "gadgets" "$(api GET /apis -H 'Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' | jq -r '.items[]|select(.metadata.name=="example.com").versions[0].resources[0].resource')"
same "an object" 201 "$(code POST $GADGETS -d '{"metadata":{"name":"g1"},"spec":{"size":1}}')"
same "seen in the other version" "example.com/v1beta1 Gadget g1 1" "$(api GET ${GADGETS/v1/v1beta1} | jq -r '.items[0]|"\(.apiVersion) \(.kind) \(.metadata.name) \(.spec.size)"')"
same "another one through it" "g1 g2" "$(api POST ${GADGETS/v1/v1beta1} -d '{"metadata":{"name":"g2"}}' >/dev/null; api GET $GADGETS | jq -r '[.items[].metadata.name]|join(" ")')"
RV=$(api GET $GADGETS | jq -r .metadata.resourceVersion)

# ---- delete
curl -sN "$url$GADGETS?watch=1&resourceVersion=$RV&timeoutSeconds=60" >"$T/gadgets" & ONE=$!
curl -sN "$url/api/v1/configmaps?watch=1&resourceVersion=$RV&timeoutSeconds=60" >"$T/maps" &
watches() { [ "$(api GET /sim/stats | jq .watches)" = "$1" ]; }
until_true watches 2 || fail "both are watched"
same "it is deleted" 200 "$(code DELETE $CRDS/gadgets.example.com)"
wait $ONE
same "its watch ends cleanly, after each object's DELETED" "0 DELETED g1,DELETED g2," "$? $(jq -r '"\(.type) \(.object.metadata.name)"' "$T/gadgets" | tr '\n' ,)"
same "the resource is gone" "404 404 404" "$(code GET $GADGETS) $(code GET $GADGETS/g1) $(code GET /apis/example.com/v1)"
same "the log says so" 1 "$(api GET /sim/log | grep -c 'gadgets.example.com in n .*ended after 2 events: the resource is gone')"
api POST /api/v1/namespaces/n/configmaps -d '{"metadata":{"name":"c"}}' >/dev/null
heard() { grep -q ADDED "$T/maps"; }
until_true heard || fail "the other watch goes on"

# ---- again
same "it can be made again" "201 0" "$(code POST $CRDS -d "$(crd Namespaced v1 v1beta1)") $(api GET $GADGETS | jq '.items|length')"
same "without the old history" "410" "$(curl -s "$url$GADGETS?watch=1&resourceVersion=$RV" | jq .object.code)"
same "a version that is no longer served" "200 200 404" "$(curl -s -X PATCH "$url$CRDS/gadgets.example.com" -H 'Content-Type: application/merge-patch+json' -d '{"spec":{"versions":[{"name":"v1","served":true,"storage":true}]}}' -o /dev/null -w '%{http_code}') $(code GET $GADGETS) $(code GET ${GADGETS/v1/v1beta1})"
api DELETE $CRDS/gadgets.example.com >/dev/null
same "or with another scope" "201 false 201" "$(code POST $CRDS -d "$(crd Cluster v1)") $(discovered v1 | jq '.[0][2]') $(code POST /apis/example.com/v1/gadgets -d '{"metadata":{"name":"g"}}')"
for i in $(seq 60); do
	api DELETE $CRDS/gadgets.example.com >/dev/null
	api POST $CRDS -d "$(crd Cluster v1)" >/dev/null
done
same "any number of times" 200 "$(code GET /apis/example.com/v1/gadgets)"

# ---- scale
api DELETE $CRDS/gadgets.example.com >/dev/null
SCALED='{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size.wanted","statusReplicasPath":".status.ready","labelSelectorPath":".status.selector"}}}'
scaled() { crd Namespaced v1 | jq -c --argjson v "$SCALED" '.spec.versions=[$v]'; }
same "a scale's paths are needed" '422 Invalid CustomResourceDefinition.apiextensions.k8s.io "gadgets.example.com" is invalid: spec.versions[].subresources.scale.statusReplicasPath: Required value' "$(status POST $CRDS -d "$(scaled | jq -c 'del(.spec.versions[0].subresources.scale.statusReplicasPath)')")"
same "and stand where they belong" '422' "$(code POST $CRDS -d "$(scaled | jq -c '.spec.versions[0].subresources.scale.specReplicasPath=".status.x"')")"
same "a definition with a scale" 201 "$(code POST $CRDS -d "$(scaled)")"
same "discovery has it" '["autoscaling","v1","Scale"]' "$(api GET /apis/example.com/v1 | jq -c '.resources[]|select(.name=="gadgets/scale")|[.group,.version,.kind]')"
api POST $GADGETS -d '{"metadata":{"name":"s"},"spec":{"size":{"wanted":3},"x":1}}' >/dev/null
merge() { curl -s -X PATCH "$url$GADGETS/$1" -H 'Content-Type: application/merge-patch+json' -d "$2"; }
merge s/status '{"status":{"ready":2,"selector":"app=s"}}' >/dev/null
same "an object's scale" 'Scale autoscaling/v1 s 3 2 app=s' "$(api GET $GADGETS/s/scale | jq -r '"\(.kind) \(.apiVersion) \(.metadata.name) \(.spec.replicas) \(.status.replicas) \(.status.selector)"')"
same "it is changed where the path says" '5 {"size":{"wanted":5},"x":1} 2' "$(merge s/scale '{"spec":{"replicas":5}}' | jq .spec.replicas) $(api GET $GADGETS/s | jq -r '"\(.spec|tojson) \(.status.ready)"')"
same "by PUT, too" 7 "$(api GET $GADGETS/s/scale | jq '.spec.replicas=7' >"$T/scale"; api PUT $GADGETS/s/scale -d "@$T/scale" >/dev/null; api GET $GADGETS/s | jq .spec.size.wanted)"
api POST $GADGETS -d '{"metadata":{"name":"t"}}' >/dev/null
same "one that wants none has none" '500 InternalError Internal error occurred: the spec replicas field ".spec.size.wanted" does not exist' "$(status GET $GADGETS/t/scale)"
merge t '{"spec":{"size":{"wanted":1}}}' >/dev/null
same "until it says so" 1 "$(api GET $GADGETS/t/scale | jq .spec.replicas)"

# ---- from a file
end_sim
{ crd Namespaced v1; echo '{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"l","namespace":"n"}}'; } >"$T/load.json"
start_sim --load "$T/load.json"
same "a loaded definition serves, and its objects are there" '[["gadgets","Gadget",true,"gd"],["gadgets/status","Gadget",true,null]] l' "$(discovered v1) $(api GET $GADGETS | jq -r '.items[0].metadata.name')"
command -v kubectl >/dev/null || { echo "ok: (kubectl not tried: it is not installed)"; exit 0; }
export HOME=$T
same "kubectl knows it by its short name" l "$(kubectl get gd -n n -o jsonpath='{.items[0].metadata.name}')"
same "kubectl waits for it" 'customresourcedefinition.apiextensions.k8s.io/gadgets.example.com condition met' "$(kubectl wait --for condition=established crd/gadgets.example.com --timeout="${PATIENCE}s")"
same "kubectl deletes it" 'customresourcedefinition.apiextensions.k8s.io "gadgets.example.com" deleted' "$(kubectl delete crd gadgets.example.com | sed 's/ from .* namespace//')"
