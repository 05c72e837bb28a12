#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A day in short: churn, reloads that change what is cached, kill -9 of informerd and standbys, readers that come and go or are killed, and
# snapshots that are held until they are revoked, by stopped readers as well. Now and then all is quiet, and then each reader has what the server
# has and informerd is no larger than it was: memory, descriptors, threads, queues, arena. In the middle, almost half of the time, one
# informerd lives on and is not killed, so that what grows in a life has time for it; the rest of the time, what is left behind by the dead has.
#
# DURATION: seconds of unrest (20; an hour: make test-long ONLY=soak DURATION=3600). EVERY: seconds between two lines of figures (a 60th of that). SEED repeats a run's
# dice, not its timing. RATE: changes a second (200), GAP: tenths of a second between two blows, at most. KEEP: a folder where all logs stay.
# Not upstream: it needs churn that keeps the number of pods.
# Takes 67 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/told.sh"
duration=${DURATION:-20}
every=${EVERY:-$((duration / 60 > 0 ? duration / 60 : 1))}
gap=${GAP:-$((duration > 600 ? 30 : 4))}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
echo "SEED=$seed DURATION=$duration"
. "$(dirname "$0")/../support/deaths.sh"
A=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo "$T")/informer-e2e-XXXXXX")
export INFORMER_SOCKET=$S
at_end+=('rm -r "$A"')
[ -z "${KEEP:-}" ] || at_end+=('cp "$T"/*.log "$T"/figures "$KEEP"/ 2>/dev/null')
# short enough that a holder is revoked between two quiets
configuration() { echo 'arena: {holdBytes: 256Ki, holdSeconds: 2}'; }
touch "$T/told.hold" # readers at random hold snapshots, too

# ---- who comes and goes; m1 stays all the time, s1 from one quiet to the next
gone_lines=0 visits=0 held=0
forget() { # NAME: one that is dead
	local f
	for f in "$T/told/$1".*; do
		[ -e "$f" ] || continue
		case $1 in w*) ;; *) none_went_back "$f" || fail "SEED=$seed: $1 was told of an older state" ;; esac
		gone_lines=$((gone_lines + $(wc -l <"$f")))
		rm "$f"
	done
}
lives_on() { [ -n "${pid[$1]:-}" ]; }
leave() { # NAME
	if [ $((RANDOM % 3)) = 0 ]; then end_reader "$1"; else kill_reader "$1"; fi
	forget "$1"
}
visit() { # NAME
	if lives_on "$1"; then leave "$1"; else start_reader "$1" && visits=$((visits + 1)); fi
}

# A holder: it holds, is stopped, or not, is revoked, continued, comes back, and ends.
declare -A stopped
hold() { # NAME
	if ! lives_on "$1"; then
		start_reader "$1"
	elif [ -z "${stopped[$1]:-}" ]; then
		grep -q 'HELD\|BACK' "$T/$1.out" || return 0
		[ $((RANDOM % 8)) = 0 ] || kill -STOP "${pid[$1]}"
		stopped[$1]=1
	elif is_back "$1"; then
		kill_reader "$1"
		unset "stopped[$1]"
		held=$((held + 1))
	fi
}
is_back() { # NAME. An informerd that was started since it was stopped does not know it.
	stat_is "[.readers[] | select(.pid == ${pid[$1]} and (.revoked | not))] | length" 0 || grep -q REVOKED "$T/$1.out" || return 1
	kill -CONT "${pid[$1]}"
	grep -q BACK "$T/$1.out"
}

