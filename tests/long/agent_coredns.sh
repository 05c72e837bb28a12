#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CoreDNS v1.15.0 with this repository's plugin, one import and one word of its Corefile, answers as it does with its own copy of the cluster:
# each question by dig, a whole zone's transfer, k8s_external's and autopath's too; after changes, without informerd, and with a new one. It asks
# the API server nothing. Printed: memory of 1 and of 8, time to the first right answer, requests.
# SERVICES=N: the cluster has so many. Not upstream: endpoints are made, which is a controller's work.
# The first time Go takes minutes to build it.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
PATH=$PATH:/usr/local/go/bin
: "${SERVICES:=5000}"
find_agent dig bind9-dnsutils
dig=$agent
command -v go >/dev/null || { echo "SKIP: there is no Go here"; exit 77; }
here=tests/readers/coredns
built() { (cd "$here" && GOTOOLCHAIN=local go "$@") || fail "go $1"; }
(cd "$here" && GOTOOLCHAIN=local go mod download) 2>"$T/go.log" || { echo "SKIP: CoreDNS cannot be fetched: $(tail -n 1 "$T/go.log")"; exit 77; }
for module in reader-lib/go/coredns "$here"; do
	[ -z "$(gofmt -l "$module")" ] || fail "gofmt would change $(gofmt -l "$module")"
	(cd "$module" && GOTOOLCHAIN=local go vet ${tag:-} ./...) || fail "go vet $module"
	tag=-tags=informer
done
mkdir -p "$B/agents"
coredns=$(cd "$B/agents" && pwd)/coredns
built build -buildvcs=false -o "$coredns-before" .
built build -buildvcs=false -tags informer -o "$coredns-after" .

# ---- the cluster, and CoreDNS before and after

python3 "$here/objects.py" "$SERVICES" >"$T/objects.json"
python3 "$here/objects.py" "$SERVICES" questions >"$T/questions"
start_sim --load "$T/objects.json" --history 100000
start() {
	start_daemon --resource services --resource namespaces --resource pods --resource endpointslices.discovery.k8s.io
	wait_ready
}
start
export INFORMER_SOCKET=$S
# no API server listens there
sed "s/127\.0\.0\.1:[0-9]*/127.0.0.1:1/" "$T/kubeconfig" >"$T/nowhere.kubeconfig"
plugin_before=kubernetes kubeconfig_before=$T/kubeconfig
plugin_after=informer kubeconfig_after=$T/nowhere.kubeconfig

free_port() {
	python3 -c '
import socket
with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
    tcp.bind(("127.0.0.1", 0))
    udp.bind(tcp.getsockname())
    print(tcp.getsockname()[1])'
}
# dns WHICH OPTION...: starts CoreDNS, before or after, with kubernetes's options; sets dns_pid and dns_port
dns() {
	local plugin=plugin_$1 kubeconfig=kubeconfig_$1
	dns_port=$(free_port)
	{
		echo '. { bind 127.0.0.1'
		printf '%s cluster.local in-addr.arpa ip6.arpa {\nkubeconfig %s\nstartup_timeout 1m\n' "${!plugin}" "${!kubeconfig}"
		printf '%s\n' "${@:2}"
		printf '}\nk8s_external example.org 120.10.in-addr.arpa\nautopath @kubernetes\ntransfer {\nto *\n}\nerrors\n}\n'
	} >"$T/Corefile.$dns_port"
	"$coredns-$1" -conf "$T/Corefile.$dns_port" -dns.port "$dns_port" >"$T/$1.$dns_port.log" 2>&1 &
	dns_pid=$!
}
answers_now() { [ "$("$dig" +short +tries=1 +timeout=1 "@127.0.0.1" -p "$1" s0.shop-0.svc.cluster.local A)" = 10.100.0.1 ]; }
until_answers() {
	until_true answers_now "$dns_port" || fail "no answer on port $dns_port"
}
# answers PORT: to all questions. Records of one answer may come in any order; a serial is a time
answers() {
	sed "s/^/@127.0.0.1 -p $1 +nocmd +nostats +nocookie /" "$T/questions" >"$T/asked.$1"
	{
		"$dig" -f "$T/asked.$1"
		"$dig" "@127.0.0.1" -p "$1" +nocmd +nostats cluster.local AXFR
	} | sed 's/, id: .*//; s/^\(.*SOA.* \)[0-9]* \([0-9]* 1800 86400 [0-9]*\)$/\1\2/; /^;; WARNING/d' |
		awk '/HEADER/ {n++} {printf "%06d %s\n", n, $0}' | sort
}
same() {
	answers "$1" >"$T/before"
	answers "$2" >"$T/after"
	cmp -s "$T/before" "$T/after"
}
same_answers() {
	until_true same "$before" "$after" || fail "$1: $(diff "$T/before" "$T/after" | head -n 20)"
}

