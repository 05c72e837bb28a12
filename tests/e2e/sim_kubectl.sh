#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real kubectl works on informer-sim.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 5 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
command -v kubectl >/dev/null || { echo "needs kubectl, which is not installed"; exit 77; }
start_sim --nodes 3 --pods-per-node 10 --crd widgets.v1.example.com --release 1.36
export HOME=$T # its cache

same "api-resources" "cm,po,deploy,ds" "$(kubectl api-resources --no-headers | awk '$1=="configmaps"||$1=="pods"||$1=="deployments"||$1=="daemonsets"{print $2}' | sort | tr '\n' ' ' | awk '{print $1","$4","$2","$3}')"
same "get -o json pages and adds kinds" "30 List Pod" "$(kubectl get pods -A -o json --chunk-size=7 | jq -r '"\(.items|length) \(.kind) \(.items|map(.kind)|unique|join(","))"')"
same "document by document what the server has" "$(api GET /api/v1/pods | jq -cS '.items[]' | md5sum)" "$(kubectl get pods -A -o json --show-managed-fields | jq -cS '.items[]|del(.kind,.apiVersion)' | md5sum)"
kubectl get pods -A >"$T/table" || fail "the plain table"
same "the plain table" "NAMESPACE NAME READY STATUS RESTARTS AGE 30" "$(awk 'NR==1{$1=$1; h=$0} END{print h" "NR-1}' "$T/table")"
same "the wide one" "NAME STATUS ROLES AGE VERSION INTERNAL-IP EXTERNAL-IP OS-IMAGE KERNEL-VERSION CONTAINER-RUNTIME" "$(kubectl get nodes -o wide | awk 'NR==1{$1=$1; print}')"
same "pages of a table" "$(cut -c1-60 "$T/table" | md5sum)" "$(kubectl get pods -A --chunk-size=7 | cut -c1-60 | md5sum)"
for r in nodes namespaces services endpoints configmaps serviceaccounts deployments rs ds sts jobs endpointslices widgets; do
	kubectl get $r -A -o yaml >/dev/null || fail "get $r -o yaml"
done
same "get --raw" PodList "$(kubectl get --raw '/api/v1/pods?limit=1' | jq -r .kind)"
kubectl create -f - <<-'YAML' || fail "create"
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
same "wait" "pod/p1 condition met" "$(kubectl wait pod/p1 --for=jsonpath='{.status.phase}'=Running --timeout="${PATIENCE}s")"
kubectl create --validate=false -f - <<-'YAML' || fail "create a custom object"
	apiVersion: example.com/v1
	kind: Widget
	metadata: {name: w1, namespace: default}
	spec: {size: 3}
YAML
same "get it by its short path" 3 "$(kubectl get widgets.v1.example.com w1 -o jsonpath='{.spec.size}')"

# ---- what typed clients send, which is protobuf
same "create a namespace" "namespace/made created" "$(kubectl create ns made)"
same "a configmap" "b" "$(kubectl create configmap made --from-literal=a=b -o jsonpath='{.data.a}')"
same "a secret" "cQ==" "$(kubectl create secret generic made --from-literal=p=q -o jsonpath='{.data.p}')"
same "a service" "8080 ClusterIP" "$(kubectl create service clusterip made --tcp=80:8080 -o jsonpath='{.spec.ports[0].targetPort} {.spec.type}')"
same "a deployment" "0 nginx 80" "$(kubectl create deployment made --image=nginx --port=80 --replicas=0 -o jsonpath='{.spec.replicas} {.spec.template.spec.containers[0].image} {.spec.template.spec.containers[0].ports[0].containerPort}')"
same "a job" '["echo","hi"]' "$(kubectl create job made --image=i -o jsonpath='{.spec.template.spec.containers[0].command}' -- echo hi)"
same "a cronjob" '*/5 * * * *' "$(kubectl create cronjob made --image=i --schedule='*/5 * * * *' -o jsonpath='{.spec.schedule}')"
same "a serviceaccount" "serviceaccount/made created" "$(kubectl create sa made)"

# ---- what it has not says so
kubectl logs p1 2>"$T/e" && fail "there are no logs"
grep -q '(NotImplemented): informer-sim keeps objects and runs no containers' "$T/e" || fail "and kubectl says so: $(cat "$T/e")"
printf 'apiVersion: v1\nkind: Bogus\nmetadata: {name: b}\n' | kubectl apply -f - 2>"$T/e" && fail "there is no such kind"
grep -q 'no matches for kind "Bogus" in version "v1"' "$T/e" || fail "and kubectl says so: $(cat "$T/e")"

# ---- what edits
cat >"$T/dep.yaml" <<-'YAML'
	apiVersion: apps/v1
	kind: Deployment
	metadata: {name: d, namespace: default}
	spec:
	  replicas: 2
	  selector: {matchLabels: {a: b}}
	  template:
	    metadata: {labels: {a: b}}
	    spec:
	      containers:
	      - {name: one, image: "i:1", ports: [{containerPort: 80}]}
	      - {name: two, image: "i:1"}
