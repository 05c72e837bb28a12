#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informer-gateway over TLS refuses callers that may not, and gives them nothing: tokens that ran out; reviews that refuse, fail or hang, while others
# are served; certificates of another CA, none, or with a name that is not listed; requests that can be read in two ways; headers of 10 MB, or slow
# ones; 10,000 idle connections; too many watches. A watch ends with its token. A listener that does not name secrets serves none, and no listener
# serves those that informerd may not cache. No token is ever in the log, the audit log or the metrics.
# Takes 42 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/reviews.sh"
here=$(cd "$(dirname "$0")/../support" && pwd)

# ---- certificates: ours, our clients', and somebody else's
authority() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/$1.key" -out "$T/$1.crt" -days 2 -subj "/CN=$1" 2>/dev/null; }
client() { # client FILE NAME CA
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/$1.key" -out "$T/$1.csr" -subj "/CN=$2" 2>/dev/null &&
		openssl x509 -req -in "$T/$1.csr" -CA "$T/$3.crt" -CAkey "$T/$3.key" -CAcreateserial -days 2 -out "$T/$1.crt" 2>/dev/null
}
gateway_certificate
authority clients && authority others && client relay relay-1 clients &&
	client stranger relay-10 clients && client foreign relay-1 others || fail "no certificates"

# ---- who is who
start_reviews
token viewer && viewer=$made
token other && other=$made
token keeper && keeper=$made

# ---- the programs
start_sim --nodes 2 --pods-per-node 5
curl -sf -o /dev/null "$url/api/v1/namespaces/default/secrets" -H 'Content-Type: application/json' \
	-d '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"one"},"data":{"k":"aGlkZGVuLWluLWhlcmU="}}' || fail "no secret"
start_daemon --resource pods --resource nodes
wait_ready
cat >"$T/gateway.yaml" <<-END
	listeners:
	- {name: all, listen: "127.0.0.1:0", profile: tokens, certificate: gw.crt, key: gw.key, audiences: [informer-gateway], scope: ["*", /metrics], openHealth: true}
	- {name: named, listen: "127.0.0.1:0", profile: tokens, certificate: gw.crt, key: gw.key, audiences: [informer-gateway], scope: [secrets]}
	- {name: tier, listen: "127.0.0.1:0", profile: certificates, certificate: gw.crt, key: gw.key, clientCA: clients.crt, clientNames: [relay-1], scope: [pods]}
	limits: {watchesByIdentity: 3, headerTimeout: 2s}
	access: {keepAllowed: 10s, keepRefused: 1s, reviewTimeout: 2s}
	audit: {file: audit.log}
	drain: 1s
END
ulimit -n "$(ulimit -Hn)"
start_gateway --kubeconfig "$T/kubeconfig.reviews" --config "$T/gateway.yaml"
mapfile -t urls < <(sed -n 's/.*listening at \([^ ]*\) .*/\1/p' "$gateway_log")
all=${urls[0]} named=${urls[1]} tier=${urls[2]}
served_by() { curl -q -s -m 60 --cacert "$T/gw.crt" "$@"; }
as() { served_by -H "Authorization: Bearer $1" "${@:2}"; } # as TOKEN CURL-ARGUMENTS...
# said TOKEN URL: code, and what a Status says
said() {
	as "$1" -o "$T/body" -w '%{http_code}' "${@:2}" || true
	jq -j 'select(.kind == "Status") | " " + .reason + ": " + .message' "$T/body" 2>/dev/null || true
}
expect() { # expect WHAT PATTERN SAID
	case $3 in $2) ;; *) fail "$1: $3" ;; esac
	[ "${3%% *}" = 200 ] || ! grep -q '"spec"\|"data"' "$T/body" || fail "$1: it was served: $(head -c 300 "$T/body")"
}
pods=$all/api/v1/pods
ready() { [ "$(said "$viewer" "$pods")" = 200 ]; }
until_true ready || fail "not ready: $(said "$viewer" "$pods")"
[ "$(jq '.items | length' "$T/body")" = 10 ] || fail "not all pods"

