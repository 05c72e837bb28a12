#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What stands before an API server in tests, and tells on standard output what it was asked.

    gate.py [--upstream PORT] [--token-file FILE]

On one port of 127.0.0.1 it is
    a proxy     "CONNECT host:port", "GET http://host:port/..." and SOCKS5 (with or without password)
    a server    "GET /..." is asked of 127.0.0.1:PORT; with --token-file only for who shows the token that is in FILE now, others get 401

Whatever host is asked for, it is 127.0.0.1 that is connected to, so that names need not exist. Each request to the server or through
the proxy as text gets a connection of its own upstream.

    READY url=http://127.0.0.1:PORT
    SOCKS5 host:port [user]
    GET http://... | GET /... | CONNECT host:port
    > Header: value
"""
import argparse
import select
import socket
import socketserver
import struct
import threading

parser = argparse.ArgumentParser()
parser.add_argument("--upstream", type=int)
parser.add_argument("--token-file")
arguments = parser.parse_args()
lock = threading.Lock()
REFUSED = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}'


def tell(lines):
    with lock:
        print(lines, flush=True)


def has_token(headers):
    if not arguments.token_file:
        return True
    try:
        with open(arguments.token_file, encoding="latin-1") as file:
            token = file.readline().rstrip("\n")
    except OSError:
        token = ""
    return bool(token) and f"authorization: bearer {token}".lower() in (line.lower() for line in headers)


def port_of(host):
    return int(host.rpartition(":")[2]) if ":" in host else 80


class Connection(socketserver.BaseRequestHandler):
    def handle(self):
        if self.request.recv(1, socket.MSG_PEEK) == b"\5":
            self.socks()
        else:
            self.text()

    def read(self, length):
        data = self.request.recv(length, socket.MSG_WAITALL) if length else b""
        if len(data) < length:
            raise ConnectionError
        return data

    def counted(self):
        return self.read(self.read(1)[0])

    def join(self, upstream, first=b""):
        """Hand on in both directions until one side ends."""
        upstream.sendall(first)
        while True:
            for end in select.select([self.request, upstream], [], [])[0]:
                data = end.recv(65536)
                if not data:
                    return
                (upstream if end is self.request else self.request).sendall(data)

    def socks(self):
        self.read(1)
        with_password = 2 in self.counted()
        self.request.sendall(b"\5\2" if with_password else b"\5\0")
        user = ""
        if with_password:
            self.read(1)
            user = " " + self.counted().decode()
            self.counted()
            self.request.sendall(b"\1\0")
        kind = self.read(4)[3]
        if kind == 3:
            host = self.counted().decode()
        else:
            host = socket.inet_ntop(socket.AF_INET6 if kind == 4 else socket.AF_INET, self.read(16 if kind == 4 else 4))
        port, = struct.unpack(">H", self.read(2))
        tell(f"SOCKS5 {host}:{port}{user}")
        try:
            upstream = socket.create_connection(("127.0.0.1", port))
        except OSError:
            self.request.sendall(b"\5\5\0\1" + bytes(6))
            return
        with upstream:
            self.request.sendall(b"\5\0\0\1" + bytes(6))
            self.join(upstream)

    def text(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read(1)
        first, *headers = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        tell("\n> ".join([first, *headers]))
        verb, target, _ = first.split(" ", 2)
        host, path = "", target
        if target.startswith("http://"):
            host, _, path = target.removeprefix("http://").partition("/")
            path = "/" + path
        if not host and verb != "CONNECT" and not has_token(headers):
            self.request.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nConnection: close\r\n"
                                 b"Content-Length: %d\r\n\r\n%s" % (len(REFUSED), REFUSED))
            return
        port = port_of(target) if verb == "CONNECT" else port_of(host) if host else arguments.upstream
        try:
            upstream = socket.create_connection(("127.0.0.1", port))
        except OSError:
            self.request.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return
        with upstream:
            if verb == "CONNECT":
                self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                self.join(upstream)
            else:
                again = "\r\n".join([f"{verb} {path} HTTP/1.1", "Connection: close", *headers, "", ""])
                self.join(upstream, again.encode("latin-1"))


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # an end went away


with Server(("127.0.0.1", 0), Connection) as server:
    print(f"READY url=http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
