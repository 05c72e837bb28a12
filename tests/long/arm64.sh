#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# arm64: `make CROSS=aarch64-linux-gnu-` builds everything; unit tests and the demo run under qemu-user; programs of amd64 and arm64 read each other's
# arenas, and informerd of one adopts the arena of the other; the packages are of arm64. What qemu-user cannot run is listed below, with the reason.
# PARTS='rooms both demo deb' are all of its parts; ROOM=PART the rooms with PART in their names.
#
# Not upstream: what it shows does not depend on the server.
# Takes 1500 s.
arm=build-arm64
build() { env -u MAKEFLAGS -u LONG -u SAN make "B=$arm" CROSS=aarch64-linux-gnu- "$@"; }
if [ -z "${INSIDE-}" ]; then
	command -v qemu-aarch64 >/dev/null && build -n all tests >/dev/null 2>&1 ||
		{ echo 'SKIP: "make setup-test CROSS=aarch64-linux-gnu-" installs what is missing'; exit 77; }
	build -s -j"$(nproc)" all tests || { echo "FAILED: it does not build for arm64"; exit 1; }
	export INSIDE=1
	! "$arm/informerctl" --version >/dev/null 2>&1 || exec bash "$0"
	exec sh tests/support/run_arm64.sh bash "$0"
fi
. "$(dirname "$0")/../support/script.sh"
: "${PARTS:=rooms both demo deb}"
wanted() { case " $PARTS " in *" $1 "*) ;; *) return 1 ;; esac; }

# Tests that qemu-user 7.2 cannot run: of madvise() it does MADV_DONTNEED, and nothing for the rest, without an error.
cat >"$T/not" <<'END'
# MADV_WIPEONFORK: a child does not learn that it was forked
reader-lib/attach/fault_guard/only_what_is_guarded_and_revoked_is_repaired
reader-lib/attach/handle/every_call_in_a_child_says_forked
reader-lib/events/handler/a_forked_child_calls_no_handler
reader-lib/factory/factory/a_forked_child_may_only_free_its_factory
reader-lib/read/copy/a_forked_child_may_use_its_copy
# MADV_REMOVE: the memory of a queue is not taken back
writer/serve/ring_out/memory_is_given_and_taken_back
writer/serve/ring_out/memory_is_taken_back_where_pages_are_large
# MADV_COLLAPSE: no huge pages
writer/arena/arena_pages/whole_regions_are_huge_pages_at_once
# MADV_POPULATE_WRITE: pages that have memory and were not written yet count as holes
writer/arena/burial/absent_pages_of_a_copy_get_memory_first
writer/store/generation/a_damaged_arena_gives_its_memory_back
END
room() { # PROGRAM
	local tests
	tests=$("$1" -l | grep -vxFf "$T/not") || return 0
	env B="$arm" REAL_PODS="${REAL_PODS:-$B/pods}" TEST_SECONDS=600 "$1" $tests >"$T/room.log" 2>&1 || fail "$1 under qemu-user"
	echo "$1: $(tail -n 1 "$T/room.log")"
}
if wanted rooms; then
	for name in $(cd tests && find . -name '*_test.c' ! -path './explorer/*' -printf '%P\n' | xargs -n 1 dirname | tr / - | sort -u); do
		case $name in *"${ROOM:-}"*) room "$arm/tests/$name" ;; esac
	done
fi

# reads_as_served PROGRAM: all objects, those of a node by index, and the arena's integrity
reads_as_served() {
	local ctl=$1/informerctl node
	"$ctl" --socket "$S" get pods -A -o json | jq -cS '.items[] | del(.apiVersion, .kind)' | sort >"$T/read"
	cmp "$T/served" "$T/read" || fail "$1 reads other pods than the API server has"
	node=$(jq -r .spec.nodeName "$T/served" | head -n 1)
	"$ctl" --socket "$S" get pods -A --index nodeName="$node" -o name | sort >"$T/read"
	jq -r --arg node "$node" 'select(.spec.nodeName == $node) | "pod/" + .metadata.name' "$T/served" | sort >"$T/wanted"
	cmp "$T/wanted" "$T/read" || fail "$1 finds other pods of a node"
	"$ctl" --socket "$S" verify >"$T/verify.log" 2>&1 || fail "$1 finds the arena damaged"
}
# each_reads WRITER: informerd of WRITER writes, after what was there before; programs of both read
each_reads() {
	INFORMERD=$1/informerd start_daemon --resource pods --resource services --resource nodes
	wait_ready
	reads_as_served "$B"
	reads_as_served "$arm"
}
if wanted both; then
	start_sim --nodes 20 --pods-per-node 50
	curl -sf "$url/api/v1/pods" | jq -cS '.items[] | del(.metadata.managedFields)' | sort >"$T/served"
	each_reads "$arm"
	for writer in "$B" "$arm"; do
		stop_daemon KILL
		: >"$T/daemon.log"
		each_reads "$writer"
		grep -q ' adopted ' "$T/daemon.log" || fail "informerd of $writer does not adopt the other's arena"
	done
	echo "amd64 and arm64 read each other's arenas, $(wc -l <"$T/served") pods, and adopt them"
fi
if wanted demo; then
	sh tools/demo/demo.sh "$arm" >"$T/demo.log" 2>&1 || { cat "$T/demo.log" >&2; fail "the demo under qemu-user"; }
	echo "the demo runs"
fi
if wanted deb; then
	build deb >"$T/deb.log" 2>&1 || { cat "$T/deb.log" >&2; fail "make deb"; }
	for package in "$arm"/deb/*.deb; do
		[ "$(dpkg-deb -f "$package" Architecture)" = arm64 ] || fail "$package is not of arm64"
		case $package in *dbgsym*) ;; *) dpkg-deb -x "$package" "$T/installed" ;; esac
	done
	"$T/installed/usr/bin/informerctl" --version >"$T/version.log" || fail "the informerctl of the package does not run"
	bash -n "$T/installed/usr/share/bash-completion/completions/informerctl" && [ -s "$T/installed/usr/share/zsh/vendor-completions/_informerctl" ] ||
		fail "the completion scripts are missing"
	echo "the packages: $(ls "$arm"/deb/*.deb | wc -l)"
fi
echo ok
