# SPDX-License-Identifier: Apache-2.0
"""The cases that the readers of all languages must pass. README.md has the protocol of their drivers.

suite.py SOCKET URL ARENA_DIRECTORY DRIVER...: each case with each driver, against the API server at URL.
A case is a function whose name begins with case_; its docstring is the promise.
"""
import array
import contextlib
import fcntl
import hashlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

SEED = int(os.environ.get("SEED", time.time_ns() % 100000))
DICE = random.Random(SEED)
LOOKUPS = int(os.environ.get("LOOKUPS", 2000))
PATIENCE = float(os.environ.get("PATIENCE", 60))


COMMANDS = []  # of all drivers


class Failed(Exception):
    pass


def check(condition, *what):
    if not condition:
        raise Failed(" ".join(str(w) for w in what))


class Driver:
    """A process that answers requests."""

    def __init__(self, command, place, **options):
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.ask("attach", socket=place, **options)

    def ask(self, op, **fields):
        """The answer to a request; an answer that does not come within PATIENCE fails the case."""
        line = json.dumps(dict(op=op, **fields))
        watch = threading.Timer(PATIENCE, self.process.kill)
        watch.start()
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        finally:
            watch.cancel()
        if not answer:
            raise Failed("the driver ended with %s at %s" % (self.process.wait(), line))
        return json.loads(answer.decode(errors="replace"))  # a damaged arena's texts may be no UTF-8

    def good(self, op, **fields):
        answer = self.ask(op, **fields)
        check("error" not in answer, op, fields, answer)
        return answer

    def begin(self):
        """Begin a snapshot, within PATIENCE: a reader may be between two arenas."""
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.ask("begin")
            if answer.get("error") != "NOT_READY" or time.monotonic() > end:
                check("error" not in answer, answer)
                return answer
            time.sleep(0.01)

    def objects(self, op, **fields):
        answer = self.good(op, **fields)
        check(answer["end"] == "", op, fields, answer["end"])
        return sorted(tuple(o[:3]) for o in answer["objects"])

    def close(self):
        self.process.stdin.close()
        check(self.process.wait(PATIENCE) == 0, "the driver ended with", self.process.returncode)


class World:
    """The API server, and what it has."""

    def __init__(self, place, url, directory):
        self.place, self.url, self.directory = place, url, directory
        self.pods = self.get("/api/v1/pods")["items"]
        for pod in self.pods:
            pod["metadata"].pop("managedFields", None)
            pod.pop("apiVersion", None)
            pod.pop("kind", None)

    def get(self, path, **query):
        url = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(url) as answer:
            return json.load(answer)

    def ask(self, method, path, body=None):
        data = json.dumps(body).encode() if body else None
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = urllib.request.Request(self.url + path, data, {"Content-Type": kind}, method=method)
        with urllib.request.urlopen(request) as answer:
            return answer.read()

    def post(self, path):
        self.ask("POST", path)


def key(pod):
    meta = pod["metadata"]
    return meta.get("namespace", ""), meta["name"], meta["resourceVersion"]


def keys(pods):
    return sorted(key(pod) for pod in pods)


def of(pod):
    return {"resource": "pods", "namespace": key(pod)[0], "name": key(pod)[1]}


# ---- reading what the API server has

def case_each_object(world, driver):
    """Each object is found by its key, and its JSON is the API server's, in the same order of fields."""
    driver.begin()
    for pod in world.pods:
        got = driver.good("json", **of(pod))["json"]
        check(json.dumps(got) == json.dumps(pod), "not the API server's:", json.dumps(got), json.dumps(pod))
    check(driver.objects("select", resource="pods") == keys(world.pods), "another list")
    info = driver.good("info", resource="pods")
    check(info == {"resource": "pods", "kind": "Pod", "group": "", "objects": len(world.pods), "synced": True}, info)
    driver.good("end")


def quoted(name):
    return '["' + name.replace("\\", "\\\\").replace('"', '\\"') + '"]'


def fields_of(value, path=""):
    """All paths in a value, with what is there."""
    if path:
        yield path, value
    if isinstance(value, dict):
        for name, item in value.items():
            yield from fields_of(item, path + quoted(name))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from fields_of(item, path + "[%d]" % i)


KINDS = {dict: "object", list: "array", str: "string", bool: "bool", int: "int", float: "double", type(None): "null"}


def case_fields(world, driver):
    """Each field of an object is found by its path, with its kind and value; what is absent is not found."""
    driver.begin()
    for pod in DICE.sample(world.pods, min(6, len(world.pods))):
        for path, value in fields_of(pod):
            got = driver.good("field", path=path, **of(pod))
            check(got == {"kind": KINDS[type(value)], "value": value}, path, got, value)
            if isinstance(value, str):
                check(driver.good("text", path=path, **of(pod))["text"] == value, path, value)
            absent = driver.ask("field", path=path + '["nothing"]', **of(pod))
            check(absent.get("error") == "NOT_FOUND", path, absent)
    driver.good("end")


def nested(depth):
    return [nested(depth - 1)] if depth else "bottom"


def case_kinds_of_values(world, driver):
    """Each kind of value is read as it was written."""
    kinds = [
        ("null", None), ("bool", True), ("bool", False), ("int", 0), ("int", 63), ("int", 64), ("int", -1), ("int", -128), ("int", 129),
        ("int", 32768), ("int", -32769), ("int", 2**31), ("int", -2**31 - 1), ("int", 2**47), ("int", -2**55), ("int", 2**63 - 1),
        ("int", -2**63), ("uint", 2**63), ("uint", 2**64 - 1), ("double", 0.5), ("double", -1e-7), ("double", 1e300), ("double", 0.1),
        ("string", ""), ("string", "a"), ("string", "x" * 63), ("string", "x" * 64), ("string", "x" * 255), ("string", "x" * 256),
        ("string", "y" * 65536), ("string", "\u0000\u0001\b\f\n\r\t\"\\/\u007f\u00e9\u20ac\U0001f600"), ("array", []), ("object", {}),
        ("array", [[], {}, None, [1, [2]]]), ("array", [{"a": 1}, {"a": 2}, {"b": {"a": []}}]), ("array", list(range(-100, 300))),
        ("object", {"": "", "a.b": 1, "a b": 2, 'q"uote': 3, "back\\slash": 4, "\u00e9": 5, "*": 6, "[0]": 7}), ("array", nested(60)),
        ("object", {"field%d" % i: i for i in range(300)})]
    created = create(world, "odd", {"kinds": [value for _, value in kinds]})
    it = begin_with(driver, created)
    for i, (kind, value) in enumerate(kinds):
        got = driver.good("field", path="spec.kinds[%d]" % i, **it)
        check(got == {"kind": kind, "value": value}, kind, value, got)
        for path, item in fields_of(value, "spec.kinds[%d]" % i):
            if path.count("[") > 14:  # a path has at most 16 steps
                continue
            check(driver.good("field", path=path, **it)["value"] == item, path, item)
    got = driver.good("json", **it)["json"]
    wanted = {name: value for name, value in created.items() if name not in ("apiVersion", "kind")}
    wanted["metadata"].pop("managedFields", None)
    check(json.dumps(got) == json.dumps(wanted), json.dumps(got)[:500], json.dumps(wanted)[:500])
    driver.good("end")


def values_of(pod):
    """What the indexes of pods have of a pod: (index, value)."""
    meta, spec, status = pod["metadata"], pod.get("spec", {}), pod.get("status", {})
    yield "namespace", meta["namespace"]
    yield "uid", meta["uid"]
    if spec.get("nodeName"):
        yield "nodeName", spec["nodeName"]
    for name, value in meta.get("labels", {}).items():
        yield "labels", name + "=" + value
    for ip in status.get("podIPs", []):
        yield "podIP", ip["ip"]
    for kind in "containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses":
        for container in status.get(kind, []):
            if container.get("containerID"):
                yield "containerID", container["containerID"].split("://", 1)[1]


def case_drawn_lookups(world, driver):
    """Drawn look-ups, by key, index and prefix, of what is there and what is not, give what the API server has."""
    index = {}
    for pod in world.pods:
        for at in values_of(pod):
            index.setdefault(at, []).append(pod)
    drawn = sorted(index)
    prefixes = sorted({value[:n] for name, value in drawn if name == "containerID" for n in (12, 20)})
    driver.begin()
    for _ in range(LOOKUPS):
        draw = DICE.random()
        if draw < 0.4:
            pod = DICE.choice(world.pods)
            got = driver.good("get", **of(pod))["object"]
            check(tuple(got) == key(pod) + (pod["metadata"]["uid"],), got)
        elif draw < 0.6:
            pod = DICE.choice(world.pods)
            got = driver.ask("get", resource="pods", namespace=key(pod)[0], name=key(pod)[1] + DICE.choice(["x", "", "-0"])
                             if DICE.random() < 0.5 else key(pod)[1][:-1])
            wanted = [p for p in world.pods if "object" in got and key(p)[:2] == tuple(got["object"][:2])]
            check(wanted or got.get("error") == "NOT_FOUND", got)
        elif draw < 0.8:
            name, value = DICE.choice(drawn)
            check(driver.objects("index", resource="pods", index=name, value=value) == keys(index[name, value]), name, value)
            check(driver.good("count", resource="pods", index=name, value=value)["count"] == len(index[name, value]), name, value)
        elif draw < 0.9:
            name, value = DICE.choice(drawn)
            value = value + "x" if DICE.random() < 0.5 else value[:-1]
            check(driver.objects("index", resource="pods", index=name, value=value) == keys(index.get((name, value), [])), name, value)
        elif prefixes:
            prefix = DICE.choice(prefixes)
            wanted = {key(p) for (name, value), pods in index.items() if name == "containerID" and value.startswith(prefix) for p in pods}
            check(driver.objects("prefix", resource="pods", index="containerID", value=prefix) == sorted(wanted), prefix)
    driver.good("end")


