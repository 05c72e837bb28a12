#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TLS with certificates of its own: the kubeconfig is all a client needs, and who has neither certificate nor token stays out.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 5 s.
. "$(dirname "$0")/../support/sim_common.sh"
curl --version | grep -qi ' https' || { echo "needs curl with TLS"; exit 77; }
base() { sed -n "s/^ *$1: //p" "$DIR/kubeconfig" | base64 -d; }
with() { curl -s --max-time "$PATIENCE" "$@"; }

start --tls --nodes 2 --pods-per-node 5 --token secret
same "https" https "${URL%%:*}"
for part in certificate-authority-data client-certificate-data client-key-data; do
	base $part >"$DIR/$part" && [ -s "$DIR/$part" ] || fail "the kubeconfig has $part"
done
CA="--cacert $DIR/certificate-authority-data"
ME="--cert $DIR/client-certificate-data --key $DIR/client-key-data"
same "only for the owner" 600 "$(stat -c %a "$DIR/kubeconfig")"
same "with the certificate" 10 "$(with $CA $ME "$URL/api/v1/pods" | jq '.items|length')"
same "with the token" 10 "$(with $CA -H 'Authorization: Bearer secret' "$URL/api/v1/pods" | jq '.items|length')"
same "with neither" "401 Unauthorized Unauthorized" "$(with $CA "$URL/api/v1/pods" | jq -r '"\(.code) \(.reason) \(.message)"')"
with "$URL/api/v1/pods" >/dev/null
same "a client that does not know the CA refuses" 60 $?
same "a watch" 10 "$(with $CA $ME -N "$URL/api/v1/pods?watch=1&timeoutSeconds=1" | wc -l)"
with $CA $ME -X POST "$URL/sim/faults" --data-binary 'when LIST pods then close mid-frame once' >/dev/null
with $CA $ME "$URL/api/v1/pods" >/dev/null
case $? in 18 | 56) echo "ok: faults over TLS" ;; *) fail "a cut answer over TLS: $?" ;; esac
if command -v kubectl >/dev/null; then
	HOME=$DIR kubectl get pods -A -o name >"$DIR/names" || fail "kubectl"
	same "kubectl by the kubeconfig alone" 10 "$(wc -l <"$DIR/names")"
fi
kill "$SIM"
wait "$SIM"

# ---- certificates that stay
start --tls-dir "$DIR/certs"
CA="--cacert $DIR/certs/ca.crt"
same "they are in the folder" "ca.crt ca.key client.crt client.key server.crt server.key" "$(ls "$DIR/certs" | xargs)"
same "the kubeconfig has the same" "$(cat "$DIR/certs/client.crt")" "$(base client-certificate-data)"
cp "$DIR/certs/client.crt" "$DIR/old.crt"
cp "$DIR/certs/client.key" "$DIR/old.key"
cp "$DIR/certs/ca.crt" "$DIR/ca.crt"
kill "$SIM"
wait "$SIM"
start --tls-dir "$DIR/certs"
same "the CA stays" "$(cat "$DIR/ca.crt")" "$(cat "$DIR/certs/ca.crt")"
same "so a client of the run before is let in" 200 "$(with $CA --cert "$DIR/old.crt" --key "$DIR/old.key" -o /dev/null -w '%{http_code}' "$URL/api/v1/pods")"
same "one without is not" 401 "$(with $CA -o /dev/null -w '%{http_code}' "$URL/api/v1/pods")"
kill "$SIM"
wait "$SIM"
start --tls
base client-certificate-data >"$DIR/strange.crt"
base client-key-data >"$DIR/strange.key"
kill "$SIM"
wait "$SIM"
start --tls-cert "$DIR/certs/server.crt" --tls-key "$DIR/certs/server.key" --client-ca "$DIR/certs/ca.crt"
same "certificates from files" 200 "$(with $CA --cert "$DIR/old.crt" --key "$DIR/old.key" -o /dev/null -w '%{http_code}' "$URL/api/v1/pods")"
same "another CA's certificate does not count" 401 "$(with $CA --cert "$DIR/strange.crt" --key "$DIR/strange.key" -o /dev/null -w '%{http_code}' "$URL/api/v1/pods")"

# ---- what cannot be
echo "no PEM" >"$DIR/certs/ca.crt"
"$BIN" --tls-dir "$DIR/certs" 2>"$DIR/e"
same "a folder whose CA is none: code 1" 1 $?
grep -q 'its ca.crt and ca.key cannot be read as PEM' "$DIR/e" || fail "and says so: $(cat "$DIR/e")"
"$BIN" --tls --client-ca "$DIR/ca.crt" 2>"$DIR/e"
same "flags that contradict each other: code 2" 2 $?
