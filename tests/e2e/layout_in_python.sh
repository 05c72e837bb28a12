#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A reader in another language, written from LAYOUT.md alone, reads what informerctl reads: every object, one by key, many by index.
# Not upstream: it needs no server.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

python3 -c 'import socket; socket.recv_fds' 2>/dev/null || { echo "SKIP: needs python3 3.9 or later"; exit 77; }
read_arena() { python3 tests/support/read_arena.py "$S" "$@"; }
ctl() { "$B"/informerctl --socket "$S" get "$@"; }

start_sim --nodes 12 --pods-per-node 40
start_daemon --resource pods --resource nodes --index cut=pods:spec.nodeName:prefix=4 # all nodes' names begin alike
wait_ready

bare='del(.apiVersion, .kind)'
ctl pods -A -o json | jq -cS ".items[] | $bare" | sort >"$T/ctl.json"
read_arena list pods | jq -cS . | sort >"$T/python.json"
cmp "$T/ctl.json" "$T/python.json" || fail "the lists differ"
[ "$(wc -l <"$T/python.json")" = "$(stat '.resources[0].objects')" ] || fail "not all pods"

ctl pods -A -o json | jq -r '.items[:20][] | .metadata.namespace + " " + .metadata.name' >"$T/keys"
while read -r ns name; do
	[ "$(read_arena get pods "$ns" "$name" | jq -cS .)" = "$(ctl pod "$name" -n "$ns" -o json | jq -cS "$bare")" ] || fail "$ns/$name"
done <"$T/keys"
[ "$(read_arena get pods nowhere nothing)" = null ] || fail "found what is not there"

node=$(ctl nodes -o json | jq -r '.items[0].metadata.name')
one=$(head -n 1 "$T/python.json")
for query in "nodeName $node" "cut $node" "cut ${node:0:4}" "cut ${node:0:2}" "namespace $(jq -r .metadata.namespace <<<"$one")" "uid $(jq -r .metadata.uid <<<"$one")" \
	"labels $(jq -r '.metadata.labels | to_entries[0] | .key + "=" + .value' <<<"$one")" \
	"containerID $(jq -r '[.status.containerStatuses[]?.containerID // empty] | first // "none" | sub("^[a-z-]+://"; "")' <<<"$one")"; do
	index=${query%% *} value=${query#* }
	read_arena index pods "$index" "$value" | sort >"$T/a"
	ctl pods -A --index "$index=$value" -o json | jq -r '(.items // [.])[] | .metadata.namespace + "/" + .metadata.name' | sort >"$T/b"
	cmp "$T/a" "$T/b" || fail "$query: they differ"
	echo "$query: $(wc -l <"$T/a") objects"
done
[ "$(read_arena index pods cut "$node" | wc -l)" = "$(read_arena index pods nodeName "$node" | wc -l)" ] || fail "the cut index differs"
echo ok
