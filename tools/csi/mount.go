// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	errOutside  = errors.New("not a clean path below the kubelet's pods")
	errOccupied = errors.New("something else is mounted there: delete the Pod")
)

// open gives a folder below one that is open. A symbolic link on the way is refused (ELOOP).
func open(dir int, path string) (*os.File, error) {
	fd, err := unix.Openat2(dir, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, fmt.Errorf("openat2 %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// parent gives the folder of a target, held open, and the target's name in it.
func (d *driver) parent(target string) (*os.File, string, error) {
	below, ok := strings.CutPrefix(target, d.pods+"/")
	if !ok || filepath.Clean(target) != target || filepath.Dir(below) == "." {
		return nil, "", errOutside
	}
	// the pods' folder itself may be reached by links: it is the administrator's
	pods, err := os.OpenFile(d.pods, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, "", err
	}
	defer pods.Close()
	dir, err := open(int(pods.Fd()), filepath.Dir(below))
	return dir, filepath.Base(below), err
}

// shows says whether the folder is a mount point, and if so, of the source, read-only.
func shows(folder, source *os.File) (mounted, same bool, err error) {
	var of unix.Statx_t
	var fs unix.Statfs_t
	there, noFolder := folder.Stat()
	ours, noSource := source.Stat()
	err = errors.Join(noFolder, noSource, unix.Statx(int(folder.Fd()), "", unix.AT_EMPTY_PATH, 0, &of), unix.Fstatfs(int(folder.Fd()), &fs))
	return of.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0, os.SameFile(there, ours) && fs.Flags&unix.ST_RDONLY != 0, err
}

// mount makes the target, and shows the source there, read-only. Nothing is changed where it is so already.
func (d *driver) mount(target string) error {
	dir, name, err := d.parent(target)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Mkdirat(int(dir.Fd()), name, 0o750); err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("mkdirat: %w", err)
	}
	folder, err := open(int(dir.Fd()), name)
	if err != nil {
		return err
	}
	defer folder.Close()
	source, err := os.OpenFile(d.source, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	mounted, same, err := shows(folder, source)
	switch {
	case err != nil || mounted && same:
		return err
	case mounted:
		return errOccupied
	}
	return attach(source, folder)
}

// attach mounts the source there. The mount is read-only before it can be seen: where a step fails, nothing is mounted.
func attach(source, folder *os.File) error {
	tree, err := unix.OpenTree(int(source.Fd()), "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH)
	if err != nil {
		return fmt.Errorf("open_tree: %w", err)
	}
	defer unix.Close(tree)
	// private: what is mounted below the source on the host, or below a target, stays there
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Propagation: unix.MS_PRIVATE,
		Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOEXEC}); err != nil {
		return fmt.Errorf("mount_setattr: %w", err)
	}
	if err := unix.MoveMount(tree, "", int(folder.Fd()), "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH); err != nil {
		return fmt.Errorf("move_mount: %w", err)
	}
	return nil
}

// unmount takes all mounts from the target, and the empty folder. What is gone already is no error.
func (d *driver) unmount(target string) error {
	dir, name, err := d.parent(target)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	for err == nil {
		err = unix.Unmount(fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name), unix.UMOUNT_NOFOLLOW)
	}
	// EINVAL: no mount point, or no longer
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("umount: %w", err)
	}
	// never more than an empty folder: what a mount shows is not the Pod's
	if err := unix.Unlinkat(int(dir.Fd()), name, unix.AT_REMOVEDIR); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("rmdir: %w", err)
	}
	return nil
}
