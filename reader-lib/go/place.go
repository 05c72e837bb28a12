// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	systemSocket = "/run/informer/informer.sock"
	socketMax    = 107
)

// A place is where informerd's socket may be.
type place struct {
	path string
	own  bool // only this user and root may listen there
}

// places are those to try, in order: the named one; else $INFORMER_SOCKET; else the user's own and the
// system's.
func places(named string) ([]place, error) {
	if named == "" {
		named = os.Getenv("INFORMER_SOCKET")
	}
	if len(named) > socketMax {
		return nil, fmt.Errorf("the socket's path %s is longer than %d bytes: %w", named, socketMax,
			unix.ENAMETOOLONG)
	}
	if named != "" {
		return []place{{named, false}}, nil
	}
	var found []place
	if directory := ownDirectory(); os.Geteuid() != 0 && directory != "" {
		if path := directory + "/informer.sock"; len(path) <= socketMax {
			found = append(found, place{path, true})
		}
	}
	return append(found, place{systemSocket, false}), nil
}

func isOurs(directory string) bool {
	st, err := os.Lstat(directory)
	if err != nil || !st.IsDir() {
		return false
	}
	owner, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Geteuid()
}

// ownDirectory is a directory that only this user can write; "": there is none.
func ownDirectory() string {
	if runtime := os.Getenv("XDG_RUNTIME_DIR"); runtime != "" && runtime[0] == '/' {
		return runtime + "/informer"
	}
	uid := os.Geteuid()
	if directory := fmt.Sprintf("/run/user/%d", uid); isOurs(directory) {
		return directory + "/informer"
	}
	directory := fmt.Sprintf("/tmp/informer-%d", uid)
	if _, err := os.Lstat(directory); os.IsNotExist(err) || isOurs(directory) {
		return directory
	}
	return ""
}
