# SPDX-License-Identifier: Apache-2.0
"""
service.py FILE [PORT]: a Service, for tests: hands each connection on to one of the ports that stand in FILE, a line each, in turn; one at which
nobody listens is passed over, and where there is none the connection is closed. FILE is read anew for each. Prints "READY PORT".
"""
import itertools
import socket
import sys
import threading

turn = itertools.count()


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def backend():
    with open(sys.argv[1], encoding="ascii") as f:
        ports = [int(line) for line in f if line.strip()]
    first = next(turn)
    for i in range(len(ports)):
        try:
            return socket.create_connection(("127.0.0.1", ports[(first + i) % len(ports)]))
        except OSError:
            continue
    return None


def serve(client):
    server = backend()
    if server:
        back = threading.Thread(target=pump, args=(server, client))
        back.start()
        pump(client, server)
        back.join()
        server.close()
    client.close()


with socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), backlog=256) as listener:
    print("READY", listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
