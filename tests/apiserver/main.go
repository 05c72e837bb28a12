// SPDX-License-Identifier: Apache-2.0

// apiserver is a Kubernetes API server for tests: upstream's own code
// (k8s.io/apiserver: generic registry, watch cache, etcd3 storage) over an etcd
// in the same process. informer-sim imitates this behaviour; here it is the
// original, so a test that passes against both proves the daemon and the
// simulator at once.
//
// # Using it
//
//	make test-upstream       build it into build/apiserver, run the tests against it
//	build/apiserver --load pods.json &
//	    READY url=https://127.0.0.1:PORT kubeconfig=FILE pid=PID
//	kubectl --kubeconfig FILE get pods -A
//
// Flags and the READY line are informer-sim's where both have them, and so are
// the pages /sim/stats, /sim/log, /sim/churn and /sim/compact: one script drives
// both. /sim/commits, when each stamped change was made, is here alone.
// Started with SERVER=apiserver, tests/support/script.sh starts this one.
//
// To restart it, kill it and start it with the same --data-dir and --port: what
// was stored, the certificate and the resource versions stay. Without --data-dir
// everything is in a temporary directory, which goes when the server ends. It
// ends with the process that started it.
//
// # What it serves
//
// core/v1 pods, services, namespaces, nodes, configmaps, secrets, endpoints,
// serviceaccounts, events; apps/v1 deployments, replicasets and daemonsets;
// batch/v1 jobs;
// discovery.k8s.io/v1 endpointslices; networking.k8s.io/v1 networkpolicies;
// rbac.authorization.k8s.io/v1 clusterroles and clusterrolebindings;
// CustomResourceDefinitions and what they define. Lists with
// pages, snapshots and selectors, watches with bookmarks and initial events, 410
// and 504, JSON, YAML and protobuf, gzip, Table, PartialObjectMetadata, aggregated
// discovery, OpenAPI, the four kinds of patch. With --rbac upstream's authorizer
// (of k8s.io/kubernetes), TokenReviews, SubjectAccessReviews and
// SelfSubjectAccessReviews; it takes roles from FILE alone.
//
// # What is not as in a cluster
//
// What lives in k8s.io/kubernetes: no defaulting; no validation of specs, except of
// daemonsets, networkpolicies, clusterroles and their bindings; no namespace
// lifecycle, no garbage collection, no defaulted service account. POST keeps
// .status, so that real objects can be loaded, and deletion is immediate
// (--graceful-pods: as the pod strategy does it). Table rows are simplified.
//
// # Pitfalls
//
//   - After /sim/compact the watch cache goes on with what it has: its snapshots
//     (old lists, continue tokens) for up to 15 s, its events for at least 75 s. For
//     a prompt 410 compact and restart, or use --no-watch-cache.
//   - With --no-watch-cache list items carry kind and apiVersion, which a real
//     server's do not: external types serve as internal ones here.
//   - Versions are pinned in go.mod: k8s.io 0.36 goes with etcd 3.6.
//   - The first build compiles some 900 packages: minutes; later ones take seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
)

// Longer than this nobody waits for an orderly end.
const endWithin = 5 * time.Second

type options struct {
	port            int
	dataDir         string
	token           string
	tokenFiles      paths
	rbac            string
	kubeconfig      string
	load            paths
	replicas        int
	nodes           int
	compactInterval time.Duration
	noWatchCache    bool
	gates           string
	storeStatus     bool
	gracefulPods    bool
	minRequest      int
	plain           bool
	certFile        string
	keyFile         string
	startRV         int64
}

// paths is a flag that may be given several times.
type paths []string

func (p *paths) String() string     { return strings.Join(*p, ",") }
func (p *paths) Set(s string) error { *p = append(*p, s); return nil }

func parseFlags() *options {
	o := &options{storeStatus: true}
	flag.IntVar(&o.port, "port", 0, "listen here, on 127.0.0.1; 0 takes any free `PORT`")
	flag.StringVar(&o.kubeconfig, "write-kubeconfig", "", "write a kubeconfig to `FILE`; without it, into the data directory")
	flag.StringVar(&o.token, "token", "test-token", "the bearer `TOKEN` of the one user, who may everything")
	flag.Var(&o.tokenFiles, "token-file", "more users, with --rbac: CSV as kube-apiserver's, of tokens for the server or an audience: `[AUDIENCE=]FILE`; repeatable")
	flag.StringVar(&o.rbac, "rbac", "", "authorize by the roles and bindings in `FILE`, a JSON list that is read each time; serve reviews")
	flag.Var(&o.load, "load", "load the objects of a JSON `FILE|DIR`; repeatable")
	flag.IntVar(&o.replicas, "replicas", 1, "make each loaded pod `N` pods")
	flag.IntVar(&o.nodes, "nodes", 0, "spread the loaded pods over `N` nodes, node-0 and so on; 0: as they are")
	flag.StringVar(&o.dataDir, "data-dir", "", "keep etcd and certificates in `DIR`; without it, in one that goes at the end")
	flag.DurationVar(&o.compactInterval, "compact-interval", 0, "let the server compact etcd in this interval; 0 never")
	flag.BoolVar(&o.noWatchCache, "no-watch-cache", false, "serve from etcd alone")
	flag.StringVar(&o.gates, "feature-gates", "", "upstream's feature gates: `NAME=BOOL,...` as WatchList=false")
	flag.BoolVar(&o.gracefulPods, "graceful-pods", false, "let bound pods end gracefully: a deletionTimestamp first")
	dropStatus := flag.Bool("drop-status", false, "take no .status from a POST, as a cluster does")
	flag.IntVar(&o.minRequest, "min-request-timeout", 1800, "watches that ask for no end last at least so many `SECONDS`")
	flag.BoolVar(&o.plain, "plain", false, "listen without TLS, and let everybody in")
	flag.StringVar(&o.certFile, "tls-cert", "", "the server's certificate chain in PEM `FILE`; without it one is made")
	flag.StringVar(&o.keyFile, "tls-key", "", "its key in PEM `FILE`")
	flag.Int64Var(&o.startRV, "start-rv", 0, "let resource versions begin behind `N` (some 10,000 a second take their time)")
	klog.InitFlags(nil)
	quiet := map[string]string{"logtostderr": "false", "stderrthreshold": "ERROR"}
	for name, value := range quiet {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(io.Discard) // instead of files: errors reach stderr, all of it with --logtostderr
	flag.Parse()
	o.storeStatus = !*dropStatus
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "apiserver: %s is no flag of it (apiserver --help lists all flags)\n", flag.Arg(0))
		os.Exit(2)
	}
	return o
}

func main() {
	o := parseFlags()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		os.Exit(1)
	}
}

// run serves until a signal or the end of the parent.
func run(o *options) error {
	endWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if o.gates != "" {
		if err := utilfeature.DefaultMutableFeatureGate.Set(o.gates); err != nil {
			return err
		}
	}
	dir, remove, err := dataDirectory(o.dataDir)
	if err != nil {
		return err
	}
	defer remove()
	if o.kubeconfig == "" {
		o.kubeconfig = filepath.Join(dir, "kubeconfig")
	}
	s, err := newServer(o, dir)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- s.generic.PrepareRun().RunWithContext(ctx) }()
	go s.announce(ctx)
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(endWithin):
		}
	}
	s.etcd.close()
	return err
}
