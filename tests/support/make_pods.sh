#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make_pods.sh INFORMER_SIM FOLDER: 35 pods, a file each, for tests and the bench where there are no real ones (REAL_PODS). They are of a
# generated cluster, always the same: of 35 workloads, of about the sizes that real pods have, 4 to 18 KB, 8.8 KB on average. As items of
# a list they have neither kind nor apiVersion; and no managedFields, which informerd drops.
set -eu
sim=$1 folder=$2
mkdir -p "$(dirname "$folder")"
T=$(mktemp -d "$folder.XXXXXX")
sim_pid=
trap '[ -z "$sim_pid" ] || kill "$sim_pid"; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM

: >"$T/ready" # it is looked into at once
"$sim" --port 0 --seed 1 --nodes 40 --pods-per-node 50 >"$T/ready" 2>"$T/log" &
sim_pid=$!
until grep -q ^READY "$T/ready"; do
	kill -0 "$sim_pid" 2>/dev/null || { echo "make_pods.sh: $sim: $(cat "$T/log")" >&2; exit 1; }
	sleep 0.1
done
url=$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$T/ready")
curl -sf --noproxy '*' "$url/api/v1/pods" >"$T/list"
jq -c '[.items[] | del(.metadata.managedFields) | {pod: ., size: (tojson | utf8bytelength), of: .metadata.ownerReferences[0].uid}] as $all
	| reduce range(35) as $i ({left: $all, chosen: []};
		(4000 + 14500 * pow($i / 34; 1.9)) as $size
		| (.left | min_by(.size - $size | fabs)) as $next
		| .chosen += [$next.pod] | .left |= map(select(.of != $next.of)))
	| .chosen[]' "$T/list" >"$T/pods"
[ "$(wc -l <"$T/pods")" = 35 ] || { echo "make_pods.sh: $(wc -l <"$T/pods") pods of 35" >&2; exit 1; }
mkdir "$T/folder"
while read -r pod; do
	printf '%s\n' "$pod" >"$T/folder/$(printf '%s\n' "$pod" | jq -r '"\(.metadata.namespace).\(.metadata.name)"').json"
done <"$T/pods"
rm -rf "$folder"
mv "$T/folder" "$folder"
