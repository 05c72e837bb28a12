#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Merged kubeconfigs come to what they come to for kubectl, context by context, and both say the same to the server about whom they
# impersonate.
# Takes 7 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

kubectl=$(command -v "${KUBECTL:-kubectl}") || { echo "SKIP kubectl is missing"; exit 77; }
case $B in /*) ;; *) B=$PWD/$B ;; esac
mkdir "$T/one" "$T/two" "$T/two/pki" "$T/home"
pem='-----BEGIN CERTIFICATE-----'
for f in one/ca two/ca two/pki/c two/pki/k; do printf '%s\n%s\n' "$pem" "$f" >"$T/$f"; done
data=$(printf '%s\ninline\n' "$pem" | base64 -w 0)
cat >"$T/one/config" <<END
apiVersion: v1
kind: Config
preferences: {}
clusters:
- {name: shared, cluster: {server: "https://one:6443", certificate-authority: ca, tls-server-name: first}}
- {name: inline, cluster: {server: "https://inline:6443", certificate-authority-data: $data, disable-compression: true}}
users:
- {name: shared, user: {token: hunter-one}}
contexts:
- {name: a, context: {cluster: shared, user: shared, namespace: web}}
- {name: cross, context: {cluster: shared, user: only-two}}
END
cat >"$T/two/config" <<END
apiVersion: v1
kind: Config
current-context: b
clusters:
- {name: shared, cluster: {server: "https://two:6443", proxy-url: "http://proxy:3128"}}
- {name: only-two, cluster: {server: "https://only-two:6443/prefix", certificate-authority: ./pki/../ca}}
- {name: open, cluster: {server: "https://open:6443", insecure-skip-tls-verify: true, proxy-url: "socks5://p:1"}}
users:
- {name: shared, user: {token: hunter-two, as: nobody}}
- {name: only-two, user: {tokenFile: token, as: him, as-uid: "7", as-groups: [g, h]}}
- {name: cert, user: {client-certificate: pki/c, client-key: pki/k}}
- {name: basic, user: {username: me, password: hunter2}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: bin/p, args: [a, "b c"],
  env: [{name: OURS, value: v}], provideClusterInfo: true}}}
contexts:
- {name: a, context: {cluster: only-two, user: only-two}}
- {name: b, context: {cluster: only-two, user: shared}}
- {name: cert, context: {cluster: inline, user: cert}}
- {name: basic, context: {cluster: open, user: basic, namespace: ns}}
- {name: plugin, context: {cluster: open, user: plugin}}
END
cat >"$T/three" <<END
{"apiVersion": "v1", "kind": "Config", "current-context": "a",
 "contexts": [{"name": "three", "context": {"cluster": "shared", "user": "shared"}}]}
END

# what kubectl shows as it stands in the file
names='| (.user.tokenFile, .user.exec.command) |= (if . then sub(".*/"; "") else . end) | del(..|nulls) | del(.user.exec | select(. == {}))'
same() { # FLAGS...
	"$kubectl" config view --minify --flatten --raw -o json "$@" >"$T/view.json" || fail "kubectl $*"
	jq -S '{context: ."current-context", namespace: .contexts[0].context.namespace, cluster: .clusters[0].cluster, user: .users[0].user}
		| del(.user.exec.interactiveMode) | del(..|nulls)'"$names" "$T/view.json" >"$T/theirs"
	"$B"/tests/as_kubectl view "$@" >"$T/shown.json" || fail "informerd's own reading of $*"
	jq -S ".$names" "$T/shown.json" >"$T/ours"
	diff "$T/theirs" "$T/ours" >"$T/diff" || { cat "$T/diff"; fail "KUBECONFIG=$KUBECONFIG $*: they differ"; }
}

export HOME="$T/home"
for KUBECONFIG in "$T/one/config:$T/two/config:$T/three" "$T/two/config:$T/one/config:$T/three" "$T/three:$T/missing:$T/two/config::$T/one/config" \
	"$T/two/config:$T/two/config:$T/one/config:$T/three"; do
	export KUBECONFIG
	same
	for context in a b cross cert basic plugin three; do
		same --context "$context"
	done
done
export KUBECONFIG=../one/config:config:../three # relative to where we stand
(cd "$T/two"; same --context cross; same --context cert)
export KUBECONFIG="$T/one/config" # --kubeconfig is alone
same --kubeconfig "$T/two/config"

# the same headers reach the server
unset KUBECONFIG
start_sim --nodes 1 --pods-per-node 1
start_gate --upstream "$sim_port"
kubeconfig "server: \"$gate\"" 'as: him, as-groups: [a], as-user-extra: {example.com/Scope: [view, "a b"], "ü%": [x]}'
"$kubectl" --kubeconfig "$T/kubeconfig" --as her --as-group g --as-group h --as-uid 9 get --raw /api >/dev/null 2>"$T/kubectl.log" || fail "kubectl"
headers() { grep -i '^> Impersonate' "$T/gate.out" | tr 'A-Z' 'a-z' | sort -u; }
headers >"$T/theirs"
grep -c . "$T/theirs" | grep -qx 7 || fail "kubectl said $(cat "$T/theirs")"
: >"$T/gate.out"
start_daemon --resource pods --as her --as-group g --as-group h --as-uid 9
wait_ready
headers >"$T/ours"
diff "$T/theirs" "$T/ours" || fail "impersonation differs"
stop_daemon TERM
echo ok
