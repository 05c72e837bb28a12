// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// ContainerKind is in which list of its Pod a container is.
type ContainerKind uint8

const (
	ContainerUnknown   ContainerKind = iota // only the Pod is known
	ContainerRegular                        // a container
	ContainerInit                           // also a sidecar: an init container that keeps running
	ContainerEphemeral                      // added to a running Pod, as by kubectl debug
)

// ContainerState is what the kubelet reported of a container.
type ContainerState uint8

const (
	ContainerNoState ContainerState = iota
	ContainerWaiting
	ContainerRunning
	ContainerTerminated
)

// A Container is a container, as the kubelet reported it last. Texts are empty where nothing is known.
type Container struct {
	Pod Object // it may be deleted: Object.Deletion tells when
	// ContainerUnknown: the Pod's status does not have this container. It is the Pod's sandbox, or the kubelet
	// has not reported the container yet. All below but ID is empty then.
	Kind         ContainerKind
	Previous     bool           // ID is that of the container's last run; the container has been restarted since
	State        ContainerState // of this run
	RestartCount uint32         // of the container
	ID           string         // the whole ID, without a scheme; "" if the path has none
	Name         string
	Image        string
	ImageID      string
}

const (
	containerIDMax     = 127
	containerPrefixMin = 12 // characters of an ID, as docker and crictl show IDs
)

// ContainerByID finds a container by its ID, mostly 64 hexadecimal digits, or by 12 to 63 characters with which
// its ID begins. The id may begin with a scheme ("containerd://"). A container whose whole ID this is comes
// first, and a Pod that is present comes before a deleted one.
//
// Errors: ErrNotFound (no Pod has this container, or not yet), ErrAmbiguous (the IDs of several containers of
// present Pods begin so or, if no present Pod has one, of deleted Pods), ErrNoIndex; else as Get.
func (s Snapshot) ContainerByID(pods *Resource, id string) (Container, error) {
	id = stripScheme(id)
	if len(id) > containerIDMax {
		return Container{}, ErrNotFound
	}
	pod, err := s.Find(pods, ByContainerID, id)
	if err == ErrNotFound && len(id) >= containerPrefixMin && len(id) < containerDigits {
		if id, err = s.completeID(pods, id); err == nil {
			pod, err = s.Find(pods, ByContainerID, id)
		}
	}
	if err != nil {
		return Container{}, err
	}
	return pod.container(id)
}

// ContainerByCgroup finds the container that a cgroup belongs to, or the Pod alone where the cgroup is the Pod's
// own, its sandbox's or a monitor's (conmon). path is a path in a cgroup hierarchy, with or without its mount
// point, or lines of /proc/PID/cgroup. Paths of version 1 and 2, of the cgroupfs and the systemd driver, of
// nested cgroups and of nodes that are containers are known.
//
// Errors: ErrType (the path names no Pod and no container), ErrNotFound (those that it names are not in the
// snapshot, or not yet), ErrNoIndex; else as Get.
func (s Snapshot) ContainerByCgroup(pods *Resource, path string) (Container, error) {
	c := cgroupPath{text: path}
	err := fmt.Errorf("the cgroup names no Pod and no container: %w", ErrType)
	// of nested clusters, the outermost that this cache knows
	for place, ok := c.next(); ok; place, ok = c.next() {
		var found Container
		if found, err = s.containerOf(pods, &place); err != ErrNotFound {
			return found, err
		}
	}
	return Container{}, err
}

// ContainerByPID finds the container that a process runs in, by /proc/PID/cgroup; $HOST_PROC replaces /proc. pid
// is as this process's /proc numbers it: in a container, that needs hostPID or the host's /proc. start is the
// process's start, field 22 of /proc/PID/stat: it guards against a pid that was used again; 0: any process.
//
// Errors: as ContainerByCgroup; unix.ESRCH (no such process, or another one now), unix.EACCES.
func (s Snapshot) ContainerByPID(pods *Resource, pid int, start uint64) (Container, error) {
	text, err := processCgroup(pid, start)
	if err != nil {
		return Container{}, err
	}
	return s.ContainerByCgroup(pods, text)
}

// containerOf: the Pod's UID comes first, because it is there before the kubelet reports the container's ID.
func (s Snapshot) containerOf(pods *Resource, place *cgroupPlace) (Container, error) {
	pod, err := Object{}, ErrNotFound
	if place.uid != "" {
		pod, err = s.Find(pods, ByUID, place.uid)
	}
	if err == ErrNotFound && place.id != "" {
		pod, err = s.Find(pods, ByContainerID, place.id)
	}
	if err != nil {
		return Container{}, err
	}
	return pod.container(place.id)
}

// prefixed collects different container IDs that begin so; of more than two, the first two.
type prefixed struct {
	prefix string
	ids    []string
}

