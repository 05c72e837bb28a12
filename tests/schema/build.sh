#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the program that reads k8s.io/api: build.sh PROGRAM RELEASE. What Go fetches for it is what go.sum here has, byte for byte, of every
# release together; PIN=1 writes there what a new one needs. Where it cannot be (no Go, no modules, no time) it says SKIP and why, and ends
# with 77.
set -eu
program=$1 release=$2
here=$(cd "$(dirname "$0")" && pwd)
seconds=${SCHEMA_BUILD_SECONDS:-160} began=$(date +%s)
PATH=$PATH:/usr/local/go/bin
skip() {
	echo "SKIP: $*"
	exit 77
}
# within COMMAND...: what of the time is left
within() {
	left=$((began + seconds - $(date +%s)))
	[ "$left" -gt 0 ] || return 124
	timeout "$left" "$@" >log 2>&1
}
command -v go >/dev/null || skip "Go is not installed"
case $program in /*) ;; *) program=$PWD/$program ;; esac
export GOTOOLCHAIN=local GOFLAGS=-mod=mod
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
cp "$here"/*.go "$here"/go.mod "$here"/go.sum "$src"
cd "$src"
go mod edit -require "k8s.io/api@$release" -require "k8s.io/apimachinery@$release" -require "k8s.io/client-go@$release"
within go mod tidy || skip "k8s.io/api $release cannot be had within $seconds s (SCHEMA_BUILD_SECONDS): $(tail -n 1 log)"
sort go.sum >needed
if [ -n "${PIN:-}" ]; then
	sort -u "$here/go.sum" needed >pins
	cp pins "$here/go.sum"
fi
sort "$here/go.sum" | comm -13 - needed >unknown
if [ -s unknown ]; then
	echo "tests/schema/go.sum does not pin what k8s.io/api $release needs (PIN=1 adds it):"
	cat unknown
	exit 1
fi
within go build -trimpath -o "$program" . || {
	[ $? = 124 ] && skip "not built within $seconds s (SCHEMA_BUILD_SECONDS); what was compiled is kept, the next time is shorter"
	cat log
	exit 1
}
