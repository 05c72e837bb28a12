#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-gateway gives a caller with a token what the API server's reviews allow. A caller without a valid token is refused with 401. A resource
# that the caller may not read is refused with 403 and the API server's sentence. A right in one namespace shows the objects of that namespace alone.
# Without passThrough a write is refused with a sentence, and a resource that is not cached is 404. With passThrough both go to the API
# server with the caller's own token, and its answer comes back: kubectl logs works. kubectl exec is told to ask the API server itself, and at which URL.
# Not upstream: it has reviews of its own making; upstream/gateway_access.sh has the API server's.
# Takes 4 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/reviews.sh"
command -v python3 >/dev/null && command -v kubectl >/dev/null || { echo "SKIP: needs python3 and kubectl"; exit 77; }
export HOME=$T # kubectl's cache

gateway_certificate
start_sim --nodes 2 --pods-per-node 5
start_reviews "$url"
json='Content-Type: application/json'
in=/api/v1/namespaces/default
map='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"written"},"data":{"k":"v"}}'
for name in one two; do
	curl -sf -o /dev/null -H "$json" "$url$in/pods" \
		-d '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'$name'"},"spec":{"containers":[{"name":"c","image":"i"}]}}' || fail "no pod"
done
start_daemon --resource pods --resource nodes
wait_ready
for user in viewer tenant nobody keeper; do
	token $user
	declare "$user=$made"
done

# said TOKEN PATH CURL-ARGUMENTS...: code, and what a Status says; the answer is in $T/body
said() {
	curl -q -s -m 60 --cacert "$T/gw.crt" ${1:+-H "Authorization: Bearer $1"} -o "$T/body" -w '%{http_code}' "${@:3}" "$gateway_url$2"
	jq -j 'select(.kind == "Status" and .status == "Failure") | " \(.reason): \(.message)"' "$T/body" 2>/dev/null || true
}
# expect PATTERN TOKEN PATH CURL-ARGUMENTS...
expect() {
	local want=$1 got
	got=$(said "${@:2}")
	case $got in $want) ;; *) fail "${*:3}: $got, not $want" ;; esac
	case $got in 20*) ;; *) ! grep -q '"spec"\|"items"' "$T/body" || fail "${*:3}: refused and served: $(head -c 300 "$T/body")" ;; esac
}
# has COUNT [NAMESPACE]: the answer has so many items, all of the namespace
has() {
	jq -e --argjson n "$1" --arg ns "${2:-}" '(.items | length) == $n and ($ns == "" or all(.items[]; .metadata.namespace == $ns))' "$T/body" >/dev/null ||
		fail "not $* but $(jq -c '[.items[].metadata | "\(.namespace)/\(.name)"]' "$T/body")"
}
# tokens_gateway [LISTENER]: with more of its listener
tokens_gateway() {
	gateway_file "listen: '127.0.0.1:0', profile: tokens, certificate: gw.crt, key: gw.key, audiences: [informer-gateway], scope: ['*']${1:+, $1}" \
		'drain: 100ms'
	start_gateway --kubeconfig "$T/kubeconfig.reviews" --config "$T/gateway.yaml"
	ready() { [ "$(said "$viewer" /api/v1/pods)" = 200 ]; }
	until_true ready || fail "not ready: $(said "$viewer" /api/v1/pods)"
}

# ---- who may read what
tokens_gateway
expect '401 Unauthorized: Unauthorized' "" /api/v1/pods
expect '401 Unauthorized: Unauthorized' nonsense-token /api/v1/pods
tokens+=(nonsense-token)
token viewer somebody-else
expect '401 Unauthorized: Unauthorized' "$made" /api/v1/pods
expect 200 "$viewer" /api/v1/pods
has "$(on_server /api/v1/pods)"
expect 200 "$viewer" $in/pods/one
expect '403 Forbidden: pods is forbidden: User "nobody" cannot list resource "pods" in API group "" at the cluster scope*' "$nobody" /api/v1/pods
expect '403 Forbidden: pods "one" is forbidden: User "nobody" cannot get resource "pods" in API group "" in the namespace "default"*' "$nobody" $in/pods/one
expect '403 Forbidden: pods is forbidden: User "nobody" cannot watch *' "$nobody" '/api/v1/pods?watch=1&timeoutSeconds=1'

