#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TLS with certificates of its own: the kubeconfig is all a client needs, and who has neither certificate nor token stays out.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
curl --version | grep -qi ' https' || { echo "needs curl with TLS"; exit 77; }
base() { sed -n "s/^ *$1: //p" "$T/kubeconfig" | base64 -d; }
with() { curl -s --max-time "$PATIENCE" "$@"; }

start_sim --tls --nodes 2 --pods-per-node 5 --token secret
same "https" https "${url%%:*}"
for part in certificate-authority-data client-certificate-data client-key-data; do
	base $part >"$T/$part" && [ -s "$T/$part" ] || fail "the kubeconfig has $part"
done
CA="--cacert $T/certificate-authority-data"
ME="--cert $T/client-certificate-data --key $T/client-key-data"
same "only for the owner" 600 "$(command stat -c %a "$T/kubeconfig")"
same "with the certificate" 10 "$(with $CA $ME "$url/api/v1/pods" | jq '.items|length')"
same "with the token" 10 "$(with $CA -H 'Authorization: Bearer secret' "$url/api/v1/pods" | jq '.items|length')"
same "with neither" "401 Unauthorized Unauthorized" "$(with $CA "$url/api/v1/pods" | jq -r '"\(.code) \(.reason) \(.message)"')"
with "$url/api/v1/pods" >/dev/null
same "a client that does not know the CA refuses" 60 $?
same "a watch" 10 "$(with $CA $ME -N "$url/api/v1/pods?watch=1&timeoutSeconds=1" | wc -l)"
with $CA $ME -X POST "$url/sim/faults" --data-binary 'when LIST pods then close mid-frame once' >/dev/null
with $CA $ME "$url/api/v1/pods" >/dev/null
case $? in 18 | 56) echo "ok: faults over TLS" ;; *) fail "a cut answer over TLS: $?" ;; esac
if command -v kubectl >/dev/null; then
	HOME=$T kubectl get pods -A -o name >"$T/names" || fail "kubectl"
	same "kubectl by the kubeconfig alone" 10 "$(wc -l <"$T/names")"
fi
end_sim

# ---- certificates that stay
start_sim --tls-dir "$T/certs"
CA="--cacert $T/certs/ca.crt"
same "they are in the folder" "ca.crt ca.key client.crt client.key server.crt server.key" "$(ls "$T/certs" | xargs)"
same "the kubeconfig has the same" "$(cat "$T/certs/client.crt")" "$(base client-certificate-data)"
cp "$T/certs/client.crt" "$T/old.crt"
cp "$T/certs/client.key" "$T/old.key"
cp "$T/certs/ca.crt" "$T/ca.crt"
end_sim
start_sim --tls-dir "$T/certs"
same "the CA stays" "$(cat "$T/ca.crt")" "$(cat "$T/certs/ca.crt")"
same "so a client of the run before is let in" 200 "$(with $CA --cert "$T/old.crt" --key "$T/old.key" -o /dev/null -w '%{http_code}' "$url/api/v1/pods")"
same "one without is not" 401 "$(with $CA -o /dev/null -w '%{http_code}' "$url/api/v1/pods")"
end_sim
start_sim --tls
base client-certificate-data >"$T/strange.crt"
base client-key-data >"$T/strange.key"
end_sim
start_sim --tls-cert "$T/certs/server.crt" --tls-key "$T/certs/server.key" --client-ca "$T/certs/ca.crt"
same "certificates from files" 200 "$(with $CA --cert "$T/old.crt" --key "$T/old.key" -o /dev/null -w '%{http_code}' "$url/api/v1/pods")"
same "another CA's certificate does not count" 401 "$(with $CA --cert "$T/strange.crt" --key "$T/strange.key" -o /dev/null -w '%{http_code}' "$url/api/v1/pods")"

# ---- what cannot be
echo "no PEM" >"$T/certs/ca.crt"
"$B/informer-sim" --tls-dir "$T/certs" 2>"$T/e"
same "a folder whose CA is none: code 1" 1 $?
grep -q 'its ca.crt and ca.key cannot be read as PEM' "$T/e" || fail "and says so: $(cat "$T/e")"
"$B/informer-sim" --tls --client-ca "$T/ca.crt" 2>"$T/e"
same "flags that contradict each other: code 2" 2 $?
