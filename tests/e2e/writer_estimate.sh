#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# informerd --estimate counts exactly, foresees the arena's size and the first requests, costs the server what it says, and names
# what it could not ask for.
# Takes 3 s.
. "$(dirname "$0")/../support/script.sh"

# estimate CODE FLAGS...: prints to $T/estimate
estimate() {
	code=0
	timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$T/none.sock" --arena-dir "$T" "${@:2}" --estimate \
		>"$T/estimate" 2>"$T/estimate.log" || code=$?
	[ "$code" = "$1" ] || { cat "$T/estimate"; fail "--estimate ends with $code instead of $1"; }
}
# column RESOURCE N: of its line; an amount as bytes
of_line() { awk -F '  +' -v name="$1" -v n="$2" '$1 == name {print $n}' "$T/estimate"; }
bytes() { sed 's/ B$//; s/ \([KMG]i\)B$/\1/' <<<"$1" | numfmt --from=iec-i; }
# near WHAT EXPECTED GOT: within a fifth
near() { [ $((5 * $3)) -ge $((4 * $2)) ] && [ $((5 * $3)) -le $((6 * $2)) ] || fail "$1: $3 instead of $2"; echo "ok: $1: $3 for $2"; }
asked() { curl -s "$url/sim/log" | wc -l; }

start_sim --nodes 50 --pods-per-node 40
node=$(curl -s "$url/api/v1/nodes" | jq -r '.items[1].metadata.name')
what=(--resource pods --resource nodes --resource endpointslices --resource 'services?metadataOnly=true'
	--resource 'configmaps?namespace=default')
[ "$SERVER" != sim ] || before=$(asked)
estimate 0 "${what[@]}"
[ -z "$(find "$T" -type f \( -name 'informer*' -o -name 'none.sock*' \))" ] || fail "files were left: $(ls "$T")"

# the estimate is what comes
start_daemon "${what[@]}"
wait_ready
for resource in pods nodes endpointslices services configmaps; do
	case $resource in
	endpointslices) line=endpointslices.discovery.k8s.io ;;
	configmaps) line='configmaps in default' ;;
	*) line=$resource ;;
	esac
	same "the number of $resource" "$(stat ".resources[] | select(.resource == \"$resource\") | .objects")" "$(of_line "$line" 2)"
done
[ "$(of_line pods 2)" -gt 1000 ] && [ "$(of_line pods 6)" = 500 ] || fail "no sample: $(cat "$T/estimate")"
near "bytes of the arena" "$(stat '.arena.used_bytes - .arena.retired_bytes')" \
	"$(bytes "$(sed -n 's/^arena  *\([^,]*\),.*/\1/p' "$T/estimate")")"
if [ "${WIRE:-protobuf}" = protobuf ]; then
	[[ $(grep '^first requests' "$T/estimate") == *' 0 LIST, 5 WatchList, 0 WATCH' ]] || fail "$(grep '^first' "$T/estimate")"
	[ "$(stat '[.resources[] | .lists, .watch_lists] | @text')" = "$(printf '[%s]' 0,1,0,1,0,1,0,1,0,1)" ] || fail "other lists: $(stat .resources)"
fi

# logged: what the server noted since `before`, of as many requests as the estimate says that it took
logged_of_estimate() {
	curl -s "$url/sim/log" | tail -n +"$((before + 1))" | head -n "$(sed -n 's/^This estimate took \([0-9]*\) requests.*/\1/p' "$T/estimate")"
}
# each resource costs one LIST
if [ "$SERVER" = sim ]; then
	logged_of_estimate >"$T/asked"
	same "requests for names, and lists" "9 5" "$(wc -l <"$T/asked") $(grep -c '^LIST .* limit=500 ' "$T/asked")"
	same "the last of them" "LIST configmaps in default limit=500" "$(tail -n 1 "$T/asked" | sed 's/ ->.*//')"
fi

# with a selector the server gives no count: pages of metadata are counted
[ "$SERVER" != sim ] || before=$(asked)
estimate 0 --resource 'pods?labelSelector=!e2e.example.com/none'
same "all pods are selected" 2000 "$(of_line pods 2)"
if [ "$SERVER" = sim ]; then
	logged_of_estimate >"$T/asked"
	same "four pages, one of them whole" "4 1 4" "$(grep -c '^LIST pods .*limit=500' "$T/asked") $(grep -c '^LIST pods .*limit=500 .*items=500 in protobuf' "$T/asked") $(($(wc -l <"$T/asked") - 3))"
fi

# a node's own pods come in one list from the server's cache
estimate 0 --resource "pods?fieldSelector=spec.nodeName=$node"
same "a node's pods" "$(curl -s "$url/api/v1/pods?fieldSelector=spec.nodeName=$node" | jq '.items | length')" "$(of_line pods 2)"
same "all of them are read" "$(of_line pods 2)" "$(of_line pods 6)"
if [ "$SERVER" = sim ]; then
	[ "$(curl -s "$url/sim/log" | grep -c '^LIST pods rv=0 fields=spec.nodeName=.* in protobuf')" = 1 ] || fail "not one list: $(curl -s "$url/sim/log")"
fi

# what is refused or absent has a line, and the others have theirs
estimate 2 --resource pods --resource widgets.example.com --resource nodes
[[ $(grep '^widgets.example.com' "$T/estimate") == *absent* ]] || fail "$(cat "$T/estimate")"
[ "$(of_line nodes 2)" = 50 ] || fail "no nodes behind it: $(cat "$T/estimate")"
estimate 0 --resource 'widgets.example.com?optional=true' --resource nodes
estimate 0 --resource 'nodes?optional=true' --arena-max 4Mi
grep -q 'configured: 4.0 MiB$' "$T/estimate" || fail "nothing of the configured limit: $(cat "$T/estimate")"
if [ "$SERVER" = sim ]; then
	curl -sf -X POST --data-binary 'when LIST services then 403' "$url/sim/faults" >/dev/null || fail "no fault"
	estimate 2 --resource services --resource nodes
	[ "$(of_line services 2)" = 'refused (403)' ] || fail "services: $(cat "$T/estimate")"
	grep -q "services: .*ClusterRole" "$T/estimate.log" || fail "no remedy: $(cat "$T/estimate.log")"
	[ "$(of_line nodes 2)" = 50 ] || fail "no nodes: $(cat "$T/estimate")"
	curl -sf -X DELETE "$url/sim/faults" >/dev/null
fi
estimate 2 --resource pods --check-config
stop_sim
estimate 3 --resource pods
