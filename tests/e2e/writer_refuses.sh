#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a person gets wrong is refused with a sentence that says what to do, and exit code 2; what the machine lacks, with 1.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"

# refused CODE PATTERN FLAGS...
refused() {
	want=$1 pattern=$2; shift 2
	code=0
	timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --arena-dir "$T" "$@" >"$T/out.log" 2>&1 || code=$?
	[ "$code" = "$want" ] || fail "informerd $*: exit code $code instead of $want"
	grep -q -- "$pattern" "$T/out.log" || fail "informerd $*: no '$pattern'"
}

start_sim --nodes 1 --pods-per-node 2
refused 2 'pods' --socket "$S" --resource podz
refused 2 'llowSecrets' --socket "$S" --resource secrets
refused 2 'pods' --socket "$S" --resource pods --resource 'po?namespace=default'
refused 2 'uid' --socket "$S" --resource pods --index 'uid=pods:metadata.name'
refused 2 'esource' --socket "$S"
refused 2 'index\|resource' --socket "$S" --resource pods --index 'byType=services:spec.type'
refused 2 'unknown\|did you mean' --socket "$S" --resurce pods
refused 1 'no/such/dir' --socket "$S" --resource pods --arena-dir /no/such/dir
refused 2 'too long' --socket "$T/$(printf 'x%.0s' $(seq 200))" --resource pods
refused 1 'no/such/kubeconfig' --socket "$S" --resource pods --kubeconfig /no/such/kubeconfig --check
[ -z "$(find "$T" -type f -name 'informer*.[0-9]*')" ] || fail "arena files were left: $(ls "$T")"

refused 1 "cannot listen at http://127.0.0.1:$sim_port: Address already in use" --socket "$S" --resource pods --metrics-address "127.0.0.1:$sim_port"

# what may mend itself is tried again, and told
told() { # PATTERN FLAGS...
	pattern=$1; shift
	"$B"/informerd --socket "$S" --arena-dir "$T" --resource pods "$@" >"$T/out.log" 2>&1 &
	trying=$!
	until_true grep -q -- "$pattern" "$T/out.log" || { kill -9 $trying; fail "informerd $*: no '$pattern'"; }
	kill $trying
	wait $trying || fail "informerd $*: exit code $?"
}
told 'what answers there is no TLS.*is it http://?' --server "https://127.0.0.1:$sim_port"
printf -- '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n' >"$T/bad.pem"
told "the certificate authority cannot be read.*bad.pem" --server "https://127.0.0.1:$sim_port" --certificate-authority "$T/bad.pem"
# an arena on a disk is said to be there, at the start and by a check
said_of_disk() { timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$S" --resource pods --check --arena-dir "$1" 2>&1; }
said_of_disk /proc/self/fd | grep -q '^informerd: /proc/self/fd is not on a tmpfs: .*--arena-dir' || fail "nothing is said of a directory that is no tmpfs"
said_of_disk /dev/shm | grep 'not on a tmpfs' && fail "/dev/shm is no tmpfs"

# without the server: what needs none is checked, and nothing is asked or made
good() { timeout "$PATIENCE" "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$T/new.sock" --arena-dir /dev/shm "$@" --check-config 2>&1; }
asked() { curl -s "$url/sim/log" | wc -l; }
before=$(asked)
[ "$before" -gt 0 ] || fail "the server notes no requests"
[ "$(good --resource pods --resource podz)" = "the configuration is good: 2 resources of $url, which was not asked" ] ||
	fail "--check-config: $(good --resource pods --resource podz)"
[ "$(asked)" = "$before" ] || fail "--check-config asks the server: $(curl -s "$url/sim/log")"
[ ! -e "$T/new.sock.lock" ] || fail "--check-config takes the lock"
refused 2 ":1:19: '10': say the unit" --socket "$S" --resource pods --check-config --config /dev/stdin <<<'arena: {maxBytes: 10}'
refused 2 "'10': say the unit, such as 10Mi" --socket "$S" --resource pods --check-config --arena-max 10
refused 2 'no/such/kubeconfig' --socket "$S" --resource pods --check-config --kubeconfig /no/such/kubeconfig
refused 2 'no/such/dir' --socket "$S" --resource pods --check-config --arena-dir /no/such/dir

# a second writer on the same socket is refused, and the first one does not notice
start_daemon --resource pods
wait_ready
refused 1 "$daemon_pid" --socket "$S" --resource pods
stat_is '.synced' true || fail "the first writer was disturbed"
stat_is '.resources[0].objects' 2 || fail "objects"
# one on another socket is welcome
S2=$T/other.sock
NOTIFY_SOCKET='' "$B"/informerd --kubeconfig "$T/kubeconfig" --socket "$S2" --arena-dir "$T" --resource pods 2>>"$T/other.log" &
other=$!
until_true grep -q ready "$T/other.log" || { kill -9 $other; fail "no second instance"; }
kill $other
wait $other || fail "the second instance ended with $?"
stat_is '.resources[0].objects' 2 || fail "objects"
echo "ok"
