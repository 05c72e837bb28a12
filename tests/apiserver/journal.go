// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync"

	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/endpoints/responsewriter"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

const journalLines = 8192

// journal is what was asked and answered, in informer-sim's words (informer-sim(1),
// /sim/log) as far as they can be known without reading the answers:
//
//	LIST pods rv=0 limit=500 -> 200
//
// What the server asks of itself is left out.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(line string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.lines) == journalLines {
		j.lines = j.lines[1:]
	}
	j.lines = append(j.lines, line)
}

// around writes a line for each request as its answer begins.
func (j *journal) around(h http.Handler, resolver request.RequestInfoResolver) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		info, err := resolver.NewRequestInfo(r)
		itself := r.TLS != nil && r.TLS.ServerName == genericapiserver.LoopbackClientServerNameOverride
		if err == nil && !itself && !strings.HasPrefix(r.URL.Path, "/sim/") {
			w = responsewriter.WrapForHTTP1Or2(&noted{ResponseWriter: w, journal: j, line: reads(r, info)})
		}
		h.ServeHTTP(w, r)
	})
}

// ServeHTTP is /sim/log.
func (j *journal) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r.Method == http.MethodDelete {
		j.lines = nil
	}
	for _, line := range j.lines {
		fmt.Fprintln(w, line)
	}
}

type noted struct {
	http.ResponseWriter
	journal *journal
	line    string
	told    bool
}

func (n *noted) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n *noted) WriteHeader(code int) {
	if !n.told {
		n.told = true
		n.journal.add(fmt.Sprintf("%s -> %d", n.line, code))
	}
	n.ResponseWriter.WriteHeader(code)
}

func (n *noted) Write(b []byte) (int, error) {
	if !n.told {
		n.WriteHeader(http.StatusOK)
	}
	return n.ResponseWriter.Write(b)
}

// reads is how a request reads as a line.
func reads(r *http.Request, info *request.RequestInfo) string {
	if !info.IsResourceRequest {
		return r.Method + " " + r.URL.String()
	}
	query := r.URL.Query()
	verb := strings.ToUpper(info.Verb)
	if verb == "WATCH" && query.Get("sendInitialEvents") == "true" {
		verb = "WATCHLIST"
	}
	line := verb + " " + info.Resource
	if info.APIGroup != "" {
		line += "." + info.APIGroup
	}
	if info.Name != "" {
		line += " " + info.Name
	}
	if info.Subresource != "" {
		line += "/" + info.Subresource
	}
	if info.Namespace != "" {
		line += " in " + info.Namespace
	}
	if verb != "LIST" && !strings.HasPrefix(verb, "WATCH") {
		return line
	}
	for _, p := range [][2]string{{"resourceVersion", "rv"}, {"resourceVersionMatch", "match"}, {"limit", "limit"},
		{"timeoutSeconds", "timeout"}, {"labelSelector", "labels"}, {"fieldSelector", "fields"}} {
		if value := query.Get(p[0]); value != "" {
			line += " " + p[1] + "=" + value
		}
	}
	if query.Get("allowWatchBookmarks") == "true" {
		line += " bookmarks"
	}
	return line
}
