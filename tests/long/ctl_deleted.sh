#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerctl get --deleted shows what was deleted a short while ago: listed, by name, by uid, address and container; and says so.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods --resource services
wait_ready
ctl() { INFORMER_SOCKET=$S "$B"/informerctl "$@"; }
pod=$(curl -s "$url/api/v1/pods" | jq -c '[.items[] | select(.status.podIP and .status.containerStatuses and (.spec.hostNetwork | not))][0]')
ns=$(jq -r .metadata.namespace <<<"$pod")
name=$(jq -r .metadata.name <<<"$pod")
uid=$(jq -r .metadata.uid <<<"$pod")
ip=$(jq -r .status.podIP <<<"$pod")
container=$(jq -r '.status.containerStatuses[0].containerID' <<<"$pod")

[ "$(ctl get pods -A --deleted -o name)" = "" ] || fail "something is deleted already"
ctl get pod "$name" -n "$ns" --deleted | grep -q '<none>$' || fail "a present pod is not shown as such"
curl -sf -X DELETE "$url/api/v1/namespaces/$ns/pods/$name?gracePeriodSeconds=0" >/dev/null
gone() { ! ctl get pod "$name" -n "$ns" >/dev/null 2>&1; }
until_true gone || fail "the pod stays"

is_it() { [ "$(ctl get "$@" --deleted -o name)" = "pod/$name" ] || fail "get $* --deleted: $(ctl get "$@" --deleted 2>&1)"; }
is_it pods -A
is_it pods -n "$ns"
is_it pod "$name" -n "$ns"
is_it "pod/$name" -n "$ns"
is_it pods -A --index "uid=$uid"
is_it pods -A --index "podIP=$ip"
is_it pods -A --index "containerID=$container"
is_it pods -A --index "containerID=${container#*://}"
[ "$(ctl get pods -n nosuch --deleted -o name 2>/dev/null)" = "" ] || fail "another namespace"
[ "$(ctl get pods -A --deleted -l no=such -o name 2>/dev/null)" = "" ] || fail "a selector that matches nothing"
[ "$(ctl get pod "$name" -n "$ns" --deleted -o json | jq -r .metadata.uid)" = "$uid" ] || fail "its document"
ctl get pods -A --deleted >"$T/table"
grep -q 'NAMESPACE *NAME .* DELETED *$' "$T/table" || fail "no column DELETED: $(cat "$T/table")"
grep -Eq "^$ns +$name .* [0-9]+s *$" "$T/table" || fail "no age: $(cat "$T/table")"
ctl get services -A --deleted -o name >"$T/services"
[ ! -s "$T/services" ] || fail "services"

# what cannot be looked up among the deleted is refused with what can
if ctl get pods -A --deleted --index nodeName=x 2>"$T/message"; then fail "nodeName was taken"; fi
grep -q 'by uid, podIP, containerID, or by name' "$T/message" || fail "$(cat "$T/message")"
code=0
ctl get pod nosuch -n "$ns" --deleted 2>/dev/null || code=$?
[ "$code" = 1 ] || fail "exit code $code"
