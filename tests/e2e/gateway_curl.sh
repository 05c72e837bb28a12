#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# curl over a gateway's Unix socket: the kernel says who asks, the listener's scope what he may. Nobody else is let in, and neither a refusal, a
# count nor a continue token tells of what is outside the scope; a secret least of all, though informerd has it.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 3 --pods-per-node 20
json='Content-Type: application/json'
for at in default:mine kube-system:theirs; do
	for i in 1 2 3; do
		curl -sf -o "$T/made" "$url/api/v1/namespaces/${at%:*}/pods" -H "$json" -d '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"${at#*:}-$i"'",
			"labels":{"made":"here"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}' || fail "no pod"
	done
done
curl -sf -o "$T/made" "$url/api/v1/namespaces/default/secrets" -H "$json" \
	-d '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"key"},"data":{"k":"c2VjcmV0"}}' || fail "no secret"
echo '{allowSecrets: true, resources: [{resource: pods}, {resource: nodes}, {resource: secrets}]}' >"$T/config.yaml"
start_daemon --config "$T/config.yaml"
wait_ready

# unix_gateway WHO [RULE]: everybody may reach its socket's file
chmod 711 "$T"
unix_gateway() {
	gateway_file "listen: 'unix:$T/gateway.sock', profile: unix, mode: '0666', scope: ['pods?namespaces=default'${2:+, '$2'}], $1" 'drain: 1s'
	start_gateway --config "$T/gateway.yaml"
}
# asks PATH CURL-ARGUMENTS...: the code, and in $T/body what was said
asks() { curl -q -s -m 30 --unix-socket "$T/gateway.sock" -o "$T/body" -w '%{http_code}' "${@:2}" "http://gateway$1"; }
says() { # says CODE PATH: it is that code
	[ "$(asks "$2" "${@:3}")" = "$1" ] || fail "$2 is not $1: $(head -c 400 "$T/body")"
}
unix_gateway "uids: [$(id -u)]"
serves() { [ "$(asks /api/v1/namespaces/default/pods)" = 200 ]; }
until_true serves || fail "no pods: $(cat "$T/body")"

# ---- within the scope: as the API server answers
in=/api/v1/namespaces/default/pods
same() { # same PATH FILTER
	says 200 "$1"
	[ "$(jq -cS "$2" "$T/body")" = "$(curl -s "$url$1" | jq -cS "$2")" ] || fail "$1 is another than the server's"
}
same $in '[.items[].metadata | .name, .uid] | sort'
same $in/mine-1 '.metadata.uid, .spec'
same "$in?labelSelector=made%3Dhere" '[.items[].metadata.name] | sort'
# what is left behind a page is what is left in this namespace
same "$in?limit=1" '.metadata.remainingItemCount'
[ "$(jq .metadata.remainingItemCount "$T/body")" = $(($(on_server $in) - 1)) ] || fail "remainingItemCount: $(jq -c .metadata "$T/body")"
next=$(jq -r .metadata.continue "$T/body")
says 200 "$in?limit=500&continue=$next"
jq -e 'all(.items[]; .metadata.namespace == "default")' "$T/body" >"$T/all" || fail "a page goes beyond the namespace"

# a watch hears what happens there, and nothing of what happens elsewhere
curl -q -sN --unix-socket "$T/gateway.sock" "http://gateway$in?watch=1&timeoutSeconds=60" >"$T/watched" &
until_true grep -q mine-3 "$T/watched" || fail "no watch"
curl -sf -o "$T/made" -X DELETE "$url/api/v1/namespaces/kube-system/pods/theirs-3?gracePeriodSeconds=0" || fail "no DELETE"
curl -sf -o "$T/made" -X DELETE "$url$in/mine-3?gracePeriodSeconds=0" || fail "no DELETE"
until_true grep -q '"type":"DELETED"' "$T/watched" || fail "the watch does not hear it"
! grep -q theirs "$T/watched" || fail "the watch hears of another namespace"

