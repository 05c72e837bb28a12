#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A day's churn in short, before a gateway: changes at a high rate, watches in several forms and with selectors that stay, others that come and go or
# are killed, some that read nothing, lists, and lists in pages. Now and then all is quiet: then the watches that stayed have the newest RV, who
# came has gone, and the gateway is no larger than it was: memory, descriptors, watches, bytes of lists.
#
# DURATION: seconds of unrest (20; by hand 600). RATE: changes a second (2000). SEED repeats a run's dice. KEEP: a folder where the figures stay.
# Takes 25 s.
. "$(dirname "$0")/../support/script.sh"
duration=${DURATION:-20} rate=${RATE:-2000} seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "SEED=$seed DURATION=$duration RATE=$rate"
[ -z "${KEEP:-}" ] || at_end+=('cp "$T"/*.log "$T/figures" "$KEEP"/ 2>/dev/null')

start_sim --nodes 20 --pods-per-node 50 --history 20000
start_daemon --resource pods --resource nodes
wait_ready
start_open_gateway '' 'history: 8Mi' 'memory: 64Mi' 'drain: 1s'
until_true reached "$(newest_rv)" || fail "it does not come up to the server"
mapfile -t nodes < <(of_gateway /api/v1/nodes | jq -r '.items[].metadata.name')

# ---- who watches: curl, its output looked at by nobody but for the last line of those that stay
form() { # form N: in $accept
	case $(($1 % 4)) in
	0) accept=application/json ;;
	1) accept='application/json;as=Table;g=meta.k8s.io;v=v1' ;;
	2) accept='application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' ;;
	3) accept=application/vnd.kubernetes.protobuf ;;
	esac
}
selector() { # selector N: in $select
	case $(($1 % 3)) in
	0) select= ;;
	1) select="&fieldSelector=spec.nodeName%3D${nodes[RANDOM % ${#nodes[@]}]}" ;;
	2) select="&labelSelector=app.kubernetes.io%2Fname" ;;
	esac
}
# one that is told 410, or whose time is over, comes again: as a client does
stay() { # stay NAME ACCEPT SELECTOR
	local rv=
	while [ ! -e "$T/over" ]; do
		rv=$(of_gateway '/api/v1/pods?limit=1' | jq -r .metadata.resourceVersion) || continue
		curl -q -sN -H "Accept: $2" "$gateway_url/api/v1/pods?watch=1&allowWatchBookmarks=true&resourceVersion=$rv&timeoutSeconds=30$3" |
			tail -c 2000 >"$T/last.$1" || true
	done
}
declare -A visitors
visit() { # visit SLOT
	if [ -n "${visitors[$1]:-}" ]; then
		kill -9 "${visitors[$1]}" 2>/dev/null || true
		wait "${visitors[$1]}" 2>/dev/null || true
		unset "visitors[$1]"
		return
	fi
	form "$RANDOM" && selector "$RANDOM"
	local initial=
	[ $((RANDOM % 2)) = 0 ] || initial='&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'
	(exec curl -q -sN -H "Accept: $accept" -o /dev/null "$gateway_url/api/v1/pods?watch=1&allowWatchBookmarks=true$select$initial") &
	visitors[$1]=$!
	came=$((came + 1))
}
stick() { # a watch that reads nothing: stopped when it has begun
	if [ -n "${visitors[stuck]:-}" ]; then
		kill -CONT "${visitors[stuck]}" 2>/dev/null || true
		visit stuck
		return
	fi
	visit stuck
	sleep 0.2
	kill -STOP "${visitors[stuck]}" 2>/dev/null || true
}
list() {
	form "$RANDOM" && selector "$RANDOM"
	curl -q -s -m 60 -H "Accept: $accept" -o /dev/null "$gateway_url/api/v1/pods?limit=0$select" || true
	lists=$((lists + 1))
}
pages() { # some of them, and then no more: what is held for the next is let go by itself
	local at= i
	for i in 1 2 3 4; do
		at=$(curl -q -s -m 60 "$gateway_url/api/v1/pods?limit=100${at:+&continue=$at}" | jq -r '.metadata.continue // ""') || at=
		[ -n "$at" ] || return 0
	done
	lists=$((lists + 4))
}
# as much at one time as the dice may ever ask for: what is larger afterwards has grown
everything_at_once() {
	local clients=() i watch='watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=2'
	for i in 0 1 2 3 0 1 2 3; do
		form "$i"
		curl -q -s -m 60 -H "Accept: $accept" -o /dev/null "$gateway_url/api/v1/pods?limit=0" &
		clients+=($!)
		curl -q -s -m 60 -H "Accept: $accept" -o /dev/null "$gateway_url/api/v1/pods?$watch" &
		clients+=($!)
	done
	wait "${clients[@]}" || fail "SEED=$seed: not all are served at once"
	lists=$((lists + 8)) came=$((came + 8))
}
came=0 lists=0
moves=('visit a' 'visit b' 'visit c' 'visit d' stick list list pages)

