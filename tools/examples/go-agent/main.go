// SPDX-License-Identifier: Apache-2.0

// go-agent follows the Pods of one node and says which workload each belongs to, as an agent that labels logs or metrics
// needs it. It goes on over restarts of informerd.
//
//	go build && ./go-agent NODE
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"informer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go-agent NODE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := follow(ctx, os.Args[1]); err != nil && !errors.Is(err, context.Canceled) {
		slog.Error(err.Error())
		os.Exit(1)
	}
}

func follow(ctx context.Context, node string) error {
	inf, err := informer.Attach(&informer.Options{Logger: slog.Default()})
	if err != nil {
		return err
	}
	defer inf.Close()
	if err = inf.WaitSynced(ctx, "pods"); err != nil { // fails at once if informerd does not cache pods
		return err
	}
	pods, err := inf.Watch("pods", &informer.WatchOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return err
	}
	defer pods.Close()
	for change, err := range pods.All(ctx) {
		if err != nil {
			return err
		}
		switch change.Kind {
		case informer.Added:
			of, err := change.Object.Workload()
			if err != nil {
				return err
			}
			fmt.Printf("came %s/%s of %s %s\n", change.Namespace, change.Name, of.Kind, of.Name)
		case informer.Deleted:
			fmt.Printf("went %s/%s\n", change.Namespace, change.Name)
		}
	}
	return nil
}
