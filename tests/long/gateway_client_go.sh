#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's own informers (typed in protobuf, dynamic, metadata, and with a selector), with and without WatchList, and those of v0.30, are told the same through the
# gateway as by the server, whatever is killed meanwhile: in the end the same pods, UIDs and RVs, no state that never was, and no RV that goes
# back. While nothing is killed, each change. CHANGES=20000 makes that many.
# Takes 76 s.
LISTENING_AT=${LISTENING_AT-} # a socket that outlives each gateway: descriptor 9
. "$(dirname "$0")/../support/script.sh"
: "${CHANGES:=4000}" "${RATE:=400}"
. "$(dirname "$0")/../support/peer.sh"
build_peer "$peer-0.30" -modfile client-go-0.30.mod -tags without_ours

start_sim --nodes 5 --pods-per-node 20 --history 200000
informerd() { start_daemon --resource pods; }
gateway() { start_open_gateway 'inheritFd: 9' 'drain: 1s'; }
informerd
wait_ready
gateway
sed "s|server:.*|server: $gateway_url|" "$T/kubeconfig" >"$T/kubeconfig.gateway"

# three of it: one asks for watches that begin with the state, the next for lists, and the last knows nothing else
names=('with WatchList' 'without it' 'client-go 0.30')
run() { # NUMBER PROGRAM WATCHLIST
	mkfifo "$T/in.$1" "$T/out.$1"
	KUBE_FEATURE_WatchListClient=$3 "$2" through -direct "$T/kubeconfig" -gateway "$T/kubeconfig.gateway" \
		<"$T/in.$1" >"$T/out.$1" 2>"$T/through.$1.log" 9<&- &
}
run 0 "$peer" true
run 1 "$peer" false
run 2 "$peer-0.30" false
exec 3>"$T/in.0" 4>"$T/in.1" 5>"$T/in.2" 6<"$T/out.0" 7<"$T/out.1" 8<"$T/out.2"
answer() { # NUMBER
	IFS= read -r -t $((PATIENCE + 60)) said <&$((6 + $1)) || fail "no answer of ${names[$1]}"
}
each() { # WORDS...: what they answer is in answers
	local i
	for i in 0 1 2; do echo "$*" >&$((3 + i)); done
	for i in 0 1 2; do
		answer "$i"
		answers[i]=$said
	done
}
answers=()
for i in 0 1 2; do
	answer "$i"
	[ "${said%% *}" = ready ] || fail "${names[i]}: $said"
done

# told_each WORDS: each informer had each state that the server had; told_as_many WORDS: through the gateway as many as directly (0.30 tells by
# the key what came while it told of others, and is not always in a state that the server was in)
told_as_many() { echo "$1" | tr ' ' '\n' | awk -F '[=/-]' 'NF == 5 && $1 == "direct" {n[$2] = $3} NF == 5 && $1 == "gateway" && $3 != n[$2] {bad = 1} END {exit bad}'; }
told_each() { echo "$1" | tr ' ' '\n' | awk -F '[=/]' 'NF == 4 && $2 != $3 {print; bad = 1} END {exit bad}'; }
same() {
	local i told=
	each compare "$PATIENCE"
	for i in 0 1 2; do told="$told; ${names[i]}: ${answers[i]}"; done
	case "$told" in *other:*|*wrong:*) fail "$1$told" ;; esac
	echo "$1$told"
}
churn() { # COUNT: goes on while others go on
	curl -sf -X POST "$url/sim/churn?rate=$RATE&count=$1" >/dev/null || fail "no churn"
}
# during WHAT COMMAND...: while pods change, and pods' names are taken anew; then all is compared
during() {
	churn $((CHANGES / 10))
	echo "swap 20" >&3
	swapping=yes
	"${@:2}"
	over
	same "$1"
}
# over: all that was to change has changed, and the informers' histories have it
over() {
	if [ "$swapping" ]; then
		answer 0; [ "${said%% *}" = swapped ] || fail "$said"
		swapping=
	fi
	until_true churn_over || fail "churn goes on"
	each reach
}
another_gateway() { stop_gateway "$1"; gateway; }
another_informerd() { stop_daemon "$1"; informerd; wait_ready; }
both_anew() { stop_daemon KILL; stop_gateway KILL; informerd; wait_ready; gateway; }
# informerd comes back to a server that has forgotten what it has missed
compacted() {
	stop_daemon KILL
	over
	forget_history
	informerd
	wait_ready
}
forgotten_by_both() {
	stop_gateway KILL
	compacted
	gateway
}
broken_watches() {
	curl -sf -X POST --data-binary $'when WATCH pods after 40 events then close mid-frame times 6' "$url/sim/faults" >/dev/null || fail "no faults"
	over
	curl -sf -X DELETE "$url/sim/faults" >/dev/null
}
held() { kill -STOP "$gateway_pid"; over; kill -CONT "$gateway_pid"; }

swapping=
same "what is there"
during "each change" true
for i in 0 1; do told_each "${answers[i]}" || fail "some changes were not told one by one, ${names[i]}"; done
told_as_many "${answers[2]}" || fail "some changes were not told, ${names[2]}"
during "the gateway killed" another_gateway KILL
during "the gateway stopped" another_gateway TERM
during "informerd killed" another_informerd KILL
during "informerd stopped" another_informerd TERM
during "both killed" both_anew
during "the server's history gone while informerd was" compacted
during "the server's history gone while both were" forgotten_by_both
during "the server's watches broken" broken_watches
during "the gateway held" held
echo ok
