#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever a broken server sends in a WATCH or among a LIST's items: what cannot be kept is named, what was known stays, the rest goes on, and
# an event that was lost is made good by a LIST. Each stream is tried in a namespace of its own, all at once.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/bad.sh"

# stream NAME PATTERN OUTCOME: stdin comes in the WATCH after a good event, the log then has PATTERN; OUTCOME is what follows:
# watch (the stream goes on), again (another WATCH, no LIST), list (a LIST)
stream() {
	mkdir "$R/$1"
	printf '%s' "$2" >"$R/$1/pattern"
	printf '%s' "$3" >"$R/$1/outcome"
	cat >"$R/$1/bad"
	list PodList 10 "$(object "$1" a 5)" >"$R/$1/pods.list.1"
	list PodList 30 "$(object "$1" a 5)" "$(object "$1" listed 25)" >"$R/$1/pods.list"
	: >"$R/$1/pods.watch.1"
}

pod() { printf '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%s","namespace":"n","uid":"u","resourceVersion":"12"}%s}' "$1" "${2:-}"; }
deep=",\"x\":$(repeat 10000 '[')$(repeat 10000 ']')"

event ADDED "$(pod deep "$deep")" | stream deep 'the object n/deep at byte [0-9]* is left out: nested deeper than 128 levels' list
event ADDED "$(pod a/b)" | stream slash "its metadata.name contains a '/'" list
event ADDED "$(pod "$(repeat 1100 x)")" | stream longname 'its metadata.name is longer than 1,024 bytes' list
event ADDED '{"metadata":{"resourceVersion":"12"}}' | stream noname 'it has no metadata.name' list
event ADDED '{"metadata":{"name":7,"resourceVersion":"12"}}' | stream numbername 'its metadata.name is not a string' list
event ADDED '{"metadata":{"name":"x"}}' | stream norv 'no usable metadata.resourceVersion' list
event ADDED '{"kind":"Service","metadata":{"name":"s","namespace":"n","resourceVersion":"12"}}' | stream otherkind \
	'an event is dropped: the object n/s at byte [0-9]* is left out: it is a Service, not a Pod' watch
event ADDED '{"kind":"Pod"}' | stream nometadata 'an event is dropped: the object at byte [0-9]* is left out: it has no metadata.name' watch
event ADDED '"boo"' | stream string 'it is not a JSON object' list
stream noobject 'has no object' list <<<'{"type":"ADDED"}'
event RENAMED "$(pod b)" | stream othertype 'an event of the unknown type "RENAMED" is ignored' watch
event BOOKMARK '{"kind":"Pod","metadata":{}}' | stream bookmark 'a bookmark without a usable resourceVersion is ignored' watch
event ERROR '{"kind":"Status","code":500,"message":"etcd is gone"}' | stream error 'WATCH failed: etcd is gone (500)' again
event ERROR '{}' | stream noerror 'WATCH ended, listing again: the server gave no reason' list
stream html 'WATCH failed: the stream of events cannot be read at byte [0-9]*: a watch event is a JSON object' again <<<'<html>'
stream number 'type is not a string' again <<<'{"type":5,"object":{}}'
printf '{"type":"ADDED","object":{"metadata":{"name":"\377"' | stream utf8 'this is not UTF-8' again
cases=$(ls "$R")

# among the items of a list
list ServiceList 7 "$(object n "$(repeat 1100 x)" 5)" "$(object n a/b 5)" 5 null '{}' '{"metadata":null}' '{"metadata":{"name":7}}' \
	"$(object n twice 3)" "$(object n deep 5 "$deep")" "$(object n twice 4)" "$(object n ok 6)" >"$R/services.list"
# and 64 MiB at once: the object is passed over as a whole, its neighbours are there
{
	printf '{"kind":"ConfigMapList","metadata":{"resourceVersion":"8"},"items":[%s,' "$(object n before 5)"
	printf '{"metadata":{"name":"huge","namespace":"n","uid":"h","resourceVersion":"6"},"data":{"x":"'
	head -c 67108864 /dev/zero | tr '\0' x
	printf '"}},%s]}' "$(object n behind 7)"
} >"$R/configmaps.list"

start_bad_server
start_daemon --no-watch-list --resource services --resource configmaps $(for c in $cases; do echo --resource "pods?namespace=$c"; done)
wait_ready

stat_is '.resources[0].objects' 2 || fail "$(stat '.resources[0].objects') services instead of 2"
stat_is '.resources[0].bad_events' 8 || fail "$(stat '.resources[0].bad_events') bad services instead of 8"
grep -q 'services: an item of the list is left out: the object n/deep at byte .*nested deeper than 128 levels' "$T/daemon.log" ||
	fail "n/deep is not named"
stat_is '.resources[1].objects' 2 || fail "$(stat '.resources[1].objects') config maps instead of 2"
grep -q 'configmaps: .*n/huge at byte .*longer than 67108864 bytes' "$T/daemon.log" || fail "n/huge is not named"

for c in $cases; do
	{ event ADDED "$(object "$c" good 11)"; cat "$R/$c/bad"; } >>"$R/$c/pods.watch.1"
done
# of NAMESPACE FIELDS
of() { stat ".resources[] | select(.namespace == \"$1\") | \"$2\""; }
for c in $cases; do
	told() { grep "pods in $c: " "$T/daemon.log" | grep -q -- "$(cat "$R/$c/pattern")"; }
	until_true told || fail "$c: no '$(cat "$R/$c/pattern")'"
	case $(cat "$R/$c/outcome") in
	# a and good; the good event's RV; the first LIST and WATCH
	watch) want='2 11 1 1 watching' ;;
	again) want='2 11 1 2 watching' ;;
	list) want='2 30 2 2 watching' ;;
	esac
	settled() { [ "$(of "$c" '\(.objects) \(.rv) \(.lists) \(.watches) \(.activity)')" = "$want" ]; }
	until_true settled || fail "$c: '$(of "$c" '\(.objects) \(.rv) \(.lists) \(.watches) \(.activity)')' is not '$want'"
done
stat_is '.resources[0].failures' 0 || fail "services were disturbed"

# streams that go on do so: what comes next is heard
event MODIFIED "$(object othertype good 13)" >>"$R/othertype/pods.watch.1"
heard() { [ "$(of othertype '\(.rv)')" = 13 ]; }
until_true heard || fail "the stream did not go on"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
