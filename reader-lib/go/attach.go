// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Options of Attach. The zero value has all defaults.
type Options struct {
	// Socket of informerd. "": $INFORMER_SOCKET; else, unless root, the user's own place,
	// informer/informer.sock in $XDG_RUNTIME_DIR or /run/user/UID, or /tmp/informer-UID/informer.sock; and
	// if nothing listens there, /run/informer/informer.sock. A handle that was attached keeps to its place.
	Socket string
	// Name is shown by informerctl stat, cut to 63 bytes. "": the program's name.
	Name string
	// Orphan: while no informerd runs and nothing is attached, read what the last informerd left in memory, as of
	// its last commit. Only informerd's own user and root can do this, on the host. The handle looks until there
	// is something to read, and moves to the next informerd by itself.
	Orphan bool
	// Verify: check each block's integrity tag when the block is first touched. What is damaged is ErrCorrupt, and
	// from then on all of that arena. With Orphan the keys come from informerd's key file.
	Verify bool
	// DecodeBytes is about how much memory Decode may use to remember parts that many objects have: with 16 MiB it
	// takes up to a third less time. 0: 256 KiB; below 0: none.
	DecodeBytes int
	// Logger receives attach, loss and re-attach. Nil: no log.
	Logger *slog.Logger
}

const (
	delayMin      = 10 * time.Millisecond
	delayMax      = time.Second
	delayStarting = 40 * time.Millisecond // while a writer starts or ends
	greetingMax   = 5 * time.Second
	firstAnswer   = 100 * time.Millisecond
	nameMax       = 64
	welcomeBytes  = packetHead + 8 + 4 + 4 + 32
	welcomeHasKey = packetHead + 12
	welcomeKeys   = packetHead + 16
)

// An Informer is a handle: a connection to informerd, and the arena that it reads. Any number of goroutines
// may use it.
type Informer struct {
	*core
}

// core is what a handle's goroutine holds on to, so that an Informer that nobody closed can be collected.
type core struct {
	options Options
	places  []place
	place   int // of places: the one connected to
	ctx     context.Context
	cancel  context.CancelFunc
	ended   chan struct{}

	current atomic.Pointer[mapping]
	closed  atomic.Bool

	mu       sync.Mutex
	news     chan struct{} // closed, and replaced, when something changed
	reason   error         // why informerd's socket is not open; nil: it is open
	attempts int
	attaches uint64

	subscriptions [queuesMax]*subscription // by number

	parkings map[parkingName]*parking // with mu
	reading  chan struct{}            // has an element for each caller of Await that reads
}

// Attach makes a handle and waits up to 100 ms for the answer of an informerd that runs. It succeeds whether
// or not informerd runs: the handle tries again by itself. Close it.
func Attach(options *Options) (*Informer, error) {
	c := &core{ended: make(chan struct{}), news: make(chan struct{}), parkings: map[parkingName]*parking{},
		reading: make(chan struct{}, awaitReaders)}
	if options != nil {
		c.options = *options
	}
	if c.options.Name == "" {
		c.options.Name = filepath.Base(os.Args[0])
	}
	if c.options.Logger == nil {
		c.options.Logger = slog.New(slog.DiscardHandler)
	}
	var err error
	if c.places, err = places(c.options.Socket); err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	go c.run()
	inf := &Informer{c}
	runtime.AddCleanup(inf, func(c *core) { c.shut() }, c)

	ctx, cancel := context.WithTimeout(context.Background(), firstAnswer)
	defer cancel()
	c.wait(ctx, func() bool { return c.attempts > 0 })
	return inf, nil
}

// Another is Attach with this handle's options, for more watches or snapshots than one handle has. Close it, too.
func (inf *Informer) Another() (*Informer, error) { return Attach(&inf.options) }

// Close ends the handle. Open snapshots stay readable until their End; no new ones begin.
func (inf *Informer) Close() error {
	inf.shut()
	<-inf.ended
	return nil
}

func (c *core) shut() {
	c.closed.Store(true)
	c.cancel()
}

// wait until done, which is called with the lock held, returns true.
func (c *core) wait(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		ok, news := done(), c.news
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return ctx.Err()
		case <-c.ended:
			return ErrClosed
		}
	}
}

// tell wakes all who wait. The change is made with the lock held.
func (c *core) tell(change func()) {
	c.mu.Lock()
	change()
	close(c.news)
	c.news = make(chan struct{})
	c.mu.Unlock()
}

// run keeps the handle attached until it is closed.
func (c *core) run() {
	defer close(c.ended)
	for delay := delayMin; ; {
		m, err := c.attempt()
		if err == nil {
			c.makeCurrent(m)
			c.places = c.places[c.place : c.place+1]
			c.tell(func() { c.reason = nil; c.attempts++ })
			c.options.Logger.Info("attached", "generation", m.generation)
			err = c.serve(m)
			m.lost.Store(true)
			delay = 0
		}
		if c.ctx.Err() != nil {
			break
		}
		if errors.Is(err, ErrRefused) || errors.Is(err, ErrLayout) || errors.Is(err, errPacket) {
			delay = delayMax
		}
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) {
			err = c.nobodyListens(err)
		}
		if err == errStarting {
			delay = min(delay, delayStarting)
		}
		c.tell(func() { c.reason = err; c.attempts++ })
		c.options.Logger.Info("not attached", "reason", err)
		select {
		case <-time.After(delay):
		case <-c.ctx.Done():
		}
		delay = min(max(2*delay, delayMin), delayMax)
	}
	if m := c.current.Swap(nil); m != nil {
		m.retire()
	}
}