# ---- tokens and reviews; e2e/gateway_access.sh has the plain cases
token viewer informer-gateway -10
expect "a token that ran out" '401 Unauthorized: Unauthorized' "$(said "$made" "$pods")"
token nobody
expect "a review that refuses" '403 Forbidden: *no rule has it*' "$(said "$made" "$pods")"
token broken
expect "a review that fails" '503 *' "$(said "$made" "$pods")"
for user in hang hang-later; do
	token $user
	said "$made" "$pods" >"$T/hung" &
	hung=$!
	[ "$(as "$viewer" -o /dev/null -w '%{http_code}' "$pods")" = 200 ] || fail "a review that hangs keeps others waiting"
	begun=$SECONDS
	wait "$hung"
	expect "a review that hangs ($user)" '503 *' "$(<"$T/hung")"
	[ $((SECONDS - begun)) -le 30 ] || fail "a review that hangs is waited for: $((SECONDS - begun)) s"
done
# nobody answers at all: who was let in is, for a while; who is new is not
[ "$(said "$viewer" "$pods")" = 200 ] || fail "the viewer"
kill -STOP "$reviews_pid"
expect "while no review is answered" '503 *' "$(said "$keeper" "$pods")"
kill -CONT "$reviews_pid"
keeper_may() { [ "$(said "$keeper" "$pods")" = 200 ]; }
until_true keeper_may || fail "reviews are answered again: $(said "$keeper" "$pods")"

# ---- a watch ends with its token, cleanly, and the token is nobody's from then on
token viewer informer-gateway 4
begun=$SECONDS code=0
as "$made" -N "$pods?watch=1&timeoutSeconds=600" -m 300 -o "$T/watched" -w '%{http_code}' >"$T/watched.code" || code=$?
[ "$code" = 0 ] && [ "$(<"$T/watched.code")" = 200 ] || fail "the watch ends with curl's $code, $(<"$T/watched.code")"
[ $((SECONDS - begun)) -lt 120 ] || fail "the watch outlives its token by far: $((SECONDS - begun)) s"
expect "the token ran out, though it was let in a moment ago" '401 Unauthorized: Unauthorized' "$(said "$made" "$pods")"

# ---- too many watches of one identity, over all its connections
watch() {
	(exec curl -q -sN -m 300 --cacert "$T/gw.crt" -H "Authorization: Bearer $1" "$pods?watch=1&timeoutSeconds=300" >"$T/watch.$2") &
	last=$!
}
watching_is() { [ "$(as "$keeper" "$all/metrics" | awk '$1 == "informer_gateway_watches" {print $2}')" = "$1" ]; }
for i in 1 2 3; do watch "$viewer" $i; done
until_true watching_is 3 || fail "three watches: $(as "$keeper" "$all/metrics" | grep watch)"
expect "the fourth watch" '429 TooManyRequests: *' "$(said "$viewer" "$pods?watch=1&timeoutSeconds=1")"
[ "$(as "$viewer" -o /dev/null -w '%header{retry-after}' "$pods?watch=1&timeoutSeconds=1")" = 1 ] || fail "no Retry-After"
[ "$(said "$viewer" "$pods")" = 200 ] || fail "lists of who has all his watches"
[ "$(said "$other" "$pods?watch=1&timeoutSeconds=1")" = 200 ] || fail "another's watch"
kill "$last"
again() { [ "$(said "$viewer" "$pods?watch=1&timeoutSeconds=1")" = 200 ]; }
until_true again || fail "one ended, and there is no room: $(said "$viewer" "$pods?watch=1&timeoutSeconds=1")"

# ---- certificates
with() { served_by --cert "$T/$1.crt" --key "$T/$1.key" -o "$T/body" -w '%{http_code}' "$tier/api/v1/${2:-pods}" || true; }
[ "$(with relay)" = 200 ] || fail "a listed name: $(with relay)"
expect "its scope" 403 "$(with relay nodes)"
expect "a name that is not listed" 403 "$(with stranger)"
rm -f "$T/body"
[ "$(with foreign)" = 000 ] || fail "another CA: $(with foreign)"
[ "$(served_by -o "$T/body" -w '%{http_code}' "$tier/api/v1/pods" || true)" = 000 ] || fail "no certificate"
[ "$(as "$viewer" -o "$T/body" -w '%{http_code}' "$tier/api/v1/pods" || true)" = 000 ] || fail "a token instead of a certificate"
[ ! -s "$T/body" ] || fail "it was served: $(head -c 300 "$T/body")"

