// SPDX-License-Identifier: Apache-2.0

// CoreDNS as its own main builds it; with the tag informer, by informer.go, with this repository's plugin.
package main

import (
	_ "github.com/coredns/coredns/core/plugin"
	"github.com/coredns/coredns/coremain"
)

func main() { coremain.Run() }
