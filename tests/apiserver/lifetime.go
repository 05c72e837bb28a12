// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	restclient "k8s.io/client-go/rest"
)

// endWithParent has the kernel send SIGTERM when the parent ends. The request
// belongs to the thread that makes it, so that thread must not end before.
func endWithParent() {
	runtime.LockOSThread()
	parent := os.Getppid()
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "apiserver: does not end with its parent:", err)
	}
	if os.Getppid() != parent { // it ended meanwhile
		_ = syscall.Kill(os.Getpid(), syscall.SIGTERM)
	}
}

// dataDirectory makes the directory, and says how to be rid of it: one that was
// named stays.
func dataDirectory(named string) (dir string, remove func(), err error) {
	if named == "" {
		dir, err = os.MkdirTemp("", "informer-apiserver-")
		return dir, func() { _ = os.RemoveAll(dir) }, err
	}
	if dir, err = filepath.Abs(named); err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	return dir, func() {}, err
}

// announce prints the READY line when /readyz says ok: everything is loaded then.
func (s *server) announce(ctx context.Context) {
	client, err := restclient.HTTPClientFor(s.config.LoopbackClientConfig)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		return
	}
	for ctx.Err() == nil {
		if resp, err := client.Get(s.config.LoopbackClientConfig.Host + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				fmt.Printf("READY url=%s kubeconfig=%s pid=%d\n", s.url, s.options.kubeconfig, os.Getpid())
				return
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// writeKubeconfig replaces the file whole: who waits for it never reads a half.
func writeKubeconfig(path, url, caFile, token string) error {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return err
	}
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: apiserver
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: admin
  user:
    token: %q
contexts:
- name: apiserver
  context:
    cluster: apiserver
    user: admin
current-context: apiserver
`, url, base64.StdEncoding.EncodeToString(ca), token)
	beside := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	if err := os.WriteFile(beside, []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(beside, path)
}
