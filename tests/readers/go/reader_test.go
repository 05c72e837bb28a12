// SPDX-License-Identifier: Apache-2.0

package main

// What only this language's reader promises. It needs SOCKET of an informerd that caches pods, and ARENA_DIR, with
// an arena that nobody writes into; e2e/readers.sh runs it, also with the race detector, which checks pointers, too.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"informer"
)

var (
	nodeName = informer.MustCompilePath("spec.nodeName")
	image    = informer.MustCompilePath("spec.containers[0].image")
	whole    = informer.MustCompilePath(".")
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func attach(t testing.TB, socket string) *informer.Informer {
	t.Helper()
	inf, err := informer.Attach(&informer.Options{Socket: socket})
	must(t, err)
	t.Cleanup(func() { inf.Close() })
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, inf.WaitSynced(ctx, "pods"))
	return inf
}

func real(t testing.TB) *informer.Informer { return attach(t, os.Getenv("SOCKET")) }

func begin(t testing.TB, inf *informer.Informer) informer.Snapshot {
	t.Helper()
	snap, err := inf.Begin()
	must(t, err)
	t.Cleanup(snap.End)
	return snap
}

// scheduled is a pod that has a node.
func scheduled(t testing.TB, snap informer.Snapshot, pods *informer.Resource) informer.Object {
	t.Helper()
	for pod, err := range snap.All(pods) {
		must(t, err)
		if _, err = pod.Text(nodeName); err == nil {
			return pod
		}
	}
	t.Fatal("no pod has a node")
	return informer.Object{}
}

func wants(t *testing.T, wanted error, what string, err error) {
	t.Helper()
	if !errors.Is(err, wanted) {
		t.Errorf("%s: %v, not %v", what, err, wanted)
	}
}

func TestWhatWasEndedIsClosed(t *testing.T) {
	inf := real(t)
	pods := inf.Resource("pods")
	snap := begin(t, inf)
	pod := scheduled(t, snap, pods)
	value, err := pod.Value(whole)
	must(t, err)
	copied := snap
	snap.End()
	snap.End()
	_, err = copied.Get(pods, "a", "b")
	wants(t, informer.ErrClosed, "Get", err)
	_, err = pod.Text(nodeName)
	wants(t, informer.ErrClosed, "Text", err)
	_, err = pod.JSON()
	wants(t, informer.ErrClosed, "JSON", err)
	_, err = pod.Unstructured()
	wants(t, informer.ErrClosed, "Unstructured", err)
	_, err = value.AppendJSON(nil)
	wants(t, informer.ErrClosed, "AppendJSON", err)
	_, err = copied.Moment()
	wants(t, informer.ErrClosed, "Moment", err)
	_, err = pod.Workload()
	wants(t, informer.ErrClosed, "Workload", err)
	_, err = pod.NodeObject()
	wants(t, informer.ErrClosed, "NodeObject", err)
	_, err = copied.ContainerByID(pods, strings.Repeat("0", 64))
	wants(t, informer.ErrClosed, "ContainerByID", err)
	_, err = copied.ByAddress("10.0.0.1")
	wants(t, informer.ErrClosed, "ByAddress", err)
	for _, err = range pod.Services() {
		wants(t, informer.ErrClosed, "Services", err)
	}
	for _, err = range pod.Endpoints() {
		wants(t, informer.ErrClosed, "Endpoints", err)
	}
	wants(t, informer.ErrClosed, "Read", copied.Read(func() { t.Error("Read calls") }))
	for _, err = range copied.All(pods) {
		wants(t, informer.ErrClosed, "All", err)
	}
	if pod.Seq() != 0 {
		t.Error("Seq of what was ended")
	}
	// another snapshot in the same place does not bring it back
	begin(t, inf)
	_, err = pod.Name()
	wants(t, informer.ErrClosed, "Name", err)
	var zero informer.Snapshot
	zero.End()
	_, err = zero.Get(pods, "a", "b")
	wants(t, informer.ErrClosed, "the zero Snapshot", err)
}

