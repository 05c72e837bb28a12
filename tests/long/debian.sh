#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The gateway on another Debian than this one, with that one's libmicrohttpd, libuv and GnuTLS: in a fresh chroot the two commands of README's
# install what is missing and build everything; the unit tests of the gateway, of informer-sim and of what they share pass, and so do the
# gateway's end-to-end scripts. RELEASE names the other one: trixie, unless this is it; then bookworm.
#
# Not upstream: it needs no API server.
# Takes 290 s.
. "$(dirname "$0")/../support/script.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: a chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "SKIP: debootstrap is missing"; exit 77; }
here=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
other=trixie
[ "$here" != trixie ] || other=bookworm
: "${RELEASE:=$other}"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
root=$T/root
# its mounts are its own, and go with it
in_it() {
	unshare -m sh -c 'mount -t proc proc "$0/proc" && mount -t tmpfs -o size=1g shm "$0/dev/shm" && exec chroot "$0" "$@"' "$root" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "$@"
}

debootstrap --variant=minbase --keyring="$keys" "$RELEASE" "$root" >"$T/debootstrap.log" 2>&1 ||
	{ echo "SKIP: no $RELEASE is to be had: $(tail -n 1 "$T/debootstrap.log")"; exit 77; }
cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
mkdir "$root/src"
git ls-files -z | tar --null -T - -c | tar -x -C "$root/src"
in_it sh -c 'apt-get update -qq && apt-get install -y -qq --no-install-recommends make' >"$T/make.log" 2>&1 || fail "$RELEASE has no make"
in_it make -s -C /src -j2 setup setup-test >"$T/setup.log" 2>&1 || fail "the set-up fails on $RELEASE"
in_it make -s -C /src -j2 all tests build/pods >"$T/build.log" 2>&1 || fail "it does not build on $RELEASE"
for room in tools-informer-gateway tools-informer-sim tools-serving; do
	in_it sh -c "cd /src && build/tests/$room" >"$T/$room.log" 2>&1 || fail "$room fails on $RELEASE"
	echo "$RELEASE: $(tail -n 1 "$T/$room.log")"
done
in_it sh -c 'cd /src && sh tests/run.sh build tests/e2e/gateway_*.sh' >"$T/e2e.log" 2>&1 || fail "a script fails on $RELEASE"
echo "$RELEASE: $(tail -n 1 "$T/e2e.log")"
echo ok
