#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# 1,500 pods are deleted while informerd is away, and the server forgets how. informerd finds out by a list, and the gateway is killed amid the
# DELETED events that follow: after 1, 300 and 800 of them. Behind the next gateway client-go's informers (typed, dynamic,
# metadata, with a selector) have what the server has: no pod stays for ever.
# Takes 90 s.
SERVER=${SERVER:-apiserver} LISTENING_AT=${LISTENING_AT-}
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/peer.sh"

start_sim --nodes 16 --pods-per-node 300
informerd() { start_daemon --resource pods; }
gateway() { start_open_gateway 'inheritFd: 9' 'drain: 1s'; }
informerd
wait_ready
gateway
sed "s|server:.*|server: $gateway_url|" "$T/kubeconfig" >"$T/kubeconfig.gateway"
coproc "$peer" through -direct "$T/kubeconfig" -gateway "$T/kubeconfig.gateway" 2>"$T/through.log" 9<&-
say() { echo "$*" >&"${COPROC[1]}"; }
hear() { # WORD: what is answered is in $said
	IFS= read -r -t $((PATIENCE + 60)) said <&"${COPROC[0]}" || fail "no answer: $1 is missing"
	[ "${said%% *}" = "$1" ] || fail "instead of $1: $said"
}
hear ready

amid=0
for told in 1 300 800; do
	stop_daemon KILL
	say delete 1500
	hear deleted
	say reach
	hear reached
	forget_history
	say gone "$told"
	informerd
	hear gone
	stop_gateway KILL
	say gone 0
	hear gone
	[ "${said#gone }" -ge 1500 ] || amid=$((amid + 1))
	gateway
	say compare "$PATIENCE"
	killed=$said
	hear same
	echo "killed when ${killed#gone } were told: $said"
done
[ "$amid" -gt 0 ] || fail "the gateway was killed too late each time"
echo ok
