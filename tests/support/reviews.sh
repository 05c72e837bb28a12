# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests of a gateway whose listener takes tokens, behind script.sh: a certificate, the API server that reviews
# (review_api.py), and tokens for it.
command -v openssl >/dev/null || { echo "SKIP openssl is missing"; exit 77; }

# gateway_certificate: $T/gw.crt and $T/gw.key
gateway_certificate() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/gw.key" -out "$T/gw.crt" -days 2 -subj /CN=gateway \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "no certificate"
}

# start_reviews [BEHIND]: sets reviews_pid; $T/kubeconfig.reviews points there. With BEHIND all other requests go to the API server there, and are
# in $T/passed, a line each.
tokens=() # each that was made, to look for where none may be
start_reviews() {
	python3 "$(dirname "${BASH_SOURCE[0]}")/review_api.py" "$T/reviews.port" ${1:+"$1" "$T/passed"} 2>"$T/reviews.log" &
	reviews_pid=$!
	until_true test -s "$T/reviews.port" || fail "the review server does not start"
	cat >"$T/kubeconfig.reviews" <<-END
		{apiVersion: v1, kind: Config, current-context: x, contexts: [{name: x, context: {cluster: x, user: x}}],
		 clusters: [{name: x, cluster: {server: "http://127.0.0.1:$(<"$T/reviews.port")"}}], users: [{name: x, user: {token: the-gateways-own}}]}
	END
	tokens+=(the-gateways-own)
}

# token USER [AUDIENCE [SECONDS]]: in $made
base64url() { base64 -w 0 | tr '+/' '-_' | tr -d =; }
token() {
	made=$(printf '{"alg":"none"}' | base64url).$(printf '{"sub":"%s","aud":"%s","exp":%d}' "$1" "${2:-informer-gateway}" \
		$(($(date +%s) + ${3:-3600})) | base64url).signature-of-$1
	tokens+=("$made")
}
