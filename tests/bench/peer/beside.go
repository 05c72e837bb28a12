// SPDX-License-Identifier: Apache-2.0

package main

// client-go's informer of pods and ours, on one server: what both tell, compared by key.
//
//	peer beside -kubeconfig FILE [-running] COMMAND...
//	                      COMMAND is an informerctl changes pods; prints "ready PID" of it when both have told what is there.
//	                      -running: client-go's handler filters by status.phase=Running, as COMMAND has to.
//	                      Ends with an error if client-go cannot list what is there, or COMMAND ends
//	compare SECONDS       until the last of each key is the same for both (present: UID and RV; gone: UID), at most so long, and
//	                      then the whole: without COALESCED each key has the same (type, UID, RV) in the same order; with it
//	                      nothing is told that client-go did not tell, in its order. "same KEYS EVENTS OURS COALESCED", or
//	                      "other: " and the first difference

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// told is one event of a key.
type told struct{ Type, UID, RV string }

// state is what an event leaves of its key.
func (t told) state() told {
	if t.Type == "DELETED" {
		return told{"gone", t.UID, ""}
	}
	return told{"present", t.UID, t.RV}
}

// side is what one of the two told.
type side struct {
	mu        sync.Mutex
	keys      map[string][]told
	events    int
	coalesced int
}

func (s *side) tell(key string, event told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[key] = append(s.keys[key], event)
	s.events++
}

func (s *side) informed(kind string, object any) {
	if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	pod := object.(*corev1.Pod)
	s.tell(pod.Namespace+"/"+pod.Name, told{kind, string(pod.UID), pod.ResourceVersion})
}

// read takes the lines of informerctl changes.
func (s *side) read(lines *bufio.Scanner) {
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var line struct {
			Type   string
			Object *struct {
				Metadata struct{ Namespace, Name, UID, ResourceVersion string }
			}
		}
		die(json.Unmarshal(lines.Bytes(), &line))
		if line.Object == nil {
			s.mu.Lock()
			s.coalesced++
			s.mu.Unlock()
			continue
		}
		m := line.Object.Metadata
		s.tell(m.Namespace+"/"+m.Name, told{line.Type, m.UID, m.ResourceVersion})
	}
}

// lastDiffers names a key whose last event is not the same.
func lastDiffers(theirs, ours *side) string {
	for key, events := range theirs.keys {
		last, mine := events[len(events)-1].state(), ours.keys[key]
		if len(mine) == 0 && last.Type == "gone" {
			continue // it came and went while ours was not looking
		}
		if len(mine) == 0 || mine[len(mine)-1].state() != last {
			return fmt.Sprint(key, ": client-go's last is ", last, ", ours ", mine)
		}
	}
	for key := range ours.keys {
		if theirs.keys[key] == nil {
			return fmt.Sprint(key, ": only ours knows it")
		}
	}
	return ""
}

// wayDiffers names a key that did not come to its end in the same way.
func wayDiffers(theirs, ours *side) string {
	for key, events := range theirs.keys {
		mine := ours.keys[key]
		if ours.coalesced == 0 {
			if !slices.Equal(events, mine) {
				return fmt.Sprint(key, ": client-go told ", events, ", ours ", mine)
			}
			continue
		}
		at := 0
		for _, event := range mine {
			for at < len(events) && events[at].state() != event.state() {
				at++
			}
			if at == len(events) {
				return fmt.Sprint(key, ": ours told ", event, ", which client-go did not, or before: ", events)
			}
		}
	}
	return ""
}

func compare(theirs, ours *side, seconds float64) {
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	for {
		theirs.mu.Lock()
		ours.mu.Lock()
		why := lastDiffers(theirs, ours)
		done := why == "" || time.Now().After(end)
		if why == "" {
			why = wayDiffers(theirs, ours)
		}
		if done && why == "" {
			fmt.Println("same", len(theirs.keys), theirs.events, ours.events, ours.coalesced)
		} else if done {
			fmt.Println("other:", why)
		}
		ours.mu.Unlock()
		theirs.mu.Unlock()
		if done {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func besideMain(args []string) {
	fs := flag.NewFlagSet("beside", flag.ExitOnError)
	kubeconfig := fs.String("kubeconfig", "", "")
	running := fs.Bool("running", false, "")
	fs.Parse(args)
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	die(err)
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	die(err)
	theirs, ours := &side{keys: map[string][]told{}}, &side{keys: map[string][]told{}}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	die(informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) {
		if !informer.HasSynced() {
			die(err) // the server is there, or the test would not have come to this
		}
	}))
	handler, err := informer.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(object any) bool {
			if last, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = last.Obj
			}
			return !*running || object.(*corev1.Pod).Status.Phase == corev1.PodRunning
		},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { theirs.informed("ADDED", object) },
			UpdateFunc: func(_, object any) { theirs.informed("MODIFIED", object) },
			DeleteFunc: func(object any) { theirs.informed("DELETED", object) },
		},
	})
	die(err)
	factory.Start(make(chan struct{}))

	command := exec.Command(fs.Arg(0), fs.Args()[1:]...)
	command.Stderr = os.Stderr
	lines, err := command.StdoutPipe()
	die(err)
	die(command.Start())
	var ending atomic.Bool
	go func() {
		ours.read(bufio.NewScanner(lines))
		if !ending.Load() {
			die(fmt.Errorf("%v has ended", fs.Args()))
		}
	}()
	same := func() bool {
		theirs.mu.Lock()
		defer theirs.mu.Unlock()
		ours.mu.Lock()
		defer ours.mu.Unlock()
		return lastDiffers(theirs, ours) == ""
	}
	for !handler.HasSynced() || !same() {
		time.Sleep(10 * time.Millisecond)
	}
	fmt.Println("ready", command.Process.Pid)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var seconds float64
		fmt.Sscanf(in.Text(), "compare %g", &seconds)
		compare(theirs, ours, seconds)
	}
	ending.Store(true)
	command.Process.Kill()
	command.Wait()
}