# ---- a right in one namespace
expect 200 "$tenant" $in/pods
has 2 default
expect 200 "$tenant" $in/pods/two
expect '403 Forbidden: pods is forbidden: User "tenant" cannot list resource "pods" in API group "" at the cluster scope*' "$tenant" /api/v1/pods
expect '403 Forbidden: pods is forbidden: User "tenant" cannot list resource "pods" in API group "" in the namespace "kube-system"*' \
	"$tenant" /api/v1/namespaces/kube-system/pods
expect '403 Forbidden: nodes is forbidden: User "tenant" cannot list *' "$tenant" /api/v1/nodes
expect 200 "$tenant" "$in/pods?watch=1&timeoutSeconds=1"
watched=$(jq -s -c '[.[] | select(.type == "ADDED").object.metadata | "\(.namespace)/\(.name)"] | sort' "$T/body")
[ "$watched" = '["default/one","default/two"]' ] || fail "the watch of one namespace: $watched"

# ---- without passThrough nothing is written, and what is not cached is not there
expect '403 Forbidden: *' "$keeper" $in/pods/one -X DELETE
expect '403 Forbidden: *' "$keeper" $in/configmaps -H "$json" -d "$map"
expect '404 NotFound: *' "$keeper" $in/configmaps
! grep -qs 'configmaps\|^DELETE' "$T/passed" || fail "passed on: $(cat "$T/passed")"
[ "$(on_server $in/pods)" = 2 ] || fail "it was deleted"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code"

# ---- with it the API server answers whoever has a token
: >"$T/passed"
tokens_gateway 'passThrough: true'
expect 201 "$keeper" $in/configmaps -H "$json" -d "$map"
[ "$(curl -s "$url$in/configmaps/written" | jq -r .data.k)" = v ] || fail "it was not written"
expect 200 "$viewer" $in/configmaps/written
[ "$(jq -r .data.k "$T/body")" = v ] || fail "what came back: $(cat "$T/body")"
expect '404 NotFound: configmaps "none" not found' "$viewer" $in/configmaps/none
expect '401 Unauthorized: Unauthorized' "" $in/configmaps/written
expect 200 "$keeper" $in/pods/one -X DELETE
grep 'configmaps\|pods' "$T/passed" >"$T/told" || true
cat >"$T/want" <<-END
	POST $in/configmaps Bearer $keeper
	GET $in/configmaps/written Bearer $viewer
	GET $in/configmaps/none Bearer $viewer
	DELETE $in/pods/one Bearer $keeper
END
cmp -s "$T/want" "$T/told" || fail "the API server was asked: $(diff "$T/want" "$T/told")"
gone() { [ "$(said "$tenant" $in/pods)" = 200 ] && [ "$(jq '.items | length' "$T/body")" = 1 ]; }
until_true gone || fail "the deleted pod is still served"

# ---- logs pass, exec does not
kubectl_as() { kubectl --server "$gateway_url" --certificate-authority "$T/gw.crt" --token "$@" 2>&1 || true; } # kubectl_as TOKEN ARGUMENTS...
for follow in false true; do
	[ "$(kubectl_as "$keeper" logs two --follow=$follow)" = "a line of the log" ] || fail "logs --follow=$follow: $(kubectl_as "$keeper" logs two)"
done
sentence="does not carry upgraded connections (exec, attach, port-forward, proxy): ask the API server itself"
at="at http://127.0.0.1:$(<"$T/reviews.port")"
for command in "exec two -- true" "attach two"; do
	# shellcheck disable=SC2086
	got=$(kubectl_as "$keeper" $command)
	case $got in *"$sentence $at"*) ;; *) fail "$command: $got" ;; esac
done
upgrade=(-X POST -H 'Connection: Upgrade' -H 'Upgrade: SPDY/3.1')
expect "501 NotImplemented: *$sentence $at" "$keeper" $in/pods/two/exec "${upgrade[@]}"
expect '403 Forbidden: *' "$nobody" $in/pods/two/exec "${upgrade[@]}"
expect '401 Unauthorized: Unauthorized' nonsense-token $in/pods/two/exec "${upgrade[@]}"
! grep -q '/exec\|/attach\|/portforward' "$T/passed" || fail "passed on: $(cat "$T/passed")"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code"
for t in "${tokens[@]}" signature-of; do ! grep -qF -- "$t" "$T"/gateway.*.log || fail "a token is in the log"; done
echo ok
