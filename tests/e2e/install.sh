#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make install fills a staged tree, from which README's agent builds as printed and works; the library brings its own names alone, and
# needs libsodium and libc only. Each file is in one Debian package. make uninstall takes away what make install put there, and nothing else.
# Not upstream: it needs no server.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

# the flags that this build was made with, without the job server, which is not for us
export MAKEFLAGS
MAKEFLAGS=$(printf '%s' "${MAKEFLAGS:-}" | sed 's/ -j[0-9]*//; s/ --jobserver[^ ]*//g')
root=$T/root
mkdir -p "$root/usr/bin" "$root/usr/share/man/man1"
touch "$root/usr/bin/another" "$root/usr/share/man/man1/another.1"
find "$root" ! -type d | sort >"$T/before"
make -s B="$B" DESTDIR="$root" PREFIX=/usr install >"$T/install.log" 2>&1 || fail "make install"
for f in bin/informerd bin/informer-gateway bin/informerctl bin/informer-run bin/informer-sim include/informer.h lib/libinformer.a lib/libinformer.so lib/pkgconfig/libinformer.pc share/informer/kubernetes.schema \
	share/informer/monitoring/informer.rules.yaml share/informer/monitoring/informer.rules.test.yaml share/informer/monitoring/informer-dashboard.json \
	share/man/man1/informerctl.1 share/man/man1/informer-run.1 share/man/man3/informer_attach.3 share/man/man7/informer.7 share/man/man8/informerd.8; do
	[ -s "$root/usr/$f" ] || fail "$f is not installed"
done
! find "$root" -path '*/sbin/*' | grep . || fail "an ordinary user does not find what is in sbin"
for page in */man/*.[1-8]; do
	[ -s "$root/usr/share/man/man${page##*.}/${page##*/}" ] || fail "$page is not installed"
done
! grep -r "$T" "$root/usr/lib/pkgconfig" || fail "the staging directory stands in libinformer.pc"

# ---- each file is in one Debian package
sed '/^debian\//d; s|/lib/\*/|/lib/|' tools/packaging/debian/*.install >"$T/packaged"
while read -r file; do
	packages=0
	while read -r pattern; do
		case $file in $pattern | $pattern/*) packages=$((packages + 1)) ;; esac
	done <"$T/packaged"
	[ "$packages" = 1 ] || fail "$packages packages have $file (tools/packaging/debian/*.install)"
done < <(cd "$root" && find usr ! -type d ! -name 'another*')

# ---- the agent, as README prints it
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$T/agent.c"
[ "$(grep -c main "$T/agent.c")" = 1 ] || fail "README.md has no example"
sed '1,/^ \*\/$/d' tools/examples/agent.c | cmp -s - "$T/agent.c" || fail "tools/examples/agent.c is not README's example"
sodium=$(pkg-config --libs libsodium)
# pkg-config leaves paths out that are the system's anyway; in a staged tree they are not
export PKG_CONFIG_PATH=$root/usr/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
version=$(pkg-config --modversion libinformer)
"$B"/informerctl --version | grep -qF "$version" || fail "libinformer.pc says $version"
${CC:-cc} "$T/agent.c" -Wall -Wextra -Werror $(pkg-config --cflags --libs libinformer) -o "$T/agent" 2>"$T/cc.log" || fail "README's example does not build"
${CC:-cc} "$T/agent.c" $(pkg-config --cflags libinformer) "$root/usr/lib/libinformer.a" $sodium -o "$T/agent-static" 2>"$T/cc.log" ||
	fail "the static library needs more than libsodium and libc"

# ---- the same with CMake, as informer(7) prints it
agents="agent agent-static"
if command -v cmake >/dev/null; then
	mkdir -p "$T/cmake/examples"
	cp "$T/agent.c" "$T/cmake/examples/"
	sed -n '/^cmake_minimum/,/^target_link/p' "$root/usr/share/man/man7/informer.7" >"$T/cmake/CMakeLists.txt"
	cmake -S "$T/cmake" -B "$T/cmake/build" >"$T/cmake.log" 2>&1 && cmake --build "$T/cmake/build" >>"$T/cmake.log" 2>&1 || fail "the CMakeLists.txt of informer(7)"
	agents="$agents cmake/build/agent"
fi
# else the next make would have other flags, and build everything
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS

start_sim --nodes 3 --pods-per-node 5
start_daemon --resource pods
wait_ready
node=$(curl -s "$url/api/v1/pods" | jq -r '.items[0].spec.nodeName')
curl -s "$url/api/v1/pods" | jq -r --arg node "$node" '.items[] | select(.spec.nodeName == $node) | .metadata.name' | sort >"$T/want"
[ -s "$T/want" ] || fail "no pods on $node"
for agent in $agents; do
	LD_LIBRARY_PATH=$root/usr/lib INFORMER_SOCKET=$S "$T/$agent" "$node" 2>"$T/agent.log" | sort >"$T/got"
	cmp -s "$T/want" "$T/got" || fail "$agent prints $(cat "$T/got")"
done

# ---- what the library brings and needs
nm -g --defined-only "$root/usr/lib/libinformer.a" | awk 'NF == 3 {print $3}' >"$T/names"
[ "$(wc -l <"$T/names")" -gt 20 ] || fail "hardly any names"
! grep -v '^informer_' "$T/names" || fail "libinformer.a brings names that are not informer_*"
readelf -d "$root/usr/lib/libinformer.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$T/needed"
! grep -v '^\(libsodium\|libc\|ld-linux[^.]*\)\.so' "$T/needed" || fail "libinformer.so needs more than libsodium and libc"
readelf -d "$root/usr/lib/libinformer.so" | grep -q 'SONAME.*\[libinformer\.so\.[0-9]*\]' || fail "no soname"

# ---- hardened
for f in "$root"/usr/bin/informer* "$root/usr/lib/libinformer.so"; do
	readelf -dlW "$f" >"$T/elf"
	grep -q 'BIND_NOW\|FLAGS_1.*NOW' "$T/elf" && grep -q 'GNU_RELRO' "$T/elf" && ! grep -q 'GNU_STACK.*E ' "$T/elf" &&
		grep -q 'Elf file type is DYN' "$T/elf" || fail "$f is not hardened: $(cat "$T/elf")"
done

# ---- stripped on request, and away again
make -s B="$B" DESTDIR="$root" PREFIX=/usr install-strip >"$T/install.log" 2>&1 || fail "make install-strip"
for f in bin/informerd lib/libinformer.so; do
	! readelf -S "$root/usr/$f" | grep -q '\.symtab' || fail "$f is not stripped"
done
make -s B="$B" DESTDIR="$root" PREFIX=/usr uninstall >"$T/install.log" 2>&1 || fail "make uninstall"
find "$root" ! -type d | sort | cmp "$T/before" - || fail "uninstall leaves files, or takes others"
echo ok
