# SPDX-License-Identifier: Apache-2.0
# For scripts that ask two servers the same, behind script.sh: upstream's API server is `real`, and `ours` is what OURS says:
#   sim      informer-sim (default)
#   gateway  informer-gateway, with its own informerd, before a second API server of upstream's: what is cached it answers itself; the
#            rest it passes on with the caller's token, writes too
: "${OURS:=sim}"

# start_sides: sets ours_url and real_url, ours_control and real_control (where /sim/... is), and makes $T/ours.kubeconfig, $T/real.kubeconfig
start_sides() {
	case $OURS in
	sim) SERVER=sim start_sim; ours_url=$url ours_control=$url ;;
	gateway) start_gateway_side ;;
	*) fail "OURS=$OURS is neither sim nor gateway" ;;
	esac
	[ -e "$T/ours.kubeconfig" ] || cp "$T/kubeconfig" "$T/ours.kubeconfig"
	sim_port=0
	restart_real
	cp "$T/kubeconfig" "$T/real.kubeconfig"
}

# restart_real: the API server that is compared with begins (anew), with all that it has stored
restart_real() {
	SERVER=apiserver start_sim "${both_flags[@]}"
	real_url=$url real_control=$url
}

# watching SIDE N: so many watches of pods are open there
watching() {
	local base=${1}_url control=${1}_control
	if [ "$OURS:$1" = gateway:ours ]; then
		[ "$(curl -s "${!base}/metrics" | awk '$1 == "informer_gateway_watches" {print $2}')" = "$2" ]
	else
		[ "$(curl -s "${!control}/sim/log" | grep -c '^WATCH pods')" = "$2" ]
	fi
}

# settle: the gateway shows what the server behind it has, which takes it milliseconds
settle() {
	[ "$OURS" != gateway ] || until_true settled || fail "the gateway does not show what its server has"
}
settled() { [ "$(all_cached "$ours_control")" = "$(all_cached "$ours_url")" ]; }
all_cached() {
	curl -s "$1"/api/v1/{pods,nodes,namespaces,services,configmaps} "$1/apis/apps/v1/deployments" |
		jq -c '[.kind, (.items[].metadata | .uid, .resourceVersion)]'
}

both_flags=()
start_gateway_side() {
	command -v openssl >/dev/null || { echo "SKIP openssl is missing"; exit 77; }
	# one certificate for all three, so that one curl asks any of them
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/tls.key" -out "$T/tls.crt" -days 2 -subj /CN=side \
		-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "no certificate"
	echo '{"items":[]}' >"$T/rbac.json" # the one user is system:masters
	both_flags=(--tls-cert "$T/tls.crt" --tls-key "$T/tls.key" --rbac "$T/rbac.json")
	apiserver_data=$T/behind SERVER=apiserver start_sim "${both_flags[@]}"
	ours_control=$url
	start_daemon --resource pods --resource nodes --resource namespaces --resource services --resource configmaps --resource deployments.apps
	wait_ready
	gateway_file "listen: '127.0.0.1:0', profile: tokens, certificate: tls.crt, key: tls.key, passThrough: true" \
		'access: {keepAllowed: 5m}' 'drain: 1s'
	start_gateway --config "$T/gateway.yaml"
	ours_url=$gateway_url
	served() { [ "$(curl -s -o "$T/served" -w '%{http_code}' "$ours_url/api/v1/pods")" = 200 ]; }
	until_true served || fail "the gateway serves no pods: $(cat "$T/served")"
	sed "s|server:.*|server: $ours_url|" "$T/kubeconfig" >"$T/ours.kubeconfig"
}
