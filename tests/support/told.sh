# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests: what readers were told (event_model.h), beside what the server has. Sourced after script.sh.

# state FILE: the newest state of each key that a reader's life left it with; says what went back.
state() {
	awk '
	function newer(key, rv) {
		if (rv + 0 < last[key] + 0) { print "back: " $0; bad = 1 }
		last[key] = rv
	}
	$1 == "A" || $1 == "U" { k = $1 == "A" ? 3 : 2; newer($k, $(k + 2)); m[$k] = $(k + 1) " " $(k + 2); again[$k] = 1 }
	$1 == "D" { delete m[$3]; if ($5 != "-") newer($3, $5) }
	$1 == "R" { delete again }
	$1 == "E" { for (k in m) if (!(k in again)) delete m[k] }
	END { for (k in m) print k, m[k]; exit bad }' "$1" | LC_ALL=C sort
}
pods_on_server() { curl -s "$url/api/v1/pods" | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.uid) \(.resourceVersion)"' | LC_ALL=C sort; }

# is_told FILE: a reader has what the server has; $T/want and $T/got say what it has not.
is_told() {
	pods_on_server >"$T/want"
	state "$1" >"$T/got"
	[ -s "$T/want" ] && cmp -s "$T/want" "$T/got"
}
# none_went_back FILE...
none_went_back() {
	local f
	for f in "$@"; do
		! state "$f" | grep -m 3 '^back' || return 1
	done
}

# readers_end PID...: each ends well when it is told to, and none of them has complained
readers_end() {
	local pid
	for pid in "$@"; do
		kill "$pid"
		code=0
		wait "$pid" || code=$?
		[ "$code" = 0 ] || fail "a reader ends with $code: $(cat "$T/reader.log")"
	done
	[ ! -s "$T/reader.log" ] || fail "readers complain: $(cat "$T/reader.log")"
}

# events_agree BOUND: wait until what all readers in $T/told were told leads to what the server of $T/history has. Else $code is not 0; $T/result
# says what is wrong (events_check.c).
events_agree() {
	agree() {
		code=0
		"$B"/tests/events_check "$T/history" "$1" "$T"/told/* >"$T/result" 2>"$T/check.log" || code=$?
		[ "$code" != 1 ]
	}
	until_true agree "$1" || true
}