YAML
same "apply makes it" "deployment.apps/d created" "$(kubectl apply -f "$T/dep.yaml")"
same "apply that changes nothing" "deployment.apps/d unchanged" "$(kubectl apply -f "$T/dep.yaml")"
sed -i 's/- {name: two.*/- {name: three, image: "i:3"}/; s/"i:1"/"i:2"/' "$T/dep.yaml"
same "apply changes it" "deployment.apps/d configured" "$(kubectl apply -f "$T/dep.yaml")"
same "lists by their keys" "one:i:2 three:i:3" "$(kubectl get deploy d -o json | jq -r '[.spec.template.spec.containers|sort_by(.name)[]|"\(.name):\(.image)"]|join(" ")')"
same "scale" "deployment.apps/d scaled 5" "$(kubectl scale deploy d --replicas=5) $(kubectl get deploy d -o jsonpath='{.spec.replicas}')"
same "scale, if it has as many" "deployment.apps/d scaled 1" "$(kubectl scale deploy d --current-replicas=5 --replicas=1) $(kubectl get deploy d -o jsonpath='{.spec.replicas}')"
kubectl scale deploy d --current-replicas=5 --replicas=9 2>"$T/e" && fail "it had not"
same "set image" "deployment.apps/d image updated i:9" "$(kubectl set image deploy/d one=i:9) $(kubectl get deploy d -o json | jq -r '.spec.template.spec.containers[]|select(.name=="one").image')"
same "patch, strategic" "i:10 2" "$(kubectl patch deploy d -p '{"spec":{"template":{"spec":{"containers":[{"name":"one","image":"i:10"}]}}}}' -o json | jq -r '.spec.template.spec.containers|"\(map(select(.name=="one"))[0].image) \(length)"')"
same "patch, JSON" "7" "$(kubectl patch deploy d --type=json -p '[{"op":"test","path":"/metadata/name","value":"d"},{"op":"replace","path":"/spec/replicas","value":7}]' -o jsonpath='{.spec.replicas}')"
kubectl apply --server-side -f "$T/dep.yaml" 2>"$T/e" && fail "there is no server-side apply"
grep -q '^error: Server-side apply not available on the server' "$T/e" || fail "and kubectl says so: $(cat "$T/e")"
same "explain says that it does not know" 1 "$(kubectl explain pods | grep -c 'A real API server explains them')"
same "api-versions" "apps/v1 v1" "$(kubectl api-versions | grep -xE 'v1|apps/v1' | xargs)"

# ---- watching with a table
kubectl get configmaps -w >"$T/watch" 2>&1 &
watched() { [ "$(api GET /sim/stats | jq .watches)" = 1 ]; }
until_true watched || fail "get -w watches"
echo '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"fresh","namespace":"default"},"data":{"a":"b"}}' | kubectl create -f - || fail "create configmap"
shown() { grep -q '^fresh ' "$T/watch"; }
until_true shown || fail "get -w shows it"
kill $!
unwatched() { [ "$(api GET /sim/stats | jq .watches)" = 0 ]; }
until_true unwatched || fail "and ends"

# ---- delete
kubectl create -f - <<-'YAML' || fail "create with a finalizer"
	apiVersion: v1
	kind: ConfigMap
	metadata: {name: held, namespace: default, finalizers: [example.com/hold]}
YAML
kubectl delete configmap held >"$T/deleted" 2>&1 & DELETE=$!
until_true watched || fail "delete waits for the finalizer"
kill -0 $DELETE || fail "it did not wait: $(cat "$T/deleted")"
kubectl patch configmap held --type=merge -p '{"metadata":{"finalizers":null}}' || fail "let go"
wait $DELETE
same "until it is gone" '0 configmap "held" deleted' "$? $(sed 's/ from .* namespace//' "$T/deleted")"
kubectl delete deploy d || fail "delete a deployment"
kubectl delete --wait=false pod p1 || fail "delete"
kubectl delete widget w1 || fail "delete and wait"
kubectl get pod p1 2>"$T/e" && fail "it is still there"
same "NotFound" 'Error from server (NotFound): pods "p1" not found' "$(cat "$T/e")"
same "version" "v1.36.0+informer-sim" "$(kubectl version -o json | jq -r .serverVersion.gitVersion)"

# ---- TLS, with the CA inline in the kubeconfig
end_sim
command -v openssl >/dev/null || { echo "ok: (TLS not tried: openssl is not installed)"; exit 0; }
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=sim \
	-addext subjectAltName=IP:127.0.0.1 2>/dev/null || fail "a certificate"
start_sim --tls-cert "$T/cert.pem" --tls-key "$T/key.pem" --nodes 2 --pods-per-node 5
same "over TLS" "https 10" "${url%%:*} $(kubectl get pods -A -o name | wc -l)"
same "a watch over TLS" 10 "$(curl -sN --cacert "$T/cert.pem" "$url/api/v1/pods?watch=1&timeoutSeconds=1" | wc -l)"