def create(world, kind, spec):
    """Create a widget, and return it."""
    name = "%s-%d" % (kind, time.time_ns())
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name, "namespace": "default"}, "spec": spec}
    return json.loads(world.ask("POST", "/apis/example.com/v1/namespaces/default/widgets", widget))


def begin_with(driver, widget):
    """Begin a snapshot that has this widget."""
    it = {"resource": "widgets", "namespace": "default", "name": widget["metadata"]["name"]}
    end = time.monotonic() + PATIENCE
    while True:
        driver.begin()
        if "error" not in driver.ask("get", **it):
            return it
        driver.good("end")
        check(time.monotonic() < end, "the object does not come")
        time.sleep(0.05)


def case_kinds_of_indexes(world, driver):
    """Indexes of lists in one string, of numbers and booleans, and those cut to a prefix."""
    mark = str(time.time_ns())  # of this run's widgets
    one = create(world, "one", {"csv": " %s , b\t,,c d," % mark, "number": int(mark), "flag": True})
    two = create(world, "two", {"csv": mark, "number": int(mark), "flag": False})
    begin_with(driver, two)

    def asked(index, value):
        return [o[1] for o in driver.objects("index", resource="widgets", index=index, value=value)]

    names = [one["metadata"]["name"], two["metadata"]["name"]]
    check(asked("csv", mark) == sorted(names), asked("csv", mark))
    check(asked("number", mark) == sorted(names), asked("number", mark))
    for value, is_there in [("b", True), ("c d", True), (" b", False), ("", False), ("b\t", False)]:
        check((names[0] in asked("csv", value)) == is_there, repr(value))
    check(names[0] in asked("flag", "true") and names[1] in asked("flag", "false") and names[1] not in asked("flag", "true"), "flags")
    nodes = sorted({pod["spec"]["nodeName"] for pod in world.pods if pod["spec"].get("nodeName")})
    for node in nodes:  # their names begin alike, and the index has their first four bytes
        wanted = keys(pod for pod in world.pods if pod["spec"].get("nodeName") == node)
        check(driver.objects("index", resource="pods", index="cut", value=node) == wanted, node)
        check(driver.good("count", resource="pods", index="cut", value=node)["count"] == len(wanted), node)
        for n in 4, 6, len(node):
            wanted = keys(pod for pod in world.pods if pod["spec"].get("nodeName", "").startswith(node[:n]))
            check(driver.objects("prefix", resource="pods", index="cut", value=node[:n]) == wanted, node[:n])
    check(driver.objects("index", resource="pods", index="cut", value=nodes[0][:4]) == [], "a prefix is no value")
    driver.good("end")


def case_selectors(world, driver):
    """Label and field selectors select what the API server selects."""
    labels = sorted({at for pod in world.pods for at in pod["metadata"].get("labels", {}).items()})
    namespaces = sorted({key(pod)[0] for pod in world.pods})
    driver.begin()
    for _ in range(40):
        (a, b), (c, d) = DICE.choice(labels), DICE.choice(labels)
        label = DICE.choice([
            "", a, "!" + a, "%s=%s" % (a, b), "%s==%s,%s" % (a, b, c), "%s!=%s" % (a, b), "%s in (%s,%s)" % (a, b, d),
            "%s notin (%s)" % (c, d), " %s , %s != %s " % (a, c, d), "%s>1" % a, "%s=%s,%s!=%s" % (a, b, c, d)])
        namespace = DICE.choice(namespaces) if DICE.random() < 0.5 else ""
        node = DICE.choice(world.pods).get("spec", {}).get("nodeName", "")
        field = DICE.choice(["", "", "spec.nodeName=" + node, "spec.nodeName!=" + node, "status.phase=Running",
                             "metadata.name=%s,status.phase!=Failed" % key(DICE.choice(world.pods))[1]])
        path = "/api/v1/" + ("namespaces/%s/" % namespace if namespace else "") + "pods"
        wanted = keys(world.get(path, labelSelector=label, fieldSelector=field)["items"])
        got = driver.objects("select", resource="pods", namespace=namespace, labels=label, fields=field)
        check(got == wanted, "labels", label, "fields", field, "namespace", namespace, got[:3], wanted[:3])
    driver.good("end")


def case_field_selectors(world, driver):
    """Field selectors take any path, also with [*], quotes and backslashes; an absent field counts as ""."""
    driver.begin()
    pod = DICE.choice([p for p in world.pods if p["spec"].get("nodeName")])
    name, image = pod["metadata"]["name"], pod["spec"]["containers"][0]["image"]
    label, value = DICE.choice(sorted(pod["metadata"]["labels"].items()))
    odd = [p for p in world.pods if p["spec"].get("terminationGracePeriodSeconds") == 30]
    for fields, wanted in [
            ("spec.containers[*].image=" + image, [p for p in world.pods if image in (c["image"] for c in p["spec"]["containers"])]),
            (" metadata.name == " + name, []),
            ("metadata.name ==" + name + ",,", [pod]),
            ("metadata.labels%s=%s,metadata.name=%s" % (quoted(label), value, name), [pod]),
            ("metadata.labels['%s']!=%s,metadata.name=%s" % (label, value, name), []),
            ("metadata.nothing=,metadata.name=" + name, [pod]),
            ("metadata.nothing!=,metadata.name=" + name, []),
            ("metadata.labels=,metadata.name=" + name, []),
            ("spec.terminationGracePeriodSeconds=30", odd),
            ("metadata.name=a\\,b", [])]:
        got = driver.objects("select", resource="pods", fields=fields)
        check(got == keys(wanted), fields, got[:3], keys(wanted)[:3])
    for fields in "=x", "metadata.name", "metadata.name!x", "metadata.name=a=b", "metadata.name=a\\b", "a[\"b=c", "a[=b":
        got = driver.ask("select", resource="pods", fields=fields)
        check(got.get("error") == "SYNTAX", fields, got)
    driver.good("end")


def case_refusals(world, driver):
    """What cannot be answered has its error."""
    driver.begin()
    pod = of(world.pods[0])
    for wanted, op, fields in [
            ("NOT_FOUND", "get", dict(pod, name="nothing")),
            ("NOT_FOUND", "get", dict(pod, namespace="")),
            ("NOT_FOUND", "get", dict(pod, name="x" * 300)),
            ("NOT_FOUND", "get", dict(pod, namespace="n" * 300)),
            ("NO_RESOURCE", "get", dict(pod, resource="gadgets")),
            ("NO_INDEX", "index", dict(resource="pods", index="nothing", value="x")),
            ("NO_INDEX", "prefix", dict(resource="pods", index="nodeName", value="x")),
            ("SYNTAX", "field", dict(pod, path="a[")),
            ("SYNTAX", "field", dict(pod, path="")),
            ("SYNTAX", "select", dict(resource="pods", labels="a in b")),
            ("SYNTAX", "select", dict(resource="pods", labels="=")),
            ("SYNTAX", "select", dict(resource="pods", fields="spec.nodeName"))]:
        got = driver.ask(op, **fields)
        check(got.get("error") == wanted and got["text"], op, fields, got)
    for name in "po", "Pod", "PODS", "pods.v1", "pods.v1.":
        check(driver.good("info", resource=name)["resource"] == "pods", name)
    driver.good("end")
    check("error" in driver.ask("get", **pod), "a snapshot that was ended can be read")


def case_found_and_deleted(world, driver):
    """A pod is found by key, UID, address and container; once it is deleted, its last state is."""
    gone = DICE.choice([p for p in world.pods if list(values_of(p)) and p["status"].get("podIPs")
                        and not p["spec"].get("hostNetwork") and p["status"].get("containerStatuses")])
    driver.begin()
    for pod in DICE.sample(world.pods, 40):
        for by, value in questions(pod):
            got = driver.good("find", resource="pods", by=by, value=value)
            check(got == {"object": list(key(pod)) + [pod["metadata"]["uid"]], "deleted": False}, by, value, got)
    for by in "key", "uid", "ip", "container":
        got = driver.ask("find", resource="pods", by=by, value="nothing")
        check(got.get("error") == "NOT_FOUND", by, got)
    driver.good("end")
    asked = list(questions(gone))
    world.ask("DELETE", "/api/v1/namespaces/%s/pods/%s?gracePeriodSeconds=0" % key(gone)[:2])
    end = time.monotonic() + PATIENCE
    while True:
        driver.begin()
        if driver.ask("get", **of(gone)).get("error") == "NOT_FOUND":
            break
        driver.good("end")
        check(time.monotonic() < end, "it is not deleted")
        time.sleep(0.05)
    for by, value in asked:
        got = driver.good("find", resource="pods", by=by, value=value)
        check(got["deleted"] and got["object"][:2] == list(key(gone)[:2]) and got["object"][3] == gone["metadata"]["uid"], by, value, got)
    driver.good("end")


# ---- the node's view

@contextlib.contextmanager
def made(world, driver, *objects):
    """Create objects, (path, object), and begin a snapshot that has them; yields them, and deletes them in the end."""
    created = []
    try:
        for path, body in objects:
            answer = json.loads(world.ask("POST", path, body))
            created.append((path, answer))
            if "status" in body:
                answer = json.loads(world.ask("PATCH", "%s/%s/status" % (path, answer["metadata"]["name"]), {"status": body["status"]}))
                created[-1] = path, answer
        end = time.monotonic() + PATIENCE
        while True:
            driver.begin()
            got = [driver.ask("get", **named(path, o)).get("object") for path, o in created]
            if all(at and at[2] == o["metadata"]["resourceVersion"] for at, (_, o) in zip(got, created)):
                break
            driver.good("end")
            check(time.monotonic() < end, "the objects do not come:", got, [o["metadata"] for _, o in created])
            time.sleep(0.05)
        yield [o for _, o in created]
        driver.good("end")
    finally:
        for path, o in created:
            with contextlib.suppress(urllib.error.HTTPError):  # a case may have deleted it
                world.ask("DELETE", "%s/%s?gracePeriodSeconds=0" % (path, o["metadata"]["name"]))


