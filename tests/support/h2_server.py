# SPDX-License-Identifier: Apache-2.0
"""
h2_server.py CERT KEY WATCHES: as much of an HTTP/2 server as a test of connections needs, for it does not read what it is asked: of each
connection the first WATCHES requests are answered with a header and then with silence, every later one with "ok". Prints "READY PORT",
then "CONNECTION REQUEST" (both counted from 1) for each request.
"""
import itertools
import socket
import ssl
import sys
import threading

DATA, HEADERS, RST, SETTINGS, PING, GOAWAY = 0, 1, 3, 4, 6, 7
END_STREAM, ACK, END_HEADERS = 1, 1, 4
STATUS_200 = b"\x88"  # the eighth entry of HPACK's static table


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def read(peer, n):
    data = b""
    while len(data) < n:
        more = peer.recv(n - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(peer, number):
    requests = 0
    try:
        peer = context.wrap_socket(peer, server_side=True)
        read(peer, 24)
        peer.sendall(frame(SETTINGS, 0, 0))
        while True:
            head = read(peer, 9)
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:9], "big")
            payload = read(peer, int.from_bytes(head[:3], "big"))
            if kind == SETTINGS and not flags & ACK:
                peer.sendall(frame(SETTINGS, ACK, 0))
            elif kind == PING and not flags & ACK:
                peer.sendall(frame(PING, ACK, 0, payload))
            elif kind == HEADERS:
                requests += 1
                print(number, requests, flush=True)
                peer.sendall(frame(HEADERS, END_HEADERS, stream, STATUS_200))
                if requests > watches:
                    peer.sendall(frame(DATA, END_STREAM, stream, b"ok"))
    except (EOFError, OSError):
        pass


watches = int(sys.argv[3])
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", 0))
print("READY", listener.getsockname()[1], flush=True)
for number in itertools.count(1):
    threading.Thread(target=serve, args=(listener.accept()[0], number), daemon=True).start()
