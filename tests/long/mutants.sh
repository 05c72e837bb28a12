#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What `make mutants` runs, on a project of one file: a fault that a test finds is killed; one that changes nothing survives, and that is a
# failure unless it is written down why; what no longer applies, or does not compile, is said by name; sources stay as they are; what is known is
# not run again until something changes.
# Not upstream: it needs no server.
# Takes 5 s.
set -u
CC=${CC:-cc}
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
run_py=$PWD/tests/mutants/run.py
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
fail() { echo "FAIL: $*"; cat "$T/out"; exit 1; }

mkdir -p room tests/room build/obj/room build/obj/tests/room build/mutants
cat >room/sum.h <<'EOF'
#define ONE 1
int sum(int n);
EOF
cat >room/sum.c <<'EOF'
#include "room/sum.h"

/* Of 1 to n. */
int
sum(int n)
{
	int s = 0;

	for (int i = ONE; i <= n; i++)
		s += i;
	return s;
}
EOF
cat >tests/room/sum_test.c <<'EOF'
#include "room/sum.h"
int main(void) { return sum(4) == 10 ? 0 : 1; }
EOF
build() {
	for f in room/sum tests/room/sum_test; do $CC -I. -c -o "build/obj/$f.o" "$f.c" || fail "cannot compile"; done
	rm -f build/mutants/rooms.a
	ar rcs build/mutants/rooms.a build/obj/room/sum.o
}
mutants() {
	python3 "$run_py" --build build --archive build/mutants/rooms.a --compile "$CC -I. -O1" --link "$CC" --timeout 2 "$@" >out 2>&1
	rc=$?
}
exits() { [ "$rc" -eq "$1" ] || fail "exit $rc, not $1"; }
says() { grep -qE -- "^$1$" out || fail "does not say: $1"; }
lists() { cat >"$1.list"; }

lists good <<'EOF'
# a comment
mutant stops-early
file room/sum.c
swap i <= n => i < n
test room/sum

mutant never-ends
file room/sum.c
= for (int i = ONE; i <= n; i++)
- s += i;
+ { s += i; i -= 1; __asm__ volatile("" : "+r"(i)); }
test room/sum

mutant in-a-header
file room/sum.h
swap #define ONE 1 => #define ONE 3
also room/sum.c
test room/sum
EOF
printf 'mutant nothing\nfile room/sum.c\n- /* Of 1 to n. */\n+ /* Of all. */\ntest room/sum\n' | lists bad
{ cat bad.list; echo 'survives a comment does nothing'; } | lists explained
printf 'mutant gone\nfile room/sum.c\nswap i >= n => i > n\ntest room/sum\n' | lists stale
printf 'mutant twice\nfile room/sum.c\nswap int  => long \ntest room/sum\n' | lists twice
printf 'mutant garbled\nfile room/sum.c\nswap return s; => return t;\ntest room/sum\n' | lists garbled

build
cp -r room before
mutants --keep-going good.list
exits 0
says 'stops-early: killed, room/sum fails \([0-9.]+ s\)'
says 'never-ends: killed, room/sum hangs \([0-9.]+ s\)'
says 'in-a-header: killed, room/sum fails \([0-9.]+ s\)'
says '3 killed, 0 survived, 0 explained, 0 broken, of 3'
mutants good.list
exits 0
says 'never-ends: killed, room/sum hangs \(known\)'
mutants --only header good.list
says '1 killed, 0 survived, 0 explained, 0 broken, of 1'
mutants --draw 2 --seed 7 good.list
says 'drawing 2 of 3: SEED=7'
says '2 killed, .* of 2'
mutants --keep-going good.list bad.list
exits 1
says 'nothing: SURVIVED room/sum \([0-9.]+ s\)'
says '3 killed, 1 survived, 0 explained, 0 broken, of 4'
mutants explained.list
exits 0
says 'nothing: survives: a comment does nothing \([0-9.]+ s\)'
{ cat good.list; echo 'survives by mistake'; } | lists wrong
mutants --keep-going wrong.list
exits 1
says 'in-a-header: killed by room/sum, and should survive: by mistake .*'
for list in 'stale gone 0' 'twice twice 3'; do
	set -- $list
	mutants --only header "$1.list" good.list # also where others are chosen
	exits 2
	says "mutants: mutant $2 no longer applies: what it changes stands $3 times in room/sum.c"
done
mutants garbled.list
exits 2
says 'mutants: mutant garbled does not compile: .*'
mutants --only nosuch good.list
exits 2
diff -r room before >out || fail "a source was changed"

# another source: nothing of what was known holds; and a test that fails by itself kills nobody
sed -i 's/return s;/return s + 1;/' room/sum.c
build
mutants --only stops good.list
exits 2
says 'mutants: room/sum says 1 without any fault: .*'
echo ok
