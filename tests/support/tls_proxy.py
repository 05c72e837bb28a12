# SPDX-License-Identifier: Apache-2.0
"""
tls_proxy.py CERT KEY [USER:PASSWORD]: a proxy that is itself reached by TLS, for tests: CONNECT alone, and with USER:PASSWORD only for who
shows them, others get 407. Whatever host is asked for, it is 127.0.0.1 that is connected to. Prints "READY PORT", then a line a CONNECT:
"host:port" and who asked, or 407.
"""
import base64
import socket
import ssl
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    try:
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(peer):
    try:
        peer = context.wrap_socket(peer, server_side=True)
        head = b""
        while b"\r\n\r\n" not in head:
            more = peer.recv(4096)
            if not more:
                return
            head += more
        lines = head.split(b"\r\n\r\n")[0].decode().split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines[1:])}
        shown = headers.get("proxy-authorization", "").partition("Basic ")[2]
        if method != "CONNECT" or (wanted and base64.b64decode(shown).decode() != wanted):
            print(target, 407, flush=True)
            peer.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n")
            peer.close()
            return
        print(target, base64.b64decode(shown).decode().partition(":")[0] or "nobody", flush=True)
        back = socket.create_connection(("127.0.0.1", int(target.rpartition(":")[2])))
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        threading.Thread(target=pump, args=(back, peer), daemon=True).start()
        pump(peer, back)
    except (OSError, ValueError):
        pass


wanted = sys.argv[3] if len(sys.argv) > 3 else None
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print("READY", listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
