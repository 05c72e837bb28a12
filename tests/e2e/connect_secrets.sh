#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever is wrong with a connection, no secret is in what informerd writes, reports, shows in /proc, in metrics or in the arena: each
# case here holds at least one that begins with "hunter", and goes wrong in a place of its own.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

pem="LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCmh1bnRlcgo=" # -----BEGIN PRIVATE KEY----- hunter
start_sim --nodes 1 --pods-per-node 1
echo hunter-valid >"$T/valid"
start_gate --upstream "$sim_port" --token-file "$T/valid"
jobs=

# try NAME WORD CLUSTER USER [FLAGS...]: a daemon of its own; within a while it must have said WORD.
try() {
	name=$1 word=$2; mkdir "$T/$name"
	kubeconfig "$3" "$4"
	mv "$T/kubeconfig" "$T/$name/kubeconfig"
	shift 4
	printf %s "$word" >"$T/$name/word"
	"$B"/informerd --log-level debug ${WIRE:+--wire "$WIRE"} --kubeconfig "$T/$name/kubeconfig" --socket "$T/$name/s" --arena-dir "$T/$name" --metrics-address "unix:$T/$name/m" \
		--resource pods "$@" >"$T/$name/out" 2>&1 &
	jobs="$jobs $!"
	echo $! >"$T/$name/pid"
}

gate_is="server: \"$gate\""
try syntax 'did not find' 'server: "https://127.0.0.1:1"' 'token: [hunter2'
try twice 'twice\|duplicate' 'server: "https://127.0.0.1:1"' 'token: hunter2, token: hunter3'
try type 'token must be a string' 'server: "https://127.0.0.1:1"' 'token: {hunter2: hunter3}'
try letters 'cannot stand in one' 'server: "https://127.0.0.1:1"' 'token: "hunter2 hunter3"'
try base64 'is not base64' 'server: "https://127.0.0.1:1"' 'client-key-data: "!hunter2"'
try half 'only one of' 'server: "https://127.0.0.1:1"' "client-key-data: $pem"
try ways 'keep one' 'server: "https://127.0.0.1:1"' 'token: hunter2, username: me, password: hunter3'
try person 'wants to ask a person' 'server: "https://127.0.0.1:1"' \
	'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always, command: x, args: [hunter2], env: [{name: A, value: hunter3}]}'
try legacy 'auth-provider' 'server: "https://127.0.0.1:1"' 'auth-provider: {name: oidc, config: {client-secret: hunter2}}'
try server 'holds credentials' 'server: "https://me:hunter2@127.0.0.1:1"' 'token: hunter3'
try proxyurl 'proxy-url must be' 'server: "https://127.0.0.1:1", proxy-url: "ftp://me:hunter2@x"' 'token: hunter3'
try proxy 'trying again' 'server: "https://127.0.0.1:2", proxy-url: "http://me:hunter2@127.0.0.1:1"' 'token: hunter3'
try socks 'trying again' 'server: "https://127.0.0.1:2", proxy-url: "socks5://me:hunter2@127.0.0.1:1"' 'token: hunter3'
try nobody 'connection refused' 'server: "https://127.0.0.1:1"' 'token: hunter2'
try tls 'trying again' "server: \"https://127.0.0.1:$sim_port\"" 'username: me, password: hunter2'
try key 'client certificate' "server: \"https://127.0.0.1:$sim_port\"" "client-certificate-data: $pem, client-key-data: $pem"
try token '(401' "$gate_is" 'token: hunter2'
try flag '(401' "$gate_is" 'token: hunter2' --token hunter3
try password '(401' "$gate_is" 'username: me, password: hunter2'
try file '(401' "$gate_is" 'tokenFile: ../valid.old'
try typo 'unknown flag' "$gate_is" 'token: hunter2' --tokn=hunter3
try header 'a character that cannot stand in a token' "$gate_is" 'token: hunter2' --token 'hunter3 x'
echo hunter-old >"$T/valid.old"
plugin 'case $1 in
garbage) echo "hunter2 $SECRET" ;;
fails) echo "SECRET is $SECRET, token: hunter3, key $3 $4" >&2; echo hunter4; exit 1 ;;
refused) answer "\"token\":\"hunter5\"" ;;
keys) answer "\"clientCertificateData\":\"hunter5\",\"clientKeyData\":\"hunter6\"" ;;
half) answer "\"clientKeyData\":\"hunter6\"" ;;
expiry) answer "\"token\":\"hunter5\",\"expirationTimestamp\":\"hunter6\"" ;;
killed) echo "\"token\": \"hunter5\", my key is $SECRET" >&2; kill -9 $$ ;;
pair) answer "\"clientCertificateData\":\"-----BEGIN CERTIFICATE-----\nhunter5\n-----END CERTIFICATE-----\n\",\"clientKeyData\":\"-----BEGIN PRIVATE KEY-----\nhunter6\n-----END PRIVATE KEY-----\n\"" ;;
other) echo "{\"kind\":\"hunter6\",\"apiVersion\":\"hunter7\"}" ;;
esac'
plugin_user() { # ARGUMENTS
	echo "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: ../plugin, args: [$1], env: [{name: SECRET, value: hunter8}]}"
}
try garbage 'no ExecCredential' "$gate_is" "$(plugin_user garbage)"
try fails 'SECRET is \[redacted\], token: \[redacted\], key \[redacted\] --client-secret' "$gate_is" "$(plugin_user 'fails, --key, hunter9, --client-secret')"
try other 'no ExecCredential' "$gate_is" "$(plugin_user other)"
try refused '(401' "$gate_is" "$(plugin_user refused)"
try keys 'no use: its client certificate or key is not PEM' "$gate_is" "$(plugin_user keys)"
try half-keys 'only one of client certificate and key' "$gate_is" "$(plugin_user half)"
try expiry 'expirationTimestamp is no time' "$gate_is" "$(plugin_user expiry)"
try killed 'was ended by signal' "$gate_is" "$(plugin_user killed)"
try pair 'client certificate' "server: \"https://127.0.0.1:$sim_port\"" "$(plugin_user pair)"
try missing 'cannot be started' "$gate_is" 'exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /nowhere,
  args: [hunter2], env: [{name: A, value: hunter3}], installHint: "get it at https://me:hunter3@example.com"}'
