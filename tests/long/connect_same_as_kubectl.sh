#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What kubectl connects with, informerd connects with, and what it refuses, informerd refuses, with words that say what is wrong: flags,
# kubeconfigs, KUBECONFIG lists and credential plugins, one by one, against the same server. Where informerd is stricter on purpose
# it says so here.
# Takes 13 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

kubectl=$(command -v "${KUBECTL:-kubectl}") || { echo "SKIP kubectl is missing"; exit 77; }
export HOME=$T/home
mkdir "$T/home"
unset KUBECONFIG
start_sim --tls-dir "$T/tls" --token good
server=$url hostport=${url#https://}
file() { # NAME CLUSTER USER
	kubeconfig "$2" "$3"
	mv "$T/kubeconfig" "$T/$1"
}
trust='certificate-authority: tls/ca.crt'
s="server: \"$server\", $trust"
failures=
wrong() { failures=1; echo "$1"; cat "$T/theirs" "$T/ours"; }
# try WHO NAME WORD FLAGS...: WHO accepts it: both, neither, or one of them alone; WORD is in informerd's message, whatever case
try() {
	who=$1 name=$2 word=$3; shift 3
	theirs=0 ours=0
	timeout "$PATIENCE" "$kubectl" get --raw /version "$@" >"$T/theirs" 2>&1 </dev/null || theirs=1
	timeout "$PATIENCE" "$B"/tests/as_kubectl get /version "$@" >"$T/ours" 2>&1 </dev/null || ours=1
	case $who in both) expected=00 ;; neither) expected=11 ;; kubectl) expected=01 ;; informerd) expected=10 ;; esac
	[ "$theirs$ours" = "$expected" ] || wrong "$name: kubectl $theirs, informerd $ours, expected $expected"
	grep -qi -e "$word" "$T/ours" || wrong "$name: no word of '$word'"
}
both() { try both "$1" gitVersion "${@:2}"; }

# ---- flags alone
ca="--certificate-authority=$T/tls/ca.crt"
pair="--client-certificate=$T/tls/client.crt --client-key=$T/tls/client.key"
both 'server, CA and token' --server "$server" "$ca" --token good
both '-s' -s "$server" "$ca" --token good
both 'a slash at the end' --server "$server/" "$ca" --token good
# without a scheme kubectl speaks plain HTTP, whatever else it is told
try informerd 'no scheme, but a CA' gitVersion --server "$hostport" "$ca" --token good
both 'insecure' --server "$server" --insecure-skip-tls-verify --token good
both 'insecure=true' --server "$server" --insecure-skip-tls-verify=true --token good
both 'insecure=T' --server "$server" --insecure-skip-tls-verify=T --token good
both 'a client certificate' --server "$server" "$ca" $pair
both 'another name in the certificate' --server "$server" "$ca" --token good --tls-server-name localhost
both 'impersonation' --server "$server" "$ca" --token good --as me --as-group a --as-group b --as-uid 5
both 'no compression' --server "$server" "$ca" --token good --disable-compression
try neither 'insecure=maybe' '=true or =false' --server "$server" "$ca" --token good --insecure-skip-tls-verify=maybe
try neither 'insecure=false' 'certificate is not accepted' --server "$server" --insecure-skip-tls-verify=false --token good
try neither 'insecure with a CA' contradict --server "$server" "$ca" --insecure-skip-tls-verify --token good
try neither 'no CA' 'certificate is not accepted' --server "$server" --token good
try neither 'a CA that is not there' 'No such file' --server "$server" --certificate-authority "$T/none" --token good
try neither 'a CA that is none' 'holds no PEM text' --server "$server" --certificate-authority "$0" --token good
try neither 'a wrong name' "not accepted.*'nope.example'" --server "$server" "$ca" --token good --tls-server-name nope.example
try neither 'a wrong token' 401 --server "$server" "$ca" --token bad
try neither 'a password' 401 --server "$server" "$ca" --username u --password p
try neither 'a token and a password' 'keep one' --server "$server" "$ca" --username u --password p --token good
try neither 'a certificate without a key' 'only one of client-certificate and client-key' --server "$server" "$ca" --client-certificate "$T/tls/client.crt"
try neither 'a certificate that is not there' 'No such file' --server "$server" "$ca" --client-certificate "$T/none" --client-key "$T/tls/client.key"
try neither "another certificate's key" 'client certificate or key' --server "$server" "$ca" --client-certificate "$T/tls/client.crt" --client-key "$T/tls/server.key"
try neither 'a group without a user' 'without a user' --server "$server" "$ca" --token good --as-group a
try neither 'a uid without a user' 'without a user' --server "$server" "$ca" --token good --as-uid a
try neither 'another scheme' 'https:// or http://' --server ftp://127.0.0.1:1
try neither 'no URL' 'not a URL' --server 'http://a b'
try neither 'nobody there' 'connection refused' --server "https://127.0.0.1:1" --token good
# a key alone: kubectl goes on without it
try kubectl 'a key without a certificate' 'only one of' --server "$server" "$ca" --client-key "$T/tls/client.key" --token good

