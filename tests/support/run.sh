# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests of informer-run: sourced after script.sh.
export INFORMER_SOCKET=$S INFORMER_RUN_DIR=$T/run OUT=$T/out

# start_run FLAGS...: sets run_pid; what it says is in $T/run.log
start_run() {
	"$B"/informer-run "$@" 2>>"$T/run.log" >>"$T/run.out" &
	run_pid=$!
}

# stop_run SIGNAL: ends it; the exit code is in $code.
stop_run() {
	code=0
	kill "-$1" "$run_pid"
	wait "$run_pid" 2>/dev/null || code=$?
	run_pid=
}

# run_stat NAME FIELD
run_stat() { "$B"/informer-run status "$1" -o json 2>/dev/null | jq -r ".handlers[0].$2"; }
run_is() { [ "$(run_stat "$1" "$2")" = "$3" ]; }

# in_order: an object's events in $OUT come in order; what comes again came before.
in_order() {
	awk '$4 ~ /\// {
		if ($2 in seen) next
		if ($2 <= newest[$4] + 0) { print "after " newest[$4] ": " $0; bad = 1 }
		newest[$4] = $2; seen[$2] = 1
	} END {exit bad}' "$OUT"
}

# The newest state of each object in $OUT, and the server's. newest: by seq, what comes again counts once; last: as they came, for when a
# list was made anew, since a deletion that a catch-up finds has the seq from which on it would be found again. Then what was not
# told again since the last RESYNC is gone; each worker is told of it, with its id.
told() {
	awk -v how="${1:-newest}" '
	how == "last" && $3 == "RESYNC" && $4 != resync { since = NR; resync = $4 }
	$4 ~ /\// { at[$4] = NR; if (how == "last" || $2 >= newest[$4] + 0) {newest[$4] = $2; s[$4] = $3 == "DELETED" ? "" : $5} }
	END { for (k in s) if (s[k] != "" && at[k] > since + 0) print k, s[k] }' "$OUT" | LC_ALL=C sort
}
server() { curl -s "$url/api/v1/pods" | jq -r '.items[].metadata | "\(.namespace)/\(.name) \(.resourceVersion)"' | LC_ALL=C sort; }
same() { server >"$T/want"; told "$@" >"$T/got"; cmp -s "$T/want" "$T/got"; }
