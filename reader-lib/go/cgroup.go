// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Reads the pods and containers that a cgroup's path names, as kubelets and container runtimes write it.
//
//	/kubepods/burstable/pod6f2c…-…/9a0b…                            cgroupfs driver
//	/kubepods.slice/kubepods-pod6f2c_….slice/crio-9a0b….scope       systemd driver
//	/system.slice/kubepods-pod6f2c_….slice:cri-containerd:9a0b…     both, mixed
//	/docker/1c2d…/kubelet/kubepods/pod6f2c…/9a0b…                   a node in a container
//
// The text is a path, or lines of /proc/PID/cgroup. It is split at '/', ':' and line ends. A part is
//
//	a pod        "pod" and a UID: 36 characters, or the 32 of a static pod; '-' may be '_'
//	             "…-" may stand before, ".slice" behind
//	a container  64 hexadecimal digits, at the beginning or after '-' or '_'; ".scope" may stand behind
//	neither      all else; also "…conmon…", the monitor that CRI-O and Podman run beside a container
//
// A container belongs to the pod before it on the same line. What stands below a container is its own affair:
// a second container is left out until another pod begins.
type cgroupPath struct {
	text string
	at   int
}

// A cgroupPlace is what a path names: a pod, a container, or both.
type cgroupPlace struct{ uid, id string }

const (
	containerDigits = 64 // of a whole container ID
	cgroupTextMax   = 16384
)

func (place *cgroupPlace) none() bool { return place.uid == "" && place.id == "" }

func isHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }

// isUUID: 36 characters, with '-' or '_' between the five groups.
func isUUID(text string) bool {
	for i := range len(text) {
		switch i {
		case 8, 13, 18, 23:
			if text[i] != '-' && text[i] != '_' {
				return false
			}
		default:
			if !isHex(text[i : i+1]) {
				return false
			}
		}
	}
	return len(text) == 36
}

// podOf is the UID of the pod that a part names; "": none.
func podOf(part string) string {
	part = strings.TrimSuffix(part, ".slice")
	length := 32
	if len(part) >= 36 && isUUID(part[len(part)-36:]) {
		length = 36
	}
	if len(part) < length {
		return ""
	}
	before, uid := part[:len(part)-length], part[len(part)-length:]
	if length == 32 && !isHex(uid) || before != "pod" && !strings.HasSuffix(before, "-pod") {
		return ""
	}
	return strings.ReplaceAll(uid, "_", "-")
}

// containerOf is the ID of the container that a part names; "": none.
func containerOf(part string) string {
	part = strings.TrimSuffix(part, ".scope")
	if len(part) < containerDigits {
		return ""
	}
	before, id := part[:len(part)-containerDigits], part[len(part)-containerDigits:]
	if !isHex(id) || strings.Contains(part, "conmon") ||
		before != "" && !strings.HasSuffix(before, "-") && !strings.HasSuffix(before, "_") {
		return ""
	}
	return id
}

// next is the next place, outermost first; ok is false at the end.
func (c *cgroupPath) next() (place cgroupPlace, ok bool) {
	for c.at < len(c.text) {
		end := len(c.text)
		if length := strings.IndexAny(c.text[c.at:], "/:\n"); length >= 0 {
			end = c.at + length
		}
		part := c.text[c.at:end]
		if uid := podOf(part); uid != "" {
			if !place.none() { // this pod begins the next place
				return place, true
			}
			place.uid = uid
		} else if place.id == "" {
			place.id = containerOf(part)
		}
		c.at = end + 1
		if end < len(c.text) && c.text[end] == '\n' && !place.none() {
			return place, true
		}
	}
	return place, !place.none()
}

// ---- a process's cgroups

// readIn reads what fits of a file in an open folder.
func readIn(folder int, name string, most int64) ([]byte, error) {
	fd, err := unix.Openat(folder, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// startOf is field 22 of a process's stat. The second field is the program's name in parentheses, and may hold
// anything: count from its end.
func startOf(stat []byte) uint64 {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= 22-3 {
		return 0
	}
	start, _ := strconv.ParseUint(string(fields[22-3]), 10, 64)
	return start
}

// processCgroup reads /proc/PID/cgroup, if the process began at `start` (0: any). $HOST_PROC replaces /proc.
func processCgroup(pid int, start uint64) (string, error) {
	proc := os.Getenv("HOST_PROC")
	if proc == "" {
		proc = "/proc"
	}
	path := proc + "/" + strconv.Itoa(pid)
	text, err := readProcess(path, start)
	switch err {
	case nil:
		return string(text), nil
	case unix.ENOENT:
		err = unix.ESRCH
	}
	if err == unix.ESRCH {
		return "", fmt.Errorf("%s: no such process, or another one has this number now: %w", path, err)
	}
	return "", fmt.Errorf("%s: %w", path, err)
}

// readProcess: all files of an open folder are of one process; reads fail once that process is gone.
func readProcess(path string, start uint64) ([]byte, error) {
	folder, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(folder)
	if start != 0 {
		stat, err := readIn(folder, "stat", 1024)
		if err != nil {
			return nil, bare(err)
		}
		if startOf(stat) != start {
			return nil, unix.ESRCH
		}
	}
	text, err := readIn(folder, "cgroup", cgroupTextMax)
	return text, bare(err)
}

// bare is the errno of what a read failed with.
func bare(err error) error {
	if failed, ok := err.(*os.PathError); ok {
		return failed.Err
	}
	return err
}
