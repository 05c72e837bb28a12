# SPDX-License-Identifier: Apache-2.0
# tests/structure/check.py says what it finds: an arrow up, a circle, one name for two things, a long line, a missing licence line, a test
# without a promise, a conversation that proves no line; each made here in a small tree of its own. (The project's own tree is held against it by make lint.)
# Not upstream: it needs no server.
# Takes 5 s.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$*"; exit 1; }

top="/* SPDX-License-Identifier: Apache-2.0 */"
begin() {
	rm -rf "$dir/tree"
	mkdir -p "$dir/tree/tests/structure" "$dir/tree/shm-layout" "$dir/tree/writer/base" "$dir/tree/writer/store"
	printf '%s\n' 'shm-layout' 'writer/base shm-layout' 'writer/store shm-layout writer/base' >"$dir/tree/tests/structure/rooms"
	: >"$dir/tree/tests/structure/circles"
	echo '# SPDX-License-Identifier: Apache-2.0' >"$dir/tree/Makefile"
	put writer/base/low.h 'int low(void);'
	put writer/base/low.c '#include "writer/base/low.h"' 'int low(void) { return 1; }'
	put writer/store/high.c '#include "writer/base/low.h"' 'int high(void);' 'int high(void) { return low(); }'
}
put() { f=$dir/tree/$1; shift; printf '%s\n' "$top" "$@" >"$f"; }
objects() {
	(cd "$dir/tree" && for f in writer/*/*.c; do
		mkdir -p "obj/$(dirname "$f")" && cc -I. -c -o "obj/${f%.c}.o" "$f"; done)
}
check() { python3 tests/structure/check.py --root "$dir/tree" --objects "$dir/tree/obj" >"$dir/out" 2>&1; }
good() { objects; check || { cat "$dir/out"; fail "refused: $1"; }; [ ! -s "$dir/out" ] || fail "not silent: $1"; }
bad() {
	objects
	! check || fail "not seen: $1"
	grep -q "$2" "$dir/out" || { cat "$dir/out"; fail "not said: $1"; }
	[ "$(grep -vc '^  ' "$dir/out")" = 1 ] || { cat "$dir/out"; fail "more was said than: $1"; }
}

begin
good "a tree as it should be"

begin
put writer/store/high.h 'int high(void);'
rm "$dir/tree/writer/store/high.c"
put writer/base/low.c '#include "writer/store/high.h"' 'int low(void);' 'int low(void) { return 1; }'
bad "an arrow up" 'writer/base/low.c:2: writer/store/high.h is an arrow up: writer/base may include shm-layout'

begin
mkdir "$dir/tree/writer/attic"
put writer/attic/old.h 'int old(void);'
bad "a room that nobody knows" 'writer/attic is no room'

begin
echo 'writer/daemon writer/resource' >>"$dir/tree/tests/structure/rooms"
bad "a table with an arrow to nowhere" 'does not stand above it'

begin
put writer/base/low.c 'int low(void);' 'int high(void);' 'int low(void) { return high(); }'
bad "two files that need each other" 'writer/base/low -> writer/store/high: high'
echo 'writer/base/low writer/store/high: for this test' >"$dir/tree/tests/structure/circles"
good "a circle with a reason"
echo 'writer/base/low writer/store/high:' >"$dir/tree/tests/structure/circles"
bad "a circle without a reason" 'needs a reason'

begin
put writer/store/high.h '#include "writer/store/wide.h"' 'int high(void);'
put writer/store/wide.h 'int wide(void);'
put writer/store/wide.c '#include "writer/store/high.h"' 'int wide(void) { return 1; }'
bad "two pairs that include each other's header" 'writer/store/wide -> writer/store/high: wide.c includes high.h'
mv "$dir/tree/writer/store/wide.h" "$dir/tree/writer/store/high_wide.h"
mv "$dir/tree/writer/store/wide.c" "$dir/tree/writer/store/high_wide.c"
put writer/store/high.h '#include "high_wide.h"' 'int high(void);'
good "two pairs of one concept that include each other's header"

begin
echo 'writer/base/low writer/store/high: for this test' >"$dir/tree/tests/structure/circles"
bad "a reason whose circle is gone" 'is no circle any more'

begin
put writer/store/low.h 'int lower(void);'
bad "one name for two things" 'low.h: stands in writer/base and writer/store'

begin
put writer/base/low.h "int low(void); /* $(printf '%080d' 0) */	/* a tab counts as far as it reaches */"
bad "a long line" 'low.h:2: 14[0-9] columns; 110 are the most'

begin
echo 'int low(void);' >"$dir/tree/writer/base/low.h"
bad "no licence line" 'low.h: no SPDX line'

begin
mkdir "$dir/tree/tests/e2e"
put tests/e2e/works_test.c 'int test(void);'
bad "a test without a promise" 'tests/e2e/works stands in no row'
echo '| It works. | e2e/works |' >"$dir/tree/tests/README.md"
good "a test with a promise"

begin
echo '| It works. | e2e/works.sh |' >"$dir/tree/tests/README.md"
bad "a promise without a test" 'README.md:1: e2e/works.sh is no test'

begin
mkdir "$dir/tree/tests/conversations"
: >"$dir/tree/tests/conversations/old.talk"
echo '## Which line of it `new` proves' >"$dir/tree/tests/conversations/README.md"
: >"$dir/tree/tests/conversations/new.talk"
bad "a conversation that proves no line" 'old.talk stands in no row'
