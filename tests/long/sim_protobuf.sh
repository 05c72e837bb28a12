#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# informer-sim in protobuf: what is answered to which Accept, as upstream's server answers it; envelopes, lists and frames to the byte;
# the same objects in JSON and in protobuf, as the writer reads them; and the switches for what goes wrong.
# Not upstream: it tries informer-sim's own flags and faults.
# Takes 10 s.
. "$(dirname "$0")/../support/script.sh"
set +e # codes are compared
export KUBECONFIG=$T/kubeconfig
P=application/vnd.kubernetes.protobuf
AS="g=meta.k8s.io;v=v1"

# asked URL ACCEPT: the status and type of the answer, whose body goes to $T/body
asked() { curl -s -m 5 -o "$T/body" -w '%{http_code} %{content_type}' -H "Accept: $2" "$url$1" || true; }
hex() { od -An -v -tx1 "$1" | tr -d ' \n'; }
text() { printf %s "$1" | od -An -v -tx1 | tr -d ' \n'; }
has() { case $(hex "$T/body") in *"$1"*) ;; *) fail "$2: $(hex "$T/body")" ;; esac; }
# 4 bytes of length, the lowest first, and the file
part() {
	local n
	n=$(wc -c <"$1")
	printf "\\x$(printf %02x $((n & 255)))\\x$(printf %02x $((n >> 8 & 255)))\\x$(printf %02x $((n >> 16 & 255)))\\x$(printf %02x $((n >> 24)))"
	cat "$1"
}

echo '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"w","uid":"u","creationTimestamp":"2026-11-22T12:51:45Z"},"data":{"k":"v"},"binaryData":{"b":"AAE="}}' >"$T/map.json"
echo '{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"x","namespace":"w","labels":{"a":"b"}},"spec":{"n":1}}' >>"$T/map.json"
start_sim --load "$T/map.json" --nodes 3 --pods-per-node 20 --crd widgets.v1.example.com --bookmark-interval 1
MAPS=/api/v1/namespaces/w/configmaps
WIDGETS=/apis/example.com/v1/namespaces/w/widgets

