#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The server is reached through proxies: the kubeconfig's (http, https, socks5) and the environment's, with Go's NO_PROXY; the name of the
# server is only known to the proxy. One that wants credentials gets them, and nobody else hears of them.
# Takes 8 s.
. "$(dirname "$0")/../support/script.sh"
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

for scheme in socks5 socks5h; do # both look up names there, as in Go
	HTTPS_PROXY="$scheme://u:hunter2@$proxy"
	start_daemon --resource pods
	ready_through "$scheme in HTTPS_PROXY" "SOCKS5 api.test:$sim_port u"
done

# what NO_PROXY has is not asked of the proxy, and its name is known to nobody else
NO_PROXY=.test
start_daemon --resource pods
until_true grep -q 'esolve host' "$T/daemon.log" || fail "NO_PROXY was not heeded"
stop_daemon TERM
[ ! -s "$T/gate.out" ] || fail "the proxy saw $(cat "$T/gate.out")"

for NO_PROXY in '*' api.test "api.test:$sim_port" '*.test' other.test,.test; do
	: >"$T/daemon.log"
	start_daemon --resource pods
	until_true grep -q 'esolve host' "$T/daemon.log" || fail "NO_PROXY=$NO_PROXY was not heeded"
	stop_daemon TERM
done
[ ! -s "$T/gate.out" ] || fail "the proxy saw $(cat "$T/gate.out")"
for NO_PROXY in api.test:1 .api.test test.api '*.api.test' pi.test; do
	HTTPS_PROXY=$proxy
	start_daemon --resource pods
	ready_through "NO_PROXY=$NO_PROXY" "CONNECT api.test:$sim_port HTTP/1.1"
done

# the server on this machine is not asked of the environment's proxy
kubeconfig "server: \"https://127.0.0.1:$sim_port\", $trust" 'token: hunter2'
HTTPS_PROXY=http://127.0.0.1:1 NO_PROXY=
start_daemon --resource pods
wait_ready
stop_daemon TERM
unset HTTPS_PROXY NO_PROXY ALL_PROXY

# a proxy that is reached by TLS: the cluster's CA vouches for it, and it wants to know who asks
if python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null; then
	make_certificates proxy.test
	tls_proxy() { # CERTIFICATE [USER:PASSWORD]
		: >"$T/proxy.out"
		python3 "$(dirname "$0")/../support/tls_proxy.py" "$T/$1.crt" "$T/$1.key" ${2:+"$2"} >>"$T/proxy.out" 2>"$T/proxy.log" &
		until_true grep -q ^READY "$T/proxy.out" || fail "the proxy does not start"
		at=127.0.0.1:$(sed -n 's/^READY //p' "$T/proxy.out")
	}
	through() { kubeconfig "server: \"$server\", $trust, proxy-url: \"https://$1$at\"" 'token: hunter2'; }
	ready_through_tls() { # WHAT, WHO
		wait_ready
		expect_stat '.resources[0].objects' 2
		grep -q "^api.test:$sim_port $2\$" "$T/proxy.out" || fail "$1: the proxy saw $(cat "$T/proxy.out")"
		stat . >"$T/stat.json"
		stop_daemon TERM
		no_secret
		: >"$T/daemon.log"
	}
	refused_with() { # WORDS
		start_daemon --resource pods --log-level debug
		until_true grep -q "$1" "$T/daemon.log" || fail "no word of '$1'"
		stat . >"$T/stat.json"
		stop_daemon TERM
		no_secret
		: >"$T/daemon.log"
	}
	tls_proxy proxy.test
	through ''
	start_daemon --resource pods
	ready_through_tls 'proxy-url https' nobody
	tls_proxy proxy.test u:hunter3
	through u:hunter3@
	start_daemon --resource pods
	ready_through_tls 'proxy-url https with credentials' u
	through u:hunter4@
	refused_with 'the proxy does not accept the credentials in its URL (407)'
	through ''
	refused_with 'the proxy wants credentials (407)'
	kubeconfig "server: \"$server\", $trust" 'token: hunter2'
	export HTTPS_PROXY=https://u:hunter3@$at
	start_daemon --resource pods
	ready_through_tls 'HTTPS_PROXY=https:' u
	unset HTTPS_PROXY
	mv "$T/ca.crt" "$T/right.crt"
	rm "$T/ca.key"
	make_certificates stranger # by another CA
	cat "$T/right.crt" >"$T/ca.crt"
	tls_proxy stranger u:hunter3
	through u:hunter3@
	refused_with 'the proxy.s certificate is not accepted'
else
	echo "SKIP python3 (3.8 or newer) is missing: no proxy with TLS"
fi

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
