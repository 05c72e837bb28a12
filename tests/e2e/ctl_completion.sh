#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The script of informerctl completion completes commands, flags, and what is cached, in bash; in zsh it loads. Words of the cache are
# not expanded.
# Takes 2 s.
. "$(dirname "$0")/../support/script.sh"
export INFORMER_SOCKET=$S
start_sim --nodes 2 --pods-per-node 5
start_daemon --resource pods --resource nodes
wait_ready
informerctl() { "$B/informerctl" "$@"; }
# completes WORD... : what bash completes for the last word is in $T/words
completes() {
	COMP_WORDS=(informerctl "$@")
	COMP_CWORD=$#
	_informerctl 2>"$T/err" || true # compgen fails if there is no word
	[ ! -s "$T/err" ] || fail "completion of $* prints: $(cat "$T/err")"
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort >"$T/words"
}
is() { [ "$(tr '\n' ' ' <"$T/words")" = "$1 " ] || fail "${COMP_WORDS[*]}: $(cat "$T/words"), not $1"; }

informerctl completion bash >"$T/script"
. "$T/script"
[ "$(complete -p informerctl)" = 'complete -F _informerctl informerctl' ] || fail "not registered"
completes ''
is 'changes completion get help purge rbac stat verify wait whois'
completes w
is 'wait whois'
completes get --sh
is '--show-kind --show-labels'
completes stat --show
is ''
completes get ''
is 'nodes pods'
completes -n kube-system get -l x=y p
is pods
completes get nodes ''
"$B"/informerctl get nodes -o name | sed 's:.*/::' | LC_ALL=C sort | cmp - "$T/words" || fail "names of nodes"
completes get pods -n kube-sys
is kube-system
"$B"/informerctl get pods -n kube-system -o name | sed 's:.*/::' | LC_ALL=C sort >"$T/pods"
[ -s "$T/pods" ] || fail "no pods in kube-system"
completes wait -n kube-system pods ''
cmp "$T/pods" "$T/words" || fail "names in a namespace"
completes get pods -o js
is json
completes get pods -l ''
is ''
completes get --socket "$S.none" ''
is ''
for word in completion "help wa"; do informerctl $word >"$T/out" 2>"$T/err" && fail "informerctl $word succeeds"; done

# what stands in the cache is text
informerctl() { printf 'role/$(touch %s)\nrole/`touch %s`\nrole/plain\n' "$T/expanded" "$T/expanded"; }
completes get roles ''
is plain
[ ! -e "$T/expanded" ] || fail "a name was expanded"

if command -v zsh >/dev/null; then
	"$B"/informerctl completion zsh >"$T/script.zsh"
	HOME=$T zsh -f -c "source $T/script.zsh && [[ \$_comps[informerctl] == *_informerctl ]]" || fail "zsh does not load it"
else
	echo "SKIP (one part): zsh is not installed"
fi
echo "ok: completion"
