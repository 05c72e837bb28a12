// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"k8s.io/component-base/metrics/legacyregistry"
)

// The pages of informer-sim that its tests need here as well. They ask for the
// token as everything else does.
func (s *server) addControl() {
	mux := s.generic.Handler.NonGoRestfulMux
	mux.HandleFunc("/sim/stats", s.stats)
	mux.HandleFunc("/sim/churn", s.setChurn)
	mux.HandleFunc("/sim/commits", s.commits)
	mux.HandleFunc("/sim/compact", s.compact)
	mux.Handle("/sim/log", &s.journal)
}

func (s *server) stats(w http.ResponseWriter, _ *http.Request) {
	s.churn.mu.Lock()
	churn := map[string]any{"rate": s.churn.rate, "done": s.churn.done, "remaining": s.churn.remaining, "running": s.churn.running}
	s.churn.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"resourceVersion": s.etcd.revision(), "watches": watches(), "churn": churn,
		"bytesSent": s.sent.Load()})
}

// watches are those open now, by the server's own count.
func watches() (n int) {
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return 0
	}
	for _, family := range families {
		if family.GetName() != "apiserver_longrunning_requests" {
			continue
		}
		for _, metric := range family.GetMetric() {
			n += int(metric.GetGauge().GetValue())
		}
	}
	return n
}

func (s *server) setChurn(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	rate, err := strconv.ParseFloat(query.Get("rate"), 64)
	count := uint64(0)
	if text := query.Get("count"); err == nil && text != "" {
		count, err = strconv.ParseUint(text, 10, 64)
	}
	if r.Method != http.MethodPost || err != nil || !(rate >= 0 && rate <= 1e6) {
		http.Error(w, "say POST /sim/churn?rate=R[&count=N]: R changes a second (0 stops), N changes in all; &stamp=ANNOTATION: with the time in it; &create=PREFIX: stamped new pods", http.StatusBadRequest)
		return
	}
	s.churn.set(rate, count, query.Get("stamp"), query.Get("create"))
	s.stats(w, r)
}

// commits are the stamped changes of the newest churn, [[RV, µs since 1970], ...]: when its writer was told
// that they are in the store.
func (s *server) commits(w http.ResponseWriter, _ *http.Request) {
	s.churn.mu.Lock()
	made := s.churn.commits
	s.churn.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	before := "["
	for _, c := range made {
		fmt.Fprintf(w, "%s[%s,%d]", before, c.rv, c.us)
		before = ",\n"
	}
	if len(made) == 0 {
		fmt.Fprint(w, before)
	}
	fmt.Fprintln(w, "]")
}

func (s *server) compact(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "say POST /sim/compact", http.StatusBadRequest)
		return
	}
	if _, err := s.etcd.compact(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	s.stats(w, r)
}
