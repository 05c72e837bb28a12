#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Packages, in Debian 12 and 13: `make deb` builds them, lintian finds nothing; in a fresh minimal system `apt install ./*.deb` gives a daemon that
# runs by its packaged configuration, an informerctl that reads from it, and a library that an agent builds with; an upgrade goes on by the arena
# that is there; purge leaves nothing behind. RELEASES names other ones.
#
# Not upstream: it is about files.
# Takes 1200 s.
. "$(dirname "$0")/../support/script.sh"
[ "$(id -u)" = 0 ] || { echo "SKIP: a chroot needs root"; exit 77; }
command -v debootstrap >/dev/null || { echo "SKIP: debootstrap is missing"; exit 77; }
: "${RELEASES:=bookworm trixie}"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
# its mounts are its own, and go with it
in_it() { # ROOT COMMAND...
	unshare -m sh -c 'mount -t proc proc "$0/proc" && mount -t tmpfs -o size=1g shm "$0/dev/shm" && exec chroot "$0" "$@"' "$1" \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive "${@:2}"
}
system() { # RELEASE ROOT: a minimal system
	debootstrap --variant=minbase --keyring="$keys" "$1" "$2" >"$T/debootstrap.log" 2>&1 ||
		{ echo "SKIP: no $1 is to be had: $(tail -n 1 "$T/debootstrap.log")"; exit 77; }
	cp /etc/resolv.conf "$2/etc/" 2>/dev/null || true
	# no unit is started in a chroot; units are looked at, and the daemon is run by hand
	in_it "$2" apt-get update -qq >"$T/apt.log" 2>&1 || fail "$1: no packages"
}

