#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An OpenTelemetry collector v0.162.0 with the processor k8s_attributes v1.1.0: unmodified ("before"), and with
# tools/examples/otel-k8sattributes/informer.go ("after"), both with client-go v0.37.2. Both get the same OTLP over HTTP, and must add the
# same to it: by Pod's IP, UID, container, name and the connection's address, with selectors, after Pods change and are deleted, and over
# restarts of informerd. Printed are, with PODS (3000) Pods and the processor's defaults, the memory (PSS) of 1 and 8 collectors once they
# find all Pods, or SETTLE seconds later, when Go has given back what it needed for that; the time from exec to the first Pod that is found;
# and requests at the API server.
# Not upstream: Pods are created with a status, which the API server leaves to the kubelet.
# The first time Go takes minutes to build it.
# Takes 90 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
: "${PODS:=3000}"
PATH=$PATH:/usr/local/go/bin
skip() { echo "SKIP: $*"; exit 77; }
main=tests/readers/otelcol example=tools/examples/otel-k8sattributes
go_in() { (cd "$1" && shift && GOTOOLCHAIN=local go "$@"); }

# ---- the two collectors

command -v go >/dev/null || skip "there is no Go here"
go_in "$main" mod download 2>"$T/go.log" || skip "the collector cannot be fetched: $(tail -n 1 "$T/go.log")"
[ -z "$(gofmt -l "$main" "$example")" ] || fail "gofmt would change $(gofmt -l "$main" "$example")"
build() { go_in "$main" build -buildvcs=false "${@:2}" -o "$T/$1" . || fail "the collector $1 is not built"; }
build before
processor=github.com/open-telemetry/opentelemetry-collector-contrib/processor/k8sattributesprocessor
cp -r --no-preserve=mode "$(go_in "$main" list -m -f '{{.Dir}}' $processor)" "$T/processor"
cp "$example/informer.go" "$T/processor/internal/kube/"
cp "$main/go.sum" "$T/after.sum"
cp "$main/go.mod" "$T/after.mod"
reader=$(realpath reader-lib/go)
go_in "$main" mod edit -replace "$processor=$T/processor" -replace "informer=$reader" -replace "informer/clientgo=$reader/clientgo" "$T/after.mod"
build after -modfile="$T/after.mod"

declare -A pids=() urls=()
# start_collector NAME SIDE PROCESSORS: NAME is its; what it writes is in $T/NAME.out. SIDE is before or after; the processors' settings
# are in the file.
start_collector() {
	local kubeconfig=$T/kubeconfig signal
	[ "$2" = before ] || kubeconfig=$T/unused
	{
		cat "$3"
		echo "receivers: {otlp: {protocols: {http: {endpoint: '127.0.0.1:0'}}}}"
		echo "exporters: {file: {path: $T/$1.out, flush_interval: 10ms}}"
		echo "service:"
		echo "  telemetry: {metrics: {level: none}}"
		echo "  pipelines:"
		for signal in traces logs metrics; do
			! grep -q "/$signal:" "$3" || echo "    $signal: {receivers: [otlp], processors: [k8s_attributes/$signal], exporters: [file]}"
		done
	} >"$T/$1.yaml"
	KUBECONFIG=$kubeconfig INFORMER_SOCKET=$S "$T/$2" --config "$T/$1.yaml" 2>"$T/$1.log" &
	pids[$1]=$!
	serves_or_ended() { grep -q '"endpoint": "' "$T/$1.log" || ! kill -0 "${pids[$1]}"; }
	until_true serves_or_ended "$1" && kill -0 "${pids[$1]}" || fail "the collector $1 does not start"
	urls[$1]=http://$(sed -n 's/.*"endpoint": "\([^"]*\)".*/\1/p' "$T/$1.log")/v1
}
stop_collectors() {
	local name
	for name in "${!pids[@]}"; do
		kill "${pids[$name]}"
		wait "${pids[$name]}" || fail "the collector $name ends with $?"
	done
	pids=()
}

