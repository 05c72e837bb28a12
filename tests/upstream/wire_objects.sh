#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An object is the same body whether it came in JSON or in protobuf, and that body is the server's JSON again: objects of every built-in
# kind that upstream's own types wrote, with every field set, zero and absent, and others drawn by SEED, COUNT of each kind; and
# $REAL_PODS, else the pods that make has generated. Fed as a whole, byte by byte, and in other pieces; and as servers of each release that
# the schema was made of write them. Needs no server.
# Takes 60 s.
set -eu
: "${B:=build}" "${SEED:=$RANDOM}" "${COUNT:=60}"
root=$(cd "$(dirname "$0")/../.." && pwd)
echo "SEED=$SEED"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
releases=$(sed -n 's/^releases //p' "$root/tools/schema/kubernetes.schema")

# same WHAT RECORDS CHUNK: both ways the same, and what is printed the server's
same() {
	"$B"/tests/wire_same "$3" "$work/printed" "$release" <"$2" >"$work/said" || { head -n 20 "$work/said"; echo "FAILED: $1 in pieces of $3: $(tail -n 1 "$work/said")"; exit 1; }
	"$work/schema" compare "$2" "$work/printed" >"$work/compared" || { cat "$work/compared"; echo "FAILED: $1 in pieces of $3: the JSON is another one"; exit 1; }
	echo "$1 in pieces of $3: $(cat "$work/compared")"
}
for release in $releases; do
	sh "$root/tests/schema/build.sh" "$work/schema" "$release" || exit
	"$work/schema" objects "$SEED" "$COUNT" >"$work/objects"
	same "every kind of $release" "$work/objects" 0
done
# the newest
for chunk in 1 7 $((SEED % 5000 + 8)); do same "every kind" "$work/objects" "$chunk"; done
"$work/schema" pods "${REAL_PODS:-$B/pods}"/*.json >"$work/pods"
for chunk in 0 1 4096; do same pods "$work/pods" "$chunk"; done
echo ok
