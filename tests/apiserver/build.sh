#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the API server of the tests: build.sh PROGRAM. Beside it, in PROGRAM.src, is a copy of the module with the OpenAPI
# definitions that are generated from the Go types. Modules are downloaded once, what was compiled stays in Go's build cache:
# minutes the first time, seconds later. Where it cannot be had (no Go, no modules, no time) it says SKIP and why, and ends with 77.
set -u
program=$1
here=$(cd "$(dirname "$0")" && pwd)
seconds=${APISERVER_BUILD_SECONDS:-600}
packages='k8s.io/api/core/v1 k8s.io/api/apps/v1 k8s.io/api/autoscaling/v1 k8s.io/api/discovery/v1
	k8s.io/api/batch/v1 k8s.io/api/networking/v1 k8s.io/api/rbac/v1 k8s.io/api/storage/v1
	k8s.io/api/authentication/v1 k8s.io/api/authorization/v1
	k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version
	k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/util/intstr'

skip() {
	echo "SKIP the API server of the tests: $*"
	exit 77
}

PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || skip "it needs Go, which is not installed"
case $program in /*) ;; *) program=$PWD/$program ;; esac
# -mod=mod: go.sum lines that other platforms lack are added, in the copy; never another compiler than the one that is there
export GOFLAGS=-mod=mod GOTOOLCHAIN=local

# the copy; what is unchanged keeps its date, and so the generated file its worth
src=$program.src
mkdir -p "$src/openapi"
sum=$(cat "$here"/*.go "$here"/go.* "$here"/openapi/doc.go "$0" | cksum)
if [ -x "$program" ] && [ "$sum" = "$(cat "$src/built" 2>/dev/null)" ]; then
	exit 0
fi
rm -f "$src"/*.go "$src/built" "$program" # an old one must not pass for this one
cp "$here"/*.go "$here"/go.mod "$here"/go.sum "$src/" && cp "$here/openapi/doc.go" "$src/openapi/" || exit 1
chmod -R u+w "$src"
cd "$src" || exit 1
log=$src/build.log
began=$(date +%s)
# within SECONDS COMMAND...: what of the time is left
within() {
	left=$((began + seconds - $(date +%s)))
	[ "$left" -gt 0 ] || return 124
	timeout "$left" "$@" >"$log" 2>&1
}
# last: the reason a go command gave
last() { grep -v '^go: downloading' "$log" | tail -n 1 | cut -c 1-200; }
out_of_time() { skip "not built within $seconds s (APISERVER_BUILD_SECONDS); what was compiled is kept, the next time is shorter"; }

[ -d "$(go env GOMODCACHE)/k8s.io/apiserver@v0.36.3" ] || echo "  GO      modules are downloaded, once"
within go list -deps . k8s.io/kube-openapi/cmd/openapi-gen
case $? in 0) ;; 124) out_of_time ;; *) skip "its modules cannot be had: $(last)" ;; esac

pins=$(echo "$packages" | cat go.mod - | cksum)
if [ "$pins" != "$(cat openapi/pins 2>/dev/null)" ]; then
	echo "  GO      OpenAPI definitions are generated, once"
	: >"$src/no-header"
	# shellcheck disable=SC2086
	within go run k8s.io/kube-openapi/cmd/openapi-gen --output-dir ./openapi --output-pkg informer.test/apiserver/openapi \
		--output-file zz_generated.openapi.go --go-header-file "$src/no-header" -r /dev/null $packages
	case $? in 0) ;; 124) out_of_time ;; *) cat "$log"; exit 1 ;; esac
	echo "$pins" >openapi/pins
fi

echo "  GO      $program (the first time takes minutes)"
v=k8s.io/component-base/version # kubectl cannot parse the version of an unreleased build
within go build -trimpath -o "$program" -ldflags "-s -w -X $v.gitVersion=v1.36.3 -X $v.gitMajor=1 -X $v.gitMinor=36 -X $v.gitTreeState=clean" .
case $? in 0) ;; 124) out_of_time ;; *) cat "$log"; exit 1 ;; esac
echo "$sum" >built
echo "  GO      built within $(($(date +%s) - began)) s"