def named(path, o):
    """How a driver is asked for an object."""
    return {"resource": path.rsplit("/", 1)[1], "namespace": o["metadata"].get("namespace", ""), "name": o["metadata"]["name"]}


PODS = "/api/v1/namespaces/default/pods"


def pod_of(name, owner=None, labels={}, status={}, **spec):
    """A Pod to be created."""
    metadata = {"name": "%s-%d" % (name, time.time_ns()), "labels": dict(labels, suite="x")}
    if owner:
        metadata["ownerReferences"] = [dict(owner, controller=True)]
    return PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "status": dict(status, phase="Running"),
                  "spec": dict(spec, containers=[{"name": "c", "image": "i"}])}


def described(o):
    meta = o["metadata"]
    return [meta.get("namespace", ""), meta["name"], meta["resourceVersion"], meta.get("uid", "")]


LISTS = ("containerStatuses", "regular"), ("initContainerStatuses", "init"), ("ephemeralContainerStatuses", "ephemeral")


def containers_of(pod):
    """A pod's containers, as the drivers are to describe them."""
    for name, kind in LISTS:
        for status in pod.get("status", {}).get(name, []):
            for previous in False, True:
                state = status.get("lastState" if previous else "state", {})
                run = state.get("terminated", {}) if previous else status
                if "containerID" in run:
                    yield {"pod": described(pod), "deleted": False, "kind": kind, "previous": previous, "state": next(iter(state), ""),
                           "restarts": status.get("restartCount", 0), "id": run["containerID"].split("://")[-1], "name": status["name"],
                           "image": status.get("image", ""), "imageID": status.get("imageID", "")}


def pod_alone(pod, container_id=""):
    return {"pod": described(pod), "deleted": False, "kind": "unknown", "previous": False, "state": "", "restarts": 0, "id": container_id,
            "name": "", "image": "", "imageID": ""}


def status_of(name, container_id, **more):
    return dict({"name": name, "image": "i", "imageID": "i@1", "restartCount": 0, "ready": True, "state": {"running": {}},
                 "containerID": container_id}, **more)


def digits():
    return "%064x" % DICE.getrandbits(256)


def case_containers(world, driver):
    """A container is found by its ID and by the beginning of its ID, in each list; a last run's by the Pod's UID and its ID."""
    first, second = digits(), digits()
    twin = first[:20] + "%x" % (int(first[20], 16) ^ 1) + digits()[21:]
    status = {"containerStatuses": [status_of("c", "containerd://" + first, restartCount=3, lastState={"terminated": {
                  "containerID": "containerd://" + second, "exitCode": 1, "reason": "Error", "startedAt": None, "finishedAt": None}}),
                                    status_of("twin", "cri-o://" + twin)],
              "initContainerStatuses": [status_of("init", "docker://" + digits(), state={"terminated": {"exitCode": 0}})],
              "ephemeralContainerStatuses": [status_of("debug", digits(), state={"waiting": {"reason": "Pulling"}})]}
    with made(world, driver, pod_of("containers", status=status)) as (pod,):
        there = list(containers_of(pod)) + [c for p in DICE.sample(world.pods, 40) for c in containers_of(p)]
        check({c["kind"] for c in there} >= {"regular", "init", "ephemeral"} and {c["state"] for c in there} >= {"waiting", "running",
              "terminated"} and any(c["previous"] for c in there), "the cases are not all there")
        for wanted in there:
            if wanted["previous"]:  # no index has it
                got = driver.good("container", by="cgroup", value="/kubepods/pod%s/%s" % (wanted["pod"][3], wanted["id"]))
                check(got == wanted, got, wanted)
                continue
            for asked in wanted["id"], "containerd://" + wanted["id"]:
                got = driver.good("container", by="id", value=asked)
                check(got == wanted, asked, got, wanted)
            if wanted["id"][:20] == first[:20]:
                continue
            for n in 12, DICE.randrange(13, 63), 63:
                got = driver.good("container", by="id", value=wanted["id"][:n])
                check(got == wanted, n, got, wanted)
        for n in 12, 20:
            got = driver.ask("container", by="id", value=first[:n])
            check(got.get("error") == "AMBIGUOUS" and first in got["text"] and twin in got["text"], got)
        check(driver.good("container", by="id", value=first[:21])["name"] == "c", "by 21 digits")
        for value in digits(), digits()[:12], first[:11], second, second[:12], "", "x" * 300, first + "0":
            got = driver.ask("container", by="id", value=value)
            check(got.get("error") == "NOT_FOUND", value, got)
        world.ask("DELETE", "%s/%s?gracePeriodSeconds=0" % (PODS, pod["metadata"]["name"]))
        until_deleted(driver, pod)
        for value in first, first[:21]:
            got = driver.good("container", by="id", value=value)
            check(got["deleted"] and got["name"] == "c" and got["pod"][3] == pod["metadata"]["uid"], value, got)
        check(driver.ask("container", by="id", value=first[:20]).get("error") == "AMBIGUOUS", "of a deleted Pod")


def until_deleted(driver, pod):
    """End the snapshot, and begin one that lacks the pod."""
    end = time.monotonic() + PATIENCE
    while True:
        driver.good("end")
        driver.begin()
        if driver.ask("get", **of(pod)).get("error") == "NOT_FOUND":
            return
        check(time.monotonic() < end, "it is not deleted")
        time.sleep(0.05)


def cgroups_of(uid, container):
    """What kubelets and container runtimes call a container's cgroup."""
    slice = uid.replace("-", "_")
    yield "/kubepods/burstable/pod%s/%s" % (uid, container)
    yield "/sys/fs/cgroup/kubepods/pod%s/%s/init.scope/deep" % (uid, container)
    for runtime in "cri-containerd-", "crio-", "docker-", "libpod-", "":
        yield "0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod%s.slice/%s%s.scope" % (slice, runtime, container)
    yield "/system.slice/kubepods-burstable-pod%s.slice:cri-containerd:%s" % (slice, container)
    yield "0::/docker/%s/kubelet/kubepods/pod%s/%s\n" % (digits(), uid, container)
    yield "/kubepods/pod%s/%s/kubepods/pod%s/%s" % ("0" * 8 + uid[8:], digits(), uid, container)  # in a cluster that is not cached
    yield "/kubepods/pod%s/%s/kubepods/pod%s/%s" % (uid, container, "0" * 8 + uid[8:], digits())  # and around it
    yield "12:memory:/kubepods/pod%s/%s\n11:cpu,cpuacct:/\n" % (uid, container)
    yield "/machine.slice/libpod-%s.scope" % container  # by the ID alone


def case_cgroups(world, driver):
    """A cgroup's path, and a process's, lead to the container; that of a Pod, its sandbox or a monitor to the Pod alone."""
    driver.begin()
    there = [(p, c) for p in world.pods for c in containers_of(p) if not c["previous"]]
    for pod, wanted in DICE.sample(there, 20):
        uid = pod["metadata"]["uid"]
        for path in cgroups_of(uid, wanted["id"]):
            got = driver.good("container", by="cgroup", value=path)
            check(got == wanted, path, got, wanted)
        other = digits()
        for path, container in [("/kubepods/pod" + uid, ""), ("/kubepods/pod%s/crio-conmon-%s.scope" % (uid, wanted["id"]), ""),
                                ("/kubepods/pod%s/%s" % (uid, other), other), ("kubepods-pod%s.slice" % uid.replace("-", "_"), ""),
                                ("1:cpu:/kubepods/pod%s\n0::/machine.slice/libpod-%s.scope" % (uid, other), "")]:
            got = driver.good("container", by="cgroup", value=path)
            check(got == pod_alone(pod, container), path, got)
    for path in "", "/", "/user.slice/user-0.slice", "/kubepods/xpod" + uid, "/x" + wanted["id"], "/kubepods/pod" + uid[1:], wanted["id"][1:]:
        got = driver.ask("container", by="cgroup", value=path)
        check(got.get("error") == "TYPE" and got["text"], path, got)
    for path in "/kubepods/pod" + "0" * 8 + uid[8:], "/kubepods/pod%s/%s" % ("0" * 32, digits()), "/" + digits():
        got = driver.ask("container", by="cgroup", value=path)
        check(got.get("error") == "NOT_FOUND", path, got)
    driver.good("end")
    with tempfile.TemporaryDirectory() as proc:
        os.mkdir(proc + "/4711")
        stat = "4711 (a b) 1 2) S %s 22 23\n" % " ".join(map(str, range(4, 22)))
        for name, text in ("cgroup", next(cgroups_of(uid, wanted["id"]))), ("stat", stat):
            with open("%s/4711/%s" % (proc, name), "w") as f:
                f.write(text)
        os.environ["HOST_PROC"] = proc
        try:
            second = Driver(driver.process.args[0], world.place)
        finally:
            del os.environ["HOST_PROC"]
        second.good("wait", resource="pods")
        second.begin()
        for start in 0, 22:
            check(second.good("container", by="pid", value="4711", start=start) == wanted, start)
        for pid, start in ("4711", 23), ("4712", 0), ("4712", 22):
            got = second.ask("container", by="pid", value=pid, start=start)
            check(got.get("error") == "ESRCH" and got["text"], pid, start, got)
        second.close()


