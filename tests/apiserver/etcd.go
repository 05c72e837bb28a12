// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	etcdserverpb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
)

// Where the API server's own compactor leaves word of what it compacted, and
// where the watch cache hears that its snapshots are too old (etcd3/compact.go).
const compactRevKey = "compact_rev_key"

// etcd in this process, reached by a Unix socket in the data directory.
type etcd struct {
	*embed.Etcd
	endpoint string
}

func startEtcd(dir string) (*etcd, error) {
	c := embed.NewConfig()
	c.Dir = filepath.Join(dir, "etcd")
	client, peer := filepath.Join(dir, "etcd.sock"), filepath.Join(dir, "peer.sock")
	_ = os.Remove(client) // of one that was killed
	_ = os.Remove(peer)
	c.ListenClientUrls = []url.URL{{Scheme: "unix", Path: client}}
	c.ListenPeerUrls = []url.URL{{Scheme: "unix", Path: peer}}
	// nobody dials these, but they must be addresses
	c.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	c.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	c.InitialCluster = c.InitialClusterFromName(c.Name)
	c.LogLevel, c.LogOutputs = "fatal", []string{"stderr"} // a new one has errors to tell that are none
	c.UnsafeNoFsync = true                                 // survives kill -9, not a power cut
	c.QuotaBackendBytes = 8 << 30
	c.TickMs, c.ElectionMs = 10, 100
	e, err := embed.StartEtcd(c)
	if err != nil {
		return nil, err
	}
	select {
	case <-e.Server.ReadyNotify():
		return &etcd{e, "unix://" + client}, nil
	case err = <-e.Err():
	case <-time.After(60 * time.Second):
		err = errors.New("etcd is not ready within 60 s")
	}
	e.Close()
	return nil, err
}

func (e *etcd) revision() int64 { return e.Server.KV().Rev() }

// advance makes changes of no object until the revision is at least this.
func (e *etcd) advance(ctx context.Context, to int64) error {
	const hands = 64 // they share a turn of raft
	failed := make(chan error, hands)
	for range hands {
		go func() {
			put := &etcdserverpb.PutRequest{Key: []byte("advance")}
			for e.revision() < to {
				if _, err := e.Server.Put(ctx, put); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	var err error
	for range hands {
		err = errors.Join(err, <-failed)
	}
	return err
}

// compact forgets all history, and tells the API server as its own compactor does.
func (e *etcd) compact(ctx context.Context) (int64, error) {
	rev := e.revision()
	put := &etcdserverpb.PutRequest{Key: []byte(compactRevKey), Value: []byte(strconv.FormatInt(rev, 10))}
	if _, err := e.Server.Put(ctx, put); err != nil {
		return 0, err
	}
	_, err := e.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: rev, Physical: true})
	return rev, err
}

// close ends etcd, though not before goroutines that still hold it have let go for a moment.
func (e *etcd) close() {
	done := make(chan struct{})
	go func() { e.Close(); close(done) }()
	select {
	case <-done:
	case <-time.After(endWithin):
	}
}
