#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A token file that is replaced is read when the server no longer takes the old one; impersonation reaches the server in each request.
# Takes 10 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/connect.sh"

start_sim --nodes 2 --pods-per-node 3
echo hunter2-one >"$T/token"
echo hunter2-one >"$T/valid"
start_gate --upstream "$sim_port" --token-file "$T/valid"
kubeconfig "server: \"$gate\"" 'tokenFile: token, as-user-extra: {example.com/scope: [view, "a b"]}, as: nobody'
start_daemon --resource pods --resource services --as system:serviceaccount:web:shop --as-group dev --as-group=ops --as-uid 7
wait_ready
expect_stat '.resources[0].objects' 6

# every request says the same: discovery, lists, watches
requests=$(grep -c '^GET' "$T/gate.out")
[ "$requests" -ge 3 ] || fail "$requests requests"
for header in 'Impersonate-User: system:serviceaccount:web:shop' 'Impersonate-Uid: 7' 'Impersonate-Group: dev' 'Impersonate-Group: ops' \
	'Impersonate-Extra-example.com%2Fscope: view' 'Impersonate-Extra-example.com%2Fscope: a b' 'User-Agent: informerd/[0-9.]*'; do
	n=$(grep -c "^> $header\$" "$T/gate.out" || true)
	[ "$n" = "$requests" ] || fail "$header in $n of $requests requests"
done
grep -q '^GET .*watch=true' "$T/gate.out" || fail "no watch"

# rotated, as a kubelet does it
echo hunter2-two >"$T/valid"
echo hunter2-two >"$T/token.new"
mv "$T/token.new" "$T/token"
stop_sim
start_sim --nodes 2 --pods-per-node 4 --start-rv 1000
until_true stat_is '.resources[0].objects' 8 || fail "it does not come back: $(stat '.resources[0]')"
grep -q '(401\|Unauthorized' "$T/daemon.log" && fail "a 401 that was mended was told"

# one that is not taken is told, without the token; the right one mends it
echo hunter2-three >"$T/valid"
stop_sim
start_sim --nodes 2 --pods-per-node 5 --start-rv 2000
until_true grep -q '(401\|Unauthorized' "$T/daemon.log" || fail "no word about a refused token"
stat . >"$T/stat.json"
cp "$T/valid" "$T/token"
until_true stat_is '.resources[0].objects' 10 || fail "it does not come back: $(stat '.resources[0]')"
stop_daemon TERM
no_secret
echo ok
