#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A credential plugin (exec) opens the way to the server, is run again when the server no longer takes what it gave, inherits nothing of
# ours, and can neither block the daemon nor make it tell a secret.
# Takes 11 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

start_sim --nodes 2 --pods-per-node 3
echo hunter2-one >"$T/token"
start_gate --upstream "$sim_port" --token-file "$T/token"
kubeconfig "server: \"$gate\", extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: us}}]" \
	"exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: IfAvailable, command: ./plugin, args: [get, token], provideClusterInfo: true, env: [{name: OURS, value: yes}]}"
cp "$T/kubeconfig" "$T/mine"
plugin 'ls -l /proc/self/fd >$T/fds; readlink /proc/$$/fd/0 >$T/stdin
	printf "%s %s %s\n" "$*" "$OURS" "$KUBERNETES_EXEC_INFO" >$T/info
	answer "\"token\":\"$(cat $T/token)\",\"expirationTimestamp\":\"2200-01-01T00:00:00Z\""'
exec 17</etc/passwd # as a careless parent would leave it open
start_daemon --resource pods --log-level debug
exec 17<&-
wait_ready
expect_stat '.resources[0].objects' 6
[ "$(runs)" = 1 ] || fail "$(runs) runs"
grep -qE 'passwd|socket:|eventpoll|anon_inode|memfd|arena' "$T/fds" && fail "it inherited $(cat "$T/fds")"
grep -q '^/dev/null$' "$T/stdin" || fail "its stdin is $(cat "$T/stdin")"
[ "$(cut -d ' ' -f 1-3 "$T/info")" = 'get token yes' ] || fail "$(cat "$T/info")"
cut -d ' ' -f 4- "$T/info" | jq -e --arg url "$gate" '.apiVersion == "client.authentication.k8s.io/v1" and .spec.interactive == false
	and .spec.cluster == {server: $url, config: {audience: "us"}}' >/dev/null || fail "$(cat "$T/info")"

# rotated: the server takes only the new one; nobody sees more than a watch that began anew
echo hunter2-two >"$T/token"
stop_sim
start_sim --nodes 2 --pods-per-node 4 --start-rv 1000
until_true stat_is '.resources[0].objects' 8 || fail "it does not come back: $(stat '.resources[0]')"
[ "$(runs)" = 2 ] || fail "$(runs) runs"
grep -q '(401\|Unauthorized' "$T/daemon.log" && fail "a 401 that was mended was told"
stat . >"$T/stat.json"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"

# garbage, a failure and a missing plugin are told, and tried again
cp "$T/mine" "$T/kubeconfig" # start_sim() has put its own there
plugin 'echo hunter2-garbage'
start_daemon --resource pods
until_true grep -q "credential plugin $T/./plugin is of no use: it printed no ExecCredential" "$T/daemon.log" || fail "no word about garbage"
plugin 'echo "login first: password=hunter2 $OURS" >&2; exit 5'
until_true grep -q 'failed with exit code 5: login first: password=\[redacted\]' "$T/daemon.log" || fail "no word about a failure"
rm "$T/plugin"
until_true grep -q 'plugin cannot be started: No such file' "$T/daemon.log" || fail "no word about a missing plugin"
plugin 'answer "\"token\":\"$(cat $T/token)\""'
wait_ready
stop_daemon TERM

# one that hangs blocks nobody, and is killed
: >"$T/daemon.log"
plugin 'sleep 1000 & echo $! >$T/child; wait'
start_daemon --resource pods --request-timeout 60s
until_true test -s "$T/child" || fail "the plugin is not run"
"$B"/tests/stat_query "$S" >/dev/null || fail "the daemon does not answer"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
gone() { ! kill -0 "$(cat "$T/child")" 2>/dev/null || grep -q '^State:.Z' "/proc/$(cat "$T/child")/status"; }
until_true gone || fail "the plugin is still there"
start_daemon --resource pods --request-timeout 500ms
until_true grep -q 'did not end within 0.5 s and was killed' "$T/daemon.log" || fail "no word about the time"
stop_daemon TERM
no_secret
echo ok
