# SPDX-License-Identifier: Apache-2.0
"""objects.py SERVICES: a cluster's namespaces, services of all kinds, their endpoint slices and pods, as a List.
With a second argument, questions: those about the first and last services instead, a line of dig each."""

import json
import sys

services = int(sys.argv[1])
objects, questions = [], []
ZONE = "cluster.local"


def add(version, kind, name, namespace=None, **fields):
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    objects.append({"apiVersion": version, "kind": kind, "metadata": metadata, **fields})


def address(i, at):
    return f"10.{at}.{i // 250}.{i % 250 + 1}"


def reverse(ip):
    return ".".join(reversed(ip.split("."))) + ".in-addr.arpa"


def tier(i):
    return {"tier": "front" if i % 2 else "back"}


def ask(i, *lines):
    if i < 40 or i >= services - 8:
        questions.extend(lines)


def slice_of(i, namespace, family, endpoints, ports, suffix=""):
    add("discovery.k8s.io/v1", "EndpointSlice", f"s{i}-e{suffix}", namespace, addressType=family, endpoints=endpoints, ports=ports,
        metadata={"labels": {"kubernetes.io/service-name": f"s{i}", **tier(i)}})


for n in range(10):
    add("v1", "Namespace", f"shop-{n}", metadata={"labels": {"team": f"t{n % 3}"}})
for i in range(services):
    namespace, kind = f"shop-{i % 10}", i % 9
    name = f"s{i}.{namespace}.svc.{ZONE}"
    ports = [{"name": "http", "port": 80, "protocol": "TCP", "targetPort": 8080}, {"name": "q", "port": 53, "protocol": "UDP"}]
    cluster_ip = address(i, 100)
    spec = {"type": "ClusterIP", "clusterIP": cluster_ip, "clusterIPs": [cluster_ip], "ports": ports, "selector": {"app": f"s{i}"}}
    status = {"loadBalancer": {}}
    if kind == 4:
        spec |= {"clusterIP": "None", "clusterIPs": ["None"]}
        ask(i, f"z0.pin._zone.{name} A", f"z9.pin._zone.{name} A", f"z9.prefer._zone.{name} A")
    elif kind == 5:
        spec = {"type": "ExternalName", "externalName": f"s{i}.example.com"}
    elif kind == 6:
        spec |= {"type": "LoadBalancer", "externalIPs": [address(i, 120)]}
        status = {"loadBalancer": {"ingress": [{"ip": address(i, 121)}, {"hostname": f"lb{i}.example.com"}]}}
        ask(i, f"s{i}.{namespace}.example.org A", f"-x {address(i, 120)}", f"_http._tcp.s{i}.{namespace}.example.org SRV")
    elif kind == 7:
        spec |= {"clusterIPs": [cluster_ip, f"fd00::{i + 1:x}"], "ipFamilies": ["IPv4", "IPv6"], "ipFamilyPolicy": "PreferDualStack"}
        slice_of(i, namespace, "IPv6", [{"addresses": [f"fd01::{i + 1:x}"], "conditions": {}}], [{"name": "http", "port": 8080}], "6")
        ask(i, f"-x fd00::{i + 1:x}", f"-x fd01::{i + 1:x}")
    elif kind == 8:
        del spec["ports"]
    add("v1", "Service", f"s{i}", namespace, spec=spec, status=status, metadata={"labels": tier(i)})
    ask(i, f"{name} A", f"{name} AAAA", f"{name} SRV", f"{name} TXT", f"_http._tcp.{name} SRV", f"_q._udp.{name} SRV", f"_no._tcp.{name} SRV",
        f"*.{name} A", f"-x {cluster_ip}")
    if kind == 5:
        continue
    endpoints = []
    for e in range(2):
        ip, pod = address(2 * i + e, 50 + kind), f"p{i}-{e}"
        endpoints.append({"addresses": [ip], "conditions": {"ready": e == 0 or kind != 3}, "nodeName": f"n{e}", "zone": f"Z{e}",
                          "targetRef": {"kind": "Pod", "name": pod, "namespace": namespace},
                          **({"hostname": f"h{e}"} if kind == 4 and i % 2 else {})})
        add("v1", "Pod", pod, namespace, spec={"nodeName": f"n{e}", "containers": [{"name": "c", "image": "registry.example/shop:1"}]},
            status={"phase": "Succeeded" if i % 11 == 0 else "Running", "podIP": ip, "podIPs": [{"ip": ip}]}, metadata={"labels": tier(i)})
        ask(i, f"-x {ip}", f"{ip.replace('.', '-')}.{namespace}.pod.{ZONE} A", f"{ip.replace('.', '-')}.shop-0.pod.{ZONE} A",
            f"{ip.replace('.', '-')}.{name} A", f"h{e}.{name} A")
    slice_of(i, namespace, "IPv4", endpoints, [{"name": "http", "port": 8080, "protocol": "TCP"}, {"name": "q", "port": 53, "protocol": "UDP"}])
questions += [f"{ZONE} SOA", f"{ZONE} NS", f"dns-version.{ZONE} TXT", f"ns.dns.{ZONE} A", f"svc.{ZONE} A", f"shop-1.svc.{ZONE} A",
              f"pod.{ZONE} A", f"none.shop-1.svc.{ZONE} A", f"s1.none.svc.{ZONE} A", f"x.{ZONE} A", f"1-2-3-4.shop-1.pod.{ZONE} A",
              f"1-2-3-4.none.pod.{ZONE} A", "-x 10.255.255.254", f"S1.Shop-1.SVC.{ZONE} A"]
if len(sys.argv) > 2:
    print("\n".join(questions))
else:
    json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, sys.stdout)