# ---- same answers

declare -A pids
# both OPTION...: starts the two; their ports are $before and $after
both() {
	local which
	for which in before after; do
		dns $which "$@"
		pids[$which]=$dns_pid
		declare -g $which="$dns_port"
		until_true "$dig" +tries=1 +timeout=1 @127.0.0.1 -p "$dns_port" cluster.local SOA || fail "no answer"
	done
}
stop_both() {
	kill "${pids[@]}"
	wait "${pids[@]}" || true
}
for options in "pods insecure;endpoint_pod_names;zonal" "labels tier=front;namespace_labels team in (t0, t1);pods verified" \
	"noendpoints;ignore empty_service;namespaces shop-1 shop-2"; do
	IFS=';' read -ra lines <<<"$options"
	both "${lines[@]}"
	same_answers "$options"
	[ "$(grep -c NOERROR "$T/after")" -gt 10 ] || fail "$options: only $(grep -c NOERROR "$T/after") answers"
	stop_both
done

change() { curl -sf -o "$T/changed" -X "$1" -H "Content-Type: ${3:-application/merge-patch+json}" "$url$2" --data @- || fail "$1 $2"; }
serial() { "$dig" +short @127.0.0.1 -p "$1" cluster.local SOA | cut -d' ' -f3; }
both "pods verified"
same_answers "at first"
cp "$T/after" "$T/first"
services=api/v1/namespaces/shop-0/services slices=apis/discovery.k8s.io/v1/namespaces/shop-0/endpointslices
# new_serial PATH CHANGE: the change of an object gives another serial, which counts seconds
new_serial() {
	local old
	old=$(serial "$after")
	later() { [ "$(date +%s)" -gt "$old" ]; }
	above() { [ "$(serial "$after")" -gt "$old" ]; }
	until_true later
	echo "$2" | change PATCH "$1"
	until_true above || fail "a change of $1 gives no new serial"
}
new_serial "/$services/s0" '{"spec": {"ports": [{"name": "http", "port": 8888, "protocol": "TCP"}]}}'
new_serial "/$slices/s20-e" '{"endpoints": [{"addresses": ["10.59.0.1"], "conditions": {"ready": true}, "hostname": "h0"}]}'
change DELETE "/$services/s10" </dev/null
echo '{"metadata": {"name": "s1"}, "spec": {"type": "ExternalName", "externalName": "new.example.com"}}' | change POST "/$services" application/json
change DELETE "/$slices/s30-e" </dev/null
change DELETE "/api/v1/namespaces/shop-0/pods/p0-0" </dev/null
change DELETE "/api/v1/namespaces/shop-9" </dev/null
same_answers "after changes"
! cmp -s "$T/first" "$T/after" || fail "the changes are not seen"

stop_daemon KILL
same_answers "without informerd"
start
echo '{"spec": {"ports": [{"name": "http", "port": 8889, "protocol": "TCP"}]}}' | change PATCH "/$services/s0"
same_answers "with a new informerd"
grep -q " 8889 s0" "$T/after" || fail "the last change is not seen"
stop_both

# ---- figures

pss() { cat "${@/#//proc/}" 2>/dev/null | awk '/^Pss:/ {n += $2} END {printf "%.0f", n / 1024}'; }
requests() { curl -sf "$url/sim/log" | grep -cE '^(LIST|WATCH).* -> 200' || true; }
echo "CoreDNS v1.15.0, $SERVICES services:"
for which in before after; do
	curl -sf -X DELETE "$url/sim/log" >/dev/null
	began=${EPOCHREALTIME/./}
	dns $which "pods verified"
	until_answers
	took=$(((${EPOCHREALTIME/./} - began) / 1000))
	all=("$dns_pid") one=$(pss "$dns_pid/smaps_rollup")
	for _ in 2 3 4 5 6 7 8; do
		dns $which "pods verified"
		all+=("$dns_pid")
		until_answers
	done
	sharing=()
	[ $which = before ] || sharing=("$daemon_pid/smaps_rollup")
	declare eight_$which="$(pss "${all[@]/%//smaps_rollup}" "${sharing[@]}")" requests_$which="$(requests)"
	eight=eight_$which asked=requests_$which
	echo "$which: 1 has $one MiB, 8 ${sharing:+with informerd }${!eight} MiB; answers $took ms after its start; 8 starts made ${!asked} lists and watches"
	kill "${all[@]}"
	wait "${all[@]}" || true
done
[ "$requests_after" = 0 ] || fail "the API server was asked $requests_after times"
[ "$SERVICES" -lt 1000 ] || [ "$eight_after" -lt "$eight_before" ] || fail "8 take $eight_after MiB with informerd, and $eight_before MiB without"
echo ok
