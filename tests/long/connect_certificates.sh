#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Client certificates: as files, which are read again when the server no longer takes the old one, on a connection of its own then;
# inline; and from a plugin.
# Takes 11 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null || { echo "SKIP python3 (3.8 or newer) is missing"; exit 77; }
make_certificates server hunter-one hunter-two hunter-three
start_sim --nodes 1 --pods-per-node 3
echo hunter-one >"$T/valid"
python3 "$(dirname "$0")/../support/tls_gate.py" "$T" "$sim_port" server >"$T/gate.out" 2>"$T/gate.log" &
until_true grep -q ^READY "$T/gate.out" || fail "the gate does not start"
gate=$(sed -n 's/^READY url=//p' "$T/gate.out")
use() { cp "$T/$1.crt" "$T/client.crt"; cp "$T/$1.key" "$T/client.key"; }

use hunter-one
kubeconfig "server: \"$gate\", certificate-authority: ca.crt" 'client-certificate: client.crt, client-key: client.key'
cp "$T/kubeconfig" "$T/mine"
start_daemon --resource pods
wait_ready
expect_stat '.resources[0].objects' 3
grep -q '^hunter-one /api/v1/pods?.*watch=true' "$T/gate.out" || fail "no watch: $(cat "$T/gate.out")"

# rotated: the old one is refused, on the connection that is there; the new one needs another
use hunter-two
echo hunter-two >"$T/valid"
stop_sim
start_sim --nodes 1 --pods-per-node 4 --start-rv 1000
until_true stat_is '.resources[0].objects' 4 || fail "it does not come back: $(stat '.resources[0]')"
grep -q '^hunter-two /api/v1/pods?.*watch=true' "$T/gate.out" || fail "no watch: $(cat "$T/gate.out")"
grep -q '(401\|Unauthorized' "$T/daemon.log" && fail "a 401 that was mended was told"
first() { awk -v cn="$1" '$1 == cn {print $3; exit}' "$T/gate.out"; }
[ "$(first hunter-one)" != "$(first hunter-two)" ] || fail "the same connection"

# a key that is not the certificate's is told, and mended with the files
stop_daemon TERM
cp "$T/mine" "$T/kubeconfig"
cp "$T/hunter-one.key" "$T/client.key"
start_daemon --resource pods
until_true grep -q 'client certificate or key' "$T/daemon.log" || fail "no word about the key"
use hunter-two
wait_ready
stop_daemon TERM

# inline, and flags that replace it
inline() { base64 -w 0 <"$T/$1"; }
kubeconfig "server: \"$gate\", certificate-authority-data: $(inline ca.crt)" \
	"client-certificate-data: $(inline hunter-one.crt), client-key-data: $(inline hunter-one.key)"
start_daemon --resource pods --client-certificate "$T/hunter-two.crt" --client-key "$T/hunter-two.key"
wait_ready
stop_daemon TERM
echo hunter-one >"$T/valid"
start_daemon --resource pods
wait_ready
stop_daemon TERM

# from a plugin, which is asked again when that one is no longer taken
kubeconfig "server: \"$gate\", certificate-authority: ca.crt" \
	'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ./plugin}'
plugin 'N=$(cat $T/valid)
	jq -n --rawfile cert $T/$N.crt --rawfile key $T/$N.key "{kind: \"ExecCredential\", apiVersion: \"client.authentication.k8s.io/v1\",
		status: {clientCertificateData: \$cert, clientKeyData: \$key}}"'
start_daemon --resource pods
wait_ready
[ "$(runs)" = 1 ] || fail "$(runs) runs"
echo hunter-three >"$T/valid"
stop_sim
start_sim --nodes 1 --pods-per-node 5 --start-rv 2000
until_true stat_is '.resources[0].objects' 5 || fail "it does not come back: $(stat '.resources[0]')"
[ "$(runs)" = 2 ] || fail "$(runs) runs"
stat . >"$T/stat.json"
stop_daemon TERM
no_secret
echo ok