get() { "$B"/informerctl --socket "$S" get pods -A -o name >/dev/null 2>>"$T/get.log" || true; }
# each as often as it stands here, in an order by chance
moves_life=(hold\ h1 hold\ h1 hold\ h2 hold\ h2 get visit\ w1 visit\ w2 visit\ w3 visit\ m2 visit\ s2)
moves_kills=("${moves_life[@]}" reload kill_informerd kill_informerd replace_informerd)
cards_life=() cards_kills=()
blow() { # life | kills
	local -n cards=cards_$1 moves=moves_$1
	local i
	[ "${#cards[@]}" -gt 0 ] || cards=("${moves[@]}")
	i=$((RANDOM % ${#cards[@]}))
	${cards[i]}
	unset "cards[i]"
	cards=("${cards[@]}")
}

# ---- figures
of_status() { awk -v field="$2:" '$1 == field {print $2}' "/proc/$1/status"; } # PID FIELD
figures_of_arena='[.arena.used_bytes, .arena.present_bytes, .arena.buried_bytes, .arena.absent_bytes, .arena.retired_bytes | . / 1024 | floor] +
	[.arena.leaked_blocks, ([.resources[].objects] | add), (.readers | length), .queue_memory.bytes, (.consumers | length)] | @tsv'
columns='sec when pid life_s rss_kib fds connections threads file_kib used_kib present_kib buried_kib absent_kib retired_kib leaked objects'
columns="$columns readers queue_b consumers m1_rss m1_fds deaths standbys revoked held reloads visits told"
# descriptors PID: how many, and how many more are connections to the server, of which one stays for a while when what it was for is done
descriptors() {
	find "/proc/$1/fd" -mindepth 1 -printf '%l\n' 2>/dev/null | sed 's/socket:\[\(.*\)\]/\1/' |
		awk 'NR == FNR {tcp[$10]; next} $1 in tcp {connections++; next} {n++} END {print n + 0, connections + 0}' /proc/net/tcp -
}
begin=$SECONDS next=0
is_served() { serves "$daemon_pid"; }
revocations() { grep -c ' revoked: ' "$T/daemon.log" || true; }
figures() { # WHEN
	until_true is_served || fail "SEED=$seed: nobody serves"
	local file p=$daemon_pid fds connections of_m1
	read -r fds connections < <(descriptors "$p")
	read -r of_m1 _ < <(descriptors "${pid[m1]}")
	stat . >"$T/stat.now"
	file=$A/$(jq -r .arena.file "$T/stat.now")
	printf '%s\t' $((SECONDS - begin)) "$1" "$p" $(($(jq .uptime_ns "$T/stat.now") / 1000000000)) "$(of_status "$p" RssAnon)" "$fds" "$connections" \
		"$(of_status "$p" Threads)" $(($(command stat -c %b "$file" || echo 0) / 2)) "$(jq -r "$figures_of_arena" "$T/stat.now")" \
		"$(of_status "${pid[m1]}" RssAnon)" "$of_m1" $((killed[informerd] + killed[reader])) "$standbys" "$(revocations)" \
		"$held" "$reloads" "$visits"
	echo $((gone_lines + $(cat "$T"/told/* | wc -l)))
}
say_figures() {
	figures "$1" | tee -a "$T/figures"
	next=$((SECONDS + every))
}
column() { awk -v name="$1" -v columns="$columns" 'BEGIN {n = split(columns, c, " "); for (i = 1; i <= n; i++) at[c[i]] = i} {print $at[name]}'; } # NAME
figure() { awk -v when="$1" '$2 == when' "$T/figures" | column "$2"; } # WHEN NAME: of the line that was said then
now_is() { [ "$(figures now | column "$1")" = "$2" ]; }
now_is_at_most() { [ "$(figures now | column "$1")" -le "$2" ]; }

# ---- unrest SHARE OF DURATION IN PERCENT, kills | life
unrest() {
		local end=$((SECONDS + (duration * $1 + 99) / 100))
	curl -sf -X POST "$url/sim/churn?rate=${RATE:-200}&count=100000000" >/dev/null || fail "no churn"
	hold h1 # one at least
	while [ "$SECONDS" -lt "$end" ]; do
		[ "$SECONDS" -lt "$next" ] || say_figures "$2"
		blow "$2"
		sleep "$(awk -v tenths=$((RANDOM % gap)) 'BEGIN {print tenths / 10 + 0.05}')"
	done
}

# quiet WHEN: all visitors leave, and then there is nothing but informerd, m1 and s1, which have what the server has
quiet() {
	local name
	for name in "${!pid[@]}"; do
		case $name in
		m1 | s1) ;;
		h*) until_true is_back "$name" || fail "SEED=$seed: $name does not come back: $(cat "$T/$name.out" "$T/$name.err"): $(stat .readers)" ;;
		*) leave "$name" ;;
		esac
	done
	curl -sf -X POST "$url/sim/churn?rate=0" >/dev/null
	until_true churn_over || fail "the churn does not end"
	for name in "${!pid[@]}"; do
		case $name in
		h*) # when what it was told is what it sees
			end_reader "$name"
			unset "stopped[$name]"
			held=$((held + 1)) ;;
		esac
	done
	wait_ready
	configure_as services info 500 # tombstones, which there are soon
	kill -HUP "$daemon_pid"
	until_true stat_is '[.resources[] | select(.state == "synced") | .resource] | sort | join(" ")' 'pods services' || fail "$(stat .resources)"
	until_true is_in_force || fail "SEED=$seed: what is configured is not in force: $(stat .resources)"
	local before
	before=$(lists pods)
	for name in m1 s1; do
		until_true is_told "$(told_to "$name")" || fail "SEED=$seed: reader $name has: $(diff "$T/want" "$T/got" | head -20)"
		none_went_back "$(told_to "$name")" || fail "SEED=$seed: $name was told of an older state"
	done
	compared=$((compared + $(lists pods) - before))
	"$B"/informerctl --socket "$S" verify >"$T/verify.log" 2>&1 || fail "SEED=$seed: the arena is damaged"
	stat_is .trouble '' || fail "SEED=$seed: $(stat .trouble)"
	one_arena() { [ "$(arenas)" = 1 ]; }
	until_true one_arena || fail "SEED=$seed: arenas: $(ls "$A")"
	nothing_held() { stat_is '.arena.buried_bytes + .arena.leaked_blocks' 0 && now_is readers 2; }
	until_true nothing_held || fail "SEED=$seed: $(stat '.arena, .readers')"
	if [ -n "${first:-}" ]; then
		for name in fds queue_b m1_fds; do
			until_true now_is_at_most "$name" "$(figure "$first" "$name")" || fail "SEED=$seed: $name: $(figures now)"
		done
		# the loop, and libuv's four, which begin with the first work for them
		[ "$(figures now | column threads)" -le 5 ] || fail "SEED=$seed: threads: $(figures now)"
	fi
	say_figures "$1"
	kill_reader s1
	forget s1
	start_reader s1
}
# no_larger THAN WHEN NAME...: by a tenth at most, or 1 MiB; a file, which grows in steps of 2 MiB, by two of these
no_larger() {
	local name slack
	for name in "${@:3}"; do
		slack=1024
		[ "$name" != present_kib ] || slack=4096
		awk -v a="$(figure "$1" "$name")" -v b="$(figure "$2" "$name")" -v slack="$slack" \
			'BEGIN {exit !(a > 0 && b > 0 && (b <= a * 1.1 || b <= a + slack))}' ||
			fail "SEED=$seed: $name: $(figure "$1" "$name") KiB $1, $(figure "$2" "$name") KiB $2"
	done
}

start_sim --nodes 20 --pods-per-node 100 --history 20000
configure
start_informerd
wait_ready
before=$(lists pods) compared=0
for r in m1 s1; do start_reader "$r"; done
echo "$columns" | tr ' ' '\t' | tee "$T/figures"

unrest 15 kills
quiet quiet-1
first=quiet-1
unrest 15 kills
quiet quiet-2
life=$daemon_pid
unrest 5 life
quiet quiet-3
unrest 20 life
quiet quiet-4
unrest 20 life
quiet quiet-5
[ "$daemon_pid" = "$life" ] || fail "it is another informerd"
unrest 25 kills
quiet quiet-6

if ! sanitized; then
	no_larger quiet-3 quiet-4 rss_kib m1_rss
	no_larger quiet-3 quiet-5 rss_kib m1_rss
	no_larger quiet-1 quiet-6 rss_kib m1_rss
fi
no_larger quiet-3 quiet-5 present_kib
no_larger quiet-1 quiet-6 used_kib
for q in 1 2 3 4 5 6; do
	[ "$(figure quiet-$q present_kib)" -le $((4 * $(figure quiet-$q used_kib))) ] || fail "SEED=$seed: the arena has $(figure quiet-$q present_kib) KiB"
done
[ "$(revocations)" -gt 0 ] || fail "SEED=$seed: nobody was revoked"
lists=$(($(lists pods) - before - compared))
[ "$lists" = 0 ] || fail "SEED=$seed: $lists LISTs of pods after the first"
[ ! -s "$T/reader.log" ] || fail "SEED=$seed: readers complain"
for r in m1 s1; do end_reader "$r"; done
stop_daemon TERM
[ "$code" = 0 ] || fail "SEED=$seed: informerd: exit $code"
stop_sim
until_true alone || fail "SEED=$seed: still there: $(left)"
echo "ok: ${killed[informerd]} informerd and ${killed[reader]} readers killed, $standbys standbys, $visits visits, $held held," \
	"$(revocations) revoked, $reloads reloads"
