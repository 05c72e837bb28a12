#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Selectors, pages, lists by LIST and by watching, metadata alone, bookmarks: against a real server each way of asking ends in what
# the server itself says is selected.
# Takes 60 s.
SERVER=apiserver
. "$(dirname "$0")/../support/script.sh"

start_sim --nodes 4 --pods-per-node 30
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[0].metadata.name')
# a label that some pods have and others have not: "key value"
read -r key value < <(curl -s "$url/api/v1/pods" |
	jq -r '(.items | length) as $all | [.items[].metadata.labels // {} | to_entries[]] | group_by(.) | map(select(length < $all)) | max_by(length)[0] | "\(.key) \(.value)"')
names() { jq -r '[.items[].metadata | .namespace + "/" + .name] | sort | .[]'; }
# selects QUERY PARAMETERS...: informerd's and the server's selection are the same
selects() {
	start_daemon --resource "pods?$1"
	wait_ready
	curl -s "$url/api/v1/pods?$2" | names >"$T/server"
	[ -s "$T/server" ] || fail "nothing is selected by $2"
	agree() { "$B"/informerctl --socket "$S" get pods -A -o json | names | cmp -s - "$T/server"; }
	until_true agree || fail "$1: $(stat .resources[0].objects) pods, the server says $(wc -l <"$T/server")"
}
done_with() { stop_daemon TERM; rm -f "$T"/informer*.[0-9]*; }

selects "watchList=false" ""
stat_is '.resources[0].lists' 1 || fail "no LIST: $(stat .resources[0])"
done_with
# 120 pods in pages of 25, from etcd: five requests
before=$(lists pods)
selects "watchList=false&resourceVersion=latest&pageSize=25" ""
[ "$(($(lists pods) - before))" = 6 ] || fail "$(($(lists pods) - before)) requests: five pages and our own"
done_with
for list in true false; do
	selects "watchList=$list&labelSelector=$key%3D$value" "labelSelector=$key%3D$value"
	done_with
	selects "watchList=$list&fieldSelector=spec.nodeName%3D$node" "fieldSelector=spec.nodeName%3D$node"
	done_with
done
selects "metadataOnly=true" ""
done_with

# what leaves the selection goes from the arena, what enters it comes
selects "labelSelector=$key%3D$value" "labelSelector=$key%3D$value"
n=$(stat '.resources[0].objects')
one=$(head -n 1 "$T/server")
path=/api/v1/namespaces/${one%/*}/pods/${one#*/}
label() { curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"'"$key"'":"'"$1"'"}}}' "$url$path" >/dev/null || fail "no label"; }
label elsewhere
expect_stat '.resources[0].objects' $((n - 1))
label "$value"
expect_stat '.resources[0].objects' "$n"

# a selection that is quiet goes on with the server's bookmarks, once a minute, while other pods change
done_with
start_daemon --resource "pods?labelSelector=$key%3D$value"
wait_ready
bookmarks=$(stat '.resources[0].bookmarks')
rv=$(stat '.resources[0].rv')
for i in 1 2 3; do
	printf '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"other-%s"},"spec":{"containers":[{"name":"c","image":"i"}]}}' "$i" |
		curl -sf -X POST -H 'Content-Type: application/json' --data-binary @- "$url/api/v1/namespaces/default/pods" >/dev/null
done
marked() { [ "$(stat '.resources[0].bookmarks')" -gt "$bookmarks" ] && [ "$(stat '.resources[0].rv')" -gt "$rv" ]; }
until_true marked || fail "no bookmark in 90 s: $(stat .resources[0])"
stat_is '.resources[0].events' 0 || fail "$(stat '.resources[0].events') events"
echo ok
