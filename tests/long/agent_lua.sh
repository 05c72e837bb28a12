#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Lua filter for Fluent Bit, tools/examples/fluent-bit, in Debian's luajit: called as Fluent Bit calls it, it labels the records of a Pod
# that runs, of one that is created during the call, and of one that is deleted; by the tag, a container's ID and a cgroup.
#
# Not upstream: Pods are created with a status, which the API server leaves to the kubelet.
# Takes 2 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/agents.sh"
use_library
find_agent luajit luajit

start_shop
# lines in: a field of the record (or "tag") and its value; lines out: "calling", then what the filter returned
cat >"$T/fluent_bit.lua" <<'END'
dofile(arg[1])
io.stdout:setvbuf("line")
for line in io.lines() do
	local field, value = line:match("(%S+) (.*)")
	local record = {log = "hello", [field] = value}
	print("calling")
	local code, timestamp, filtered = cb_filter(field == "tag" and value or "other", 1.5, record)
	local k = filtered.kubernetes or {}
	assert(timestamp == 1.5 and filtered.log == "hello")
	print(code, k.namespace_name, k.pod_name, k.container_name, k.workload)
end
END
mkfifo "$T/records"
INFORMER_WAIT_MS=$((PATIENCE * 1000)) "$agent" "$T/fluent_bit.lua" tools/examples/fluent-bit/informer.lua <"$T/records" >"$T/out" 2>"$T/lua.log" &
lua=$!
exec 8>"$T/records"

calls=0
# filter FIELD VALUE: the call begins
filter() {
	calls=$((calls + 1))
	echo "$1 $2" >&8
	has_begun() { [ "$(grep -c calling "$T/out")" = $calls ]; }
	until_true has_begun || fail "no call $calls"
}
# returns WORDS...: the call ends so
returns() {
	has_ended() { [ "$(grep -vc calling "$T/out")" = $calls ]; }
	until_true has_ended || fail "no answer of call $calls"
	[ "$(tail -n 1 "$T/out" | tr '\t' ' ')" = "$*" ] || fail "'$(tail -n 1 "$T/out")' in place of '$*'"
}
for pod in running gone; do
	filter tag "kube.var.log.containers.$(log_of $pod)"
	returns 2 shop $pod c Deployment/web
	filter container_id "containerd://$(id_of $pod)"
	returns 2 shop $pod c Deployment/web
done
filter cgroup "/kubepods/burstable/pod$(uid_of running)/$(id_of running)"
returns 2 shop running c Deployment/web

# it waits while the Pod is not there. The kubelet reports the container later
filter tag "kube.var.log.containers.$(log_of young.dotted)"
until_true asleep "$lua" || fail "the filter does not wait"
make_pod young.dotted
returns 2 shop young.dotted c Deployment/web

filter log hello
returns 0 nil nil nil nil
exec 8>&-
wait "$lua" || fail "luajit ends with $?"

# without informerd, records pass as they are
stop_daemon TERM
for _ in 1 2; do echo "tag $(log_of nobody)"; done | INFORMER_WAIT_MS=1 "$agent" "$T/fluent_bit.lua" tools/examples/fluent-bit/informer.lua >"$T/out"
[ "$(grep -c '^0.nil' "$T/out")" = 2 ] || fail "$(cat "$T/out")"
echo ok
