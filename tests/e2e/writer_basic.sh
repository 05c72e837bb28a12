#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd lists, watches, publishes, tells that it is ready, ends in good order, and goes on from where it ended.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

pods=/api/v1/namespaces/default/pods
pod() { printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"%s","namespace":"default","labels":{"app":"w"}},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$1"; }
create() { pod "$1" | curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url$pods" >/dev/null; }

start_sim --nodes 3 --pods-per-node 10
WATCHDOG_USEC=300000 start_daemon --resource pods --resource services --resource deployments.apps --resource nodes
wait_ready
until_true grep -q WATCHDOG=1 "$notify_log" || fail "no word to the watchdog"
stat_is .synced true || fail "ready, and not synced"
n=$(on_server /api/v1/pods)
stat_is '.resources[0].objects' "$n" || fail "$(stat '.resources[0].objects') pods instead of $n"
stat_is '.resources[1].objects' "$(on_server /api/v1/services)" || fail "services"
stat_is '.resources[2].objects' "$(on_server /apis/apps/v1/deployments)" || fail "deployments"
stat_is '.resources[3].objects' 3 || fail "nodes"
[ "$(stat '[.resources[].state] | unique | join(",")')" = synced ] || fail "states"
expect_stat '[.resources[].activity] | unique | join(",")' watching

create e2e-1
create e2e-2
expect_stat '.resources[0].objects' $((n + 2))
curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"app":"v"}}}' "$url$pods/e2e-1" >/dev/null
rv=$(curl -s "$url$pods/e2e-1" | jq -r .metadata.resourceVersion)
expect_stat '.resources[0].rv' "$rv"
curl -sf -X DELETE "$url$pods/e2e-2" >/dev/null
expect_stat '.resources[0].objects' $((n + 1))
[ "$(stat '.resources[0].events')" = 4 ] || fail "$(stat '.resources[0].events') events instead of 4"
[ "$(lists pods)" = 2 ] || fail "$(lists pods) LISTs of pods, one of them ours" # the other is on_server's

# SIGTERM: exit 0, STOPPING=1, the arena stays
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
until_true grep -q STOPPING=1 "$notify_log" || fail "STOPPING=1 was not told"
[ "$(find "$T" -type f -name 'informer*.[0-9]*' | wc -l)" = 1 ] || fail "$(ls "$T")"
[ ! -e "$S" ] || fail "the socket was left"

# what happens meanwhile is heard by the next one, without a LIST
create e2e-3
before=$(lists pods)
start_daemon --resource pods --resource services --resource deployments.apps --resource nodes
wait_ready
expect_stat '.resources[0].objects' $((n + 2))
[ "$(lists pods)" = "$before" ] || fail "a LIST was made though the RV was known"
stat_is '.generation' 2 || fail "generation $(stat .generation)"
[ "$(find "$T" -type f -name 'informer*.[0-9]*' | wc -l)" = 1 ] || fail "$(ls "$T")"

# another selection is other content: LIST
stop_daemon INT
[ "$code" = 0 ] || fail "exit code $code"
start_daemon --resource 'pods?labelSelector=app%3Dv'
wait_ready
expect_stat '.resources | length' 1
expect_stat '.resources[0].objects' 1

# two namespaces of one resource, each on its own
stop_daemon TERM
start_daemon --resource 'pods?namespace=default' --resource 'pods?namespace=kube-system'
wait_ready
expect_stat '.resources[0].objects' "$(on_server /api/v1/namespaces/default/pods)"
expect_stat '.resources[1].objects' "$(on_server /api/v1/namespaces/kube-system/pods)"

# a resource that is asked for no longer goes, the other keeps its content and its place in the count
before=$(lists pods)
stop_daemon TERM
start_daemon --resource 'pods?namespace=kube-system'
wait_ready
expect_stat '.resources | length' 1
stat_is '.resources[0] | .lists + .watch_lists' 0 || fail "a LIST was made though the RV was known"
n=$(on_server /api/v1/namespaces/kube-system/pods)
stat_is '.resources[0].objects' "$n" || fail "objects"
sed 's/default/kube-system/' <<<"$(pod e2e-4)" | curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url/api/v1/namespaces/kube-system/pods" >/dev/null
expect_stat '.resources[0].objects' $((n + 1))
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo "ok"
