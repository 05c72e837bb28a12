#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Who may what at a gateway's listener for tokens: of identities × requests each verdict is the API server's own by its RBAC, code and sentence.
# The gateway has no more rights than ClusterRole system:auth-delegator gives. What differs, with reason:
#   - no token: 401 here. The API server calls such a caller system:anonymous, for whom roles may be bound; here nobody is let in without a name;
#   - a token for the gateway's own audience is one here and none there;
#   - what informerd does not cache is 404 to whom it is allowed, and a write is refused, for there is no passThrough;
#   - the watches of old, below /api/v1/watch, are nobody's here;
#   - a path that is neither discovery nor health must be within the listener's scope as well: /metrics is named in it, /sim/stats is not.
# What is taken away there ends watches here, and is refused when the decision's time is over.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
command -v openssl >/dev/null || { echo "SKIP openssl is missing"; exit 77; }

# ---- users, and what they may
cat >"$T/users.csv" <<-END
	gateway-token,gateway,u0,
	alice-token,alice,u1,"dev"
	bob-token,bob,u2,
	carol-token,carol,u3,
	dora-token,dora,u4,"ops"
	eve-token,eve,u5,
	sam-token,sam,u6,
	wes-token,wes,u7,
END
echo 'here-token,alice,u1,"dev"' >"$T/here.csv"
echo 'elsewhere-token,alice,u1,"dev"' >"$T/elsewhere.csv"
role() { # role KIND/NAME NAMESPACE SUBJECT RULES
	local in=
	[ -z "$2" ] || in=",\"namespace\":\"$2\""
	printf '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"%s","metadata":{"name":"%s"%s},"rules":[%s]},' "${1%/*}" "${1#*/}" "$in" "$4"
	printf '{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"%sBinding","metadata":{"name":"%s"%s},"roleRef":{"kind":"%s","name":"%s","apiGroup":"rbac.authorization.k8s.io"},"subjects":[{"kind":"%s","name":"%s"}]},' \
		"${1%/*}" "${1#*/}" "$in" "${1%/*}" "${1#*/}" "${3%/*}" "${3#*/}"
}
rule() { printf '{"apiGroups":[""],"resources":[%s],"verbs":[%s]%s}' "$1" "$2" "${3:+,\"resourceNames\":[$3]}"; }
read_all='"get","list","watch"'
roles() {
	printf '{"items":['
	role ClusterRole/auth-delegator '' User/gateway '{"apiGroups":["authentication.k8s.io"],"resources":["tokenreviews"],"verbs":["create"]},
		{"apiGroups":["authorization.k8s.io"],"resources":["subjectaccessreviews"],"verbs":["create"]}'
	role ClusterRole/discovery '' Group/system:authenticated '{"nonResourceURLs":["/api","/api/*","/apis","/apis/*","/version","/healthz","/livez","/readyz"],"verbs":["get"]}'
	role ClusterRole/pods '' "${1:-User/alice}" "$(rule '"pods","configmaps"' "$read_all")"
	role Role/pods default User/bob "$(rule '"pods"' "$read_all")"
	role Role/one default User/carol "$(rule '"pods"' "$read_all" '"one"')"
	role ClusterRole/nodes '' Group/ops "$(rule '"nodes","pods/status"' '"get"'),{\"nonResourceURLs\":[\"/metrics\",\"/sim/stats\"],\"verbs\":[\"get\"]}"
	role Role/secrets default User/sam "$(rule '"secrets"' '"get","list"')"
	role ClusterRole/all '' User/wes '{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}' | sed 's/,$//'
	printf ']}'
}
roles >"$T/rbac.json"

start_sim --nodes 2 --pods-per-node 5 --rbac "$T/rbac.json" --token-file "$T/users.csv" --token-file "informer-gateway=$T/here.csv" \
	--token-file "somebody-else=$T/elsewhere.csv"
for name in one two; do
	curl -sf -o /dev/null "$url/api/v1/namespaces/default/pods" -H 'Content-Type: application/json' -d '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'$name'"},
		"spec":{"nodeName":"n1","containers":[{"name":"c","image":"i"}]}}' || fail "no pod"
	curl -sf -o /dev/null "$url/api/v1/namespaces/default/secrets" -H 'Content-Type: application/json' \
		-d '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"'$name'"},"data":{"k":"c2VjcmV0"}}' || fail "no secret"
done
echo '{allowSecrets: true, resources: [{resource: pods}, {resource: nodes}, {resource: secrets}]}' >"$T/config.yaml"
start_daemon --config "$T/config.yaml"
wait_ready

# ---- the gateway
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/gw.key" -out "$T/gw.crt" -days 2 -subj /CN=gateway \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "no certificate"
sed 's/token: .*/token: gateway-token/' "$T/kubeconfig" >"$T/kubeconfig.gateway"
# tokens_gateway [LISTENER]: with more of its listener
tokens_gateway() {
	gateway_file "listen: '127.0.0.1:0', profile: tokens, certificate: gw.crt, key: gw.key, audiences: [informer-gateway]${1:+, $1}" \
		'access: {keepAllowed: 10s, keepRefused: 1s}'
	start_gateway --kubeconfig "$T/kubeconfig.gateway" --config "$T/gateway.yaml"
}
# said_by TOKEN URL CA PATH CURL-ARGUMENTS...: code, and the sentence of a refusal
said_by() {
	local token=$1 base=$2 ca=$3 path=$4; shift 4
	curl -q -s -m 30 --cacert "$ca" ${token:+-H "Authorization: Bearer $token"} -o "$T/body.${base##*:}" -w '%{http_code}' "$@" "$base$path"
	jq -r 'select(.kind == "Status" and (.code == 401 or .code == 403)) | " " + .message' "$T/body.${base##*:}" 2>/dev/null | tr '\n' ' ' | sed 's/ $//'
}
tokens_gateway "scope: ['*', secrets, pods/status, /metrics]"
ready() { [ "$(said_by wes-token "$gateway_url" "$T/gw.crt" /api/v1/namespaces/default/pods/two)" = 200 ]; }
until_true ready || fail "not ready: $(said_by wes-token "$gateway_url" "$T/gw.crt" /api/v1/namespaces/default/pods/two)"

