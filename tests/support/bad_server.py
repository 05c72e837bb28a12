#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An API server whose answers are files, so that a test can say whatever a broken or hostile one could.

    bad_server.py DIR

Prints "READY url=http://127.0.0.1:PORT" and serves until it is killed. Knows pods, services, configmaps (namespaced) and nodes of
the core group. The files are read at each request:

    DIR/pods.list     the answer to a LIST of pods; DIR/pods.list.3, when there is one, to the third. In a namespace: DIR/NS/pods.list,
                      so that a test can try many answers at once, each in a namespace of its own
    DIR/pods.watch    what a WATCH of pods gets: the file's bytes, and those appended to it later; the stream ends when the file is
                      removed or made shorter. DIR/pods.watch.3 for the third. Without a file: a stream without an event

A file that begins with "HTTP/" is the whole answer, head and all: it is sent as it is, and the connection closed. Others get a
head of 200 and application/json; a LIST without a file is 404. DIR/requests gets a line per request: the verb and the target.
"""
import collections
import json
import os
import select
import socket
import socketserver
import sys
import threading

LOOK_AGAIN_S = 0.01
KINDS = {"pods": "Pod", "services": "Service", "configmaps": "ConfigMap", "nodes": "Node"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
asked = collections.Counter()  # how often each script was asked for
lock = threading.Lock()


def text(status, body):
    return f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n{body}".encode()


def discovery():
    return json.dumps({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
        {"name": name, "singularName": "", "namespaced": name != "nodes", "kind": kind, "verbs": ["list", "watch"]}
        for name, kind in KINDS.items()]})


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        verb, target = self.rfile.readline().decode("latin-1").split(" ")[:2]
        while self.rfile.readline().strip():
            pass
        if verb == "GET":
            self.serve(*target.partition("?")[::2])

    def serve(self, path, query):
        watch = "watch=1" in query or "watch=true" in query
        with lock, open(f"{sys.argv[1]}/requests", "a", encoding="latin-1") as requests:
            requests.write(f"{'WATCH' if watch else 'LIST'} {path}{'?' if query else ''}{query}\n")
        below = path.removeprefix("/api/v1").removeprefix("/namespaces").removeprefix("/")
        if path == "/api/v1":
            self.wfile.write(text(200, discovery()))
        elif path.startswith("/api/v1/") and below.split("/")[-1] in KINDS:
            self.answer(f"{sys.argv[1]}/{below}.{'watch' if watch else 'list'}", watch)
        else:
            self.wfile.write(text(404, "nothing here"))

    def answer(self, script, watch):
        with lock:
            asked[script] += 1
            numbered = f"{script}.{asked[script]}"
        path = numbered if os.path.exists(numbered) else script
        try:
            file = open(path, "rb", buffering=0)
        except OSError:
            if not watch:
                self.wfile.write(text(404, "there is no such file"))
                return
            file = open(os.devnull, "rb", buffering=0)
        with file:
            whole = os.pread(file.fileno(), 5, 0) == b"HTTP/"
            self.wfile.write(b"" if whole else HEAD)
            while True:
                while piece := file.read(65536):
                    self.wfile.write(piece)
                if whole or not watch or select.select([self.connection], [], [], LOOK_AGAIN_S)[0]:
                    return
                now = os.fstat(file.fileno())
                if now.st_nlink == 0 or now.st_size < file.tell():
                    return


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass  # the client went away


with Server(("127.0.0.1", 0), Connection) as server:
    print(f"READY url=http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