# ---- beyond it: the same words whether something is there or not
# refused PATH NOT_THERE: both are forbidden, in words that differ by no more than the name
refused() {
	says 403 "$1"
	sed "s|${1##*/}|NAME|g" "$T/body" >"$T/there"
	says 403 "$2"
	sed "s|${2##*/}|NAME|g" "$T/body" >"$T/not.there"
	cmp -s "$T/there" "$T/not.there" || fail "$1 and $2 are refused in other words: $(diff "$T/there" "$T/not.there")"
	! grep -q 'uid":"[^"]\|remainingItemCount\|resourceVersion":"[1-9]' "$T/there" || fail "a refusal tells: $(cat "$T/there")"
}
other=/api/v1/namespaces/kube-system
refused $other/pods/theirs-1 $other/pods/nobody
says 403 /api/v1/namespaces/kube-system/pods
sed 's/kube-system/nowhere/g' "$T/body" >"$T/there"
says 403 /api/v1/namespaces/nowhere/pods
cmp -s "$T/there" "$T/body" || fail "a namespace that is there and one that is not are refused in other words"
refused /api/v1/nodes/"$(curl -s "$url/api/v1/nodes?limit=1" | jq -r '.items[0].metadata.name')" /api/v1/nodes/nobody
refused /api/v1/namespaces/default/secrets/key /api/v1/namespaces/default/secrets/nobody
for path in /api/v1/pods '/api/v1/pods?limit=1' '/api/v1/pods?fieldSelector=metadata.namespace%3Ddefault' "/api/v1/pods?watch=1&timeoutSeconds=1" \
		"$other/pods?limit=1&continue=$next" /api/v1/secrets "/api/v1/namespaces/default/secrets?watch=1&timeoutSeconds=1" /api/v1/nodes \
		/api/v1/namespaces/default/configmaps $in/mine-1/log /metrics; do
	says 403 "$path"
	! grep -q 'theirs\|c2VjcmV0\|remainingItemCount' "$T/body" || fail "$path tells: $(cat "$T/body")"
done
says 403 $in/mine-1 -X DELETE
says 400 $in/%2e%2e/%2e%2e/kube-system/pods/theirs-1 --path-as-is
[ "$(curl -s -o "$T/mine" -w '%{http_code}' "$url$in/mine-1")" = 200 ] || fail "it was deleted"
# a token of a page of ours is none of another namespace's, and does not widen ours
asks "$in?limit=500&continue=$(printf '{"v":"meta.k8s.io/v1","rv":1,"start":"../kube-system/\\u0000"}' | base64 -w 0 | tr -d '=')" >"$T/code"
! grep -q theirs "$T/body" || fail "a token of one's own making leads elsewhere: $(cat "$T/code" "$T/body")"

# ---- secrets that the scope names are to be had, of that namespace alone
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
unix_gateway "uids: [$(id -u)]" 'secrets?namespaces=default'
until_true serves || fail "no pods: $(cat "$T/body")"
says 200 /api/v1/namespaces/default/secrets/key
says 403 /api/v1/secrets
says 403 $other/secrets/key
stop_gateway TERM

# ---- who is not named may nothing, whatever he says of himself
unix_gateway "uids: [$(($(id -u) + 1))]"
for path in $in /api/v1/nodes /version /api /readyz /metrics; do
	says 403 "$path"
	jq -r .message "$T/body" | grep -q 'this listener is not for it$' || fail "$path: $(cat "$T/body")"
done
says 403 $in -H 'Authorization: Bearer test-token' -H 'Impersonate-User: root' -H 'X-Remote-User: root'
stop_gateway TERM
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	unix_gateway 'uids: [0]'
	as_nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups curl -q -s -m 30 --unix-socket "$T/gateway.sock" -w ' %{http_code}' "http://gateway$1"; }
	until_true serves || fail "root has no pods: $(cat "$T/body")"
	[ "$(as_nobody $in | tail -c 4)" = ' 403' ] || fail "nobody has pods: $(as_nobody $in | head -c 300)"
	stop_gateway TERM
	unix_gateway 'gids: [65534]'
	nobody_serves() { [ "$(as_nobody $in | tail -c 4)" = ' 200' ]; }
	until_true nobody_serves || fail "a named group has no pods: $(as_nobody $in | head -c 300)"
	stop_gateway TERM
fi
echo ok
