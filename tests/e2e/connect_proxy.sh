#!/usr/bin/env bash
# The server is reached through proxies: the kubeconfig's (http, socks5) and the environment's, with Go's NO_PROXY; the name of the server
# is only known to the proxy.
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/connect.sh"

make_certificates api.test
start_sim --nodes 1 --pods-per-node 2 --tls-cert "$T/api.test.crt" --tls-key "$T/api.test.key" --token hunter2
start_gate
server="https://api.test:$sim_port/"
trust='certificate-authority: ca.crt'
proxy=${gate#http://}

ready_through() { # WHAT, LINE that the gate must have seen
	wait_ready
	expect_stat '.resources[0].objects' 2
	grep -q "^$2\$" "$T/gate.out" || fail "$1: the proxy saw $(cat "$T/gate.out")"
	stat . >"$T/stat.json"
	stop_daemon TERM
	no_secret
	: >"$T/gate.out"
}

kubeconfig "server: \"$server\", $trust, proxy-url: \"http://u:hunter2@$proxy\"" 'token: hunter2'
start_daemon --resource pods
ready_through proxy-url "CONNECT api.test:$sim_port HTTP/1.1"
kubeconfig "server: \"$server\", $trust, proxy-url: \"socks5://u:hunter2@$proxy\"" 'token: hunter2'
start_daemon --resource pods
ready_through socks5 "SOCKS5 api.test:$sim_port u"

kubeconfig "server: \"$server\", $trust" 'token: hunter2'
export HTTPS_PROXY="$proxy" NO_PROXY=other.test,10.0.0.0/8 ALL_PROXY=http://127.0.0.1:1
start_daemon --resource pods
ready_through HTTPS_PROXY "CONNECT api.test:$sim_port HTTP/1.1"

# what NO_PROXY has is not asked of the proxy, and its name is known to nobody else
NO_PROXY=.test
start_daemon --resource pods
until_true 20 grep -q 'esolve host' "$T/daemon.log" || fail "NO_PROXY was not heeded"
stop_daemon TERM
[ ! -s "$T/gate.out" ] || fail "the proxy saw $(cat "$T/gate.out")"

# the server on this machine is not asked of the environment's proxy
kubeconfig "server: \"https://127.0.0.1:$sim_port\", $trust" 'token: hunter2'
HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY=
start_daemon --resource pods
wait_ready
stop_daemon TERM
unset HTTPS_PROXY NO_PROXY ALL_PROXY

# without TLS: requests as text, and no secret in them
stop_sim
sim_port=0
start_sim --nodes 1 --pods-per-node 2
kubeconfig "server: \"http://api.test:$sim_port\", proxy-url: \"http://$proxy\"" 'token: hunter2'
start_daemon --resource pods
wait_ready
grep -q "^GET http://api.test:$sim_port/api/v1/pods?.*watch=true" "$T/gate.out" || fail "the proxy saw $(cat "$T/gate.out")"
grep -q hunter "$T/gate.out" && fail "a token went over HTTP"
stop_daemon TERM
no_secret
echo ok
