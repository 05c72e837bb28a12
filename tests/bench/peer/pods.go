// SPDX-License-Identifier: Apache-2.0

package main

// The pods: those of a folder, a file each, and replicas of them as JSON text. Pod i is always the same text. Names, namespaces and nodes
// are given as ../pods.c gives them (PODS_SPREAD): 1,000 pods in a namespace, 50 on a node.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
)

const (
	madeAnnotation = "peer.example/ts" // when a change was made, in ns; as wide at any time, so that it is changed in place
	firstVersion   = 1000000000        // all pods' resourceVersion at first: as wide as later ones
	firstMade      = 1000000000000000000

	markName, markNamespace, markUID = "@@NAME@@", "@@NS@@", "@@UID@@"
	markNode, markIP                 = "@@NODE@@", "@@IP@@"
	markMade, markVersion            = "7777777777777777777", "8888888888"
)

type template struct {
	name, namespace string
	text            string // with marks where replicas differ
	original        []byte
}

type podMaker struct {
	templates []template
	pods      int
	nodes     int
}

func newPodMaker(directory string, pods int) *podMaker {
	files, err := filepath.Glob(filepath.Join(directory, "*.json"))
	die(err)
	if len(files) == 0 {
		die(fmt.Errorf("no pods in %q", directory))
	}
	sort.Strings(files)
	m := &podMaker{pods: pods, nodes: max(1, pods/50)}
	for _, file := range files {
		text, err := os.ReadFile(file)
		die(err)
		m.templates = append(m.templates, newTemplate(bytes.TrimSpace(text)))
	}
	return m
}

func newTemplate(original []byte) template {
	var p corev1.Pod
	die(json.Unmarshal(original, &p))
	t := template{name: p.Name, namespace: p.Namespace, original: original}
	p.Name, p.Namespace, p.UID = markName, markNamespace, markUID
	p.ResourceVersion = markVersion
	p.Spec.NodeName = markNode
	if p.Annotations == nil {
		p.Annotations = map[string]string{}
	}
	p.Annotations[madeAnnotation] = markMade
	if p.Status.PodIP != "" {
		p.Status.PodIP = markIP
		for i := range p.Status.PodIPs {
			p.Status.PodIPs[i].IP = markIP
		}
	}
	text, err := json.Marshal(&p)
	die(err)
	t.text = string(text)
	return t
}

func (m *podMaker) template(i int) *template { return &m.templates[i%len(m.templates)] }

// suffix is five letters that no other i below 27^5 has.
func suffix(i int) string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	x := (uint64(i)*2654435761 + 12345) % 14348907 // 27^5; 2654435761 is coprime to 3
	var b [5]byte
	for k := range b {
		b[k] = letters[x%27]
		x /= 27
	}
	return string(b[:])
}

func (m *podMaker) name(i int) string {
	name := m.template(i).name
	return name[:max(1, len(name)-5)] + suffix(i)
}

func (m *podMaker) namespace(i int) string {
	return fmt.Sprintf("%s-%04d", m.template(i).namespace, i/1000)
}

func (m *podMaker) key(i int) string { return m.namespace(i) + "/" + m.name(i) }

func nodeName(k int) string {
	return fmt.Sprintf("ip-10-%d-%d-%d.us-east-2.compute.internal", k>>16&255, k>>8&255, k&255)
}

// json is pod i.
func (m *podMaker) json(i int) []byte {
	return []byte(strings.NewReplacer(
		markName, m.name(i), markNamespace, m.namespace(i), markNode, nodeName(int(uint64(i)*7919%uint64(m.nodes))),
		markUID, fmt.Sprintf("%08x-5d3f-4a7b-9c1e-%012x", uint32(i)*2654435761, uint64(i)*0x9E3779B97F4A%0xffffffffffff),
		markIP, fmt.Sprintf("10.%d.%d.%d", 128+i>>16&127, i>>8&255, i&255),
		markVersion, fmt.Sprint(firstVersion), markMade, fmt.Sprint(firstMade)).Replace(m.template(i).text))
}

// decodePod as client-go decodes JSON.
func decodePod(text []byte) *corev1.Pod {
	p := &corev1.Pod{}
	die(kjson.UnmarshalCaseSensitivePreserveInts(text, p))
	return p
}

// byNode is the index that both sides have.
func byNode(o any) ([]string, error) {
	return []string{o.(*corev1.Pod).Spec.NodeName}, nil
}
