#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libinformer's binary interface is that of the last tag, or more: abidiff finds nothing that a program built with it misses. SINCE names
# another commit to compare with.
#
# Not upstream: it is about files.
# Takes 60 s.
. "$(dirname "$0")/../support/script.sh"
command -v abidiff >/dev/null || { echo "SKIP: abidiff is missing (abigail-tools)"; exit 77; }
: "${SINCE:=$(git describe --tags --abbrev=0 2>/dev/null || true)}"
[ -n "$SINCE" ] || { echo "SKIP: there is no tag yet; SINCE=COMMIT compares with a commit"; exit 77; }

mkdir "$T/since"
git archive "$SINCE" | tar -x -C "$T/since"
make -s -C "$T/since" B=build build/libinformer.so >"$T/make.log" 2>&1 || fail "$SINCE does not build"
make -s "B=$B" "$B/libinformer.so" >"$T/make.log" 2>&1 || fail "libinformer does not build"
status=0
# what informer.h does not show may change
abidiff --drop-private-types --headers-dir1 "$T/since/reader-lib" --headers-dir2 reader-lib \
	"$T/since/build/libinformer.so" "$B/libinformer.so" >"$T/abidiff.log" 2>&1 || status=$?
# bit 3: an incompatible change, which needs another SONAME; bits 0 and 1: abidiff itself failed
[ $((status & 11)) = 0 ] || fail "the binary interface has changed since $SINCE"
grep -E '^(Functions|Variables) changes summary' "$T/abidiff.log" || echo "no change since $SINCE"
echo ok