CACHED = {("apps", "ReplicaSet"): "/apis/apps/v1/replicasets", ("apps", "Deployment"): "/apis/apps/v1/deployments",
          ("apps", "DaemonSet"): "/apis/apps/v1/daemonsets", ("", "Pod"): "/api/v1/pods"}


def controller_of(o):
    for reference in o["metadata"].get("ownerReferences", []):
        if reference.get("controller"):
            group, _, version = reference["apiVersion"].rpartition("/")
            return group, version, reference["kind"], reference["name"], reference.get("uid", "")
    return None


def case_workloads(world, driver):
    """A Pod's workload is its topmost controller, also if that is not cached; and its controller, Namespace and Node are found."""
    there = {(group, kind, key(o)[:2]): o for (group, kind), path in CACHED.items() for o in world.get(path)["items"]}

    def workload(group, version, kind, o):
        at = o
        while controller := controller_of(at):
            owner_group, owner_version, owner_kind, name, uid = controller
            if owner_kind == "Node":
                break
            above = there.get((owner_group, owner_kind, (key(o)[0], name)))
            if not above or above["metadata"]["uid"] != uid:
                return {"cached": False, "fromNames": False, "group": owner_group, "version": owner_version, "kind": owner_kind,
                        "namespace": key(o)[0], "name": name, "uid": uid}
            at, group, version, kind = above, owner_group, owner_version, owner_kind
        return {"cached": True, "fromNames": False, "group": group, "version": version, "kind": kind, "namespace": key(o)[0],
                "name": at["metadata"]["name"], "uid": at["metadata"]["uid"], "object": described(at)}

    driver.begin()
    seen = set()
    for pod in world.pods:
        wanted, got = workload("", "v1", "Pod", pod), driver.good("workload", **of(pod))
        check(got == wanted, got, wanted)
        seen.add(got["kind"])
    check(seen >= {"Deployment", "DaemonSet"} and seen & {"Job", "StatefulSet"}, seen)  # churn may leave none of one kind
    nodes = {o["metadata"]["name"]: o for o in world.get("/api/v1/nodes")["items"]}
    namespaces = {o["metadata"]["name"]: o for o in world.get("/api/v1/namespaces")["items"]}
    for pod in DICE.sample(world.pods, 40):
        group, _, kind, name, _ = controller_of(pod)
        above, got = there.get((group, kind, (key(pod)[0], name))), driver.ask("related", to="controller", **of(pod))
        check(got.get("object") == described(above) if above else got.get("error") == "NO_RESOURCE", got, kind)
        got = driver.good("related", to="namespace", **of(pod))["object"]
        check(got == described(namespaces[key(pod)[0]]), got)
        if node := pod["spec"].get("nodeName"):
            got = driver.good("related", to="node", **of(pod))["object"]
            check(got == described(nodes[node]), got)
    for (group, kind, at), o in there.items():
        if kind != "Pod":
            got = driver.good("workload", resource=CACHED[group, kind].rsplit("/", 1)[1], namespace=at[0], name=at[1])
            check(got == workload(group, "v1", kind, o), got)
    node = {"resource": "nodes", "namespace": "", "name": next(iter(nodes))}
    for to, asked in ("namespace", node), ("node", node), ("controller", node):
        check(driver.ask("related", to=to, **asked).get("error") == "NOT_FOUND", to, "of a node")
    check(driver.good("workload", **node)["kind"] == "Node", "a node's workload")
    driver.good("end")

    def of_set(name, uid="u", api="apps/v1", kind="ReplicaSet"):
        return {"apiVersion": api, "kind": kind, "name": name, "uid": uid}

    hash = {"pod-template-hash": "abc12"}
    wanted = [("apps", "v1", "Deployment", "web", ""), ("argoproj.io", "v1alpha1", "Rollout", "web", ""),
              ("apps", "v1", "ReplicaSet", "web-abc12", "u"), ("apps", "v1", "ReplicaSet", "-abc12", "u"),
              ("example.com", "v1", "ReplicaSet", "web-abc12", "u"), ("batch", "v1", "Job", "night-abc12", "u"),
              ("example.com", "v1", "Widget", "none", "u"), ("apps", "v1", "ReplicaSet", "another", "u")]
    another = "/apis/apps/v1/namespaces/default/replicasets", {
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "another"},
        "spec": {"selector": {"matchLabels": hash}, "template": {"metadata": {"labels": hash}}}}
    with made(world, driver, pod_of("by-name", of_set("web-abc12"), hash),
              pod_of("rollout", of_set("web-abc12"), dict(hash, **{"rollouts-pod-template-hash": "abc12"})),
              pod_of("no-hash", of_set("web-abc12"), {"pod-template-hash": "bc12"}), pod_of("no-name", of_set("-abc12"), hash),
              pod_of("group", of_set("web-abc12", api="example.com/v1"), hash),
              pod_of("job", of_set("night-abc12", api="batch/v1", kind="Job"), hash),
              pod_of("widget", of_set("none", api="example.com/v1", kind="Widget")),
              pod_of("uid", of_set("another")), pod_of("static", of_set(node["name"], api="v1", kind="Node")), pod_of("alone"),
              another) as (*pods, _):
        for pod, (group, version, kind, name, uid) in zip(pods, wanted):
            got = driver.good("workload", **of(pod))
            check(got == {"cached": False, "fromNames": uid == "", "group": group, "version": version, "kind": kind, "namespace": "default",
                          "name": name, "uid": uid}, pod["metadata"]["name"], got)
        for pod in pods[-2:]:
            check(driver.good("workload", **of(pod)) == workload("", "v1", "Pod", pod), pod["metadata"]["name"])
        check(driver.ask("related", to="controller", **of(pods[0])).get("error") == "NOT_FOUND", "a ReplicaSet that is not there")
        check(driver.ask("related", to="controller", **of(pods[5])).get("error") == "NO_RESOURCE", "a Job")
        check(driver.ask("related", to="controller", **of(pods[-1])).get("error") == "NOT_FOUND", "no controller")
        check(driver.ask("related", to="node", **of(pods[-1])).get("error") == "NOT_FOUND", "no node")


def case_addresses(world, driver):
    """An address leads to the Pod that has it, else to the Service, else to the Node with its host's Pods, else to a Pod that had it."""
    finished = "Succeeded", "Failed"
    pods, gone, host = {}, {}, {}
    for pod in world.pods:
        for ip in pod["status"].get("podIPs", []):
            to = host if pod["spec"].get("hostNetwork") else gone if pod["status"].get("phase") in finished else pods
            to.setdefault(ip["ip"], []).append(described(pod))
    driver.begin()
    for ip in DICE.sample(sorted(pods), 40):
        for spelled in ip, "::ffff:" + ip, "::FFFF:%02x%02x:%02x%02x" % tuple(map(int, ip.split("."))):
            got = driver.good("address", value=spelled)
            check(got["object"] in pods[ip] and (got["kind"], got["deleted"], got["hostPods"]) == ("pod", False, 0), spelled, got)
    for service in world.get("/api/v1/services")["items"]:
        if (ip := service["spec"].get("clusterIP", "None")) != "None":
            got = driver.good("address", value=ip)
            check(got == {"kind": "service", "object": described(service), "deleted": False, "hostPods": 0}, got)
    for node in world.get("/api/v1/nodes")["items"]:
        ip = node["status"]["addresses"][0]["address"]
        got = driver.good("address", value=ip)
        check(got == {"kind": "node", "object": described(node), "deleted": False, "hostPods": len(host.get(ip, []))}, got)
    check(any(host.values()), "no pod is on its host's network")
    for ip, there in gone.items():
        if ip not in pods:
            got = driver.good("address", value=ip)
            check(got["object"] in there and got["kind"] == "pod", got)
    check(driver.ask("address", value="203.0.113.9").get("error") == "NOT_FOUND", "an address that nothing has")
    for text in "", "web", "10.0.0", "10.0.0.1.1", "fe80::1%eth0", "010.0.0.1", "1" * 100, "10.0.0.1 ":
        got = driver.ask("address", value=text)
        check(got.get("error") in ("EINVAL", "SYNTAX"), text, got)
    driver.good("end")
    six = "2001:db8::%x" % DICE.randrange(1, 65536)
    with made(world, driver, pod_of("six", status={"podIP": six, "podIPs": [{"ip": six}]})) as (pod,):
        spelled = "2001:0DB8:0:0:0:0:0:" + six.rsplit(":", 1)[1].upper()
        check(driver.good("address", value=spelled)["object"] == described(pod), spelled)
        world.ask("DELETE", "%s/%s?gracePeriodSeconds=0" % (PODS, pod["metadata"]["name"]))
        until_deleted(driver, pod)
        got = driver.good("address", value=spelled)
        check(got["deleted"] and got["kind"] == "pod" and got["object"][3] == pod["metadata"]["uid"], got)


