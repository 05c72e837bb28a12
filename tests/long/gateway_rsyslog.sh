#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rsyslog with mmkubernetes, as Debian ships them, labels log lines by what a gateway answers, and asks the API server nothing itself. It
# keeps a 404 for an hour: so a pod that informerd has not heard of yet is waited for (--misses wait), and while nothing is cached yet it is 429.
# Not upstream: the gateway answers alike before both.
# Takes 4 s.
. "$(dirname "$0")/../support/script.sh"
PATH=$PATH:/usr/sbin
command -v rsyslogd >/dev/null || { echo "SKIP: rsyslogd is not installed"; exit 77; }
plugins=$(dirname "$(find /usr/lib /usr/lib64 -name mmkubernetes.so 2>/dev/null | head -n 1)")
[ -e "$plugins/mmkubernetes.so" ] || { echo "SKIP: rsyslog has no mmkubernetes (Debian: rsyslog-kubernetes)"; exit 77; }

mkdir "$T/containers" "$T/work"
# kubernetesurl is the gateway; the rest is how the module is used on a node, but that the logs are this test's own
start_rsyslog() {
	cat >"$T/rsyslog.conf" <<-END
		global(workDirectory="$T/work")
		module(load="imfile")
		module(load="mmkubernetes")
		template(name="labelled" type="string" string="%\$!all-json%\n")
		input(type="imfile" file="$T/containers/*.log" tag="kubernetes" addMetadata="on" ruleset="pods")
		ruleset(name="pods") {
			action(type="mmkubernetes" kubernetesurl="$1" dstmetadatapath="\$!" busyretryinterval="1"
				filenamerules=["rule=:$T/containers/%pod_name:char-to:_%_%namespace_name:char-to:_%_%container_name_and_id:char-to:.%.log"])
			action(type="omfile" file="$T/labelled.json" template="labelled")
		}
	END
	rsyslogd -n -f "$T/rsyslog.conf" -i "$T/rsyslog.pid" >"$T/rsyslog.log" 2>&1 &
	rsyslog_pid=$!
	until_true test -s "$T/rsyslog.pid" || fail "rsyslogd does not start"
	catches_term() { catches "$rsyslog_pid" TERM; }
	until_true catches_term || fail "rsyslogd does not start"
}
container=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
# logs POD NAMESPACE: a line of its container, as the runtime writes it
logs() { printf '{"log":"hello of %s"}\n' "$1" >>"$T/containers/$1_$2_c-$container.log"; }
# labelled POD FILTER: of the line of this pod
labelled() { jq -cS --arg p "$1" 'select(.kubernetes.pod_name == $p) | .kubernetes | '"$2" "$T/labelled.json" 2>/dev/null | tail -n 1; }
make_pod() {
	curl -sf "$url/api/v1/namespaces/default/pods" -H 'Content-Type: application/json' -d '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"'"$1"'",
		"labels":{"app":"'"$1"'","tier":"log"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}' | jq -r .metadata.uid
}
# is_labelled POD UID: with what the pod says
is_labelled() { [ "$(labelled "$1" '[.pod_id, .labels.app, .namespace_name, .container_name]')" = "[\"$2\",\"$1\",\"default\",\"c\"]" ]; }
expect_labels() { until_true is_labelled "$1" "$2" || fail "$1 ($2) is not labelled: $(labelled "$1" .) of $(wc -l <"$T/labelled.json") lines"; }

start_sim --nodes 2 --pods-per-node 10
old=$(make_pod old)
# the gateway is there before informerd is: rsyslog is told to come again, and keeps nothing of it
gateway_file "listen: '127.0.0.1:0', profile: insecure-loopback, scope: ['pods,namespaces?verbs=get', /metrics], misses: wait"
start_gateway --config "$T/gateway.yaml"
start_rsyslog "$gateway_url"
logs old default
asked() { [ "$(labelled old .pod_id)" = null ]; }
until_true asked || fail "no line comes through"
start_daemon --resource pods --resource namespaces
wait_ready
until_true curl -sf "$gateway_url/readyz" || fail "the gateway is not ready"
once_more() { logs old default; is_labelled old "$old"; }
until_true once_more || fail "what it was told 429 of stays without labels: $(labelled old .)"
[ "$(labelled old '.namespace_id')" = "$(curl -s "$url/api/v1/namespaces/default" | jq -c .metadata.uid)" ] || fail "of its namespace: $(labelled old .)"

# pods that log as soon as they are there
for i in $(seq 20); do
	made=$(make_pod "new-$i")
	logs "new-$i" default
	expect_labels "new-$i" "$made"
done

# the API server was asked for none of them
asked=$(curl -s "$url/sim/log" | grep -c '^GET pods ' || true)
[ "$asked" = 0 ] || fail "the API server was asked for $asked pods"
kill "$rsyslog_pid"
wait "$rsyslog_pid" || true
stop_gateway TERM
[ "$code" = 0 ] || fail "exit code $code: $(cat "$gateway_log")"
echo ok
