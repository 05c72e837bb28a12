#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the server refuses for one resource leaves the others alone, names the RBAC rule that is missing, and comes by itself once it is
# granted; two namespaces of one resource are read through one name; a resource that cannot be read is no empty one.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/bad.sh"

status() { # CODE REASON MESSAGE
	body=$(printf '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"%s","reason":"%s","code":%s}' "$3" "$2" "$1")
	printf 'HTTP/1.1 %s X\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s' "$1" "${#body}" "$body"
}
ctl() { "$B"/informerctl --socket "$S" "$@"; }

mkdir "$R/team-a" "$R/team-b"
list PodList 10 "$(object team-a one 5)" >"$R/team-a/pods.list"
list PodList 11 "$(object team-b one 6)" "$(object team-b two 7)" >"$R/team-b/pods.list"
status 403 Forbidden 'services is forbidden: User \"u\" cannot list resource \"services\"' >"$R/services.list"
status 404 NotFound 'the server could not find the requested resource' >"$R/nodes.list"
status 401 Unauthorized 'Unauthorized' >"$R/configmaps.list"
start_bad_server
start_daemon --metrics-address "unix:$T/metrics" --resource services --resource nodes --resource configmaps --resource 'pods?namespace=team-a' --resource 'pods?namespace=team-b'
until_true stat_is '[.resources[].state] | join(" ")' 'refused refused refused synced synced' || fail "$(stat '[.resources[].state]')"
until_true grep -q '2 of 5 resources can be read; the others are refused by the server' "$T/daemon.log" || fail "no word of what is missing"
grep -q '^READY=1' "$notify_log" && fail "ready, though not everything was there once"
until_true grep -q '^EXTEND_TIMEOUT_USEC=' "$notify_log" || fail "systemd is not asked for time"
[ "$(curl -s -o "$T/readyz" -w '%{http_code}' --unix-socket "$T/metrics" http://informer/readyz)" = 503 ] || fail "/readyz is another opinion"
grep -q '^\[-\]services failed: .*RBAC' "$T/readyz" || fail "/readyz: $(cat "$T/readyz")"
grep -q 'services: .*cannot list resource .*RBAC rule: .*"services".*"list".*"watch".*other resources go on' "$T/daemon.log" || fail "no rule"
grep -q 'nodes: .*could not find the requested resource (404' "$T/daemon.log" || fail "no word about nodes"
grep -q 'configmaps: .*Unauthorized' "$T/daemon.log" || fail "no word about config maps"
stat '.resources[0].last_error' | grep -q RBAC || fail "the report does not name the rule"

# both namespaces through one name
[ "$(ctl get pods -A -o name | sort | tr '\n' ' ')" = 'pod/one pod/one pod/two ' ] || fail "$(ctl get pods -A -o name)"
[ "$(ctl get pods -n team-b -o name | sort | tr '\n' ' ')" = 'pod/one pod/two ' ] || fail "$(ctl get pods -n team-b -o name)"
ctl get pods one -n team-a -o json | jq -e '.metadata.namespace == "team-a"' >/dev/null || fail "team-a/one"

# a resource that is refused is no empty one
code=0
ctl get services -A >"$T/out" 2>"$T/ctl.log" || code=$?
[ "$code" != 0 ] && grep -q 'ervices' "$T/ctl.log" || fail "exit code $code for services, which cannot be read: $(cat "$T/out" "$T/ctl.log")"

# granted
list ServiceList 12 "$(object n s 5)" >"$R/new"
mv "$R/new" "$R/services.list"
until_true stat_is '.resources[0].state' synced || fail "services do not come: $(stat '.resources[0]')"
stat_is '.resources[0].objects' 1 || fail "$(stat '.resources[0].objects') services"
list NodeList 13 >"$R/new"
mv "$R/new" "$R/nodes.list"
list ConfigMapList 14 >"$R/new"
mv "$R/new" "$R/configmaps.list"
wait_ready # up to half a minute of waiting between tries
[ "$(curl -s --unix-socket "$T/metrics" http://informer/readyz)" = ok ] || fail "/readyz is another opinion"

# granted, and taken away again: what is known stays
status 403 Forbidden 'no longer' >"$R/services.list.9"
cp "$R/services.list.9" "$R/new"
mv "$R/new" "$R/services.watch"
stop_daemon KILL
start_daemon --resource services --resource 'pods?namespace=team-a'
expect_stat '.resources[0].activity' refused
[ "$(stat '.resources[0] | "\(.state) \(.objects)"')" = 'synced 1' ] || fail "services were lost: $(stat '.resources[0]')"
expect_stat '.resources[1] | "\(.state) \(.activity)"' 'synced watching'
echo ok