def case_services(world, driver):
    """A Pod leads to the Services that send it traffic, each once, and a Service to its endpoints with their Pods and conditions."""
    mark = str(time.time_ns())
    services = "/api/v1/namespaces/default/services", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

    def service(name):
        return services[0], {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name + mark}, "spec": {"ports": [{"port": 80}]}}

    def endpoint(pod, **more):
        return dict({"addresses": ["10.1.2.3", "10.1.2.4"], "targetRef": {"kind": "Pod", "namespace": "default", "name": pod["metadata"]["name"],
                                                                          "uid": pod["metadata"]["uid"]}}, **more)

    def slice_of(name, number, *endpoints):
        return services[1], {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4", "endpoints": list(endpoints),
                             "metadata": {"name": "%s%s-%d" % (name, mark, number), "labels": {"kubernetes.io/service-name": name + mark}}}

    unready = {"ready": False, "serving": True, "terminating": True}
    with made(world, driver, pod_of("behind"), pod_of("other")) as (pod, other):
        gone = {"metadata": {"name": "gone", "uid": "gone"}}
        endpoints = [endpoint(pod, nodeName="n1"), endpoint(other, conditions=unready), endpoint(pod, conditions={"ready": False}),
                     endpoint(gone), {"addresses": ["10.1.2.5"]}]
        with made(world, driver, service("one"), service("two"), slice_of("one", 1, *endpoints[:2]), slice_of("one", 2, *endpoints[2:]),
                  slice_of("two", 1, endpoint(pod)), slice_of("lost", 1, endpoint(pod)),
                  (services[1], dict(slice_of("x", 1, endpoint(pod))[1], metadata={"name": "unlabelled" + mark}))) as (one, two, first, second, *_):
            check(driver.objects("services", **of(pod)) == keys([one, two]), driver.ask("services", **of(pod)))
            check(driver.objects("services", **of(other)) == keys([one]), driver.ask("services", **of(other)))
            got = driver.good("endpoints", **named(services[0], one))["endpoints"]
            wanted = []
            for slice, its in (first, endpoints[:2]), (second, endpoints[2:]):
                for e in its:
                    said = e.get("conditions", {})
                    wanted.append({"slice": described(slice), "address": e["addresses"][0], "node": e.get("nodeName", ""),
                                   "ready": said.get("ready", True), "serving": said.get("serving", said.get("ready", True)),
                                   "terminating": said.get("terminating", False)})
                    name = e.get("targetRef", {}).get("name")
                    wanted[-1].update({"pod": described(p) for p in (pod, other) if p["metadata"]["name"] == name})
            check(sorted(map(str, map(sorted_of, got))) == sorted(map(str, map(sorted_of, wanted))), got, wanted)
        driver.begin()  # the inner snapshot was ended
        nothing = driver.objects("services", **of(world.pods[0]))
        check(nothing == [], nothing)
    driver.begin()
    slices = world.get("/apis/discovery.k8s.io/v1/endpointslices")["items"]
    for slice in DICE.sample(slices, min(5, len(slices))):
        at = {"resource": "services", "namespace": key(slice)[0], "name": slice["metadata"]["labels"]["kubernetes.io/service-name"]}
        got = driver.good("endpoints", **at)["endpoints"]
        check(sorted(e["address"] for e in got) == sorted(e["addresses"][0] for e in slice.get("endpoints") or []), at, got)
    driver.good("end")


def sorted_of(fields):
    return sorted(fields.items())


# ---- events

class Told:
    """What a watch was told, and whether each change follows from the ones before."""

    def __init__(self):
        self.objects, self.kinds, self.synced, self.resyncing, self.exact = {}, {}, False, None, True

    def take(self, change):
        kind = change["change"]
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind == "coalesced":
            self.exact = False
        elif kind == "synced":
            self.synced = True
        elif kind == "resync_begin":
            self.resyncing = dict(self.objects)
        elif kind == "resync_end":
            for gone in self.resyncing or {}:
                self.objects.pop(gone, None)
            self.resyncing = None
        if kind not in ("added", "updated", "deleted"):
            return
        at, had = tuple(change["key"]), self.objects.get(tuple(change["key"]))
        if kind == "deleted":
            check(had is not None, "a delete of what was not told:", change)
            del self.objects[at]
            return
        now = change["object"]
        check(now[:2] == list(at), change)
        if self.resyncing is not None:
            self.resyncing.pop(at, None)
        elif kind == "added":
            check(had is None, "an add of what was told:", change, had)
            check(not change["initial"] or not self.synced or not self.exact, "initial after synced:", change)
        else:
            check(had is not None, "an update of what was not told:", change)
            check(int(had[2]) < int(now[2]), "back in time:", change, had)
            check(had[3] == now[3], "an update of another object:", change, had)
            check("old" not in change or change["old"] == had, "another old state:", change, had)
        self.objects[at] = now

    def take_all(self, driver, until, patience=PATIENCE):
        """Take changes until there is none and `until` holds."""
        end = time.monotonic() + patience
        while True:
            change = driver.good("next", ms=100)
            if change:
                self.take(change)
            elif until():
                return
            check(time.monotonic() < end, "not all is told:", self.kinds, len(self.objects))


def churn(world, rate, count):
    world.post("/sim/churn?rate=%d&count=%d" % (rate, count))
    while world.get("/sim/stats")["churn"]["running"]:
        time.sleep(0.05)


def is_told(world, told, wanted=lambda pod: True, path="/api/v1/pods"):
    """Whether what was told is what the API server has."""
    there = [o for o in world.get(path)["items"] if wanted(o)]
    return sorted(tuple(o[:3]) for o in told.objects.values()) == keys(there)


def case_events(world, driver):
    """A watch that keeps up gets every object, then synced, then each change with old and new state, in order."""
    told = Told()
    driver.good("watch", resource="pods")
    told.take_all(driver, lambda: told.synced)
    check(told.kinds["added"] == len(world.pods) and is_told(world, told), told.kinds)
    for _ in range(5):
        churn(world, 1000, 300)
        told.take_all(driver, lambda: is_told(world, told))
    check(told.exact and told.kinds["updated"] > 500 and told.kinds["deleted"] > 5, told.kinds)
    driver.good("unwatch")


def case_synced_is_whole(world, driver):
    """Synced comes once every object was told that was there when the watch began, though objects change meanwhile."""
    world.post("/sim/churn?rate=500&count=100000")
    try:
        for _ in range(4):
            there = {key(pod)[:2] for pod in world.get("/api/v1/pods")["items"]}
            told = Told()
            driver.good("watch", resource="pods")
            while not told.synced:
                told.take(driver.good("next", ms=5000))
            now = {key(pod)[:2] for pod in world.get("/api/v1/pods")["items"]}
            missing = (there & now) - set(told.objects)
            check(not missing, "synced, and not told:", missing)
            driver.good("unwatch")
    finally:
        world.post("/sim/churn?rate=0")


def case_selected_events(world, driver):
    """A watch with selectors gets an add when an object begins to match, and a delete when it no longer does."""
    namespace = DICE.choice(sorted({key(pod)[0] for pod in world.pods}))
    for fields, wanted in [({"fields": "status.phase=Running"}, lambda pod: pod["status"].get("phase") == "Running"),
                           ({"namespace": namespace}, lambda pod: key(pod)[0] == namespace),
                           ({"labels": "app.kubernetes.io/part-of=" + namespace},
                            lambda pod: pod["metadata"].get("labels", {}).get("app.kubernetes.io/part-of") == namespace)]:
        told = Told()
        driver.good("watch", resource="pods", **fields)
        told.take_all(driver, lambda: told.synced)
        churn(world, 2000, 1000)
        told.take_all(driver, lambda: is_told(world, told, wanted))
        check(told.exact, fields, told.kinds)
        driver.good("unwatch")


def case_overflow(world, driver):
    """A watch whose queue overflows is told so, gets the newest states, and then each change again."""
    told = Told()
    driver.good("watch", resource="pods", entries=64)
    told.take_all(driver, lambda: told.synced)
    for changes in 400, 3000, 400:  # informerd remembers 50 deletions: of few changes all, of many not
        churn(world, 5000, changes)
        told.take_all(driver, lambda: is_told(world, told))
    check(not told.exact, "no overflow:", told.kinds)
    before = told.kinds["coalesced"]
    churn(world, 200, 50)
    told.take_all(driver, lambda: is_told(world, told))
    check(told.kinds["coalesced"] == before, "changes are coalesced still:", told.kinds)
    driver.good("unwatch")


def case_events_over_deaths(world, driver):
    """A watch loses nothing while informerd is killed and comes back."""
    told = Told()
    driver.good("watch", resource="pods")
    told.take_all(driver, lambda: told.synced)
    world.post("/sim/churn?rate=300&count=100000")
    for _ in range(3):
        for _ in range(100):
            change = driver.good("next", ms=100)
            if change:
                told.take(change)
        restart()
    world.post("/sim/churn?rate=0")
    told.take_all(driver, lambda: is_told(world, told))
    check("resync_begin" not in told.kinds, told.kinds)
    driver.good("unwatch")


def case_another_of_that_name(world, driver):
    """An object that is deleted and created again is a delete and an add, also where changes were missed."""
    path = "/apis/example.com/v1/namespaces/default/widgets"
    widget = create(world, "again", {"n": 0})
    for key_of in "apiVersion", "kind":
        widget.setdefault(key_of, {"apiVersion": "example.com/v1", "kind": "Widget"}[key_of])
    widget["metadata"] = {"name": widget["metadata"]["name"], "namespace": "default"}

    def again(times):
        for _ in range(times):
            world.ask("DELETE", path + "/" + widget["metadata"]["name"])
            world.ask("POST", path, widget)

    told = Told()
    driver.good("watch", resource="widgets", entries=64)
    told.take_all(driver, lambda: told.synced and is_told(world, told, path=path))
    for times in 1, 40, 90, 1:  # of 40, some changes are missed; of 90, deletions are forgotten, too
        deleted = told.kinds.get("deleted", 0)
        again(times)
        told.take_all(driver, lambda: is_told(world, told, path=path))
        check(told.kinds["deleted"] > deleted, times, told.kinds)
    check(not told.exact, "no overflow:", told.kinds)
    driver.good("unwatch")


def case_another_lineage(world, driver):
    """A watch ends up with what there is when informerd begins anew, without its arena."""
    told = Told()
    driver.good("watch", resource="pods")
    told.take_all(driver, lambda: told.synced)
    churn(world, 2000, 500)
    for _ in range(3):  # then numbers of the lineage before are lower than the new one's
        world.post("/sim/churn?rate=2000&count=400")
        restart("anew")
        while world.get("/sim/stats")["churn"]["running"]:
            time.sleep(0.05)
        told.take_all(driver, lambda: is_told(world, told))
    driver.good("unwatch")


