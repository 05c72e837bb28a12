#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the table of Kubernetes' kinds anew: make.sh FILE [RELEASE...], of these releases of k8s.io/api, the newest last. Each is read by a
# program of its own, since a Go program can have one alone. Where that cannot be (build.sh) it says SKIP and why, and ends with 77.
set -eu
file=$1
shift
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(sed -n 's/^releases //p' "$here/../../tools/schema/kubernetes.schema")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
made=
for release in "$@"; do
	echo "  GO      k8s.io/api $release"
	sh "$here/build.sh" "$work/schema" "$release"
	"$work/schema" walk "$release" >"$work/$release"
	made="$made $work/$release"
done
# shellcheck disable=SC2086
"$work/schema" merge $made >"$work/merged"
mv "$work/merged" "$file"
