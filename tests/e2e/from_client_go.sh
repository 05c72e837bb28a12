#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example of informer-from-client-go(7), built as printed: a controller sees pods of its node come, change and go, over a
# restart of the daemon as well, and nothing of other nodes.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
for tool in cc curl jq stdbuf pkg-config; do
	command -v $tool >/dev/null || { echo "needs $tool, which is not installed"; exit 77; }
done

awk '/^\.EX/ { on = 1; next } /^\.EE/ { on = 0 } on' reader-lib/man/informer-from-client-go.7 | sed 's/\\e/\\/g' >"$T/controller.c"
cc $(grep -o -- '-fsanitize=[a-z,]*' "$B/flags" | head -n 1) -Wall -Wextra -Werror -Ireader-lib -o "$T/controller" "$T/controller.c" \
	"$B/libinformer.a" $(pkg-config --libs libsodium) -lpthread || fail "the example does not build"

pod() {
	curl -sf -H 'Content-Type: application/json' "$url/api/v1/namespaces/default/pods" -d '{"apiVersion":"v1","kind":"Pod","metadata":
		{"name":"'$1'"},"spec":{"nodeName":"'$2'","containers":[{"name":"c","image":"i"}]}}' >/dev/null || fail "no pod $1"
}
phase() {
	curl -sf -X PATCH -H 'Content-Type: application/merge-patch+json' "$url/api/v1/namespaces/default/pods/$1/status" \
		-d '{"status":{"phase":"'$2'"}}' >/dev/null || fail "pod $1 is not patched"
}
says() { grep -qx "$1" "$T/said"; }

start_sim --nodes 1 --pods-per-node 1
pod first mine
pod other another
start_daemon --resource pods
wait_ready
# stdbuf preloads a library, which ASan sees before itself
INFORMER_SOCKET=$S stdbuf -oL "$T/controller" mine >"$T/said" 2>"$T/controller.log" &
controller_pid=$!
until_true grep -q '^default/first is ' "$T/said" || fail "the pod that is there is not told: $(cat "$T/said")"
phase first Running
until_true says 'default/first is Running' || fail "the change is not told: $(cat "$T/said")"
stop_daemon TERM
pod second mine
start_daemon --resource pods
until_true grep -q '^default/second is ' "$T/said" || fail "after the daemon's restart nothing is told: $(cat "$T/said")"
curl -sf -X DELETE "$url/api/v1/namespaces/default/pods/first" >/dev/null
until_true says 'default/first is gone' || fail "the end is not told: $(cat "$T/said")"
! grep -q other "$T/said" || fail "another node's pod is told: $(cat "$T/said")"
echo "ok: the controller follows its node's pods"