def case_consumers(world, driver):
    """A named consumer goes on where it was, also in another language; what was not acknowledged comes again."""
    for other in COMMANDS:
        name = "suite-%d" % time.time_ns()
        told = Told()
        driver.good("watch", resource="pods", consumer=name, manual=True)
        told.take_all(driver, lambda: told.synced)
        check(told.kinds.get("resync_begin") == 1, "a new consumer gets no RESYNC:", told.kinds)
        churn(world, 1000, 200)
        for _ in range(60):
            told.take(driver.good("next", ms=5000))
        time.sleep(1.2)  # informerd stores a cursor within a second
        left = dict(told.objects)  # the last change is not acknowledged
        driver.good("unwatch")
        churn(world, 1000, 200)
        second = Driver(other, world.place)
        second.good("wait", resource="pods")
        second.good("watch", resource="pods", consumer=name, manual=True)
        went_on = Going(left)
        went_on.take_all(second, lambda: is_told(world, went_on))
        check("resync_begin" not in went_on.kinds, other, "begins anew:", went_on.kinds)
        second.good("unwatch")
        second.close()


class Going(Told):
    """Of a consumer that goes on: the first change of an object may repeat what was not acknowledged."""

    def __init__(self, objects):
        super().__init__()
        self.objects, self.seen, self.again = dict(objects), set(), 0

    def take(self, change):
        if "key" in change and tuple(change["key"]) not in self.seen:
            at = tuple(change["key"])
            self.seen.add(at)
            self.again += change["change"] == "added" and at in self.objects
            check(self.again <= 1, "adds of what was told before:", change)
            self.kinds[change["change"]] = self.kinds.get(change["change"], 0) + 1
            if change["change"] == "deleted":
                self.objects.pop(at, None)
            else:
                self.objects[at] = change["object"]
            return
        super().take(change)


# ---- while things change

def case_killed_under_load(world, driver):
    """Each snapshot is whole, and none goes back, while objects change and informerd is killed and comes back."""
    world.post("/sim/churn?rate=500&count=100000")
    before, deaths = {"generation": 0, "epoch": 0}, 0
    try:
        for i in range(60):
            moment = driver.begin()
            check((moment["generation"], moment["epoch"]) >= (before["generation"], before["epoch"]), moment, before)
            before = moment
            listed = driver.ask("select", resource="pods")
            if "error" not in listed and not listed["end"]:
                count = driver.good("info", resource="pods")["objects"]
                namespace = DICE.choice(listed["objects"])[0]  # by now some of its objects have changed
                check(driver.objects("index", resource="pods", index="namespace", value=namespace) ==
                      sorted(tuple(o[:3]) for o in listed["objects"] if o[0] == namespace), "another state in the index", namespace)
                check(len(listed["objects"]) == count, len(listed["objects"]), "listed, and there should be", count)
                for o in DICE.sample(listed["objects"], min(10, count)):
                    got = driver.good("get", resource="pods", namespace=o[0], name=o[1])
                    check(got["object"] == o, got, o)
            else:
                check("EXPIRED" in str(listed), listed)
            driver.good("end")
            if i % 20 == 10:
                restart()
                deaths += 1
    finally:
        world.post("/sim/churn?rate=0")
    check(before["generation"] > deaths, before)


def restart(how=""):
    """Kill informerd, and start another one; "anew": without an arena; "stop": start none."""
    if how:
        open("%s.%s" % (os.environ["RESTART"], how), "w").close()
    subprocess.run([os.environ["RESTART"]], check=True)


