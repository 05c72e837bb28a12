#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/schema/kubernetes.schema is what tests/schema makes of the releases that it names, byte for byte, from the modules that
# tests/schema/go.sum pins. Needs no server.
# Takes 60 s.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$root/tests/schema/make.sh" "$work/made" || exit
cmp "$work/made" "$root/tools/schema/kubernetes.schema" || { diff "$work/made" "$root/tools/schema/kubernetes.schema" | head -n 20; exit 1; }
echo ok
