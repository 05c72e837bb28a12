# SPDX-License-Identifier: Apache-2.0
"""
A parser for syslog-ng: labels the log lines of containers from the node's cache. It sets k8s.pod, k8s.namespace,
k8s.container and k8s.workload ("Deployment/web"), also for a Pod that was deleted a short while ago.

Install: copy this file to /etc/syslog-ng/python, write PYTHONPATH=/etc/syslog-ng/python to /etc/default/syslog-ng (and
INFORMER_SOCKET=..., if it is not the default), run "informerd --preset node-agent", and configure syslog-ng:

    source pods { wildcard-file(base-dir("/var/log/containers") filename-pattern("*.log") flags(no-parse)); };
    parser labels { python(class("informer_parser.Labels") options("key" "FILE_NAME")); };
    log { source(pods); parser(labels); destination(...); };

Options:
    key      the value that names the container: a file of /var/log/containers, a container's ID (".container_id"),
             or a cgroup's path. Default: FILE_NAME
    wait_ms  how long the first line of an unknown container waits for its Pod. Default: 200
"""
import ctypes
import re
import time
from ctypes import Structure, byref, c_bool, c_char_p, c_int, c_size_t, c_uint32, c_uint64, c_void_p, sizeof

FILE = re.compile(r"(?:.*/)?([^_/]+)_([^_/]+)_(.+)-([0-9a-f]{64})\.log$")
BY_KEY, UNKNOWN_MAX = 0, 4096  # INFORMER_BY_KEY; keys that were waited for in vain


# The structs of informer.h. Those that begin with their size may end with the last field that is read here.
class Object(Structure):
    _fields_ = [("snapshot", c_void_p), ("object", c_void_p), ("ref", c_uint32), ("entry", c_uint32)]


class Text(Structure):
    _fields_ = [("data", c_void_p), ("length", c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode("utf-8", "replace") if self.length else ""


class Container(Structure):
    _fields_ = [("size", c_size_t), ("pod", Object), ("deleted", c_bool), ("kind", c_int), ("previous", c_bool),
                ("state", c_int), ("restart_count", c_uint32), ("name", Text)]


class Workload(Structure):
    _fields_ = [("size", c_size_t), ("cached", c_bool), ("from_names", c_bool), ("object", Object),
                ("group", Text), ("version", Text), ("kind", Text), ("ns", Text), ("name", Text)]


Snapshot, Moment = c_uint64 * 10, c_uint64 * 7
lib = ctypes.CDLL("libinformer.so.0")
for function in (lib.informer_container_of_id, lib.informer_container_of_cgroup):
    function.argtypes = [c_void_p, c_void_p, c_char_p, c_size_t, c_void_p]
lib.informer_find.argtypes = [c_void_p, c_void_p, c_int, c_char_p, c_size_t, c_void_p, c_void_p]


def text_of(getter, pod):
    text = Text()
    getter(byref(pod), byref(text, Text.data.offset), byref(text, Text.length.offset))
    return str(text)


class Labels:
    def init(self, options):
        self.key = options.get("key", "FILE_NAME")
        self.wait_s = int(options.get("wait_ms", 200)) / 1000
        self.unknown = set()
        self.informer, self.pods = c_void_p(), c_void_p()
        return lib.informer_attach(None, byref(self.informer)) == 0 and \
            lib.informer_resource_open(self.informer, b"pods", byref(self.pods)) == 0

    def deinit(self):
        lib.informer_detach(self.informer)

    def parse(self, message):
        key = message[self.key] or b""
        for name, value in self.labels(key if isinstance(key, str) else key.decode("utf-8", "replace")).items():
            message["k8s." + name] = value
        return True

    def labels(self, key):
        deadline = time.monotonic() + (self.wait_s if key and key not in self.unknown else 0)
        while True:
            moment = Moment()
            labels = self.look(key, moment)
            left_ms = int((deadline - time.monotonic()) * 1000)
            if labels or left_ms <= 0:
                break
            lib.informer_wait_commit(self.informer, byref(moment) if moment[0] else None, left_ms)
        if not labels:
            if len(self.unknown) >= UNKNOWN_MAX:
                self.unknown.clear()
            self.unknown.add(key)
        return labels

    def look(self, key, moment):
        """The labels in the newest snapshot, whose moment is set; {}: the Pod is not there, or not yet."""
        snapshot, container, workload = Snapshot(), Container(size=sizeof(Container)), Workload(size=sizeof(Workload))
        if lib.informer_begin(self.informer, byref(snapshot)) < 0:
            return {}
        try:
            lib.informer_snapshot_moment(byref(snapshot), byref(moment))
            name, pod = self.find(snapshot, key, container), container.pod
            if name is None or lib.informer_workload(byref(pod), byref(workload)) < 0:
                return {}
            return {"namespace": text_of(lib.informer_object_namespace, pod), "container": name,
                    "pod": text_of(lib.informer_object_name, pod), "workload": f"{workload.kind}/{workload.name}"}
        finally:
            lib.informer_end(byref(snapshot))

    def find(self, snapshot, key, container):
        """Sets container.pod and returns the container's name, "" if unknown; None: the Pod is not found."""
        file = FILE.match(key)
        find = lib.informer_container_of_cgroup if key.startswith("/") and not file else lib.informer_container_of_id
        value = (file[4] if file else key).encode()
        if find(byref(snapshot), self.pods, value, len(value), byref(container)) == 0:
            return str(container.name) or (file[3] if file else "")
        # the kubelet reports a new container's ID about a second after its start; the Pod is known before
        value = f"{file[2]}/{file[1]}".encode() if file else b""
        r = lib.informer_find(byref(snapshot), self.pods, BY_KEY, value, len(value), byref(container.pod), None)
        return file[3] if file and r == 0 else None
