#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The set-up installs what is missing as root, prints the line to type without root, names the packages on other systems, and says
# nothing where nothing is missing. A PATH of stubs stands for each of these machines.
# Not upstream: it needs no server.
# Takes 5 s.
set -eu
T=$(mktemp -d "${TMPDIR:-/tmp}/informer-e2e.XXXXXX")
trap 'rm -rf "$T"' EXIT

fail() {
	echo "FAILED: $*"
	cat "$T/out"
	exit 1
}
stub() {
	mkdir -p "$T/$1"
	printf '#!/bin/sh\n%s\n' "$3" >"$T/$1/$2"
	chmod +x "$T/$1/$2"
}
# machine NAME UID: one without a package manager
machine() {
	mkdir -p "$T/$1"
	for c in sh cat cmp find grep make mkdir mktemp mv nproc rm sed tail uname; do
		ln -sf "$(command -v $c)" "$T/$1/$c"
	done
	stub "$1" id "echo $2"
}
# debian NAME UID: one that has gcc, and no other package
debian() {
	machine "$1" "$2"
	stub "$1" dpkg-query 'for p; do :; done; [ "$p" = gcc ] && echo install ok installed'
	stub "$1" apt-get "echo \"\$*\" >>$T/apt"
	stub "$1" dpkg "[ \"\$1\" != --print-architecture ] || echo amd64; [ \"\$1\" != --add-architecture ] || echo \"\$*\" >>$T/apt"
}
# on NAME CODE COMMAND...
on() {
	name=$1 want=$2; shift 2
	code=0
	PATH=$T/$name "$@" >"$T/out" 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "$name: exit code $code instead of $want"
}

debian user 1000
on user 1 sh tools/setup.sh gcc jq curl
grep -qx ' *sudo apt-get install -y --no-install-recommends jq curl' "$T/out" || fail "no line to type"
[ ! -e "$T/apt" ] || fail "apt-get was called"

debian root 0
on root 0 sh tools/setup.sh gcc jq curl
grep -q '^install .* jq curl$' "$T/apt" || fail "not installed: $(cat "$T/apt")"
rm "$T/apt"
on root 0 sh tools/setup.sh gcc
[ ! -e "$T/apt" ] && [ ! -s "$T/out" ] || fail "nothing was missing"

# another machine's packages: apt is told of that machine first
on root 0 sh tools/setup.sh gcc jq:arm64
[ "$(head -n 1 "$T/apt")" = '--add-architecture arm64' ] && grep -q '^install .* jq:arm64$' "$T/apt" || fail "not installed: $(cat "$T/apt")"
rm "$T/apt"
on root 0 sh tools/setup.sh jq:amd64
! grep -q add-architecture "$T/apt" || fail "this machine is added as another one"
rm "$T/apt"
on user 1 sh tools/setup.sh jq:arm64
grep -q 'sudo dpkg --add-architecture arm64' "$T/out" || fail "no line to type for another machine"

machine other 0
on other 1 sh tools/setup.sh gcc jq
grep -q 'gcc jq$' "$T/out" || fail "the packages are not named"

# make itself installs nothing, and says what to type instead of an error of a compiler's
unset MAKEFLAGS MFLAGS MAKELEVEL
for goals in all '-n all' install; do
	on root 2 make B="$T/build" $goals
	grep -q 'packages are missing: "make setup" installs them' "$T/out" || fail "make $goals does not say what to do"
done
on root 2 make B="$T/build" tests
grep -q '"make setup-test" installs them' "$T/out" || fail "make tests does not say what to do"
[ ! -e "$T/build" ] && [ ! -e "$T/apt" ] || fail "make builds or installs"
on user 2 make B="$T/build" setup
grep -q 'sudo apt-get install .*libsodium-dev' "$T/out" || fail "make setup does not say what to install"
! grep -q 'libcmocka-dev\|jq' "$T/out" || fail "what only tests need is wanted"
on root 2 make CROSS=aarch64-linux-gnu- all
grep -q '"make setup CROSS=aarch64-linux-gnu-" installs them' "$T/out" || fail "make CROSS= does not say what to do"
on user 2 make CROSS=aarch64-linux-gnu- setup
grep -q 'apt-get install .*gcc-aarch64-linux-gnu .*libsodium-dev:arm64' "$T/out" || fail "make setup CROSS= does not say what to install"
echo ok
