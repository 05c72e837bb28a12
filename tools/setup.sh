#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install the Debian/Ubuntu packages named as arguments, as far as they are
# missing; where that cannot be done, print what to do instead. NAME:arm64 is
# another machine's package: apt is told of that machine first.
set -eu
missing=
if command -v dpkg-query >/dev/null 2>&1; then
	for p in "$@"; do
		dpkg-query -W -f='${Status}\n' "$p" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $p"
	done
else
	missing=" $*"
fi
[ -n "$missing" ] || exit 0
machine=
for p in $missing; do
	case $p in *:*) machine=${p#*:} ;; esac
done
if [ -n "$machine" ] && { dpkg --print-architecture; dpkg --print-foreign-architectures; } 2>/dev/null | grep -qx "$machine"; then
	machine=
fi
if command -v apt-get >/dev/null 2>&1; then
	if [ "$(id -u)" = 0 ]; then
		echo "set-up: apt-get install$missing"
		[ -z "$machine" ] || dpkg --add-architecture "$machine"
		export DEBIAN_FRONTEND=noninteractive
		log=$(mktemp)
		trap 'rm -f "$log"' EXIT
		# each package as it comes, and all that apt says where it fails
		{ apt-get update -qq && apt-get install -y --no-install-recommends $missing || echo 'set-up failed'; } 2>&1 |
			tee "$log" | sed -n -u 's/^Get:[0-9]* .* \([^ ]*\) [^ ]* [^ ]* \[.*/  fetch   \1/p; s/^Setting up \([^ ]*\) .*/  install \1/p'
		tail -n 1 "$log" | grep -q '^set-up failed' || exit 0
		tail -n 20 "$log" >&2
		exit 1
	fi
	echo "set-up: some packages are missing; run" >&2
	[ -z "$machine" ] || echo "    sudo dpkg --add-architecture $machine && sudo apt-get update" >&2
	echo "    sudo apt-get install -y --no-install-recommends$missing" >&2
	exit 1
fi
echo "set-up: install your system's packages for these (Debian's names):$missing" >&2
exit 1
