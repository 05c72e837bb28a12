#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says any bytes over TLS, and shows what is answered; for tests of a server's real program.

    tls_say.py HOST:PORT CA say               standard input, at once; then the answer until the end, or 5 s of silence
    tls_say.py HOST:PORT CA drip SECONDS      a byte of it each 50 ms, so long at most; prints how long it was let live
    tls_say.py HOST:PORT CA much BYTES        standard input, then a header of so many bytes
    tls_say.py HOST:PORT CA idle COUNT        so many connections that say nothing; prints IDLE, and after a line on
                                              standard input how many of them are still open, and ends with its end
"""
import select
import socket
import ssl
import sys
import time

address, ca, what = sys.argv[1:4]
host, port = address.rsplit(":", 1)


def connect():
    context = ssl.create_default_context(cafile=ca)
    return context.wrap_socket(socket.create_connection((host, int(port)), timeout=5), server_hostname=host)


def hear(s, seconds=5):
    s.settimeout(seconds)
    try:
        while True:
            data = s.recv(65536)
            if not data:
                break
            sys.stdout.buffer.write(data)
    except OSError:
        pass
    sys.stdout.flush()


def say():
    s = connect()
    try:
        s.sendall(sys.stdin.buffer.read())
    except OSError:
        pass
    hear(s)


def drip(seconds):
    begun = time.monotonic()
    data = sys.stdin.buffer.read() + b"X-Slow: " + b"a" * 100000
    s = connect()
    s.settimeout(0.05)
    for i in range(len(data)):
        try:
            s.sendall(data[i:i + 1])
            if s.recv(1) == b"":
                break
        except TimeoutError:
            pass
        except OSError:
            break
        if time.monotonic() - begun > seconds:
            print("still there")
            return
    print("ended after %.1f s" % (time.monotonic() - begun))


def much(count):
    s = connect()
    block = b"X-Much: " + b"a" * 4000 + b"\r\n"
    try:
        s.sendall(sys.stdin.buffer.read())
        for _ in range(count // len(block)):
            s.sendall(block)
        s.sendall(b"\r\n")
    except OSError:
        pass
    hear(s)


def idle(count):
    sockets = [socket.create_connection((host, int(port))) for _ in range(count)]
    print("IDLE", flush=True)
    for _ in sys.stdin:
        poll = select.poll()
        for s in sockets:
            poll.register(s, select.POLLIN | select.POLLRDHUP)
        print(len(sockets) - len(poll.poll(0)), flush=True)


if what == "say":
    say()
else:
    {"drip": lambda: drip(float(sys.argv[4])), "much": lambda: much(int(sys.argv[4])),
     "idle": lambda: idle(int(sys.argv[4]))}[what]()