# ---- bytes that could be read in two ways: refusals alone, and nothing behind them is a request
to=${all#https://}
bytes() { python3 "$here/tls_say.py" "$to" "$T/gw.crt" "$@"; }
hidden=$'GET /api/v1/nodes HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer '$viewer$'\r\n\r\n'
first=$'/api/v1/pods HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer '$viewer$'\r\n'
smuggled() { # smuggled WHAT BYTES
	printf '%s' "$2" | bytes say >"$T/answer"
	! grep -qa 'NodeList\|PodList' "$T/answer" || fail "$1: it was served: $(head -c 600 "$T/answer")"
	! grep -qa '^HTTP/1.1 [123]' "$T/answer" || fail "$1: $(head -c 600 "$T/answer")"
	echo "$1: $(head -n 1 "$T/answer" | tr -d '\r')"
}
printf '%s' "GET $first"$'\r\n' | bytes say | grep -qa PodList || fail "an honest request is not served"
smuggled "a length and chunks" "POST $first"$'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'"$hidden"
smuggled "chunks and a length" "GET $first"$'Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n'"$hidden"
smuggled "two lengths" "GET $first"$'Content-Length: 0\r\nContent-Length: '${#hidden}$'\r\n\r\n'"$hidden"
smuggled "a length that is none" "GET $first"$'Content-Length: +0\r\n\r\n'"$hidden"
smuggled "chunks twice" "GET $first"$'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'"$hidden"
smuggled "chunks that are none" "GET $first"$'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n'"$hidden"
smuggled "a bad chunk" "POST $first"$'Transfer-Encoding: chunked\r\n\r\n0x5\r\nabcde\r\n0\r\n\r\n'"$hidden"
smuggled "a chunk too short" "POST $first"$'Transfer-Encoding: chunked\r\n\r\n2\r\nabcde\r\n0\r\n\r\n'"$hidden"
smuggled "a folded header" "GET $first"$'X-A: b\r\n Content-Length: 5\r\n\r\n'"$hidden"
smuggled "a blank before the colon" "GET $first"$'Content-Length : 5\r\n\r\n'"$hidden"
smuggled "bare line feeds" "${hidden//$'\r'/}"
smuggled "a NUL in a header" "$(printf '%s' "GET $first")"$'X-A: \001b\r\n\r\n'"$hidden"
smuggled "another HTTP" $'GET /api/v1/pods HTTP/3.7\r\nHost: g\r\n\r\n'

# ---- much, slowly, and nothing at all
rss() { awk '/^RssAnon:/ {print $2}' "/proc/$gateway_pid/status"; }
descriptors() { find "/proc/$gateway_pid/fd" -mindepth 1 | wc -l; }
before=$(rss)
printf '%s' "GET $first" | bytes much 10000000 >"$T/answer"
! grep -qa PodList "$T/answer" || fail "10 MB of headers are served"
[ "$(head -c 12 "$T/answer")" = 'HTTP/1.1 431' ] || [ ! -s "$T/answer" ] || fail "10 MB of headers: $(head -n 1 "$T/answer")"
sanitized || [ $(($(rss) - before)) -lt 8192 ] || fail "10 MB of headers are kept: $before KiB, then $(rss)"
# it is cut off amid what it still says, and may see a reset before it reads why
expect "a path of 100 KB" '[04]*' "$(said "$viewer" "$all/api/v1/pods?labelSelector=$(head -c 100000 /dev/zero | tr '\0' a)")"
slow=$(printf '%s' "GET $first" | bytes drip 60)
case $slow in ended*) ;; *) fail "slow headers: $slow" ;; esac

