// SPDX-License-Identifier: Apache-2.0

// peer is client-go's side of the bench: its indexer, its codecs and its informers, over the same pods as ours, and a server of pods that
// both sides watch. Each command answers lines on stdin with lines on stdout, so that rounds of both can be taken in turn.
//
//	peer rounds -pods DIR -n N             the indexer and the codecs: rounds.go
//	peer serve -pods DIR -n N -addr A:P    the server: serve.go
//	peer events -server URL [-json]        an informer with a handler: events.go
//	peer beside -kubeconfig F COMMAND...   an informer, and ours: beside.go, for tests/long/beside_client_go.sh
//	peer through -direct F -gateway F      informers at two servers: through.go, for tests/long/gateway_client_go.sh
package main

import (
	"fmt"
	"os"
)

func main() {
	commands := map[string]func(args []string){"rounds": roundsMain, "serve": serveMain, "events": eventsMain,
		"beside": besideMain, "through": throughMain}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: peer rounds|serve|events|beside|through FLAG...")
		os.Exit(2)
	}
	commands[os.Args[1]](os.Args[2:])
}

// The bench says what it lacks when a peer ends early; there is nothing to save here.
func die(err error) {
	if err != nil {
		panic(err)
	}
}