func TestSnapshotsAreLimited(t *testing.T) {
	inf := real(t)
	var snaps []informer.Snapshot
	for range 63 {
		snaps = append(snaps, begin(t, inf))
	}
	_, err := inf.Begin()
	wants(t, informer.ErrBusy, "the 64th", err)
	snaps[20].End()
	begin(t, inf)
}

func maps(t testing.TB) string {
	text, err := os.ReadFile("/proc/self/maps")
	must(t, err)
	return string(text)
}

// arenas is how many arenas are mapped.
func arenas(t testing.TB) int {
	n := 0
	for line := range strings.Lines(maps(t)) {
		if strings.Contains(line, "informer-slot") || strings.Contains(line, "memfd:slot") {
			n++
		}
	}
	return n
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
		runtime.GC()
	}
}

func TestOpenSnapshotsOutliveClose(t *testing.T) {
	broker := newBroker(t)
	inf := attach(t, broker.place)
	pods := inf.Resource("pods")
	snap := begin(t, inf)
	pod := scheduled(t, snap, pods)
	before, err := pod.JSON()
	must(t, err)
	must(t, inf.Close())
	_, err = inf.Begin()
	wants(t, informer.ErrClosed, "Begin after Close", err)
	wants(t, informer.ErrClosed, "a wait after Close", inf.WaitAttached(context.Background()))
	after, err := pod.JSON()
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("it has changed")
	}
	if arenas(t) != 1 {
		t.Errorf("%d arenas are mapped:\n%s", arenas(t), maps(t))
	}
	snap.End()
	if arenas(t) != 0 {
		t.Errorf("the arena stays mapped:\n%s", maps(t))
	}
}