for release in $RELEASES; do
	builder=$T/$release.builder fresh=$T/$release
	system "$release" "$builder"
	mkdir "$builder/src"
	git ls-files -z | tar --null -T - -c | tar -x -C "$builder/src"
	in_it "$builder" apt-get install -y -qq --no-install-recommends make >"$T/make.log" 2>&1 || fail "$release has no make"
	in_it "$builder" make -s -C /src deb DEB_VERSION=0.1.0 >"$T/deb.log" 2>&1 || fail "$release: make deb"
	rm -f "$builder"/src/build/deb/*-dbgsym_*

	system "$release" "$fresh"
	mkdir "$fresh/one" "$fresh/two"
	cp "$builder"/src/build/deb/*.deb "$fresh/one/"
	rm -rf "$builder"
	# the next version is the same under another number
	for package in "$fresh"/one/*.deb; do
		dpkg-deb -R "$package" "$T/next"
		sed -i 's/0\.1\.0/0.1.1/' "$T/next/DEBIAN/control"
		dpkg-deb --root-owner-group -Znone -b "$T/next" "$fresh/two/$(basename "$package")" >/dev/null
		rm -rf "$T/next"
	done
	cat >"$fresh/try" <<'TRY'
set -eu
fail() { echo "FAILED: $*"; tail -n 20 /tmp/*.log; exit 1; }
until_true() { for _ in $(seq 300); do ! "$@" >/dev/null 2>&1 || return 0; sleep 0.1; done; fail "$*"; }
daemon() { setpriv --reuid=informer --regid=informer --clear-groups informerd --config /etc/informer/informerd.yaml >>/tmp/informerd.log 2>&1 & daemon=$!; }
find / -xdev ! -path '/proc/*' ! -path '/tmp/*' ! -path '/var/*' ! -path '/etc/*-' -print | sort >/tmp/before
apt-get install -y -qq /one/*.deb >/tmp/apt.log 2>&1 || fail "apt install"
[ -d /run/informer ] || systemd-tmpfiles --create >/dev/null 2>&1 || { mkdir /run/informer; chown informer: /run/informer; }
[ "$(stat -c %U:%G /run/informer)" = informer:informer ] || fail "/run/informer: $(ls -ld /run/informer)"

# no fixed port: the network is this machine's
sed -i 's/127.0.0.1:9478/127.0.0.1:0/' /etc/informer/informerd.yaml

# before there is a kubeconfig it waits for one
daemon
until_true grep -q 'waiting for the kubeconfig /etc/informer/kubeconfig' /tmp/informerd.log
informer-sim --port 0 --nodes 3 --pods-per-node 10 --write-kubeconfig /tmp/kubeconfig >/tmp/sim.log 2>&1 & sim=$!
until_true grep -q READY /tmp/sim.log
install -m 640 -g informer /tmp/kubeconfig /etc/informer/kubeconfig
informerctl wait --for=synced --timeout=60s >/tmp/wait.log 2>&1 || fail "not synced"
[ "$(informerctl get nodes --no-headers | wc -l)" = 3 ] || fail "nodes"

# a member of the group reads, others do not
useradd -G informer agent
setpriv --reuid=agent --regid=agent --init-groups informerctl get nodes >/tmp/agent.log 2>&1 || fail "a member of the group may not read"
! setpriv --reuid=nobody --regid=nogroup --clear-groups informerctl get nodes >/tmp/nobody.log 2>&1 || fail "anybody may read"
bash -n /usr/share/bash-completion/completions/informerctl || fail "the completion is no bash"

# an upgrade: the new program adopts the arena
apt-get install -y -qq /two/*.deb >/tmp/apt.log 2>&1 || fail "the upgrade"
kill -HUP $daemon
until_true grep -q 'adopted the arena' /tmp/informerd.log
informerctl wait --for=synced --timeout=60s >/tmp/wait.log 2>&1 || fail "not synced after the upgrade"
kill $daemon; wait $daemon || fail "informerd ended with $?"

# removed, not purged: the configuration and the arena are there for the next one
apt-get remove -y -qq informerd >/tmp/apt.log 2>&1 || fail "apt remove"
! command -v informerd >/dev/null || fail "informerd is still there"
apt-get install -y -qq /two/informerd_*.deb >/tmp/apt.log 2>&1 || fail "installed again"
: >/tmp/informerd.log
daemon
until_true grep -q 'adopted the arena' /tmp/informerd.log
informerctl wait --for=synced --timeout=60s >/tmp/wait.log 2>&1 || fail "not synced after the removal"
kill $daemon; wait $daemon || fail "informerd ended with $?"
kill $sim

# the library, and an agent
apt-get install -y -qq --no-install-recommends gcc libc6-dev pkg-config >/tmp/apt.log 2>&1
gcc /usr/share/doc/libinformer-dev/examples/agent.c $(pkg-config --cflags --libs libinformer) -o /tmp/agent >/tmp/gcc.log 2>&1 || fail "the agent"
ldd /tmp/agent | grep -q 'libinformer.so.0 => /\(usr/\)\?lib/' || fail "$(ldd /tmp/agent)"
for program in informerd informerctl informer-run informer-gateway informer-sim; do $program --version >/tmp/version.log || fail "$program"; done

apt-get purge -y -qq informerd informer-tools informer-gateway informer-sim libinformer0 libinformer-dev gcc libc6-dev pkg-config >/tmp/apt.log 2>&1 || fail "purge"
apt-get autoremove --purge -y -qq >/tmp/apt.log 2>&1
userdel agent
find / -xdev ! -path '/proc/*' ! -path '/tmp/*' ! -path '/var/*' ! -path '/etc/*-' -print | sort >/tmp/after
rm -f /etc/informer/kubeconfig
left=$(comm -13 /tmp/before /tmp/after | grep -i informer | grep -v '^/etc/informer\(/kubeconfig\)\?$' || true)
[ -z "$left" ] || fail "left: $left"
[ -z "$(ls -A /dev/shm)" ] || fail "left in /dev/shm: $(ls -A /dev/shm)"
TRY
	in_it "$fresh" bash /try >"$T/try.log" 2>&1 || fail "$release: $(grep FAILED "$T/try.log")"
	echo "$release: installed, read, upgraded, purged"
	rm -rf "$fresh"
done
echo ok
