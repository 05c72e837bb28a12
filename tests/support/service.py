# SPDX-License-Identifier: Apache-2.0
"""
service.py FILE [PORT]: a Service, for tests. It hands each connection on to one of the ports that stand in FILE, a line each: to the one that has
the fewest connections of those that came this way. So a client that leaves one port for another gets there, whoever else connects meanwhile. A port
at which nobody listens is passed over. Where there is none the connection is closed. FILE is read anew for each. Prints "READY PORT".
"""
import socket
import sys
import threading

connections = {}  # by port
lock = threading.Lock()


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


def count(port, by):
    with lock:
        connections[port] = connections.get(port, 0) + by


def backend():
    with open(sys.argv[1], encoding="ascii") as f:
        ports = [int(line) for line in f if line.strip()]
    for port in sorted(ports, key=lambda port: connections.get(port, 0)):
        try:
            server = socket.create_connection(("127.0.0.1", port))
        except OSError:
            continue
        count(port, 1)
        return server, port
    return None, 0


def serve(client):
    server, port = backend()
    if server:
        back = threading.Thread(target=pump, args=(server, client))
        back.start()
        pump(client, server)
        back.join()
        server.close()
        count(port, -1)
    client.close()


with socket.create_server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), backlog=256) as listener:
    print("READY", listener.getsockname()[1], flush=True)
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
