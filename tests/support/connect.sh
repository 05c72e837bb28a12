# SPDX-License-Identifier: Apache-2.0
# For tests of connecting: sourced after script.sh. A gate (gate.py) before the API server, and kubeconfigs.
server_is_plain=yes

# start_gate FLAGS...: sets gate (its URL); what it was asked is in $T/gate.out.
start_gate() {
	: >"$T/gate.out"
	python3 "$(dirname "${BASH_SOURCE[0]}")/gate.py" "$@" >>"$T/gate.out" 2>"$T/gate.log" &
	until_true grep -q ^READY "$T/gate.out" || fail "gate does not start"
	gate=$(sed -n 's/^READY url=//p' "$T/gate.out")
}

# kubeconfig CLUSTER USER: what stands in the braces of both; the daemon's kubeconfig.
kubeconfig() {
	cat >"$T/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {$1}}]
users: [{name: u, user: {$2}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
}

# plugin BODY: $T/plugin, a shell script that counts its runs in $T/runs.
plugin() {
	{
		echo '#!/bin/sh'
		echo "T=$T"
		echo 'echo run >>$T/runs'
		echo 'answer() { printf "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",\"status\":{%s}}" "$1"; }'
		echo "$1"
	} >"$T/plugin.new"
	chmod +x "$T/plugin.new"
	mv "$T/plugin.new" "$T/plugin"
}
runs() { wc -l <"$T/runs" 2>/dev/null || echo 0; }

# make_certificates NAME...: ca.crt, and NAME.crt, NAME.key for NAME as common name and DNS name; 77 without openssl.
make_certificates() {
	command -v openssl >/dev/null || { echo "SKIP openssl is missing"; exit 77; }
	(
		cd "$T"
		[ -e ca.crt ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key -out ca.crt -days 2 -subj /CN=test-ca
		for name in "$@"; do
			openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$name.key" -out "$name.csr" -subj "/CN=$name"
			printf 'subjectAltName=DNS:%s,IP:127.0.0.1' "$name" >ext
			openssl x509 -req -in "$name.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -extfile ext -out "$name.crt"
		done
	) 2>"$T/openssl.log" || fail "no certificates"
}

# no_secret: nothing that the daemon wrote or reports holds a secret; all secrets here begin with "hunter".
no_secret() {
	if grep -l hunter "$T"/daemon.log "$T"/notify.*.log "$T"/stat.json 2>/dev/null; then
		grep -h hunter "$T"/daemon.log "$T"/notify.*.log "$T"/stat.json
		fail "a secret was told"
	fi
}