func TestCloseWhileOthersRead(t *testing.T) {
	for range 20 {
		inf := real(t)
		pods := inf.Resource("pods")
		var readers sync.WaitGroup
		for range 4 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				for {
					err := inf.View(func(snap informer.Snapshot) error {
						for pod, err := range snap.All(pods) {
							if err != nil {
								return err
							}
							if _, err = pod.Name(); err != nil {
								return err
							}
						}
						return nil
					})
					if errors.Is(err, informer.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		time.Sleep(2 * time.Millisecond)
		must(t, inf.Close())
		readers.Wait()
	}
}

func TestAnInformerThatNobodyClosedIsCollected(t *testing.T) {
	broker := newBroker(t)
	func() {
		inf, err := informer.Attach(&informer.Options{Socket: broker.place})
		must(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		must(t, inf.WaitAttached(ctx))
	}()
	eventually(t, "the arena stays mapped", func() bool { return arenas(t) == 0 })
}

func TestReadingAllocatesNothing(t *testing.T) {
	inf := real(t)
	pods := inf.Resource("pods")
	snap := begin(t, inf)
	pod := scheduled(t, snap, pods)
	namespace, err := pod.Namespace()
	must(t, err)
	name, err := pod.Name()
	must(t, err)
	buffer := make([]byte, 0, 4096)
	allocations := testing.AllocsPerRun(1000, func() {
		snap, _ := inf.Begin()
		pod, _ := snap.Get(pods, namespace, name)
		buffer, _ = pod.AppendText(buffer[:0], nodeName)
		buffer, _ = pod.AppendText(buffer, image)
		lent, _ := pod.LentText(nodeName)
		snap.Read(func() { buffer = append(buffer, lent...) })
		snap.End()
	})
	if allocations != 0 || len(buffer) == 0 {
		t.Errorf("%v allocations", allocations)
	}
}

func TestAChildInheritsNothing(t *testing.T) {
	real(t)
	listed, err := exec.Command("/bin/ls", "-l", "/proc/self/fd").Output()
	must(t, err)
	for _, ours := range []string{"memfd:", "socket:", "eventfd", "informer."} {
		if bytes.Contains(listed, []byte(ours)) {
			t.Errorf("a child has %s", listed)
		}
	}
}

// A broker gives each reader a copy of the newest arena, which the test may change.
type broker struct {
	place    string
	arena    *os.File
	header   []byte
	listener *net.UnixListener
	hangUp   chan struct{}
	ended    chan struct{}
	attached atomic.Pointer[func(*net.UnixConn)] // nil: nothing is answered after the greeting
}

func newBroker(t *testing.T) *broker {
	newest, image := 0, []byte(nil)
	files, _ := filepath.Glob(filepath.Join(os.Getenv("ARENA_DIR"), "informer*.*"))
	for _, file := range files {
		if n, err := strconv.Atoi(file[strings.LastIndexByte(file, '.')+1:]); err == nil && n > newest {
			newest = n
			image, err = os.ReadFile(file)
			must(t, err)
		}
	}
	b := &broker{place: filepath.Join(t.TempDir(), "s.sock"), hangUp: make(chan struct{}),
		ended: make(chan struct{})}
	fd, err := unix.MemfdCreate("copy", unix.MFD_CLOEXEC)
	must(t, err)
	b.arena = os.NewFile(uintptr(fd), "copy")
	_, err = b.arena.WriteAt(image, 0)
	must(t, err)
	b.header, err = unix.Mmap(fd, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	b.listener, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: b.place, Net: "unixpacket"})
	must(t, err)
	go b.serve()
	t.Cleanup(func() {
		b.listener.Close()
		<-b.ended
		b.arena.Close()
		unix.Munmap(b.header)
	})
	return b
}

func (b *broker) serve() {
	defer close(b.ended)
	for {
		conn, err := b.listener.AcceptUnix()
		if err != nil {
			return
		}
		conn.Read(make([]byte, 4096))
		slot, _ := unix.MemfdCreate("slot", unix.MFD_CLOEXEC)
		unix.Ftruncate(slot, 8192)
		event, _ := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
		packet := make([]byte, 64)
		copy(packet, "INF1\x01\x00\x02\x00\x40\x00\x00\x00")
		copy(packet[16:24], b.header[40:48])
		copy(packet[24:], "\x00\x20\x00\x00")
		conn.WriteMsgUnix(packet, unix.UnixRights(int(b.arena.Fd()), slot, event), nil)
		unix.Close(slot)
		unix.Close(event)
		if attached := b.attached.Load(); attached != nil {
			go (*attached)(conn)
		}
		go func() {
			<-b.hangUp
			conn.Close()
		}()
	}
}

func (b *broker) setState(state uint32) {
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.header[384])), state)
}

func TestMemoryThatIsGoneIsAnError(t *testing.T) {
	broker := newBroker(t)
	inf := attach(t, broker.place)
	pods := inf.Resource("pods")
	snap := begin(t, inf)
	pod := scheduled(t, snap, pods)
	lent, err := pod.LentText(image)
	must(t, err)
	must(t, snap.Read(func() { lent = strings.Clone(lent[:1]) + lent[1:] }))
	lent, err = pod.LentText(image)
	must(t, err)
	must(t, broker.arena.Truncate(8192))
	_, err = pod.JSON()
	wants(t, informer.ErrCorrupt, "JSON", err)
	_, err = pod.Text(nodeName)
	wants(t, informer.ErrCorrupt, "Text", err)
	_, err = snap.Get(pods, "a", "b")
	wants(t, informer.ErrCorrupt, "Get", err)
	for _, err = range snap.All(pods) {
	}
	wants(t, informer.ErrCorrupt, "All", err)
	wants(t, informer.ErrCorrupt, "Read", snap.Read(func() { _ = strings.Clone(lent) }))
	broker.setState(3)
	_, err = pod.JSON()
	wants(t, informer.ErrExpired, "JSON of a revoked arena", err)
	wants(t, informer.ErrExpired, "Read of a revoked arena", snap.Read(func() { _ = strings.Clone(lent) }))
}

