#!/bin/bash
# A real kubectl works on informer-sim.
. "$(dirname "$0")/sim_common.inc"
command -v kubectl >/dev/null || { echo "needs kubectl, which is not installed"; exit 77; }
start --nodes 3 --pods-per-node 10 --crd widgets.v1.example.com
export HOME=$DIR # its cache

same "api-resources" "cm,po,deploy,ds" "$(kubectl api-resources --no-headers | awk '$1=="configmaps"||$1=="pods"||$1=="deployments"||$1=="daemonsets"{print $2}' | sort | tr '\n' ' ' | awk '{print $1","$4","$2","$3}')"
same "get -o json pages and adds kinds" "30 List Pod" "$(kubectl get pods -A -o json --chunk-size=7 | jq -r '"\(.items|length) \(.kind) \(.items|map(.kind)|unique|join(","))"')"
same "document by document what the server has" "$(api GET /api/v1/pods | jq -cS '.items[]' | md5sum)" "$(kubectl get pods -A -o json --show-managed-fields | jq -cS '.items[]|del(.kind,.apiVersion)' | md5sum)"
kubectl get pods -A >"$DIR/table" || fail "the plain table"
same "the plain table" "NAMESPACE NAME AGE 30" "$(awk 'NR==1{h=$1" "$2" "$3} END{print h" "NR-1}' "$DIR/table")"
for r in nodes namespaces services endpoints configmaps serviceaccounts deployments rs ds sts jobs endpointslices widgets; do
	kubectl get $r -A -o yaml >/dev/null || fail "get $r -o yaml"
done
same "get --raw" PodList "$(kubectl get --raw '/api/v1/pods?limit=1' | jq -r .kind)"
kubectl create --validate=false -f - <<-'YAML' || fail "create"
	apiVersion: v1
	kind: Pod
	metadata: {name: p1, namespace: default, labels: {app: web}}
	spec: {containers: [{name: c, image: i}]}
YAML
same "get -o name, by label" pod/p1 "$(kubectl get po -l app=web -o name)"
kubectl patch pod p1 --type=merge -p '{"metadata":{"labels":{"tier":"front"}}}' || fail "patch"
kubectl label pod p1 x=y || fail "label"
kubectl annotate pod p1 a=b || fail "annotate"
same "what came of it" '{"app":"web","tier":"front","x":"y"}' "$(kubectl get pod p1 -o jsonpath='{.metadata.labels}' | jq -cS .)"
kubectl patch pod p1 --subresource=status --type=merge -p '{"status":{"phase":"Running"}}' || fail "patch the status"
same "wait" "pod/p1 condition met" "$(kubectl wait pod/p1 --for=jsonpath='{.status.phase}'=Running --timeout=10s)"
kubectl create --validate=false -f - <<-'YAML' || fail "create a custom object"
	apiVersion: example.com/v1
	kind: Widget
	metadata: {name: w1, namespace: default}
	spec: {size: 3}
YAML
same "get it by its short path" 3 "$(kubectl get widgets.v1.example.com w1 -o jsonpath='{.spec.size}')"
kubectl delete --wait=false pod p1 || fail "delete"
kubectl delete widget w1 || fail "delete and wait"
kubectl get pod p1 2>"$DIR/e" && fail "it is still there"
same "NotFound" 'Error from server (NotFound): pods "p1" not found' "$(cat "$DIR/e")"
same "version" "v1.32.0+informer-sim" "$(kubectl version -o json | jq -r .serverVersion.gitVersion)"

# ---- TLS, with the CA inline in the kubeconfig
kill "$SIM"
wait "$SIM"
command -v openssl >/dev/null || { echo "ok: (TLS not tried: openssl is not installed)"; exit 0; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$DIR/key.pem" -out "$DIR/cert.pem" -days 2 -subj /CN=sim \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "a certificate"
start --tls-cert "$DIR/cert.pem" --tls-key "$DIR/key.pem" --nodes 2 --pods-per-node 5
same "over TLS" "https 10" "${URL%%:*} $(kubectl get pods -A -o name | wc -l)"
same "a watch over TLS" 10 "$(curl -sN --cacert "$DIR/cert.pem" "$URL/api/v1/pods?watch=1&timeoutSeconds=1" | wc -l)"