before_idle=$(descriptors)
count=10000
[ "$(ulimit -n)" = unlimited ] || [ "$(ulimit -n)" -ge 11000 ] || count=$(($(ulimit -n) - 1000))
exec 5> >(bytes idle "$count" >"$T/idle")
until_true grep -q IDLE "$T/idle" || fail "no $count connections"
begun=$SECONDS
# from another address: what one client has is its own
[ "$(as "$viewer" --interface 127.0.0.2 -o /dev/null -w '%{http_code}' "$pods")" = 200 ] || fail "nobody is served beside $count idle connections"
[ $((SECONDS - begun)) -lt 30 ] || fail "$((SECONDS - begun)) s for an answer beside $count idle connections"
idle_gone() { echo >&5; [ "$(tail -n 1 "$T/idle")" = 0 ]; }
until_true idle_gone || fail "of $count connections that say nothing there are $(tail -n 1 "$T/idle")"
exec 5>&-
all_closed() { [ "$(descriptors)" -le $((before_idle + 5)) ]; }
until_true all_closed || fail "descriptors: $before_idle, then $(descriptors)"
[ "$(said "$viewer" "$pods")" = 200 ] || fail "nobody is served after $count idle connections"

# ---- secrets
forms() { # forms URL: what a token that may do everything is told, in every form
	local accept
	for accept in application/json 'application/json;as=Table;g=meta.k8s.io;v=v1' 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' \
		application/vnd.kubernetes.protobuf; do
		as "$keeper" -H "Accept: $accept" -o "$T/body" -w '%{http_code} ' "$1"
		! grep -qa 'aGlkZGVu\|hidden-in' "$T/body" || fail "a secret is told: $1"
	done
}
in=/api/v1/namespaces/default/secrets
secrets_are() { [ "$(forms "$1$in")$(forms "$1$in/one")$(forms "$1$in?watch=1&timeoutSeconds=1")$(forms "$1/api/v1/secrets")" = "$2" ]; }
each() { printf "$1 %.0s" $(seq 16); }
secrets_are "$named" "$(each 404)" || fail "secrets that informerd does not have: $(forms "$named$in")"
secrets_are "$all" "$(each 403)" || fail "secrets that the listener does not name: $(forms "$all$in")"
stop_daemon TERM
echo '{resources: [{resource: pods}, {resource: secrets}]}' >"$T/refused.yaml"
! "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$T/refused.sock" --arena-dir "$T" --config "$T/refused.yaml" 2>"$T/refused" || fail "secrets without allowSecrets"
grep -q allowSecrets "$T/refused" || fail "why not secrets: $(cat "$T/refused")"
echo '{allowSecrets: true, resources: [{resource: pods}, {resource: nodes}, {resource: secrets}]}' >"$T/config.yaml"
start_daemon --config "$T/config.yaml"
wait_ready
named_secret() { [ "$(said "$keeper" "$named$in/one")" = 200 ] && grep -q aGlkZGVu "$T/body"; }
until_true named_secret || fail "a secret that all allow: $(said "$keeper" "$named$in/one")"
secrets_are "$all" "$(each 403)" || fail "secrets that the listener does not name: $(forms "$all$in")"
expect "secrets that a review refuses" '403 *' "$(said "$viewer" "$named$in")"
expect "secrets for a tier" 403 "$(with relay namespaces/default/secrets)"

# ---- what is written down
as "$keeper" "$all/metrics" >"$T/metrics"
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code"
[ -s "$T/audit.log" ] && [ -s "$T/metrics" ] || fail "no audit log, or no metrics"
for decision in allowed forbidden unauthenticated unknown limited; do
	grep -q "\"decision\":\"$decision\"" "$T/audit.log" || fail "$decision is not in the audit log"
done
for t in "${tokens[@]}" signature-of; do
	! grep -qF -- "$t" "$gateway_log" "$T/audit.log" "$T/metrics" || fail "a token is told: $(grep -lF -- "$t" "$gateway_log" "$T/audit.log" "$T/metrics")"
done
! grep -q 'aGlkZGVu\|hidden-in' "$gateway_log" "$T/audit.log" "$T/metrics" || fail "a secret is told"
echo "ok: $count idle connections"