@contextlib.contextmanager
def locked(path):
    """Hold a lock as a writer does."""
    with open(path, "r+") as f:
        lock = struct.pack("=hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        fcntl.fcntl(f, 37, lock)  # F_OFD_SETLK
        yield


@contextlib.contextmanager
def mode(path, bits):
    before = os.stat(path).st_mode & 0o7777
    os.chmod(path, bits)
    yield
    os.chmod(path, before)


@contextlib.contextmanager
def linked(path):
    os.link(path, path + ".link")
    yield
    os.unlink(path + ".link")


@contextlib.contextmanager
def written(path, at, text):
    with open(path, "r+b") as f:
        f.seek(at)
        before = f.read(len(text))
        f.seek(at)
        f.write(text)
        f.flush()
        yield
        f.seek(at)
        f.write(before)


def flipped(path, at):
    """Another byte."""
    return written(path, at, bytes([read_at(path, at, 1)[0] ^ 1]))


@contextlib.contextmanager
def forged_root(arena, root, keys_of_blocks):
    """Another commit's time, with the right tag of the block: only the key that informerd keeps tells."""
    head, length = read_at(arena, root, 16), struct.unpack("=I", read_at(arena, root + 8, 4))[0] & 0xfffffff
    payload = bytearray(read_at(arena, root + 16, length))
    payload[72] ^= 1
    covered = struct.pack("=Q", root) + head[8:] + struct.pack("<Q", siphash(keys_of_blocks[:16], payload))
    with written(arena, root, struct.pack("<Q", siphash(keys_of_blocks[16:], covered)) + head[8:] + payload):
        yield


def siphash(key, data):
    """SipHash-2-4."""
    def turn(x, n):
        return (x << n | x >> 64 - n) & MASK

    def rounds(v, n):
        a, b, c, d = v
        for _ in range(n):
            a, c = (a + b) & MASK, (c + d) & MASK
            b, d, a = turn(b, 13) ^ a, turn(d, 16) ^ c, turn(a, 32)
            a, c = (a + d) & MASK, (c + b) & MASK
            d, b, c = turn(d, 21) ^ a, turn(b, 17) ^ c, turn(c, 32)
        return [a, b, c, d]

    MASK = (1 << 64) - 1
    k = struct.unpack("<QQ", key)
    v = [at ^ k[i % 2] for i, at in enumerate((0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261, 0x7465646279746573))]
    whole = bytes(data) + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for word, in struct.iter_unpack("<Q", whole):
        v[3] ^= word
        v = rounds(v, 2)
        v[0] ^= word
    v[2] ^= 255
    a, b, c, d = rounds(v, 4)
    return a ^ b ^ c ^ d


def read_at(path, at, length):
    with open(path, "rb") as f:
        f.seek(at)
        return f.read(length)


@contextlib.contextmanager
def owned(path, uid):
    os.chown(path, uid, -1)
    yield
    os.chown(path, 0, -1)


def case_on_demand(world, driver):
    """A resource on demand is cached once a reader looks something up in it."""
    world.ask("DELETE", "/sim/log")
    restart("anew")
    fresh = Driver(driver.process.args[0], world.place)
    fresh.good("wait", resource="pods")
    fresh.begin()
    check(b"configmaps" not in world.ask("GET", "/sim/log"), "asked for by nobody")
    wanted = world.get("/api/v1/configmaps")["items"]
    check(fresh.ask("get", resource="configmaps", namespace=key(wanted[0])[0], name=key(wanted[0])[1]).get("error") == "NOT_FOUND", "it is cached")
    fresh.good("end")
    end = time.monotonic() + PATIENCE
    while True:
        fresh.begin()
        got = fresh.objects("select", resource="configmaps")
        fresh.good("end")
        if got == keys(wanted):
            break
        check(time.monotonic() < end, "it does not come:", len(got), "of", len(wanted))
        time.sleep(0.05)
    fresh.close()


def case_orphans(world, driver):
    """What a dead informerd left is read by who asks for it, if owners, modes, links, lock and note are right; then what the next one has."""
    command = driver.process.args[0]
    before = driver.begin()
    driver.good("end")
    restart("stop")
    plain = Driver(command, world.place)
    check(plain.ask("begin").get("error") == "NOT_READY", "a reader that did not ask")
    plain.close()
    orphan = Driver(command, world.place, orphan=True)
    moment = orphan.good("begin")
    check(moment["generation"] == before["generation"] and moment["seq"] >= before["seq"], moment, before)
    check(orphan.objects("select", resource="pods") == keys(world.pods), "another list")
    pod = DICE.choice(world.pods)
    check(json.dumps(orphan.good("json", **of(pod))["json"]) == json.dumps(pod), "another object")
    lock = world.place + ".lock"
    with open(lock) as f:
        lines = f.read().split("\n")
    arena, incarnation = lines[2], len("\n".join(lines[:3])) + 1
    root, key = struct.unpack("=Q", read_at(arena, 256, 8))[0], world.place + ".key"
    verifying = Driver(command, world.place, orphan=True, verify=True)
    verifying.good("begin")
    check(verifying.objects("select", resource="pods") == keys(world.pods), "verified")
    verifying.close()
    for i, it in enumerate([flipped(arena, 80), flipped(arena, 104), flipped(arena, 224), flipped(arena, root + 16), mode(key, 0o640),
                            flipped(key, 31), forged_root(arena, root, block_keys(world.place)), linked(key)]):
        with it:
            other = Driver(command, world.place, orphan=True, verify=True)
            got = other.ask("begin")
            check(got.get("error") == ("NOT_READY" if i < 7 else None), "verified", i, got)
            other.close()
    wrong = [locked(lock), mode(lock, 0o640), mode(arena, 0o604), linked(arena), written(lock, 0, b"X"),
             written(lock, incarnation, b"0" if lines[3][0] != "0" else b"1"), written(arena, 384, b"\3"), written(arena, 384, b"\0")]
    if os.geteuid() == 0:
        wrong += [owned(lock, 12345), owned(arena, 12345)]
    for i, it in enumerate(wrong):
        with it:
            other = Driver(command, world.place, orphan=True)
            got = other.ask("begin")
            check(got.get("error") == "NOT_READY", i, got)
            if i:
                other.close()
            else:
                starting = other
    check(starting.begin()["seq"] == moment["seq"], "a handle does not look again")
    starting.good("end")
    starting.close()
    restart()
    check(orphan.objects("select", resource="pods") == keys(world.pods), "the old snapshot")
    orphan.good("end")
    end = time.monotonic() + PATIENCE
    while True:
        got = orphan.begin()
        orphan.good("end")
        if got["generation"] > moment["generation"]:
            break
        check(time.monotonic() < end, "the handle does not move on:", got, moment)
        time.sleep(0.05)
    orphan.close()


# ---- parked keys

def questions(pod):
    """By what keys a pod is found: (by, value)."""
    meta, status = pod["metadata"], pod.get("status", {})
    yield "key", meta["namespace"] + "/" + meta["name"]
    yield "uid", meta["uid"]
    for ip in status.get("podIPs", []):
        if not pod["spec"].get("hostNetwork") and status.get("phase") not in ("Succeeded", "Failed"):
            yield "ip", ip["ip"]
    for container in status.get("containerStatuses", []):
        if container.get("containerID"):
            yield "container", container["containerID"]
            yield "container", container["containerID"].split("://")[-1]


def park(driver, by, value, ms=-1, resource="pods"):
    driver.good("park", resource=resource, by=by, value=value, ms=ms)


def answers(driver, count):
    """The answers to so many parked keys, by value, and that no more come."""
    got = {}
    while len(got) < count:
        answer = driver.good("answer", ms=int(PATIENCE * 500))
        check(answer, "of %d answers only %d come:" % (count, len(got)), got)
        check(answer["value"] not in got, "answered twice:", answer)
        got[answer["value"]] = answer
    check(driver.good("answer", ms=50) == {}, "one answer too many")
    return got


def case_parked(world, driver):
    """A parked key is answered with its object: at once, once it appears, or with a deadline; also over restarts."""
    wanted = {value: pod for pod in DICE.sample(world.pods, 40) for by, value in questions(pod) if by != "ip"}
    for value, pod in wanted.items():
        park(driver, next(by for by, v in questions(pod) if v == value), value, ms=0)
    got = answers(driver, len(wanted))
    for value, pod in wanted.items():
        check(got[value] == {"value": value, "result": "", "deleted": False, "object": described(pod)}, got[value], pod["metadata"])
    for by, value, resource, result in [("uid", "nothing", "pods", "ETIMEDOUT"), ("key", "a/b", "gadgets", "ETIMEDOUT"),
                                        ("ip", "10.0.0.1", "widgets", "NO_INDEX")]:
        park(driver, by, value, ms=50, resource=resource)
        got = answers(driver, 1)
        check(got == {value: {"value": value, "result": result}}, got, result)
    for round in range(3):
        mark = time.time_ns()  # of this run: what another driver's run deleted is remembered
        ip, mirror, container = "10.%d.%d.7" % (mark >> 10 & 127 | 128, mark >> 17 & 255), "%032x" % mark, "%064x" % mark
        absent = [(by, "%s-%d" % (DICE.randbytes(9).hex(), i)) for by in ("key", "uid", "ip", "container") for i in range(300)]
        for by, value in absent:
            park(driver, by, value, ms=int(PATIENCE * 1000) if round == 2 else -1)
        path, pod = pod_of("parked", status={"podIP": ip, "podIPs": [{"ip": ip}], "containerStatuses": [status_of("c", "containerd://" + container)]})
        pod["metadata"]["annotations"] = {"kubernetes.io/config.mirror": mirror}
        asked = [("key", "default/" + pod["metadata"]["name"]), ("uid", mirror), ("ip", ip),
                 ("container", "containerd://" + container), ("container", container)]
        for by, value in asked:
            park(driver, by, value)
        check(driver.good("answer", ms=100) == {}, "answered, though it is not there")
        if round == 1:
            restart()
        elif round == 2:
            restart("anew")
            check(driver.good("answer", ms=100) == {}, "answered, though it is not there")
        with made(world, driver, (path, pod)) as (created,):
            got = answers(driver, len(asked))
            for by, value in asked:
                check(got[value]["result"] == "" and got[value]["object"][3] == created["metadata"]["uid"], by, got[value])
        churn(world, 2000, 300)
        check(driver.good("answer", ms=100) == {}, "answered, though it is not there")
        gone = dict((by, value) for by, value in asked)
        until_deleted(driver, created)
        for by, value in gone.items():
            park(driver, by, value, ms=0)
        got = answers(driver, len(gone))
        check(all(a["result"] == "" and a["deleted"] and a["object"][3] == created["metadata"]["uid"] for a in got.values()), got)
    restart("stop")  # created while there is no informerd; the next one begins anew, with lower numbers
    path, pod = pod_of("late")
    park(driver, "key", "default/" + pod["metadata"]["name"])
    check(driver.good("answer", ms=100) == {}, "answered, though it is not there")
    world.ask("POST", path, pod)
    restart("anew")
    check(answers(driver, 1).popitem()[1]["object"][1] == pod["metadata"]["name"], "another object")
    world.ask("DELETE", "%s/%s?gracePeriodSeconds=0" % (path, pod["metadata"]["name"]))


# ---- arenas that make no sense

HEAD = struct.Struct("=IHHII")


class Broker:
    """Gives each reader that attaches a copy of an arena, and the keys of its tags if it asks for them."""

    def __init__(self, arena, keys=b""):
        self.arena, self.keys = arena, keys
        self.place = os.path.join(tempfile.mkdtemp(), "s.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.place)
        self.listener.listen()
        self.kept = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                reader, _ = self.listener.accept()
            except OSError:
                return
            wants_keys = struct.unpack_from("=I", reader.recv(65536), 20)[0] == 1
            arena, slot = os.memfd_create("arena"), os.memfd_create("slot")
            os.write(arena, self.arena)
            os.ftruncate(slot, 8192)
            event = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
            keys = self.keys if wants_keys else b""
            body = struct.pack("=QII32s", struct.unpack_from("=Q", self.arena, 40)[0], 8192, bool(keys), keys)
            packet = HEAD.pack(0x31464e49, 1, 2, HEAD.size + len(body), 0) + body
            try:
                reader.sendmsg([packet], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [arena, slot, event]))])
            except OSError:
                pass
            for fd in arena, slot, event:
                os.close(fd)
            self.kept.append(reader)

    def close(self):
        self.listener.close()
        for reader in self.kept:
            reader.close()
        os.unlink(self.place)
        os.rmdir(os.path.dirname(self.place))


def newest_arena(directory):
    files = [f for f in os.listdir(directory) if f.startswith("informer") and f.rsplit(".", 1)[-1].isdigit()]
    with open(os.path.join(directory, max(files, key=lambda f: int(f.rsplit(".", 1)[1]))), "rb") as f:
        arena = bytearray(f.read())
    return arena[:struct.unpack_from("=Q", arena, 320)[0]]


def damage(arena, command, world):
    """Read all of an arena by a fresh driver: it answers everything, whatever it answers."""
    broker = Broker(bytes(arena))
    driver = Driver(command, broker.place)
    try:
        if "error" in driver.ask("begin"):
            return "refused"
        damaged = False
        for pod in DICE.sample(world.pods, min(40, len(world.pods))):
            for op in ("json", dict()), ("field", dict(path="spec.containers[*].image")), ("get", dict()), ("workload", dict()), ("services", dict()):
                damaged |= driver.ask(op[0], **of(pod), **op[1]).get("error") == "CORRUPT"
        for op, fields in [("select", dict()), ("select", dict(labels="app.kubernetes.io/name")), ("info", dict()),
                           ("index", dict(index="nodeName", value=world.pods[0].get("spec", {}).get("nodeName", ""))),
                           ("prefix", dict(index="containerID", value="0" * 12)), ("container", dict(by="id", value="0" * 12)),
                           ("container", dict(by="cgroup", value="/kubepods/pod" + world.pods[0]["metadata"]["uid"])),
                           ("address", dict(value=world.pods[0]["status"].get("podIP", "10.0.0.1")))]:
            answer = driver.ask(op, resource="pods", **fields)
            damaged |= "CORRUPT" in (answer.get("error"), answer.get("end", "").replace("INFORMER_E_", ""))
        driver.ask("end")
        return "damaged" if damaged else "read"
    finally:
        driver.close()
        broker.close()


