#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a server prints of what is absent depends on its release: whatever that is, protobuf gives what this server's JSON has, also when it
# becomes newer while it is watched. Where the release is hidden, or older than all that are known, all comes in JSON.
# Takes 24 s.
. "$(dirname "$0")/../support/script.sh"
unset WIRE # it says itself which one
# objects whose fields other releases print otherwise where they are absent: null, or nothing
mkdir "$T/objects"
cat >"$T/objects/d.json" <<'END'
{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","namespace":"default"},"spec":{"selector":{"matchLabels":{"a":"b"}},
"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}
END
cat >"$T/objects/p.json" <<'END'
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c","image":"i"}]},
"status":{"nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"r"}]}}
END
of() { stat ".resources[] | select(.resource == \"deployments\") | $1"; }
# same WHAT WIRE: what informerd prints is what the server prints
same() {
	[ "$(of .wire)" = "$2" ] || fail "$1: it comes in $(of .wire)"
	for path in apis/apps/v1/deployments api/v1/pods; do
		curl -s "$url/$path" | jq -cS '.items[] | del(.kind, .apiVersion, .metadata.managedFields)' >"$T/want"
		"$B"/informerctl --socket "$S" get "${path##*/}" -A -o json | jq -cS '.items[] | del(.kind, .apiVersion, .metadata.managedFields)' >"$T/got"
		[ -s "$T/want" ] || fail "$1: the server has no ${path##*/}"
		cmp -s "$T/want" "$T/got" || fail "$1: $(diff "$T/want" "$T/got")"
	done
	echo "ok: $1"
}
# a server of this release, and an informerd that knows nothing yet
begin() {
	[ -z "$daemon_pid" ] || stop_daemon KILL
	[ -z "$sim_pid" ] || stop_sim
	rm -rf "$T/arena"
	mkdir "$T/arena"
	: >"$T/daemon.log"
	start_sim --load "$T/objects" "${@:2}"
	start_daemon --arena-dir "$T/arena" --resource deployments --resource pods --wire "$1"
	wait_ready
}
for release in 1.33 1.34 1.36 1.37; do
	begin auto --release $release
	same "Kubernetes $release" protobuf
	stat_is .release $release || fail "it is of $(stat .release)"
	curl -s "$url/apis/apps/v1/deployments" >"$T/$release"
	curl -s "$url/api/v1/pods" >>"$T/$release"
	sed 's/"uid":"[^"]*"//; s/"creationTimestamp":"[^"]*"//' "$T/$release" | grep -o '"[a-zA-Z]*":null' | sort -u >"$T/nulls.$release"
done
# else the above proves nothing
grep -q '"creationTimestamp":null' "$T/nulls.1.33" || fail "1.33 prints no null time: $(cat "$T/nulls.1.33")"
grep -q '"creationTimestamp":null' "$T/nulls.1.34" && fail "1.34 prints a null time"
grep -q '"resources":null' "$T/nulls.1.36" || fail "1.36 prints no null: $(cat "$T/nulls.1.36" "$T/1.36")"
grep -q '"resources":null' "$T/nulls.1.37" && fail "1.37 has a field that went"

# the server becomes newer: what it sends from then on is as that one prints it
begin auto --release 1.33
stop_sim
start_sim --load "$T/objects" --release 1.37 --start-rv 1000
expect_stat .release 1.37
for path in apis/apps/v1/namespaces/default/deployments/d api/v1/namespaces/default/pods/p; do
	curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d '{"metadata":{"labels":{"new":"yes"}}}' "$url/$path" >/dev/null || fail "no patch"
done
is_new() { "$B"/informerctl --socket "$S" get "$1" -A -o json | jq -e '.items[0].metadata.labels.new' >/dev/null; }
until_true is_new deployments || fail "the change does not come"
until_true is_new pods || fail "the change does not come"
same "from 1.33 to 1.37" protobuf

# what was given up of one release is asked for again of another
begin auto --release 1.36
curl -sf -X POST --data-binary 'when WATCH deployments idle then newer' "$url/sim/faults" >/dev/null || fail "no such rule"
patch() {
	curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' -d "{\"metadata\":{\"labels\":{\"new\":\"$1\"}}}" \
		"$url/apis/apps/v1/namespaces/default/deployments/d" >/dev/null || fail "no patch"
}
gave_up() { patch "$RANDOM"; [ "$(of .wire)" = json ]; }
until_true gave_up || fail "it comes in $(of .wire)"
stop_sim
start_sim --load "$T/objects" --release 1.37 --start-rv 1000
expect_stat .release 1.37
# the watch that met the release first may still be in JSON
asked_again() {
	curl -sf -X POST --data-binary 'when WATCH deployments idle then end once' "$url/sim/faults" >/dev/null && patch "$RANDOM"
	[ "$(of .wire)" = protobuf ]
}
until_true asked_again || fail "it comes in $(of .wire)"

# nobody knows what it prints
begin protobuf --release 1.36 --hide-version
same "a release that is hidden" json
stat_is .release "" || fail "it is of $(stat .release)"
grep -q 'all comes in JSON.*/version' "$T/daemon.log" || fail "nothing is said of it"
echo ok