in=/api/v1/namespaces/default
requests=(/api/v1/pods $in/pods /api/v1/namespaces/kube-system/pods $in/pods/one $in/pods/two $in/pods/nobody $in/pods/one/status
	"$in/pods?fieldSelector=metadata.name%3Done" "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1" "/api/v1/pods?labelSelector=app%3Dw"
	"$in/pods?watch=1&timeoutSeconds=1" "/api/v1/pods?watch=1&timeoutSeconds=1" "$in/pods?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Done"
	"/api/v1/watch/namespaces/default/pods/one?timeoutSeconds=1"
	/api/v1/nodes /api/v1/nodes/nobody $in/secrets $in/secrets/one $in/secrets/nobody /api/v1/secrets "$in/secrets?watch=1&timeoutSeconds=1"
	$in/configmaps /api /api/v1 /apis /version /livez /readyz /metrics /sim/stats)
# expected TOKEN REQUEST: what the gateway says where that is otherwise for a reason; else nothing
expected() {
	local may=${there%% *}
	case $1:$2 in
	:*) echo '401 Unauthorized' ;;
	*:/sim/stats) [ "$may" = 401 ] || echo "403 forbidden: User \"$user\" cannot get path \"/sim/stats\": it is not in the scope of this listener" ;;
	*:/api/v1/watch/*) [ "$may" != 200 ] && [ "$may" != 403 ] || case $here in 403*) echo "$here" ;; *) echo 403 ;; esac ;;
	*/configmaps) [ "$may" != 200 ] || echo 404 ;;
	esac
}
compared=0 different=0
for token in admin: alice bob carol dora eve sam wes nobody elsewhere ''; do
	user=${token%:}
	case $token in admin:) bearer=test-token ;; '') bearer= ;; *) bearer=$token-token ;; esac
	for request in "${requests[@]}"; do
		said_by "$bearer" "$url" "$T/server.ca" "$request" >"$T/there" &
		here=$(said_by "$bearer" "$gateway_url" "$T/gw.crt" "$request")
		wait $!
		there=$(<"$T/there")
		want=$(expected "$user" "$request")
		compared=$((compared + 1))
		[ "$here" = "${want:-$there}" ] && continue
		different=$((different + 1))
		echo "DIFFERENT: ${user:-no token}: $request: upstream '$there', the gateway '$here', expected '${want:-$there}'"
	done
done
[ "$different" = 0 ] || fail "$different of $compared verdicts differ"

# a token of our own audience is one here alone
[ "$(said_by here-token "$url" "$T/server.ca" /api/v1/pods)" = '401 Unauthorized' ] || fail "our audience at the API server"
[ "$(said_by here-token "$gateway_url" "$T/gw.crt" /api/v1/pods)" = 200 ] || fail "our audience here"
# who may write there may not here
[ "$(said_by wes-token "$gateway_url" "$T/gw.crt" $in/pods/one -X DELETE | cut -c 1-3)" != 200 ] || fail "a DELETE"
[ "$(said_by wes-token "$url" "$T/server.ca" $in/pods/one)" = 200 ] || fail "it was deleted"

# ---- what is taken away
curl -q -sN -m 120 --cacert "$T/gw.crt" -H 'Authorization: Bearer alice-token' "$gateway_url/api/v1/pods?watch=1&timeoutSeconds=100" >"$T/watched" &
watcher=$!
until_true test -s "$T/watched" || fail "no watch"
roles User/nobody >"$T/rbac.new" && mv "$T/rbac.new" "$T/rbac.json"
refused() { [ "$(said_by alice-token "$gateway_url" "$T/gw.crt" /api/v1/pods | cut -c 1-3)" = 403 ]; }
PATIENCE=60 until_true refused || fail "alice may still list"
ended() { ! kill -0 "$watcher" 2>/dev/null; }
PATIENCE=60 until_true ended || fail "her watch goes on"
code=0
wait "$watcher" || code=$?
[ "$code" = 0 ] || fail "her watch ends with curl's $code"
roles >"$T/rbac.new" && mv "$T/rbac.new" "$T/rbac.json"
allowed() { [ "$(said_by alice-token "$gateway_url" "$T/gw.crt" /api/v1/pods)" = 200 ]; }
until_true allowed || fail "alice may not again"

# ---- a gateway that may not ask lets nobody in, and secrets that the scope does not name are nobody's
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
! grep -q -- '-token' "$gateway_log" || fail "a token is in the log"
tokens_gateway
until_true ready || fail "not ready"
[ "$(said_by wes-token "$gateway_url" "$T/gw.crt" $in/secrets | cut -c 1-3)" = 403 ] || fail "secrets without being named"
stop_gateway TERM
sed -i 's/token: .*/token: eve-token/' "$T/kubeconfig.gateway"
tokens_gateway "scope: ['*']"
[ "$(said_by wes-token "$gateway_url" "$T/gw.crt" /api/v1/pods | cut -c 1-3)" = 503 ] || fail "a gateway without rights: $(said_by wes-token "$gateway_url" "$T/gw.crt" /api/v1/pods)"
stop_gateway TERM
echo ok
