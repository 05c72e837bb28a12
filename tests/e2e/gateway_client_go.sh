#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# client-go's own informers (typed in protobuf, dynamic, metadata, and with a selector), with and without WatchList, are told the same through the
# gateway as by the server, whatever is killed meanwhile: in the end the same pods, UIDs and RVs, no state that never was, and no RV that goes
# back. While nothing is killed, each change. CHANGES=20000 makes that many.
if [ ! -e /dev/fd/9 ]; then # a listening socket that outlives each gateway: ours
	exec python3 -c '
import os, socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(128)
os.dup2(s.fileno(), 9, inheritable=True)
os.environ["LISTENING_AT"] = "127.0.0.1:%d" % s.getsockname()[1]
os.execvp("bash", ["bash"] + sys.argv[1:])' "$0"
fi
. "$(dirname "$0")/../support/daemon.sh"
. "$(dirname "$0")/../support/gateway.sh"
: "${CHANGES:=4000}" "${RATE:=400}"
command -v go >/dev/null || { echo "Go is not installed: there is no client-go to compare with"; exit 77; }
mkdir -p "$B/bench"
program=$(cd "$B/bench" && pwd)/peer
(cd tests/bench/peer && go list -deps .) >"$T/modules" 2>&1 ||
	{ echo "client-go's modules are not here, and cannot be had: $(tail -n 1 "$T/modules")"; exit 77; }
(cd tests/bench/peer && go build -buildvcs=false -o "$program" .) 2>"$T/build.log" || fail "tests/bench/peer does not build"

start_sim --nodes 5 --pods-per-node 20 --history 200000
informerd() { start_daemon --resource pods; }
gateway() { start_open_gateway --listen "$LISTENING_AT" --inherit-fd 9 --drain 1s; }
informerd
wait_ready
gateway
sed "s|server:.*|server: $gateway_url|" "$T/kubeconfig" >"$T/kubeconfig.gateway"

# two of it: one asks for watches that begin with the state, the other for lists
for list in true false; do
	mkfifo "$T/in.$list" "$T/out.$list"
	KUBE_FEATURE_WatchListClient=$list "$program" through -direct "$T/kubeconfig" -gateway "$T/kubeconfig.gateway" \
		<"$T/in.$list" >"$T/out.$list" 2>"$T/through.$list.log" 9<&- &
done
exec 3>"$T/in.true" 4<"$T/out.true" 5>"$T/in.false" 6<"$T/out.false"
answer() { # FD
	IFS= read -r -t $((PATIENCE + 60)) said <&"$1" || fail "no answer"
}
both() { # WORDS...: $first and $second are the answers
	echo "$*" >&3
	echo "$*" >&5
	answer 4; first=$said
	answer 6; second=$said
}
answer 4; [ "${said%% *}" = ready ] || fail "$said"
answer 6; [ "${said%% *}" = ready ] || fail "$said"

# told_each WORDS: each informer had each state that the server had
told_each() { echo "$1" | tr ' ' '\n' | awk -F '[=/]' 'NF == 4 && $2 != $3 {print; bad = 1} END {exit bad}'; }
same() {
	both compare "$PATIENCE"
	case "$first $second" in *other:*|*wrong:*) fail "$1: $first; without WatchList: $second" ;; esac
	echo "$1: $first; without WatchList: $second"
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
		answer 4; [ "${said%% *}" = swapped ] || fail "$said"
		swapping=
	fi
	until_true churn_over || fail "churn goes on"
	both reach
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
told_each "$first" && told_each "$second" || fail "some changes were not told one by one"
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
