# SPDX-License-Identifier: Apache-2.0
# For tests of bad input: sourced after script.sh. An API server whose answers are the files below $R (bad_server.py),
# and the documents to put there.
R=$T/api
mkdir -p "$R"

start_bad_server() {
	python3 "$(dirname "${BASH_SOURCE[0]}")/bad_server.py" "$R" >"$T/bad.out" 2>"$T/bad.log" &
	sim_pid=$!
	until_true grep -q ^READY "$T/bad.out" || fail "bad_server does not start"
	url=$(sed -n 's/^READY url=//p' "$T/bad.out")
	cat >"$T/kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$url"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
}

# object NAMESPACE NAME RV [MORE]: an item; MORE begins with a comma.
object() {
	printf '{"metadata":{"name":"%s","namespace":"%s","uid":"uid-%s","resourceVersion":"%s"}%s}' "$2" "$1" "$2" "$3" "${4:-}"
}

# list KIND RV ITEM...
list() {
	printf '{"kind":"%s","apiVersion":"v1","metadata":{"resourceVersion":"%s"},"items":[' "$1" "$2"; shift 2
	separator=
	for item in "$@"; do printf '%s%s' "$separator" "$item"; separator=,; done
	printf ']}'
}

# event TYPE OBJECT
event() {
	printf '{"type":"%s","object":%s}\n' "$1" "$2"
}

expired() {
	event ERROR '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old resource version: 10 (20)","reason":"Expired","code":410}'
}

# repeat N TEXT
repeat() {
	head -c "$1" /dev/zero | sed "s/\x0/$2/g"
}
