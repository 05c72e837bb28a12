// SPDX-License-Identifier: Apache-2.0

package main

// A watch of the server in serve.go: chunks written to the connection itself, as many events in a write as there are.

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
)

const jsonAdded = `{"type":"ADDED","object":`

type watcher struct {
	next       int64 // the event it is told next; the server's lock is held for it
	gone       bool  // the same
	protobuf   bool
	connection net.Conn
	out        []byte
}

// slowest watcher: events that it has not been told yet. Call it locked.
func (s *server) slowest() int64 {
	lag := int64(0)
	for w := range s.watchers {
		lag = max(lag, s.events-w.next)
	}
	return lag
}

func (w *watcher) chunk(parts ...[]byte) {
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	w.out = append(strconv.AppendInt(w.out, int64(length), 16), "\r\n"...)
	for _, part := range parts {
		w.out = append(w.out, part...)
	}
	w.out = append(w.out, "\r\n"...)
}

// flush reports whether the connection is still there.
func (w *watcher) flush() bool {
	_, err := w.connection.Write(w.out)
	w.out = w.out[:0]
	return err == nil
}

// sendInitial events, and the bookmark that ends them.
func (w *watcher) sendInitial(objects [][]byte, version int64) bool {
	for _, object := range objects {
		if w.protobuf {
			w.chunk(watchEvent("ADDED", object))
		} else {
			w.chunk([]byte(jsonAdded), object, []byte("}\n"))
		}
		if len(w.out) > 1<<18 && !w.flush() {
			return false
		}
	}
	if w.protobuf {
		w.chunk(initialEventsEnd(strconv.FormatInt(version, 10)))
	} else {
		w.chunk(fmt.Appendf(nil, `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"%d",`+
			`"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},"status":{}}}`+"\n", version))
	}
	return true
}

// more events into w.out, once there are any; false when there is nobody to tell, or they are not kept any more.
func (s *server) more(w *watcher) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w.next == s.events && !w.gone {
		s.changed.Wait()
	}
	if w.gone || s.events-w.next > eventsKept {
		return false
	}
	for ; w.next < s.events && len(w.out) < 1<<16; w.next++ {
		w.chunk(s.kept[w.next%eventsKept].event(w.protobuf))
	}
	s.changed.Broadcast()
	return true
}

// begin a watch that is told what comes after the version asked for; or, with initial events, what is there and what comes then.
func (s *server) begin(w *watcher, r *http.Request) (objects [][]byte, version int64, kept bool) {
	query := r.URL.Query()
	s.mu.Lock()
	defer s.mu.Unlock()
	w.next = s.events
	if query.Get("sendInitialEvents") == "true" {
		for i := range s.pods {
			objects = append(objects, s.pods[i].object(w.protobuf))
		}
	} else if from, err := strconv.ParseInt(query.Get("resourceVersion"), 10, 64); err == nil && from > 0 {
		w.next = from - firstVersion
	}
	kept = s.events-w.next <= eventsKept
	if kept {
		s.watchers[w] = true
	}
	return objects, s.version, kept
}

func (s *server) end(w *watcher) {
	s.mu.Lock()
	delete(s.watchers, w)
	w.gone = true
	s.changed.Broadcast()
	s.mu.Unlock()
}

func (s *server) watch(response http.ResponseWriter, r *http.Request, protobuf bool) {
	w := &watcher{protobuf: protobuf}
	objects, version, kept := s.begin(w, r)
	if !kept {
		http.Error(response, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`, http.StatusGone)
		return
	}
	defer s.end(w)
	connection, _, err := http.NewResponseController(response).Hijack()
	if err != nil {
		return
	}
	defer connection.Close()
	w.connection = connection
	contentType := "application/json"
	if protobuf {
		contentType = "application/vnd.kubernetes.protobuf;stream=watch"
	}
	w.out = fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", contentType)
	if r.URL.Query().Get("sendInitialEvents") == "true" && !w.sendInitial(objects, version) {
		return
	}
	go func() {
		io.Copy(io.Discard, connection)
		s.end(w)
	}()
	for w.flush() && s.more(w) {
	}
}
