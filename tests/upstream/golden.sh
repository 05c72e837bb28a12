#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The golden bytes that informer-sim's encoder is held against are what upstream's types print today. Needs Go, and no server.
# Takes 60 s.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
golden=$root/tests/tools/serving/golden.records
newest=$(sed -n 's/^releases .* //p' "$root/tools/schema/kubernetes.schema")
sh "$root/tests/schema/build.sh" "$work/schema" "$newest" || exit
# three records of each kind: a name, JSON, protobuf, each behind its length
kinds=$(python3 - "$golden" <<'END'
import struct, sys
data, names, at, part = open(sys.argv[1], "rb").read(), [], 0, 0
while at < len(data):
    length, = struct.unpack_from("<I", data, at)
    if part % 9 == 0:
        names.append(data[at + 4:at + 4 + length].decode())
    at, part = at + 4 + length, part + 1
print(*names)
END
)
[ "$(echo "$kinds" | wc -w)" = 21 ] || { echo "FAILED: the kinds are $kinds"; exit 1; }
# shellcheck disable=SC2086
"$work/schema" golden 2 $kinds >"$work/records"
cmp "$golden" "$work/records" || { echo "FAILED: other bytes: schema golden 2 $kinds"; exit 1; }
echo ok
