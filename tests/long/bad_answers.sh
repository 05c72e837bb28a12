#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Whatever a broken server answers to a LIST: what is known stays, the reason is told in words, other resources do not notice, and
# once the server answers as it should the cache follows. Each answer is tried in a namespace of its own, all at once.
# Not upstream: it is about readers, limits or broken answers, which are the same there.
# Takes 10 s.
. "$(dirname "$0")/../support/script.sh"
. "$(dirname "$0")/../support/bad.sh"

# answer NAME PATTERN: stdin is the answer, PATTERN what the daemon says of it
answer() {
	mkdir "$R/$1"
	cat >"$R/$1/pods.list"
	printf '%s' "$2" >"$R/$1/pattern"
	list PodList 10 "$(object "$1" a 5)" "$(object "$1" b 6)" >"$R/$1/pods.list.1"
	: >"$R/$1/pods.watch"
}

full=$(list PodList 20 "$(object n a 5)" "$(object n b 6)")
printf '%s' "${full:0:150}" | answer cut 'cannot be read at byte 150: it ends in the middle of a document'
printf 'HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n%s' "$full" | answer short 'the connection ended before the answer did'
printf 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' | answer chunks 'the connection ended before the answer did'
printf 'HTTP/9.9 200 OK\r\n\r\n' | answer http 'Unsupported HTTP version'
answer twice 'something follows the document' <<<"$full $full"
answer comma "cannot be read at byte .*" <<<'{"kind":"PodList","metadata":{"resourceVersion":"20",},"items":[]}'
list PodList 20 "$(object n "$(printf 'a\377\376')" 5)" | answer utf8 'this is not UTF-8'
gzip <<<"$full" | answer gzip 'cannot be read at byte 0'
printf 'HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<html>Please log in</html>' | answer html \
	'the answer is text/html .*login page'
answer empty 'there is no document' </dev/null
printf 'HTTP/1.1 204 No Content\r\n\r\n' | answer nocontent 'there is no document'
printf 'HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n' | answer redirect 'redirects to another address'
printf 'HTTP/1.1 500 X\r\nContent-Length: 4\r\n\r\noops' | answer broken 'oops (500)'
printf 'HTTP/1.1 429 X\r\nRetry-After: 1\r\nContent-Length: 4\r\n\r\nslow' | answer slow 'slow (429)'
list ServiceList 20 "$(object n s 5)" | answer otherlist 'the answer is a ServiceList, not a PodList'
answer single 'the answer is a Pod, not a PodList' <<<'{"kind":"Pod","metadata":{"name":"a","namespace":"n","resourceVersion":"20"}}'
answer status 'the answer is a Status, not a PodList' <<<'{"kind":"Status","metadata":{"resourceVersion":"20"},"code":200}'
answer noitems 'it has no items' <<<'{"kind":"PodList","metadata":{"resourceVersion":"20"}}'
answer itemsobject 'items is not an array' <<<'{"kind":"PodList","metadata":{"resourceVersion":"20"},"items":{}}'
list PodList 20 '{"kind":"Node","metadata":{"name":"n"}}' | answer otheritem 'it is a Node, not a Pod'
answer nometadata 'no metadata.resourceVersion, and no kind' <<<'{"items":[]}'
answer numberrv 'metadata.resourceVersion is not a string' <<<'{"kind":"PodList","metadata":{"resourceVersion":20},"items":[]}'
list PodList "$(repeat 300 7)" | answer longrv "resourceVersion is longer than 63 bytes"
answer again 'the same continue token again' <<<'{"kind":"PodList","metadata":{"resourceVersion":"20","continue":"x"},"items":[]}'
cases=$(ls "$R")
list ServiceList 7 "$(object n s 6)" >"$R/services.list"

start_bad_server
start_daemon --no-watch-list --resource services $(for c in $cases; do echo --resource "pods?namespace=$c"; done)
wait_ready
for c in $cases; do expired >>"$R/$c/pods.watch"; done

# of NAMESPACE FIELDS, in the report
of() { jq -r ".resources[] | select(.namespace == \"$1\") | \"$2\"" "$T/report"; }
all_failed() {
	stat . >"$T/report"
	jq -e '[.resources[] | select(.namespace != "") | .last_error | contains("LIST failed")] | all' "$T/report"
}
until_true all_failed || fail "not all lists failed: $(jq -c '.resources[] | [.namespace, .last_error]' "$T/report")"
# A connection that the server resets may lose what it had sent; then the next try says it.
said_so() {
	stat . >"$T/report"
	said=$(of "$1" '\(.state) \(.objects) \(.rv) \(.last_error)')
	grep -q -- "$(cat "$R/$1/pattern")" <<<"$said"
}
for c in $cases; do
	until_true said_so "$c" || fail "$c: '$said' is not '$(cat "$R/$c/pattern")'"
	[ "${said#synced 2 10 }" != "$said" ] || fail "$c: something was lost: $said"
done
stat_is '.resources[0].objects' 1 || fail "services"
stat_is '.resources[0].activity' watching || fail "services were disturbed"
stat_is '.resources[0].failures' 0 || fail "services were disturbed"

# the server is in order again
for c in $cases; do
	list PodList 30 "$(object "$c" a 25)" >"$R/$c/new"
	mv "$R/$c/new" "$R/$c/pods.list"
	rm "$R/$c/pods.watch"
done
recovered() {
	stat . >"$T/report"
	jq -e '[.resources[] | select(.namespace != "") | .objects == 1 and .rv == "30"] | all' "$T/report"
}
until_true recovered || fail "not all recovered: $(jq -c '.resources[] | [.namespace, .objects, .rv, .last_error]' "$T/report")"
stop_daemon TERM
[ "$code" = 0 ] || fail "exit code $code"
echo ok
