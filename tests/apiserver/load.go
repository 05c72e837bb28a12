// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
)

// addObjects makes the namespaces every cluster has, then what --load names. It
// is a post-start hook: /readyz waits for it. A restarted server has them already.
func (s *server) addObjects(hook genericapiserver.PostStartHookContext) error {
	for _, name := range []string{"default", "kube-node-lease", "kube-public", "kube-system"} {
		labels := map[string]string{"kubernetes.io/metadata.name": name}
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
		if err := s.create(hook, namespaces, ns); err != nil {
			return err
		}
	}
	for _, path := range s.options.load {
		if err := s.load(hook, path); err != nil {
			return err
		}
	}
	return nil
}

// create adds an object; one that is there already stays as it is.
func (s *server) create(ctx context.Context, r *resource, o runtime.Object) error {
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	// the server's to give
	m.SetResourceVersion("")
	m.SetUID("")
	ctx = request.WithNamespace(ctx, m.GetNamespace())
	_, err = s.stores[r].Create(ctx, o, rest.ValidateAllObjectFunc, &metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *server) load(ctx context.Context, path string) error {
	files := []string{path}
	if stat, err := os.Stat(path); err != nil {
		return err
	} else if stat.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.json")); err != nil {
			return err
		}
		sort.Strings(files)
	}
	for _, file := range files {
		if err := s.loadFile(ctx, file); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return nil
}

// outline is what tells a list from an object, and the objects from each other.
type outline struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
	Spec       struct {
		Containers []json.RawMessage `json:"containers"`
	} `json:"spec"`
}

// loadFile reads one JSON document after the other: objects, or lists of them.
func (s *server) loadFile(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for in := json.NewDecoder(f); ; {
		var raw json.RawMessage
		if err := in.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("before byte %d: %w", in.InputOffset(), err)
		}
		var list outline
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		if list.Items == nil {
			if err := s.loadObject(ctx, raw, list); err != nil {
				return err
			}
			continue
		}
		for _, item := range list.Items {
			of := outline{APIVersion: list.APIVersion, Kind: strings.TrimSuffix(list.Kind, "List")}
			if err := json.Unmarshal(item, &of); err != nil {
				return err
			}
			if err := s.loadObject(ctx, item, of); err != nil {
				return err
			}
		}
	}
}

func (s *server) loadObject(ctx context.Context, raw []byte, of outline) error {
	if of.Kind == "" && of.Spec.Containers != nil { // an item of a list: only pods are known by sight
		of.APIVersion, of.Kind = "v1", "Pod"
	}
	r := find(of.APIVersion, of.Kind)
	if r == nil {
		return fmt.Errorf("kind %q of apiVersion %q is not served (see resources.go)", of.Kind, of.APIVersion)
	}
	o := r.newObject()
	if err := json.Unmarshal(raw, o); err != nil {
		return err
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return err
	}
	name, copies := m.GetName(), 1
	if r == pods {
		copies = s.options.replicas
	}
	for i := range copies {
		one := o.DeepCopyObject()
		if i > 0 {
			if m, err = meta.Accessor(one); err != nil {
				return err
			}
			m.SetName(name + "-" + strconv.Itoa(i))
		}
		if pod, is := one.(*corev1.Pod); is && s.options.nodes > 0 {
			pod.Spec.NodeName = "node-" + strconv.Itoa(s.spread%s.options.nodes)
			s.spread++
		}
		if err := s.create(ctx, r, one); err != nil {
			return err
		}
	}
	return nil
}
