#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd shows its figures to Prometheus and answers probes, on an address and on a Unix socket: alive without the API server,
# ready once everything was there.
# Takes 13 s.
. "$(dirname "$0")/../support/script.sh"

M=$T/metrics.sock
ask() { curl -s --max-time 20 --unix-socket "$M" "http://informer$1"; }
status() { curl -s -o /dev/null --max-time 20 -w '%{http_code}' --unix-socket "$M" "$@"; }
answers() { [ "$(status "http://informer$1")" = "$2" ]; }
# metric SERIES: its value, or nothing
metric() { ask /metrics | awk -v s="$1" 'index($0, s " ") == 1 {print $NF}'; }
is() { [ "$(metric "$1")" = "$2" ]; }
above() { awk -v v="$(metric "$1")" -v min="$2" 'BEGIN {exit !(v + 0 > min)}'; }

# Without an API server: alive, not ready, and it says what it waits for.
start_sim --nodes 2 --pods-per-node 10
stop_sim
start_daemon --resource pods --resource services --resource 'configmaps?namespace=kube-system' --metrics-address "unix:$M"
until_true answers /livez 200 || fail "/livez is $(status http://informer/livez)"
[ "$(ask /livez)" = ok ] || fail "/livez says $(ask /livez)"
answers /readyz 503 || fail "ready without an API server"
until_true sh -c "curl -s --unix-socket '$M' http://informer/readyz | grep -q '^\[-\]pods failed: .*nobody listens\|^\[-\]pods failed: .*refused'" || fail "$(ask /readyz)"
above 'rest_client_requests_total{code="<error>",method="GET",host="127.0.0.1:'"$sim_port"'"}' 0 || fail "$(ask /metrics)"
is informer_ready 0 || fail "informer_ready"
[ "$(find "$M" -perm 660)" = "$M" ] || fail "$(ls -l "$M")"

# With one: ready, and the figures are right.
start_sim --nodes 2 --pods-per-node 10
wait_ready
until_true answers /readyz 200 || fail "$(ask /readyz)"
[ "$(ask /readyz)" = ok ] || fail "$(ask /readyz)"
[ "$(ask '/readyz?verbose')" = "[+]pods ok
[+]services ok
[+]configmaps in kube-system ok
readyz check passed" ] || fail "$(ask '/readyz?verbose')"
n=$(on_server /api/v1/pods)
is 'informer_objects{resource="pods"}' "$n" || fail "pods: $(metric 'informer_objects{resource="pods"}') instead of $n"
is 'informer_objects{resource="configmaps",namespace="kube-system"}' "$(on_server /api/v1/namespaces/kube-system/configmaps)" || fail "configmaps"
is informer_ready 1 || fail "informer_ready"
is 'informer_resource_synced{resource="pods"}' 1 || fail "synced"
is 'informer_reflector_state{resource="pods",state="watching"}' 1 || fail "state"
same_epoch() { is informer_epoch "$(stat .epoch)"; }
until_true same_epoch || fail "epoch"
above informer_arena_used_bytes 1000 || fail "bytes"
# the report tells the same
[ "$(stat '[.ready, .resources[0].synced_once, .queue_overflows.pods, (.api_server.connections > 0)] | tostring')" = \
	'[true,true,0,true]' ] || fail "$(stat .)"
host="127.0.0.1:$sim_port"
above 'rest_client_requests_total{code="200",method="GET",host="'"$host"'"}' 3 || fail "$(ask /metrics)"
above 'rest_client_request_duration_seconds_count{verb="GET",host="'"$host"'"}' 0 || fail "$(ask /metrics)"
is 'rest_client_request_duration_seconds_bucket{verb="GET",host="'"$host"'",le="+Inf"}' \
	"$(metric 'rest_client_request_duration_seconds_count{verb="GET",host="'"$host"'"}')" || fail "buckets"
# names, labels and bounds are those of Go clients (k8s.io/component-base/metrics/prometheus/restclient), so that dashboards fit
[ "$(ask /metrics | sed -n 's/^rest_client_request_duration_seconds_bucket{verb="GET",host="[^"]*",le="\([^"]*\)"} .*/\1/p' | tr '\n' ' ')" = \
	'0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf ' ] || fail "bounds: $(ask /metrics | grep _bucket)"
ask /metrics | grep '^rest_client_request_duration_seconds_bucket' | awk '{if ($NF + 0 < last + 0) exit 1; last = $NF}' || fail "buckets that shrink"
ask /metrics | grep '^rest_client_requests_total' | grep -vE '^rest_client_requests_total\{code="([1-5][0-9][0-9]|<error>)",method="GET",host="'"$host"'"\} [0-9]+$' &&
	fail "other labels than code, method and host"
[ "$(ask /metrics | grep '^# TYPE rest_client')" = '# TYPE rest_client_requests_total counter
# TYPE rest_client_request_duration_seconds histogram' ] || fail "$(ask /metrics | grep '^# TYPE rest')"
[ "$(curl -s -D - -o /dev/null --unix-socket "$M" http://informer/metrics | tr -d '\r' | sed -n 's/^Content-Type: //p')" = \
	'text/plain; version=0.0.4; charset=utf-8' ] || fail "content type"
# every family has its head once, every sample its family
ask /metrics | awk '/^# TYPE/ {if (seen[$3]++) exit 1; type[$3] = $4; next} /^#/ {next}
	{name = $1; sub(/\{.*/, "", name); base = name; sub(/_(bucket|sum|count)$/, "", base); if (!(name in type) && !(base in type)) exit 1; n++}
	END {exit n < 40}' || fail "$(ask /metrics)"

# A reader with a name, a queue of its own, and what it has not read.
INFORMER_SOCKET=$S "$B"/informerctl get pods -A -w >"$T/watch.out" 2>&1 &
until_true is 'informer_readers{name="informerctl"}' 1 || fail "$(ask /metrics | grep readers)"
until_true is informer_queues 1 || fail "queues"
is 'informer_queue_overflows_total{resource="pods"}' 0 || fail "overflows"
is 'informer_handler_queues{handler="informerctl"}' 1 || fail "handlers: $(ask /metrics | grep handler)"
is 'informer_handler_queues_overflowed{handler="informerctl"}' 0 || fail "handlers: $(ask /metrics | grep handler)"
# Whatever handlers are called, and however many there are: a hundred names, and the others together; quotes are escaped.
python3 - "$S" <<'PY' &
import socket, struct, sys, time
def packet(kind, body): return struct.pack("=IHHII", 0x31464e49, 1, kind, 16 + len(body), 0) + body
held = []
for reader in range(2):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(sys.argv[1])
    s.send(packet(1, struct.pack("=HHI64s", 1, 0, 0, b"many")))
    s.recv(4096)
    for number in range(64):
        name = b'a "\\ name' if reader + number == 0 else b"handler-%d-%d" % (reader, number)
        s.send(packet(6, struct.pack("=II320s256s92s92s", number, 0, b"pods", b"", b"", name)))
        s.recv(4096)
    held.append(s)
time.sleep(1000)
PY
until_true is informer_queues 129 || fail "queues of many: $(metric informer_queues)"
[ "$(ask /metrics | grep -c '^informer_handler_unread_events{')" = 101 ] || fail "names: $(ask /metrics | grep -c '^informer_handler_unread_events{')"
is 'informer_handler_queues{handler="<other>"}' 29 || fail "others: $(ask /metrics | grep other)"
ask /metrics | grep -qxF 'informer_handler_queues{handler="a \"\\ name"} 1' || fail "quotes: $(ask /metrics | grep 'handler="a')"
kill $!
until_true is informer_queues 1 || fail "queues of many stay"
pod=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].metadata | "\(.namespace)/pods/\(.name)"')
curl -sf -X DELETE "$url/api/v1/namespaces/$pod" >/dev/null
until_true is 'informer_tombstones{resource="pods"}' 1 || fail "tombstones"

# Other paths and methods, and nothing is changed by them.
answers /else 404 || fail "404"
[ "$(status -X POST http://informer/metrics)" = 405 ] || fail "405"
[ "$(status -I http://informer/livez)" = 200 ] || fail "HEAD"

# The API server goes: alive, still ready, and older by the second.
stop_sim
until_true above 'informer_failures_total{resource="pods"}' 0 || fail "failures"
answers /livez 200 || fail "not alive without the API server"
answers /readyz 200 || fail "not ready any more"
age=$(metric 'informer_resource_age_seconds{resource="pods"}')
until_true above 'informer_resource_age_seconds{resource="pods"}' "$age" || fail "age"

# Whoever only holds connections keeps nobody else out for long, and the daemon not at all.
python3 - "$M" <<'PY' &
import socket, sys, time
held = [socket.socket(socket.AF_UNIX) for _ in range(40)]
for s in held:
    s.connect(sys.argv[1])
    try: s.send(b"GET /metrics HT")
    except OSError: pass # too many, and turned away already
open(sys.argv[1] + ".held", "w")
while True:
    time.sleep(0.5)
    for s in held:
        try: s.send(b"T")
        except OSError: pass
PY
until_true test -e "$M.held" || fail "held"
stat_is .schema 1 || fail "the daemon does not answer"
until_true answers /livez 200 || fail "/livez is kept out"

# It ends in good order, and takes the socket away.
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
[ ! -e "$M" ] || fail "the socket was left"

# On a port; a second daemon is told that it is taken. An address that is none is refused at once.
start_sim --nodes 1 --pods-per-node 1
start_daemon --resource pods --metrics-address 127.0.0.1:0
wait_ready
at=$(sed -n 's/.*metrics: \(http:[^ ]*\)\/metrics.*/\1/p' "$T/daemon.log" | tail -n 1)
until_true curl -sf "$at/readyz" || fail "no answer at $at"
curl -s "$at/metrics" | grep -q '^informer_objects{resource="pods"} [1-9]' || fail "$(curl -s "$at/metrics")"
if "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$T/t.sock" --arena-dir "$T" -r pods --metrics-address "${at#http://}" 2>"$T/two.log"; then
	fail "two at one address"
fi
grep -q "metrics-address ${at#http://}: cannot listen at http://.*: Address already in use" "$T/two.log" || fail "$(cat "$T/two.log")"
if "$B"/informerd -r pods --metrics-address localhost:80 2>"$T/three.log"; then
	fail "a name was taken"
fi
grep -q "names are not looked up" "$T/three.log" || fail "$(cat "$T/three.log")"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo "ok"
