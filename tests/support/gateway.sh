# SPDX-License-Identifier: Apache-2.0
# For end-to-end tests of informer-gateway, behind daemon.sh: starts one before the arena of $S.
gateway_pid= gateway_url=
gateway_starts=0

# start_gateway FLAGS...: with its one listener; sets gateway_pid and gateway_url. What it logs is in $T/gateway.N.log, the newest is $gateway_log.
start_gateway() {
	gateway_starts=$((gateway_starts + 1))
	gateway_log=$T/gateway.$gateway_starts.log
	"$B"/informer-gateway --socket "$S" --kubeconfig "$T/kubeconfig" "$@" 2>"$gateway_log" &
	gateway_pid=$!
	listens_or_ended() { grep -q 'listening at ' "$gateway_log" || ! kill -0 "$gateway_pid"; }
	until_true listens_or_ended || true
	gateway_url=$(sed -n 's/.*listening at \([^ ]*\) .*/\1/p' "$gateway_log" | head -n 1)
	[ -n "$gateway_url" ] || fail "informer-gateway does not listen: $(cat "$gateway_log")"
}
# the same for anybody on this machine, with all that is cached
start_open_gateway() {
	case " $* " in *' --listen '*) ;; *) set -- --listen 127.0.0.1:0 "$@" ;; esac
	start_gateway --insecure-loopback --allow '*' --allow /metrics "$@"
	until_true curl -sf "$gateway_url/readyz" || fail "the gateway is not ready: $(curl -s "$gateway_url/readyz")"
}

# stop_gateway SIGNAL: ends it; the exit code is in $code.
stop_gateway() {
	code=0
	kill "-$1" "$gateway_pid"
	wait "$gateway_pid" 2>/dev/null || code=$?
	gateway_pid=
}

# of_gateway PATH: what it answers; metric NAME: one of its figures
of_gateway() { curl -sf "$gateway_url$1"; }
metric() { of_gateway /metrics | awk -v name="$1" '$1 == name {print $2}'; }

# newest_rv: of pods at the server
newest_rv() { curl -s "$url/api/v1/pods?limit=1" | jq -r .metadata.resourceVersion; }
# reached RV: the gateway shows pods as of then, or later
reached() { [ "$(of_gateway '/api/v1/pods?limit=1' | jq -r .metadata.resourceVersion)" -ge "$1" ]; }