def case_damaged_arenas(world, driver):
    """A reader of a damaged arena answers with errors, and neither crashes nor hangs."""
    command, whole = driver.process.args[0], newest_arena(world.directory)
    check(damage(whole, command, world) == "read", "an arena that is whole is not read")
    seen = set()
    for i in range(int(os.environ.get("DAMAGES", 24))):
        arena = bytearray(whole)
        for _ in range(DICE.choice([1, 100, 10000])):
            at = DICE.randrange(0 if i % 4 == 0 else 8192, len(arena) - 8)
            arena[at:at + 4] = DICE.choice([DICE.randbytes(4), b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01\0\0\x80"])
        if i % 4 == 1:  # blocks in each other's places: refs that lead in circles
            for _ in range(2000):
                a, b = (DICE.randrange(8192, len(arena) - 64) & ~15 for _ in range(2))
                arena[a:a + 32], arena[b:b + 32] = arena[b:b + 32], arena[a:a + 32]
        seen.add(damage(arena, command, world))
    check("damaged" in seen or "refused" in seen, "no damage was met:", seen)
    for cut in 0, 4096, 8192, 20000:
        check(damage(whole[:cut].ljust(8192, b"\0")[:max(cut, 100)], command, world) == "refused", "cut at", cut)


def until_it_has(driver, pods):
    """Wait until the newest snapshot has these pods: the case before may have changed them."""
    end = time.monotonic() + PATIENCE
    while True:
        driver.begin()
        got = driver.objects("select", resource="pods")
        driver.good("end")
        if got == keys(pods):
            return
        check(time.monotonic() < end, "the cache does not get to what the API server has")
        time.sleep(0.05)


class Image:
    """An arena's bytes, to be damaged where it matters."""

    def __init__(self, arena):
        self.arena = bytearray(arena)

    def u32(self, at):
        return struct.unpack_from("=I", self.arena, at)[0]

    def set(self, at, *words):
        struct.pack_into("=%dI" % len(words), self.arena, at, *words)

    def block(self, ref):
        """Where a block's payload begins, and its type and length."""
        word = self.u32(16 * ref + 8)
        return 16 * ref + 16, word >> 28, word & 0xfffffff

    def resource(self):
        """Where the first resource's payload begins."""
        root = struct.unpack_from("=Q", self.arena, 256)[0]
        return self.block(self.u32(root + 16 + 96))[0]

    def values(self, least):
        """Refs of VALUE blocks of at least so many bytes to which some value refers."""
        found, at = [], 8192
        while (at := self.arena.find(b"\x18", at + 1)) >= 0 and at + 5 <= len(self.arena):
            ref = struct.unpack_from("=I", self.arena, at + 1)[0]
            if 8192 <= 16 * ref < len(self.arena) - 16 and self.block(ref)[1] == 5 and self.block(ref)[2] >= least:
                found.append(ref)
        return sorted(set(found))


def pair_of(ref):
    """An array of twice the value in a VALUE block."""
    return b"\x1a" + struct.pack("=H", 10) + 2 * (b"\x18" + struct.pack("=I", ref))


def case_circles(world, driver):
    """Values that hold themselves, values that double forty times, and tries that lead in circles are errors."""
    command, whole = driver.process.args[0], newest_arena(world.directory)
    image = Image(whole)
    refs = image.values(13)
    check(len(refs) > 40, "few values are shared:", len(refs))
    for ref in refs:
        at = image.block(ref)[0]
        image.arena[at:at + 13] = pair_of(ref)
    check(damage(image.arena, command, world) == "damaged", "values that hold themselves")
    image = Image(whole)
    for ref, other in zip(refs, refs[1:]):
        at = image.block(ref)[0]
        image.arena[at:at + 13] = pair_of(other)
    damage(image.arena, command, world)
    for trie in 144, 148, 152, 156, 184, 188, 192:  # identity, ordinals, by-seq, deleted, indexes
        image = Image(whole)
        top = image.u32(image.resource() + trie)
        at, kind, length = image.block(top)
        if kind == 3 and not top >> 31:
            image.set(at + 8, *[top] * ((length - 8) // 4))
            damage(image.arena, command, world)


def block_keys(place):
    """The keys of blocks' tags, of informerd's key file."""
    with open(place + ".key", "rb") as f:
        return hashlib.blake2b(key=f.read(), salt=(1).to_bytes(8, "little"), person=b"infblock", digest_size=32).digest()


def case_tags(world, driver):
    """A reader that verifies tags reads what is whole, and refuses a block that was changed, though it makes sense."""
    command, keys_of_blocks = driver.process.args[0], block_keys(world.place)
    live = Driver(command, world.place, verify=True)
    for _ in range(3):  # memory of old blocks is used again
        churn(world, 2000, 500)
        live.begin()
        listed = live.objects("select", resource="pods")
        for namespace, name, _ in DICE.sample(listed, 100):
            live.good("json", resource="pods", namespace=namespace, name=name)
        check(live.objects("index", resource="pods", index="namespace", value=namespace) == [o for o in listed if o[0] == namespace], namespace)
        live.good("workload", resource="pods", namespace=namespace, name=name)
        live.good("end")
    live.close()
    whole = newest_arena(world.directory)
    pod = world.get("/api/v1/namespaces/%s/pods/%s" % (namespace, name))
    uid = pod["metadata"]["uid"]
    image = Image(whole)
    changed = bytearray(whole)
    at = 0
    while (at := changed.find(uid.encode(), at)) >= 0:
        changed[at:at + 1] = b"0" if changed[at:at + 1] != b"0" else b"1"
        at += 1

    def asked(arena, keys, **options):
        broker = Broker(bytes(arena), keys)
        reader = Driver(command, broker.place, **options)
        try:
            answer = reader.ask("begin")
            if "error" not in answer:
                answer = reader.ask("get", **of(pod))
                again = reader.ask("get", **of(world.pods[0]))
                check(not answer.get("error") or again.get("error") == answer["error"], "trusted after damage:", again)
            return answer.get("error") or answer["object"][3]
        finally:
            reader.close()
            broker.close()

    check(asked(whole, keys_of_blocks, verify=True) == uid, "what is whole")
    got = asked(changed, keys_of_blocks)
    check(got[1:] == uid[1:] and got != uid, "the change makes no sense:", got, uid)
    got = asked(changed, keys_of_blocks, verify=True)
    check(got == "CORRUPT", "a changed object:", got)
    got = asked(whole, keys_of_blocks[:31] + bytes([keys_of_blocks[31] ^ 1]), verify=True)
    check(got == "CORRUPT", "another key:", got)
    got = asked(whole, b"", verify=True)
    check(got == "NOT_READY", "no keys:", got)
    image.set(image.resource() - 4, 1)  # aux
    check(asked(image.arena, keys_of_blocks) == uid, "the head's change makes no sense")
    check(asked(image.arena, keys_of_blocks, verify=True) == "CORRUPT", "a changed head of a block")
    image = Image(whole)
    table, _, length = image.block(image.u32(image.resource() + 160))
    for at in range((table + 8 + 63) & ~63, table + length, 8):  # cells have no tag: such a reader may not follow them
        if image.u32(at):
            image.set(at, struct.unpack_from("=Q", whole, 256)[0] // 16)
    check(asked(image.arena, keys_of_blocks, verify=True) == uid, "shortcuts are used")


def case_verify(world, driver):
    """Verification reaches all blocks, the same in each language, and names the block that is damaged."""
    whole, keys_of_blocks, counts = newest_arena(world.directory), block_keys(world.place), {}
    pod = world.get("/api/v1/namespaces/%s/pods/%s" % key(world.pods[0])[:2])

    def verified(arena, command=driver.process.args[0], **options):
        broker = Broker(bytes(arena), keys_of_blocks)
        reader = Driver(command, broker.place, **options)
        try:
            answer = reader.ask("begin")
            return answer if "error" in answer else reader.ask("verify")
        finally:
            reader.close()
            broker.close()

    for options in {}, {"verify": True}:
        for command in COMMANDS:
            got = verified(whole, command, **options)
            check("error" not in got and got["damage"] == 0 and got["blocks"] > 3 * len(world.pods), got)
            check(got["tags"] == (got["blocks"] if options else 0), got)
            counts[command, bool(options)] = got["blocks"], got["bytes"]
    check(len(set(counts.values())) == 1, "they reach other blocks:", counts)
    image, found, at = Image(whole), 0, 8192
    while (at := whole.find(pod["metadata"]["uid"].encode(), at + 1)) >= 0:
        changed = bytearray(whole)
        changed[at] ^= 1
        got = verified(changed, verify=True)
        if got.get("damage"):
            found += 1
            _, _, length = image.block(got["damage"] // 16)
            check(got["damage"] + 16 <= at < got["damage"] + 16 + length, "another block:", got, at)
        check(verified(changed)["damage"] == 0, "a change that only a tag tells")
    check(found, "a changed block is not met")
    holder = image.resource() - 16
    for field, name in [(0, "descriptor"), (144, "identity"), (148, "ordinals"), (152, "by_seq"), (156, "deleted"), (160, "by_key"), (164, "by_ordinal"), (184, "index")]:
        for ref in 3, 0x7fffffff, struct.unpack_from("=Q", whole, 256)[0] // 16:  # in the header, beyond the end, another type
            image = Image(whole)
            image.set(holder + 16 + field, ref)
            got = verified(image.arena)
            check(got.get("damage") == holder or got.get("error") == "CORRUPT", name, ref, got, holder)
    image = Image(whole)
    refs = image.values(13)
    for ref, other in zip(refs, refs[1:]):
        at = image.block(ref)[0]
        image.arena[at:at + 13] = pair_of(other)
    got = verified(image.arena)
    check(got.get("damage") or got.get("error") == "CORRUPT", "nested too deep:", got)
    for _ in range(int(os.environ.get("DAMAGES", 24))):
        arena = bytearray(whole)
        for _ in range(300):
            at = DICE.randrange(8192, len(arena) - 8)
            arena[at:at + 4] = DICE.choice([DICE.randbytes(4), b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x01\0\0\x80"])
        got = verified(arena, verify=True)
        check(got.get("damage") or got.get("error") in ("CORRUPT", "NOT_READY"), got)
        verified(arena)


def main():
    place, url, directory, *drivers = sys.argv[1:]
    COMMANDS.extend(drivers)
    only = os.environ.get("CASES", "").split()
    cases = [(name[5:], f) for name, f in globals().items() if name.startswith("case_") and (not only or name[5:] in only)]
    print("SEED=%d" % SEED)
    failed = False
    for command in drivers:
        for name, case in cases:
            begun, world = time.monotonic(), World(place, url, directory)
            DICE.seed("%d %s" % (SEED, name))  # no case draws what another one has left behind
            driver = Driver(command, place)
            try:
                driver.good("wait", resource="pods")
                until_it_has(driver, world.pods)
                case(world, driver)
                driver.close()
                print("ok   %s %s (%.1f s)" % (os.path.basename(command), name, time.monotonic() - begun))
            except Failed as why:
                driver.process.kill()
                failed = True
                print("FAIL %s %s: %s\n     %s" % (os.path.basename(command), name, case.__doc__, str(why)[:2000]))
            sys.stdout.flush()
    sys.exit(failed)


main()