for time in 0 20 20s 1m5s 1.5h +20s .5m 100h ''; do
	both "--request-timeout=$time" --server "$server" "$ca" --token good --request-timeout="$time"
done
for time in garbage -1 5S 1e3s '5 s' 1d; do
	try neither "--request-timeout=$time" 'is not a time' --server "$server" "$ca" --token good --request-timeout="$time"
done
try kubectl 'a negative time' 'is not a time' --server "$server" "$ca" --token good --request-timeout=-1s

# ---- kubeconfigs
file good "$s" 'token: good'
both 'a kubeconfig' --kubeconfig "$T/good"
both 'a relative one' --kubeconfig "$(realpath --relative-to=. "$T/good")"
both 'empty flags' --kubeconfig "$T/good" --context= --cluster= --user= --server= --token= --as= --certificate-authority= --request-timeout=
both 'its context by name' --kubeconfig "$T/good" --context c --cluster c --user u
both 'insecure instead of its CA' --kubeconfig "$T/good" --insecure-skip-tls-verify
both 'another server' --kubeconfig "$T/good" --server "$server"
try neither 'a context that is not there' "no context 'nope'" --kubeconfig "$T/good" --context nope
try neither 'a cluster that is not there' "no cluster 'nope'" --kubeconfig "$T/good" --cluster nope
try neither 'a user that is not there' "no user 'nope'" --kubeconfig "$T/good" --user nope
try neither 'a file that is not there' 'No such file' --kubeconfig "$T/none"
try neither 'a folder' 'Is a directory' --kubeconfig "$T"
sed 's/^current-context.*/current-context: nope/' "$T/good" >"$T/stale"
try neither 'a current-context that is not there' "no context 'nope'.*it has: c" --kubeconfig "$T/stale"
both 'and another instead' --kubeconfig "$T/stale" --context c
sed '/^current-context/d' "$T/good" >"$T/none-current"
try neither 'no current-context' 'no current-context; choose one with --context; it has: c' --kubeconfig "$T/none-current"
echo '{"a":' >"$T/broken"
try neither 'broken text' 'broken:2:1' --kubeconfig "$T/broken"
printf 'apiVersion: v1\nkind: Other\n' >"$T/other"
try neither 'another kind' 'not a kubeconfig' --kubeconfig "$T/other"
: >"$T/empty"
try neither 'an empty file' 'no current-context' --kubeconfig "$T/empty"

accepts() { file k "$2" "$3"; both "$1" --kubeconfig "$T/k" "${@:4}"; }
refuses() { file k "$3" "$4"; try neither "$1" "$2" --kubeconfig "$T/k" "${@:5}"; }
stricter() { file k "$3" "$4"; try kubectl "$1" "$2" --kubeconfig "$T/k" "${@:5}"; }
printf 'good\n' >"$T/token"
printf '%s' "$(printf %s "$(cat "$T/tls/ca.crt")" | base64 -w 0)" >"$T/ca.64"
accepts 'an inline CA' "server: \"$server\", certificate-authority-data: $(cat "$T/ca.64")" 'token: good'
accepts 'relative certificate and key' "$s" 'client-certificate: tls/client.crt, client-key: ./tls/client.key'
accepts 'a token file' "$s" 'tokenFile: token'
accepts 'a token file goes before a token' "$s" 'token: bad, tokenFile: token'
accepts 'a token by flag goes before both' "$s" 'token: bad, tokenFile: none' --token good
accepts 'unknown fields' "$s, later: 1" 'token: good, later: 2'
accepts 'an empty proxy-url' "$s, proxy-url: \"\"" 'token: good'
accepts 'disable-compression' "$s, disable-compression: true" 'token: good'
accepts 'a server name' "$s, tls-server-name: localhost" 'token: good'
accepts 'whom to impersonate' "$s" 'token: good, as: him, as-uid: "7", as-groups: [a], as-user-extra: {k: [v]}'
refuses 'insecure and a CA' 'keep one' "$s, insecure-skip-tls-verify: true" 'token: good'
refuses 'a CA that is no base64' 'base64' "server: \"$server\", certificate-authority-data: \"!\"" 'token: good'
refuses 'no server' 'has no server' "$trust" 'token: good'
refuses 'a certificate without a key' 'only one of' "$s" 'client-certificate: tls/client.crt'
refuses 'a token and a password' 'keep one' "$s" 'token: good, username: u, password: p'
refuses 'a password' 401 "$s" 'username: u, password: p'
refuses 'a token file that is not there' 'No such file' "$s" 'tokenFile: none'
refuses 'a token file that is empty' 'a token was expected' "$s" 'tokenFile: empty'
refuses 'whom to impersonate without a user' 'without a user' "$s" 'token: good, as-groups: [a]'
for proxy in ftp://x 127.0.0.1:3128 socks5h://x:1; do
	refuses "the proxy-url $proxy" 'must be a URL that starts with' "$s, proxy-url: \"$proxy\"" 'token: good'
