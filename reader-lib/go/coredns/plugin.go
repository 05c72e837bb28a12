// SPDX-License-Identifier: Apache-2.0

// Package coredns has CoreDNS's kubernetes plugin answer from the node's one cache, instead of from a copy of its own.
//
// CoreDNS is built with one import more, as any plugin of others is:
//
//	import (
//		_ "github.com/coredns/coredns/core/plugin"
//		_ "informer/coredns"
//		"github.com/coredns/coredns/coremain"
//	)
//
// and one word of its Corefile changes: informer for kubernetes. All that may stand in the stanza may stay, but
// multicluster. The answers are kubernetes's own code; other plugins (k8s_external, autopath, transfer, ready) find it by
// its name, kubernetes, as before.
//
// informerd caches services, namespaces, endpointslices.discovery.k8s.io (unless noendpoints) and, for pods verified,
// pods: --preset node-agent has them all. Its socket is where package informer looks for it: $INFORMER_SOCKET, else the usual places.
//
// # What differs
//
//   - No request goes to the API server, but the plugin still makes a client for it: in a pod the service account must be
//     mounted; elsewhere the stanza has a kubeconfig, or any endpoint.
//   - A pod that was terminating already when CoreDNS started is answered until it is gone.
//   - kubernetes's metric of DNS programming latency is not counted.
package coredns

import (
	"errors"
	"fmt"
	"slices"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/coredns/coredns/plugin/kubernetes"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const name, theirs = "informer", "kubernetes"

func init() {
	plugin.Register(name, setup)
	at := slices.Index(dnsserver.Directives, theirs) + 1
	dnsserver.Directives = slices.Insert(dnsserver.Directives, at, name)
}

// setup is kubernetes's, whose source of objects is ours.
func setup(c *caddy.Controller) error {
	s, err := readStanza(*c)
	if err != nil {
		return plugin.Error(name, err)
	}
	setup, err := caddy.DirectiveAction("dns", theirs)
	if err != nil {
		return plugin.Error(name, err)
	}
	if err := setup(c); errors.Is(err, rest.ErrNotInCluster) {
		return fmt.Errorf("%w; nothing is asked there, but the stanza must name a place: endpoint http://localhost", err)
	} else if err != nil {
		return err
	}
	config := dnsserver.GetConfig(c)
	last := len(config.Plugin) - 1
	k, ok := config.Plugin[last](nil).(*kubernetes.Kubernetes)
	if !ok {
		return plugin.Error(name, errors.New("the kubernetes plugin of this CoreDNS is another one"))
	}
	source, err := newSource(s)
	if err != nil {
		return plugin.Error(name, err)
	}
	k.APIConn = source // it has not run yet: kubernetes runs it when the server starts
	return nil
}

// A stanza is what of kubernetes's options its source has to know.
type stanza struct {
	labels, namespaceLabels string // selectors
	verified                bool   // pods verified
	noEndpoints, zonal      bool
}

// readStanza reads a copy of c, which kubernetes reads again and checks.
func readStanza(c caddy.Controller) (s stanza, err error) {
	for c.Next() {
		c.RemainingArgs()
		for c.NextBlock() {
			option, args := c.Val(), c.RemainingArgs()
			switch option {
			case "labels":
				s.labels, err = selector(args)
			case "namespace_labels":
				s.namespaceLabels, err = selector(args)
			case "pods":
				s.verified = slices.Equal(args, []string{"verified"})
			case "noendpoints":
				s.noEndpoints = true
			case "zonal":
				s.zonal = true
			case "multicluster":
				err = c.Errf("multicluster is not supported: use kubernetes for those zones")
			}
			if err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// selector is a label selector of a stanza, as the API server writes it.
func selector(args []string) (string, error) {
	var text string
	for _, arg := range args {
		text += arg + " "
	}
	parsed, err := metav1.ParseToLabelSelector(text)
	if err != nil {
		return "", fmt.Errorf("labels %s: %w", text, err)
	}
	return metav1.FormatLabelSelector(parsed), nil
}
