# SPDX-License-Identifier: Apache-2.0
# lists_allowed.awk -v speed=N LOG: whether each LIST and WatchList in the log of a fault_proxy had a cause by which the field's reference
# lists (writer/reflect/reflector.h), or better. A cause is good for one LIST, and used up when the state is whole or a watch was opened.
#
#	the first; what was asked for and did not come whole: an error, a broken one, one that was abandoned
#	410 for a watch, or within one; another ERROR but 429; 500 again and again for 30 s (of the client's time, which runs speed times as fast)
#	the same RV's stream broken twice
#	the RV is ahead of the server's
#	informerd was killed before the list was in (a log with notes: "begin", "killed")
#	it was killed, and the CA is another one than when it began ("certificates ..."): content of another server, for all it knows
#
# Prints "N LISTs, M allowed: ..."; exits 1 when one had none.
function grant(why) { credit++; allowed++; causes[why]++ }
function whole() { credit = 0; broken = 0; first_500 = 0; flight = ""; done_ms = $1 }
function clear(lines) { if (lines > 0) { broken = 0; first_500 = 0 } }

$2 == "NOTE" && $3 == "begin" { grant("first"); next }
$2 == "NOTE" && $3 == "certificates" { rotated = 1; next }
$2 == "NOTE" && $3 == "killed" {
	if (rotated) grant("another CA")
	else if (flight != "" || $1 - done_ms < 2000) grant("killed")
	rotated = 0
	next
}
$3 == "ASKED" { good[$2] = 0 }
$3 == "ASKED" && ($4 == "LIST" || $4 == "WATCHLIST") {
	if (flight != "") grant("abandoned")
	lists++
	if (credit > 0) credit--
	else { print "a LIST without a cause: " $0; bad = 1 }
	flight = $2
	next
}
$3 == "ANSWERED" {
	good[$2] = $5 == 200
	if ($4 == "WATCH" && $5 == 200) credit = 0
	else if ($4 == "WATCH" && $5 == 410) grant("410")
	else if ($4 == "PROBE" && $5 == 504) grant("ahead")
	else if ($4 ~ /LIST|PAGE/ && $5 != 200) { grant("list answered " $5); if (flight == $2) flight = "" }
	next
}
$3 == "SYNCED" { whole(); next }
$3 == "ERROR" {
	clear($6)
	if ($4 == "WATCHLIST") ;	# it ends before its mark
	else if ($5 == 500) {
		if (!first_500) first_500 = $1
		if ($1 - first_500 >= 25000 / speed) grant("500")
	} else if ($5 != 429) grant("410")
	next
}
$3 == "ENDED" && $4 == "WATCH" {
	clear($6)
	if ($5 == "truncated" || $5 == "invalid") { if (broken) grant("broken twice"); broken = 1 }
	next
}
$3 == "ENDED" && ($4 == "LIST" || $4 == "PAGE") && good[$2] && $5 == "whole" { whole(); next }
$3 == "ENDED" && $4 ~ /LIST|PAGE/ && flight == $2 { grant("list " $5); flight = "" }

END {
	for (why in causes) text = text (text ? ", " : "") why " " causes[why]
	printf "%d LISTs, %d allowed: %s\n", lists, allowed, text
	exit bad
}