done
refuses 'auth-provider' 'auth-provider is the old way' "$s" 'auth-provider: {name: gcp}'
# kubectl says that the inline one overrides the file, and ends
file k "server: \"$server\", certificate-authority: empty, certificate-authority-data: $(cat "$T/ca.64")" 'token: good'
try informerd 'an inline CA goes before a file' gitVersion --kubeconfig "$T/k"
stricter 'a key without a certificate' 'only one of' "$s" 'token: good, client-key: tls/client.key'

# ---- KUBECONFIG
KUBECONFIG=$T/none:$T/good both 'a list with a file that is not there'
KUBECONFIG=:$T/good: both 'a list with nothing in places'
KUBECONFIG=$T/stale:$T/good try neither 'the first current-context counts' "no context 'nope'"
KUBECONFIG=$T/broken:$T/good try neither 'a list with broken text' 'broken:2:1'
KUBECONFIG=$T/none try neither 'a list of files that are not there' 'does not exist; name one with --kubeconfig'
KUBECONFIG=$T/none both 'and a server by flag' --server "$server" "$ca" --token good
try neither 'nothing at all' 'no API server is known'

# ---- credential plugins
V=v1 MODE=', interactiveMode: Never' MORE=
with_plugin() { file k "$s" "exec: {apiVersion: client.authentication.k8s.io/$V, command: ./plugin$MODE$MORE}"; }
gives() { plugin "answer '$1'"; }
gives '"token":"good"'
with_plugin; both 'a plugin' --kubeconfig "$T/k"
both 'a token by flag, and a plugin' --kubeconfig "$T/k" --token good
MODE=', interactiveMode: IfAvailable'; with_plugin; both 'a plugin that would ask' --kubeconfig "$T/k"
MODE=', interactiveMode: Always'; with_plugin; try neither 'a plugin that must ask' 'wants to ask a person' --kubeconfig "$T/k"
MODE=', interactiveMode: Sometimes'; with_plugin; try neither 'another mode' 'must be Never, IfAvailable or Always' --kubeconfig "$T/k"
MODE=; with_plugin; try neither 'no mode' 'needs interactiveMode' --kubeconfig "$T/k"
V=v1beta1; with_plugin; try neither 'another version than printed' 'another apiVersion' --kubeconfig "$T/k"
plugin "answer '\"token\":\"good\"' | sed s,io/v1,io/v1beta1,"; both 'v1beta1, which needs no mode' --kubeconfig "$T/k"
V=v1alpha1; with_plugin; try neither 'v1alpha1' 'v1 or v1beta1' --kubeconfig "$T/k"
V=v1 MODE=', interactiveMode: Never'; with_plugin
fails() { try neither "$1" "$2" --kubeconfig "$T/k"; }
plugin 'echo login first >&2; exit 3'; fails 'a plugin that fails' 'failed with exit code 3: login first'
plugin 'echo garbage'; fails 'garbage' 'no ExecCredential'
plugin ':'; fails 'nothing' 'no ExecCredential'
gives ''; fails 'an empty status' 'neither a token nor a client certificate'
gives '"clientCertificateData":"x"'; fails 'a certificate without a key' 'only one of client certificate and key'
gives '"clientCertificateData":"x","clientKeyData":"y"'; fails 'certificates that are none' 'not PEM text'
gives '"token":"good","expirationTimestamp":"whenever"'; fails 'an expiry that is none' 'expirationTimestamp is no time'
gives '"token":"bad"'; fails 'a token that is not taken' 401
gives '"token":"good","expirationTimestamp":"2001-01-01T00:00:00Z"'; both 'one that has expired already' --kubeconfig "$T/k"
chmod -x "$T/plugin"; fails 'a plugin that may not be run' 'cannot be started: Permission denied'
rm "$T/plugin"; fails 'a plugin that is not there' 'cannot be started: No such file'
MORE=', installHint: "get it at example.com"'; with_plugin; fails 'and where to get it' 'get it at example.com'
MORE=', provideClusterInfo: true'; with_plugin
plugin 'echo "$KUBERNETES_EXEC_INFO" >>$T/info
	answer "\"token\":\"good\""'
both 'a plugin that is told of the cluster' --kubeconfig "$T/k"
[ "$(jq -S 'del(.. | nulls)' "$T/info" | jq -sS 'unique | length')" = 1 ] || wrong "they tell plugins different things: $(cat "$T/info")"

[ -z "$failures" ] || fail "they differ"
echo ok