func (c *core) dial() (*net.UnixConn, error) {
	var failed error
	for i, place := range c.places {
		conn, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: place.path, Net: "unixpacket"})
		if err == nil && place.own {
			err = checkPeer(conn)
		}
		if err == nil {
			c.place = i
			return conn, nil
		}
		// of two failures, keep the one that is not "no such file"
		if failed == nil || errors.Is(failed, unix.ENOENT) {
			failed = fmt.Errorf("cannot connect to %s: %w", place.path, err)
		}
	}
	hint := ""
	switch {
	case errors.Is(failed, unix.ENOENT), errors.Is(failed, unix.ECONNREFUSED):
		hint = " (is informerd running?)"
	case errors.Is(failed, unix.EACCES):
		hint = " (is this user in the socket's group?)"
	}
	return nil, fmt.Errorf("%w%s", failed, hint)
}

// checkPeer refuses a program of another user that listens at this user's own place.
func checkPeer(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var peer *unix.Ucred
	if controlErr := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); controlErr != nil {
		err = controlErr
	}
	if err == nil && peer.Uid != 0 && int(peer.Uid) != os.Geteuid() {
		err = errors.New("another user's program listens there")
	}
	if err != nil {
		conn.Close()
	}
	return err
}

// attempt connects and greets once.
func (c *core) attempt() (*mapping, error) {
	conn, err := c.dial()
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(c.ctx, func() { conn.SetDeadline(time.Now()) })
	defer stop()
	conn.SetDeadline(time.Now().Add(greetingMax))
	hello := newPacket(msgHello, 8+nameMax)
	hello = native.AppendUint16(hello, layoutMajor)
	hello = native.AppendUint16(hello, layoutMinor)
	flags := uint32(0)
	if c.options.Verify {
		flags = helloWantKeys
	}
	hello = native.AppendUint32(hello, flags)
	// A broker that refuses us at once has hung up already; its packet is still in the socket.
	if _, err = conn.Write(appendText(hello, c.options.Name, nameMax)); err != nil &&
		!errors.Is(err, unix.EPIPE) && !errors.Is(err, unix.ECONNRESET) {
		conn.Close()
		return nil, fmt.Errorf("cannot greet informerd: %w", err)
	}
	p, err := receive(conn, make([]byte, 4096))
	if err == nil && p.kind == msgRefused {
		err = p.refusal(packetHead)
	} else if err == nil && (p.kind != msgWelcome || len(p.bytes) != welcomeBytes || len(p.files) != packetFiles) {
		err = errPacket
	}
	if err != nil {
		if p != nil {
			p.close()
		}
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil, errors.New("informerd does not answer: is it stopped?")
		}
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	m, err := newMapping(p.files[0], p.files[1], p.files[2], conn)
	if err != nil || !c.options.Verify {
		return m, err
	}
	if p.bytes.u32(welcomeHasKey) == 0 {
		m.retire()
		return nil, fmt.Errorf("informerd gave no keys, so nothing can be verified: %w", ErrRefused)
	}
	m.verify(p.bytes[welcomeKeys:welcomeBytes])
	return m, nil
}

// makeCurrent lets snapshots begin on a mapping. Its predecessor stays mapped while it is read. If both are
// the same arena, informerd may stop scanning the old slot, which protects our snapshots: they expire.
func (c *core) makeCurrent(m *mapping) {
	old := c.current.Load()
	if old != nil && old.generation == m.generation && old.incarnation == m.incarnation {
		old.close()
	}
	c.tell(func() { c.attaches++ })
	if m.memoBytes = int64(c.options.DecodeBytes); m.memoBytes == 0 {
		m.memoBytes = memoBytesDefault
	}
	c.current.Store(m)
	if old != nil {
		old.retire()
	}
}

// nobodyListens: err is why. If the handle has nothing to read, it makes what the last informerd left current.
// Returns why there is no informerd.
func (c *core) nobodyListens(err error) error {
	if !c.options.Orphan || c.current.Load() != nil {
		return err
	}
	m, orphanErr := c.findOrphan()
	switch orphanErr {
	case nil:
		c.makeCurrent(m)
		c.options.Logger.Info("attached to what informerd left", "generation", m.generation)
	case unix.ENOENT, unix.EACCES:
	default:
		return orphanErr
	}
	return err
}

// serve reads what informerd sends, until it hangs up or the handle is closed.
func (c *core) serve(m *mapping) error {
	stop := context.AfterFunc(c.ctx, func() { m.conn.SetReadDeadline(time.Now()) })
	defer stop()
	go c.listen(m.event)
	for buffer := make([]byte, packetMax); ; {
		p, err := receive(m.conn, buffer)
		if err == nil {
			err = c.take(m, p)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			return fmt.Errorf("informerd closed the connection: %w", ErrNotReady)
		case !errors.Is(err, ErrRefused) && !errors.Is(err, ErrNotReady) && c.ctx.Err() == nil:
			m.close() // we hang up first, so open snapshots must expire before
		}
		return err
	}
}

// take handles a packet of an attached handle's connection.
func (c *core) take(m *mapping, p *packet) error {
	defer p.close()
	switch p.kind {
	case msgRefused:
		return p.refusal(packetHead)
	case msgSubscribed:
		return c.takeSubscribed(m, p)
	case msgUnsubscribed:
		return c.takeUnsubscribed(m, p)
	}
	return errPacket
}

// listen wakes waiters when the eventfd is signalled, until it is closed.
func (c *core) listen(event *os.File) {
	for count := make([]byte, 8); ; {
		if _, err := event.Read(count); err != nil {
			return
		}
		c.tell(func() {})
	}
}
