# SPDX-License-Identifier: Apache-2.0
# Sourced by script.sh: upstream's API server in informer-sim's place. What is asked with curl gets the token and the CA from
# a .curlrc of the test's own; what was stored stays for the next start_sim of the same test.
[ -x "$B/apiserver" ] || { echo "no $B/apiserver: make apiserver builds it, where Go is installed"; exit 77; }

# generated FLAGS...: the cluster that informer-sim makes of these, as files to load
generated() {
	rm -f "$T/generator.out" # the READY of the one before must not pass for this one's
	"$B"/informer-sim "$@" >"$T/generator.out" &
	generator=$!
	until_true grep -qs ^READY "$T/generator.out" || { kill -9 "$generator"; fail "informer-sim does not start"; }
	from=$(sed -n 's/^READY url=\([^ ]*\).*/\1/p' "$T/generator.out")
	mkdir -p "$T/generated"
	for path in /api/v1/{nodes,namespaces,pods,services,configmaps} /apis/apps/v1/deployments /apis/discovery.k8s.io/v1/endpointslices; do
		curl -sf "$from$path" >"$T/generated/${path##*/}.json" || { kill -9 "$generator"; fail "informer-sim does not serve $path"; }
	done
	kill -9 "$generator"
	wait "$generator" 2>/dev/null || true
}

# start_apiserver FLAGS...: of informer-sim. With --start-rv it is another cluster, which knows nothing of the one before.
start_apiserver() {
	local flags=() generate=() rate=0 count=0 token=test-token plain=$server_is_plain
	while [ $# -gt 0 ]; do
		case $1 in
		--nodes|--pods-per-node|--seed) generate+=("$1" "$2") ;;
		--churn) rate=$2 ;;
		--churn-count) count=$2 ;;
		--start-rv) rm -rf "${apiserver_data:-$T/apiserver}/etcd"; flags+=("$1" "$2") ;;
		--token) token=$2 ;;
		--tls-cert|--tls-key) flags+=("$1" "$2"); plain= ;;
		--load|--replicas|--min-request-timeout|--feature-gates|--token-file|--rbac) flags+=("$1" "$2") ;;
		*) echo "$1 is informer-sim's alone"; exit 77 ;;
		esac
		shift 2
	done
	if [ "${#generate[@]}" -gt 0 ]; then
		generated "${generate[@]}"
		flags+=(--load "$T/generated")
	fi
	[ -z "$plain" ] || flags+=(--plain)
	start_server apiserver --data-dir "${apiserver_data:-$T/apiserver}" --token "$token" "${flags[@]}"
	sed -n 's/.*certificate-authority-data: //p' "$T/kubeconfig" | base64 -d >"$T/server.ca"
	printf '%s\n' "cacert = \"$T/server.ca\"" "header = \"Authorization: Bearer $token\"" 'user-agent = "e2e"' >"$T/.curlrc"
	export CURL_HOME=$T
	[ "$rate" = 0 ] || curl -sf -X POST "$url/sim/churn?rate=$rate&count=$count" >/dev/null || fail "no churn"
}