printf 'hunter2 hunter3\n' >"$T/two-words"
try file-words 'not a token' "$gate_is" 'tokenFile: ../two-words'
printf -- '-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----\n' >"$T/secret.pem"
try file-key 'client certificate' "server: \"https://127.0.0.1:$sim_port\"" 'client-certificate: ../secret.pem, client-key: ../secret.pem'
echo hunter2 >"$T/words"
try file-ca 'holds no PEM text' "server: \"https://127.0.0.1:$sim_port\", certificate-authority: ../words" 'token: hunter3'
try inline-ca 'holds no PEM text' "server: \"https://127.0.0.1:$sim_port\", certificate-authority-data: aHVudGVyCg==" 'token: hunter3'
try server-flag 'holds credentials' "$gate_is" 'token: hunter2' --server https://me:hunter3@127.0.0.1:1
try password-flag '(401' "$gate_is" 'username: me, password: hunter2' --password hunter3
try both-flags 'keep one' "$gate_is" 'token: hunter2' --username me --password hunter3
try tls-proxy 'trying again' 'server: "https://127.0.0.1:2", proxy-url: "https://me:hunter2@127.0.0.1:1"' 'token: hunter3'
try proxy-407 'the proxy' "server: \"https://api.test:2\", proxy-url: \"http://me:hunter2@127.0.0.1:$sim_port\"" 'token: hunter3'
try as 'control character' "$gate_is" 'token: hunter2, as: "a\nb"'
HTTPS_PROXY=http://me:hunter2@127.0.0.1:1 try environment 'trying again' 'server: "https://api.test:2"' 'token: hunter3'
HTTPS_PROXY=socks9://me:hunter2@127.0.0.1:1 try scheme 'trying again' 'server: "https://api.test:2"' 'token: hunter3'

for word in "$T"/*/word; do
	dir=${word%/word}
	until_true grep -q -e "$(cat "$word")" "$dir/out" || { cat "$dir/out"; fail "${dir##*/}: no word of '$(cat "$word")'"; }
	cat "/proc/$(cat "$dir/pid")/cmdline" >"$dir/cmdline" 2>/dev/null || true # not of those that ended
	[ ! -S "$dir/m" ] || { curl -s --max-time 5 --unix-socket "$dir/m" "http://x/metrics"; curl -s --max-time 5 --unix-socket "$dir/m" "http://x/readyz?verbose"; } >"$dir/http" 2>&1 || true
	[ ! -S "$dir/s" ] || { "$B"/tests/stat_query "$dir/s"; "$B"/informerctl --socket "$dir/s" stat; } >"$dir/stat" 2>&1 || true
done
kill $jobs 2>/dev/null || true
for job in $jobs; do wait "$job" || true; done
for word in "$T"/*/word; do
	dir=${word%/word}
	if grep -i hunter "$dir/out" "$dir/stat" "$dir/http" 2>/dev/null || grep -ai hunter "$dir/cmdline" || grep -rlai hunter "$dir" --exclude kubeconfig; then
		fail "${dir##*/}: a secret was told"
	fi
done
echo ok
