# SPDX-License-Identifier: Apache-2.0
# A custom resource of tests: gadgets.example.com, defined and deleted at informer-sim, and what informerctl has of it. Behind script.sh.
CRDS=/apis/apiextensions.k8s.io/v1/customresourcedefinitions
post() { curl -sf -X POST -H 'Content-Type: application/json' -d "$2" "$url$1" >/dev/null || fail "POST $1"; }
answers() { [ "$(curl -s -o "$T/answer" -w '%{http_code}' "$url$1")" = "$2" ]; }
define() { # VERSION SCOPE KIND
	post $CRDS '{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"gadgets.example.com"},"spec":{"group":"example.com","scope":"'"$2"'","names":{"plural":"gadgets","singular":"gadget","kind":"'"$3"'","shortNames":["gd"]},"versions":[{"name":"'"$1"'","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}'
	until_true answers "/apis/example.com/$1/gadgets" 200 || fail "gadgets of $1 are not served"
}
undefine() {
	curl -sf -X DELETE "$url$CRDS/gadgets.example.com" >/dev/null || fail "not deleted"
	until_true answers $CRDS/gadgets.example.com 404 || fail "the definition stays"
}
gadget() { # VERSION KIND NAME [NAMESPACE]
	post "/apis/example.com/$1${4:+/namespaces/$4}/gadgets" '{"apiVersion":"example.com/'"$1"'","kind":"'"$2"'","metadata":{"name":"'"$3"'","labels":{"team":"a"}}}'
}
get() { INFORMER_SOCKET=$S "$B"/informerctl get "$@"; }
# shows KEYS VERSION KIND: what informerctl has
shows() {
	[ "$(get gadgets.example.com -A -o json 2>"$T/get.log" |
		jq -r '(.items // [.]) | map((.metadata.namespace // "-") + "/" + .metadata.name + " " + .apiVersion + " " + .kind) | join(",")')" = "$1 example.com/$2 $3" ]
}