# ---- figures
columns='sec when rss_kib fds watches list_bytes history_kib changes came lists'
begin=$SECONDS
figures() { # figures WHEN
	of_gateway /metrics >"$T/metrics"
	printf '%s\t' $((SECONDS - begin)) "$1" "$(awk '/^RssAnon:/ {print $2}' "/proc/$gateway_pid/status")" \
		"$(find "/proc/$gateway_pid/fd" -mindepth 1 -printf . | wc -c)"
	awk -v OFS='\t' '$1 == "informer_gateway_watches" {w = $2} $1 == "informer_gateway_memory_bytes{of=\"lists\"}" {l = $2} /^informer_gateway_history_bytes/ {h += $2}
		/^informer_gateway_changes_total/ {c += $2} END {printf "%d\t%d\t%d\t%d\t", w, l, h / 1024, c}' "$T/metrics"
	printf '%s\t%s\n' "$came" "$lists"
}
column() { awk -v name="$1" -v columns="$columns" 'BEGIN {n = split(columns, c, " "); for (i = 1; i <= n; i++) at[c[i]] = i} {print $at[name]}'; }
figure() { awk -v when="$1" '$2 == when' "$T/figures" | column "$2"; }
now_is_at_most() { [ "$(figures now | column "$1")" -le "$2" ]; }

unrest() { # unrest SHARE-OF-DURATION-IN-PERCENT
	local end=$((SECONDS + (duration * $1 + 99) / 100)) next=$SECONDS
	curl -sf -X POST "$url/sim/churn?rate=$rate&count=100000000" >/dev/null || fail "no churn"
	while [ "$SECONDS" -lt "$end" ]; do
		if [ "$SECONDS" -ge "$next" ]; then
			figures unrest | tee -a "$T/figures"
			next=$((SECONDS + (duration > 60 ? duration / 30 : 2)))
		fi
		${moves[RANDOM % ${#moves[@]}]}
		sleep 0.$((RANDOM % 3 + 1))
		kill -0 "$gateway_pid" 2>/dev/null || fail "SEED=$seed: the gateway died"
	done
}
quiet() { # quiet WHEN
	local slot
	for slot in "${!visitors[@]}"; do visit "$slot"; done
	curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
	until_true churn_over || fail "the churn does not end"
	until_true reached "$(newest_rv)" || fail "SEED=$seed: the gateway stays behind"
	until_true now_is_at_most list_bytes 0 || fail "SEED=$seed: bytes of lists: $(figures now)"
	until_true now_is_at_most watches "$stayers" || fail "SEED=$seed: watches: $(figures now)"
	[ -z "${first:-}" ] || until_true now_is_at_most fds $(($(figure "$first" fds) + 4)) || fail "SEED=$seed: descriptors: $(figures now)"
	figures "$1" | tee -a "$T/figures"
}
no_larger() { # no_larger THAN WHEN NAME: by a tenth at most, or 4 MiB
	awk -v a="$(figure "$1" "$3")" -v b="$(figure "$2" "$3")" 'BEGIN {exit !(a > 0 && b > 0 && (b <= a * 1.1 || b <= a + 4096))}' ||
		fail "SEED=$seed: $3: $(figure "$1" "$3") $1, $(figure "$2" "$3") $2"
}

echo "$columns" | tr ' ' '\t' | tee "$T/figures"
stayers=0
for i in 0 1 2 3 4 5; do
	form "$i" && selector "$i"
	stay "$i" "$accept" "$select" &
	stayers=$((stayers + 1))
done
unrest 25
everything_at_once
quiet quiet-1
first=quiet-1
unrest 25
quiet quiet-2
unrest 25
quiet quiet-3
unrest 25
quiet quiet-4
if ! sanitized; then
	no_larger quiet-2 quiet-3 rss_kib
	no_larger quiet-2 quiet-4 rss_kib
fi
touch "$T/over"
stop_gateway TERM
[ "$code" = 0 ] || fail "SEED=$seed: exit code $code: $(cat "$gateway_log")"
echo "ok: $(figure quiet-4 changes) changes, $came watches that came and went, $lists lists"