// completeID is the only ID that begins so: of the present Pods, or else of the deleted ones.
func (s Snapshot) completeID(pods *Resource, prefix string) (string, error) {
	found := prefixed{prefix: prefix}
	for pod, err := range s.ByIndexPrefix(pods, "containerID", prefix) {
		if err == nil {
			err = pod.collect(&found)
		}
		if err != nil {
			return "", err
		}
		if len(found.ids) > 1 {
			break
		}
	}
	if len(found.ids) == 0 {
		if err := s.collectDeleted(pods, &found); err != nil {
			return "", err
		}
	}
	switch len(found.ids) {
	case 0:
		return "", ErrNotFound
	case 1:
		return found.ids[0], nil
	}
	return "", fmt.Errorf("'%s' is ambiguous: it begins the IDs of containers such as %s and %s: %w", prefix,
		found.ids[0], found.ids[1], ErrAmbiguous)
}

func (s Snapshot) collectDeleted(pods *Resource, found *prefixed) error {
	_, err := read(s, func(p *pin) (none struct{}, err error) {
		b, err := p.bind(pods)
		if err != nil {
			return none, err
		}
		for i := range b.parts {
			p.findDeleted(&b.parts[i], ByContainerID, &question{found.prefix, true}, func(_, at, end uint64) bool {
				found.collect(p, &Object{s: s, at: at, end: end})
				return len(found.ids) > 1
			})
		}
		return none, nil
	})
	return err
}

func (o *Object) collect(found *prefixed) error {
	_, err := read(o.s, func(p *pin) (none struct{}, err error) {
		found.collect(p, o)
		return none, nil
	})
	return err
}

var statusLists = []struct {
	name string
	kind ContainerKind
}{{"containerStatuses", ContainerRegular}, {"initContainerStatuses", ContainerInit},
	{"ephemeralContainerStatuses", ContainerEphemeral}}

// collect adds a Pod's container IDs that begin so; last runs do not count.
func (found *prefixed) collect(p *pin, o *Object) {
	d := o.decoder(p)
	status, _, ok := d.in(o.body(&d), "status")
	if !ok {
		return
	}
	for _, list := range statusLists {
		for container := range d.elements(status, list.name) {
			id := stripScheme(string(d.textIn(container, "containerID")))
			if !strings.HasPrefix(id, found.prefix) || len(id) > containerIDMax || len(found.ids) > 1 ||
				len(found.ids) == 1 && found.ids[0] == id {
				continue
			}
			found.ids = append(found.ids, id)
		}
	}
}

// hasID tells whether a containerID, as "containerd://ID", has this ID.
func hasID(text []byte, id string) bool {
	scheme, ok := bytes.CutSuffix(text, bytesOf(id))
	return ok && (len(scheme) == 0 || scheme[len(scheme)-1] == '/')
}

// container is a Pod's container with this ID.
func (o Object) container(id string) (Container, error) {
	return read(o.s, func(p *pin) (c Container, err error) {
		c = Container{Pod: o, ID: id}
		d := o.decoder(p)
		status, _, ok := d.in(o.body(&d), "status")
		if !ok || id == "" {
			return c, nil
		}
		for _, c.Previous = range [...]bool{false, true} {
			for _, list := range statusLists {
				for one := range d.elements(status, list.name) {
					if state, ok := c.run(&d, one); ok {
						c.Kind = list.kind
						c.fill(&d, one, state)
						return c, nil
					}
				}
			}
		}
		c.Previous = false
		return c, nil
	})
}

// run is the state of the run that has the container's ID: this one or, if c.Previous, the last one.
func (c *Container) run(d *decoder, status span) (state span, ok bool) {
	if !c.Previous {
		state, _, _ = d.in(status, "state")
		return state, hasID(d.textIn(status, "containerID"), c.ID)
	}
	if state, _, ok = d.in(status, "lastState"); !ok {
		return state, false
	}
	ended, _, ok := d.in(state, "terminated")
	return state, ok && hasID(d.textIn(ended, "containerID"), c.ID)
}

func (c *Container) fill(d *decoder, status, state span) {
	c.Name = string(d.textIn(status, "name"))
	c.Image = string(d.textIn(status, "image"))
	c.ImageID = string(d.textIn(status, "imageID"))
	if s, tag, ok := d.in(status, "restartCount"); ok && kindOf(tag) == Int {
		c.RestartCount = uint32(min(max(d.integer(s, tag), 0), math.MaxUint32))
	}
	if state.at == state.end {
		return
	}
	// its one field is named like the state
	for i, name := range []string{"terminated", "running", "waiting"} {
		if _, _, ok := d.in(state, name); ok {
			c.State = ContainerTerminated - ContainerState(i)
			return
		}
	}
}