# questions: of Pods on stdin, OTLP of all signals, to $T/ask.SIGNAL; each resource says in test.by how its Pod is to be found
questions() {
	jq '
	def attribute(k; v): {key: k, value: {stringValue: v}};
	def by(what; attributes): {attributes: ([attribute("test.by"; "\(what) \(.metadata.uid)")] + attributes)};
	[.items[] |
		by("uid"; [attribute("k8s.pod.uid"; .metadata.uid), attribute("k8s.container.name"; .spec.containers[0].name)]),
		by("name"; [attribute("k8s.namespace.name"; .metadata.namespace), attribute("k8s.pod.name"; .metadata.name)]),
		(select(.status.podIP) | by("ip"; [attribute("k8s.pod.ip"; .status.podIP)])),
		(((.status.containerStatuses // [])[].containerID // empty | sub(".*://"; "")) as $id |
			by("container \($id)"; [attribute("container.id"; $id)]))
	] + [{attributes: [attribute("test.by"; "connection")]}]' >"$T/resources"
	one() { jq -c "$1" "$T/resources" >"$T/ask.$2"; }
	one '{resourceSpans: map({resource: ., scopeSpans: [{spans: [{traceId: "01020304050607080102030405060708", spanId: "0102030405060708", name: "s"}]}]})}' traces
	one '{resourceLogs: map({resource: ., scopeLogs: [{logRecords: [{body: {stringValue: "l"}}]}]})}' logs
	one '{resourceMetrics: map({resource: ., scopeMetrics: [{metrics: [{name: "m", gauge: {dataPoints: [{asInt: "1"}]}}]}]})}' metrics
}

signals=(traces logs metrics)
# ask NAME: what the collector makes of the questions, from the address of the Pod local; a line a resource: its signal, its attributes
ask() {
	local out=$T/$1.out signal before
	before=$(wc -l <"$out")
	for signal in "${signals[@]}"; do
		curl -sf -o /dev/null -H 'Content-Type: application/json' --interface 127.0.0.9 --data-binary "@$T/ask.$signal" "${urls[$1]}/$signal" ||
			fail "the collector $1 does not take $signal"
	done
	has_written() { [ "$(wc -l <"$out")" -ge $((before + ${#signals[@]})) ]; }
	until_true has_written || fail "the collector $1 writes nothing"
	tail -n +$((before + 1)) "$out" | jq -Sc '(keys[0]) as $signal | .[$signal][].resource.attributes |
		[$signal, (map({key, value: (.value.stringValue // .value)}) | from_entries)]' | sort
}
# answered FACT: both answer the questions alike, and a line of that is as FACT, a pattern, says
answered() {
	ask before.1 >"$T/before.answers"
	ask after.1 >"$T/after.answers"
	grep -qe "$1" "$T/before.answers" && cmp -s "$T/before.answers" "$T/after.answers"
}
# agree WHAT FACT: of all Pods that the server has
agree() {
	curl -sf "$url/api/v1/pods" | questions
	until_true answered "$2" || fail "$1: $(diff "$T/before.answers" "$T/after.answers" | head -n 20)"
	echo "ok: $1"
}
# found NAME HOW: the line of an answer
found() { echo "\"k8s.pod.name\":\"$1\".*\"test.by\":\"$2"; }

# ---- answers

# an API server that the collectors "after" are told of, and do not ask
"$B/informer-sim" --write-kubeconfig "$T/unused" >"$T/unused.out" 2>"$T/unused.log" &
until_true grep -q ^READY "$T/unused.out" || fail "the second informer-sim does not start"
asked_of_unused() { curl -sf "$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$T/unused.out")/sim/log"; }

resources=(--resource pods)
for resource in nodes namespaces {replicasets,deployments,statefulsets,daemonsets}.apps {jobs,cronjobs}.batch; do
	resources+=(--resource "$resource?metadataOnly=true")
done
mkdir "$T/arena"
start() { start_daemon --arena-dir "$T/arena" "${resources[@]}"; wait_ready; }

start_sim --nodes 10 --pods-per-node 30 --load "${REAL_PODS:-$B/pods}"
# make_owner GROUP RESOURCE KIND NAME [OWNERS]: in the namespace shop; its UID
make_owner() {
	post "/apis/$1/v1/namespaces/shop/$2" "{\"apiVersion\":\"$1/v1\",\"kind\":\"$3\",\"metadata\":{\"name\":\"$4\",
		\"labels\":{\"of\":\"$3\"},\"annotations\":{\"note\":\"$3\"},\"ownerReferences\":${5:-[]}}}" | jq -r .metadata.uid
}
# make_pod NAME IP OWNERS: in the namespace shop, started now
make_pod() {
	post /api/v1/namespaces/shop/pods "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"$1\",\"labels\":{\"app\":\"$1\"},
		\"annotations\":{\"note\":\"a $1\"},\"ownerReferences\":$3},\"spec\":{\"nodeName\":\"$node\",\"hostname\":\"h-$1\",
		\"initContainers\":[{\"name\":\"first\",\"image\":\"first\"}],
		\"containers\":[{\"name\":\"c\",\"image\":\"registry.example.com:5000/$1:1.2\"}]},\"status\":{\"phase\":\"Running\",\"podIP\":\"$2\",
		\"startTime\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",\"containerStatuses\":[{\"name\":\"c\",\"restartCount\":2,
		\"containerID\":\"containerd://$(id_of "$1")\",\"imageID\":\"registry.example.com/$1@sha256:$(id_of "image-$1")\"}]}}" >"$T/made" ||
		fail "no Pod: $(cat "$T/made")"
}
change() { curl -sf -o "$T/changed" -X PATCH -H 'Content-Type: application/merge-patch+json' "$url$1" -d "$2" || fail "$1 is not changed"; }
delete() { curl -sf -o "$T/deleted" -X DELETE "$url/api/v1/namespaces/shop/pods/$1?gracePeriodSeconds=0" || fail "$1 is not deleted"; }

node=$(curl -sf "$url/api/v1/nodes" | jq -r '.items[0].metadata.name')
post /api/v1/namespaces '{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop","labels":{"team":"a"},"annotations":{"note":"shop"}}}' >"$T/made"
web=$(owned_by ReplicaSet web-1 "$(make_owner apps replicasets ReplicaSet web-1 "$(owned_by Deployment web "$(make_owner apps deployments Deployment web)")")")
make_pod web 10.99.0.1 "$web"
make_pod gone 10.99.0.2 "$web"
make_pod local 127.0.0.9 "$web"
make_pod db 10.99.0.3 "$(owned_by StatefulSet db "$(make_owner apps statefulsets StatefulSet db)")"
make_pod log 10.99.0.4 "$(owned_by DaemonSet log "$(make_owner apps daemonsets DaemonSet log)")"
job=$(make_owner batch jobs Job night-29000000 "$(owned_by CronJob night "$(make_owner batch cronjobs CronJob night)")")
make_pod night 10.99.0.5 "$(owned_by Job night-29000000 "$job")"

{
	echo "processors:"
	for signal in traces logs metrics; do
		echo "  k8s_attributes/$signal:"
		echo "    auth_type: kubeConfig"
		echo "    pod_delete_grace_period: 20s"
		echo "    extract:"
		echo "      metadata: [$(printf '%s, ' k8s.{namespace,pod,node,deployment,replicaset,statefulset,daemonset,job,cronjob,container}.name \
			k8s.{pod,node,deployment,replicaset,statefulset,daemonset,job,cronjob}.uid k8s.pod.{hostname,ip,start_time} \
			container.id container.image.{name,tags,repo_digests} service.{name,namespace,version,instance.id})]"
		for what in labels annotations; do
			echo "      $what:"
			for kind in pod namespace node deployment replicaset statefulset daemonset job cronjob; do
				echo "        - {from: $kind, key_regex: (.*)}"
			done
		done
		echo "    pod_association:"
		for attributes in k8s.pod.ip k8s.pod.uid container.id 'k8s.namespace.name k8s.pod.name'; do
			echo "      - sources: [$(printf '{from: resource_attribute, name: %s}, ' $attributes)]"
		done
		echo "      - sources: [{from: connection}]"
		case $signal in
		logs) echo "    filter: {node: $node}" ;;
		metrics) echo "    filter: {namespace: shop, labels: [{key: app, op: not-equals, value: db}], fields: [{key: status.phase, op: equals, value: Running}]}" ;;
		esac
	done
} >"$T/answers.yaml"

start
start_collector before.1 before "$T/answers.yaml"
start_collector after.1 after "$T/answers.yaml"
agree "all Pods" "$(found web uid)"
every_pod_is_found() {
	[ "$(grep '^\["resourceSpans"' "$T/after.answers" | grep '"test.by":"uid' | jq -c '.[1] | [.["k8s.pod.uid"], .["k8s.pod.name"]]' | sort)" = \
		"$(curl -sf "$url/api/v1/pods" | jq -c '.items[].metadata | [.uid, .name]' | sort)" ]
}
every_pod_is_found || fail "not all Pods are found"
for what in '"k8s.pod.name":"local".*"test.by":"connection"' "$(found web ip)" "$(found web container)" '"k8s.pod.uid":.*"test.by":"name' \
	'"container.image.tags":.*"1.2"' '"k8s.deployment.label.of":"Deployment"' '"k8s.replicaset.annotation.note":"ReplicaSet"' \
	'"k8s.statefulset.label.of":"StatefulSet"' '"k8s.daemonset.label.of":"DaemonSet"' '"k8s.job.label.of":"Job"' \
	'"k8s.cronjob.annotation.note":"CronJob"' '"k8s.namespace.label.team":"a"' '"k8s.node.label.' '^\["resourceLogs".*"k8s.pod.name":"web"' \
	'^\["resourceMetrics".*"k8s.pod.name":"web"'; do
	grep -qe "$what" "$T/after.answers" || fail "no answer has $what"
done

curl -sf "$url/api/v1/namespaces/shop/pods/gone" | jq '{items: [.]}' >"$T/gone"
questions <"$T/gone"
delete gone
answered "$(found gone uid)" || fail "the deleted Pod: $(diff "$T/before.answers" "$T/after.answers")"
agree "a Pod is deleted" "$(found web uid)"

change /api/v1/namespaces/shop/pods/web '{"metadata":{"labels":{"app":null,"version":"2"}}}'
agree "a Pod's labels change" '"k8s.pod.label.version":"2"'
change /api/v1/namespaces/shop '{"metadata":{"labels":{"team":"b"}}}'
agree "a Namespace's labels change" '"k8s.namespace.label.team":"b"'
change /apis/apps/v1/namespaces/shop/deployments/web '{"metadata":{"annotations":{"note":"new"}}}'
agree "a Deployment's annotations change" '"k8s.deployment.annotation.note":"new"'
delete db
make_pod next 10.99.0.3 "$web"
agree "a Pod has another's address" "$(found next ip)"

stop_daemon KILL
change /api/v1/namespaces/shop/pods/web '{"metadata":{"labels":{"version":"3"}}}'
make_pod young 10.99.0.6 "$web"
start
agree "informerd is killed" '"k8s.pod.label.version":"3"'
stop_daemon KILL
rm "$T"/arena/*
delete young
make_pod new 10.99.0.7 "$web"
start
agree "informerd's arena is lost" "$(found new uid)"

forgotten() {
	ask before.1 >"$T/before.answers"
	ask after.1 >"$T/after.answers"
	! cat "$T/before.answers" "$T/after.answers" | grep -q "$(found gone uid)"
}
questions <"$T/gone"
until_true forgotten || fail "the deleted Pod is not forgotten: $(cat "$T/before.answers" "$T/after.answers")"
echo "ok: the deleted Pod is forgotten"
stop_collectors

# ---- figures

stop_daemon TERM
end_sim
rm "$T"/arena/*
start_sim --nodes $((PODS / 100)) --pods-per-node 100
start
signals=(traces)
cat >"$T/figures.yaml" <<-END
	processors:
	  k8s_attributes/traces:
	    auth_type: kubeConfig
	    pod_association: [{sources: [{from: resource_attribute, name: k8s.pod.uid}]}]
END
curl -sf "$url/api/v1/pods" >"$T/pods"
sample=20
jq --argjson n $sample '.items |= [.[range(0; length; length / $n | floor)]][:$n]' "$T/pods" | questions
first_found() { ask "$1" | grep -q '"k8s.pod.name":.*"test.by":"uid'; }
all_found() { [ "$(ask "$1" | grep -c '"k8s.pod.name":.*"test.by":"uid')" = $sample ]; }
# pss PID...: in MiB
pss() { local pid; for pid in "$@"; do cat "/proc/$pid/smaps_rollup"; done | awk '$1 == "Pss:" {n += $2} END {print int(n / 1024)}'; }
# requests SIDE: those of its collectors. informerd goes on watching, and lists nothing anew
requests() {
	case $1 in
	before) curl -sf "$url/sim/log" | grep -c '^\(LIST\|WATCHLIST\) .*->' || true ;;
	after) asked_of_unused | grep -c . || true ;;
	esac
}
memory() { [ -z "${SETTLE:-}" ] || sleep "$SETTLE"; pss "${pids[@]}"; }
declare -A of_1=() of_8=() took=() asked=()
# figures SIDE: of 1 collector, and of 8
figures() {
	local began side=$1 n
	curl -sf -X DELETE "$url/sim/log" -o "$T/log"
	began=$(date +%s%N)
	start_collector "$side.1" "$side" "$T/figures.yaml"
	until_true first_found "$side.1" || fail "$side.1 finds no Pod"
	took[$side]=$((($(date +%s%N) - began) / 1000000))
	until_true all_found "$side.1" || fail "$side.1 does not find all Pods"
	of_1[$side]=$(memory)
	for n in 2 3 4 5 6 7 8; do
		start_collector "$side.$n" "$side" "$T/figures.yaml"
		until_true all_found "$side.$n" || fail "$side.$n does not find all Pods"
	done
	asked[$side]=$(requests "$side")
	of_8[$side]=$(memory)
	[ "$side" = before ] || daemon_pss=$(pss "$daemon_pid")
	stop_collectors
}
figures before
figures after
for side in before after; do
	echo "$side, $PODS Pods: PSS of 1 collector ${of_1[$side]} MiB, of 8 ${of_8[$side]} MiB; first answer after ${took[$side]} ms; ${asked[$side]} lists by 8"
done
echo "after, $PODS Pods: PSS of informerd $daemon_pss MiB"
same "requests of collectors over the cache" "" "$(asked_of_unused)"
[ $((of_8[after] + daemon_pss)) -lt "${of_8[before]}" ] || fail "the cache saves no memory"
echo ok
