// SPDX-License-Identifier: Apache-2.0

package main

// A server of pods, as quick as can be, so that what is measured is who asks it: every pod's event is kept as bytes, in JSON and in
// protobuf, and a change writes a new version and the time into a copy of them.
//
//	peer serve -pods DIR -n N -addr ADDRESS:PORT    prints "serving N pods on ADDRESS:PORT"
//	GET /api/v1/pods                     list, with pages, and watch, with initial events; /api/v1 is the discovery informerd asks for
//	GET /churn?rate=R&n=N                makes N changes at R a second (0: as fast as the slowest watcher takes them), then answers
//	GET /bench/traffic                   "REQUESTS BYTES": to /api, and sent by this process

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	jsonModified = `{"type":"MODIFIED","object":`
	jsonKind     = `{"kind":"Pod","apiVersion":"v1",`
	eventsKept   = 1 << 14
)

// event is a pod's MODIFIED event, never changed once it is made.
type event struct {
	text            []byte
	versionAt, made int // where they are in the text
}

func newEvent(text []byte) event {
	return event{text, bytes.Index(text, versionText(firstVersion)), bytes.Index(text, []byte(strconv.Itoa(firstMade)))}
}

// changed at a time, to a version.
func (e event) changed(version, ns int64) event {
	text := bytes.Clone(e.text)
	copy(text[e.versionAt:], versionText(version))
	copy(text[e.made:], strconv.FormatInt(ns, 10))
	return event{text, e.versionAt, e.made}
}

func versionText(version int64) []byte { return strconv.AppendInt(nil, version, 10) }

// pod in both encodings.
type pod struct{ json, protobuf event }

func newPod(text []byte) pod {
	encoded, err := decodePod(text).Marshal()
	die(err)
	return pod{
		newEvent(bytes.Join([][]byte{[]byte(jsonModified + jsonKind), text[1:], []byte("}\n")}, nil)),
		newEvent(watchEvent("MODIFIED", encoded))}
}

func (p *pod) event(protobuf bool) []byte {
	if protobuf {
		return p.protobuf.text
	}
	return p.json.text
}

// object as a watch has it: in JSON with kind and version, in protobuf its own bytes.
func (p *pod) object(protobuf bool) []byte {
	if protobuf {
		return podOf(p.protobuf.text)
	}
	return p.json.text[len(jsonModified) : len(p.json.text)-len("}\n")]
}

type server struct {
	mu       sync.RWMutex
	changed  *sync.Cond // a new event, or a watcher that went on
	pods     []pod
	version  int64
	kept     [eventsKept]pod
	events   int64 // so many there were; the newest is kept[(events - 1) % eventsKept]
	watchers map[*watcher]bool
}

// Counted by all.
var apiRequests, bytesSent atomic.Int64

type countedListener struct{ net.Listener }
type countedConnection struct{ net.Conn }

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConnection{c}, err
}

func (c countedConnection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	bytesSent.Add(int64(n))
	return n, err
}

func serveMain(args []string) {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	directory := flags.String("pods", "", "a folder of pods, a file each")
	n := flags.Int("n", 10000, "pods")
	address := flags.String("addr", "127.0.0.1:0", "to listen on")
	flags.Parse(args)
	debug.SetGCPercent(400)

	maker := newPodMaker(*directory, *n)
	s := &server{version: firstVersion, watchers: map[*watcher]bool{}}
	s.changed = sync.NewCond(&s.mu)
	for i := range *n {
		s.pods = append(s.pods, newPod(maker.json(i)))
	}
	debug.FreeOSMemory()

	api := http.NewServeMux()
	api.HandleFunc("/api/v1", discovery)
	api.HandleFunc("/api/v1/pods", func(w http.ResponseWriter, r *http.Request) {
		protobuf := strings.Contains(r.Header.Get("Accept"), "protobuf")
		if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
			s.watch(w, r, protobuf)
		} else {
			s.list(w, r, protobuf)
		}
	})
	counted := func(w http.ResponseWriter, r *http.Request) {
		apiRequests.Add(1)
		api.ServeHTTP(w, r)
	}
	all := http.NewServeMux()
	all.HandleFunc("/", counted)
	all.HandleFunc("/churn", s.churn)
	all.HandleFunc("/bench/traffic", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, apiRequests.Load(), bytesSent.Load())
	})
	listener, err := net.Listen("tcp", *address)
	die(err)
	fmt.Println("serving", *n, "pods on", listener.Addr())
	die(http.Serve(countedListener{listener}, all))
}

func discovery(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"pods","singularName":"pod",`+
		`"namespaced":true,"kind":"Pod","verbs":["get","list","watch"],"shortNames":["po"]}]}`)
}

func (s *server) list(w http.ResponseWriter, r *http.Request, protobuf bool) {
	query := r.URL.Query()
	s.mu.RLock()
	version := s.version
	from, to, token := 0, len(s.pods), ""
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && query.Get("resourceVersion") != "0" {
		if given := query.Get("continue"); given != "" {
			fmt.Sscanf(given, "%d.%d", &version, &from)
		}
		if from+limit < to {
			to = from + limit
			token = fmt.Sprintf("%d.%d", version, to)
		}
	}
	left := len(s.pods) - to
	objects := make([][]byte, 0, to-from)
	for i := from; i < to; i++ {
		objects = append(objects, s.pods[i].object(protobuf))
	}
	s.mu.RUnlock()
	if protobuf {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		w.Write(podList(version, token, objects))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	out := bufio.NewWriterSize(w, 1<<18)
	fmt.Fprintf(out, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"%d"`, version)
	if token != "" {
		fmt.Fprintf(out, `,"continue":%q,"remainingItemCount":%d`, token, left)
	}
	out.WriteString(`},"items":[`)
	for i, object := range objects {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('{')
		out.Write(object[len(jsonKind):])
	}
	out.WriteString("]}\n")
	out.Flush()
}

func (s *server) churn(w http.ResponseWriter, r *http.Request) {
	rate, _ := strconv.ParseFloat(r.URL.Query().Get("rate"), 64)
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	random := rand.New(rand.NewSource(time.Now().UnixNano()))
	never := func() bool { return false }
	pace(rate, n, never, func(int) {
		s.mu.Lock()
		for rate == 0 && s.slowest() >= 64 {
			s.changed.Wait()
		}
		p := &s.pods[random.Intn(len(s.pods))]
		now := time.Now().UnixNano()
		s.version++
		p.json, p.protobuf = p.json.changed(s.version, now), p.protobuf.changed(s.version, now)
		s.kept[s.events%eventsKept] = *p
		s.events++
		s.changed.Broadcast()
		s.mu.Unlock()
	})
}