func TestAPanicOfTheCallerGoesOn(t *testing.T) {
	inf := real(t)
	snap := begin(t, inf)
	for _, panics := range []func(){func() { panic("mine") }, func() { var none *int; *none = 1 }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("it was swallowed")
				}
			}()
			snap.Read(panics)
		}()
	}
	inf.View(func(informer.Snapshot) error { return nil })
}

func TestARevokedReaderAttachesAgain(t *testing.T) {
	broker := newBroker(t)
	var log safeBuffer
	inf, err := informer.Attach(&informer.Options{Socket: broker.place, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	t.Cleanup(func() { inf.Close() })
	snap := begin(t, inf)
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&broker.header[384])), 3)
	_, err = snap.Get(inf.Resource("pods"), "a", "b")
	wants(t, informer.ErrExpired, "Get", err)
	snap.End()
	broker.setState(1)
	broker.hangUp <- struct{}{} // the first connection
	eventually(t, "it does not attach again", func() bool { return strings.Count(log.String(), "msg=attached") > 1 })
	must(t, inf.View(func(snap informer.Snapshot) error {
		_, err := snap.Info(inf.Resource("pods"))
		return err
	}))
	must(t, inf.Close())
	eventually(t, "the arena before stays mapped", func() bool { return arenas(t) == 0 })
}

type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestWaitsAndManyReaders(t *testing.T) {
	inf := real(t)
	pods := inf.Resource("pods")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	wants(t, informer.ErrNoResource, "gadgets", inf.WaitSynced(ctx, "gadgets"))
	var readers sync.WaitGroup
	for range 8 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			var seen informer.Moment
			for range 10 { // objects change all the time
				if err := inf.WaitCommit(ctx, seen); err != nil {
					t.Error(err)
					return
				}
				err := inf.View(func(snap informer.Snapshot) (err error) {
					before := seen
					if seen, err = snap.Moment(); err == nil && seen.Epoch <= before.Epoch {
						t.Error("no later commit:", before, seen)
					}
					for pod, err := range snap.All(pods) {
						if err != nil {
							return err
						}
						if _, err = pod.Unstructured(); err != nil {
							return err
						}
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	readers.Wait()
	short, cancelShort := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancelShort()
	err := inf.WaitVersion(short, "pods", "99999999999")
	wants(t, context.DeadlineExceeded, "a version of the future", err)
	wants(t, informer.ErrSyntax, "no version", inf.WaitVersion(ctx, "pods", "x"))
}

func TestACommitWakesWhoWaits(t *testing.T) {
	inf := real(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for range 40 { // objects change all the time
		var seen informer.Moment
		must(t, inf.View(func(snap informer.Snapshot) (err error) {
			seen, err = snap.Moment()
			return err
		}))
		must(t, inf.WaitCommit(ctx, seen))
	}
}

func TestGoroutinesShareWhatWasVerified(t *testing.T) {
	inf, err := informer.Attach(&informer.Options{Socket: os.Getenv("SOCKET"), Verify: true})
	must(t, err)
	defer inf.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	must(t, inf.WaitSynced(ctx, "pods"))
	pods := inf.Resource("pods")
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			for range 20 {
				err := inf.View(func(snap informer.Snapshot) error {
					for pod, err := range snap.All(pods) {
						if err == nil {
							_, err = pod.Workload()
						}
						if err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
}

func TestWhereNobodyListens(t *testing.T) {
	inf, err := informer.Attach(&informer.Options{Socket: filepath.Join(t.TempDir(), "none.sock")})
	must(t, err)
	defer inf.Close()
	_, err = inf.Begin()
	wants(t, informer.ErrNotReady, "Begin", err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err = inf.WaitAttached(ctx)
	wants(t, context.DeadlineExceeded, "WaitAttached", err)
	if !strings.Contains(err.Error(), "is informerd running?") {
		t.Errorf("it does not say why: %v", err)
	}
}