# ---- a LIST, to the byte: envelope, ListMeta, one item, trailer
META=$(
	printf '0a016d1200'                     # name, generateName
	printf '1a01772200'                     # namespace, selfLink
	printf '2a0175320131380042080'          # uid u, resourceVersion 1, generation
	printf '8e1ca8bd8061000'                # creationTimestamp
)
ITEM=0a$(printf %02x $((${#META} / 2)))${META}12060a016b1201761a070a016212020001
RV=$(api GET $MAPS | jq -r .metadata.resourceVersion)
INSIDE=0a$(printf %02x $((6 + ${#RV})))0a0012$(printf %02x ${#RV})$(text "$RV")1a0012$(printf %02x $((${#ITEM} / 2)))$ITEM
same "a LIST is protobuf where that is asked for" "200 $P" "$(asked $MAPS "$P,application/json")"
same "to the byte" "12$(printf %02x $((${#INSIDE} / 2)))${INSIDE}1a002200" "$(hex "$T/body" | sed "s/^6b3873000a130a027631120d$(text ConfigMapList)//")"

# ---- what is answered to which Accept
same "JSON comes first where the client has it first" "200 application/json" "$(asked $MAPS "application/json,$P")"
same "anything is JSON" "200 application/json" "$(asked $MAPS '*/*')"
same "with parameters, too" "200 $P" "$(asked $MAPS "$P;stream=watch, application/json")"
same "and one object" "200 $P" "$(asked $MAPS/m "$P")"
has "12$(printf %02x $((${#ITEM} / 2)))${ITEM}1a002200" "the object is not the item"
same "a custom resource comes in JSON" "200 application/json" "$(asked $WIDGETS "$P,application/json")"
same "or not at all" "406 $P" "$(asked $WIDGETS "$P")"
has "6b387300""0a0c0a0276311206$(text Status)" "the refusal is no Status"
has "$(text NotAcceptable)" "the refusal is another one"
same "what is not there is told in protobuf" "404 $P" "$(asked $MAPS/none "$P,application/json")"
has "$(text 'configmaps "none" not found')" "the Status says something else"
same "metadata of a custom resource" "200 $P" "$(asked $WIDGETS "$P;as=PartialObjectMetadataList;$AS")"
has "$(text PartialObjectMetadataList)" "no PartialObjectMetadataList"
same "a list is asked for as a list" "406 application/json" "$(asked $MAPS "$P;as=PartialObjectMetadata;$AS")"
same "a Table is none" "406 application/json" "$(asked $MAPS "$P;as=Table;$AS")"
same "but in JSON" "200 application/json" "$(asked $MAPS "$P;as=Table;$AS,application/json;as=Table;$AS,application/json")"

# ---- the same in JSON and in protobuf, whole and in pieces, as the writer reads them
for path in $MAPS '/api/v1/pods' '/api/v1/pods?limit=7' '/api/v1/nodes' '/api/v1/pods?fieldSelector=metadata.name%3Dnone'; do
	asked "$path" application/json >/dev/null
	cp "$T/body" "$T/json"
	asked "$path" "$P" >/dev/null
	printf %s "$path" >"$T/name"
	count=$(jq '.items|length' "$T/json")
	[ "$count" = 0 ] && { same "an empty list ends behind its metadata" 1a002200 "$(hex "$T/body" | tail -c 8)"; continue; }
	for chunk in 0 1 7; do
		same "$path by $chunk bytes" "$count the same, 0 not" "$({ part "$T/name"; part "$T/json"; part "$T/body"; } | "$B/tests/wire_same" $chunk)"
	done
done

# ---- frames
watch() { asked "$1" "${2:-$P}" >"$T/type"; cat "$T/type"; }
same "a watch is told by its type" "200 $P;stream=watch" "$(watch "$MAPS?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1")"
DOCUMENT=6b3873000a0f0a0276311209$(text ConfigMap)12$(printf %02x $((${#ITEM} / 2)))${ITEM}1a002200
RAW=0a$(printf %02x $((${#DOCUMENT} / 2)))$DOCUMENT
EVENT=0a05$(text ADDED)12$(printf %02x $((${#RAW} / 2)))$RAW
same "a frame, to the byte" "000000$(printf %02x $((${#EVENT} / 2)))$EVENT" "$(hex "$T/body" | head -c $((${#EVENT} + 8)))"
has "0a08$(text BOOKMARK)" "no bookmark"
has "62210a19$(text k8s.io/initial-events-end)1204$(text true)" "it does not say that it is the end"
same "a watch of history that is gone" "200 $P;stream=watch" "$(api POST $MAPS -d '{"metadata":{"name":"n"}}' >/dev/null; api POST /sim/compact >/dev/null; watch "$MAPS?watch=1&resourceVersion=1")"
has "0a05$(text ERROR)" "no ERROR"
has "$(text 'too old resource version: 1 (')" "it says something else"
same "a custom resource is watched in JSON" "200 application/json" "$(watch "$WIDGETS?watch=1&timeoutSeconds=1" "$P,application/json")"
same "its metadata in protobuf" "200 $P;stream=watch" "$(watch "$WIDGETS?watch=1&timeoutSeconds=1" "$P;as=PartialObjectMetadata;$AS")"
has "$(text meta.k8s.io/v1)" "no metadata"
NOW=$(api GET $MAPS | jq -r .metadata.resourceVersion)
api DELETE $MAPS/n >/dev/null
watch "$MAPS?watch=1&resourceVersion=$NOW&timeoutSeconds=1" >/dev/null
has "0a07$(text DELETED)" "what is gone is not told"
has "32$(printf %02x ${#NOW})$(text $((NOW + 1)))" "not with the new resourceVersion"

# ---- switches
faults() { api DELETE /sim/faults >/dev/null; api POST /sim/faults --data-binary "$1" -o /dev/null -w '%{http_code}' | grep -q 200 || fail "no such rule: $1"; }
NEWER=d07d01 # field 2010
faults 'when LIST configmaps then no-protobuf'
same "a server that has JSON alone" "200 application/json 406 application/json" "$(asked $MAPS "$P,application/json") $(asked $MAPS "$P")"
faults 'when LIST configmaps then as-json'
same "one that answers JSON all the same" "200 application/json" "$(asked $MAPS "$P")"
faults 'when ANY configmaps then unencodable'
same "one that cannot write what it chose" "406 $P 200 application/json" "$(asked $MAPS "$P,application/json") $(asked $MAPS application/json)"
same "whose watch ends without a word" "200 $P;stream=watch 0" "$(watch "$MAPS?watch=1") $(wc -c <"$T/body" | tr -d ' ')"
faults 'when LIST configmaps then newer'
asked $MAPS "$P" >/dev/null
has "12$(printf %02x $((${#ITEM} / 2 + 3)))$ITEM$NEWER" "no field of a newer server"
faults 'when WATCH configmaps after 1 event then newer'
NOW=$(api GET $MAPS | jq -r .metadata.resourceVersion)
for n in 1 2 3; do api POST $MAPS -d '{"metadata":{"name":"new'$n'"}}' >/dev/null; done
watch "$MAPS?watch=1&resourceVersion=$NOW&timeoutSeconds=1" >/dev/null
same "a server that becomes newer" 2 "$(hex "$T/body" | grep -o "${NEWER}1a002200" | wc -l | tr -d ' ')"
api DELETE /sim/faults >/dev/null

# ---- managedFields, which a server may leave out (KEP-5958), and most do not
end_sim
echo '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s","namespace":"w","managedFields":[{"manager":"by-hand","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]}}' >>"$T/map.json"
managed() { asked "/api/v1/namespaces/w/secrets$2" "$1;drop=metadata.managedFields" >/dev/null; case $(hex "$T/body") in *"$(text by-hand)"*) printf yes ;; *"$(text w)"*) printf no ;; *) printf nothing ;; esac; }
all_managed() { for type in "$P" application/json; do for path in '' /s '?watch=1&timeoutSeconds=1'; do printf '%s ' "$(managed "$type" "$path")"; done; done; }
start_sim --load "$T/map.json"
same "it is passed over by default" "yes yes yes yes yes yes " "$(all_managed)"
end_sim
start_sim --load "$T/map.json" --drop-fields
same "and honoured where it is known" "no no no no no no " "$(all_managed)"
same "only where that is asked for" yes "$(asked /api/v1/namespaces/w/secrets "$P" >/dev/null; hex "$T/body" | grep -q "$(text by-hand)" && echo yes)"
end_sim
start_sim --load "$T/map.json" --no-protobuf
same "a server without it" "200 application/json 406 application/json" "$(asked $MAPS "$P,application/json") $(asked $MAPS "$P")"
