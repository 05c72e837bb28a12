# SPDX-License-Identifier: Apache-2.0
"""
tls_gate.py DIR UPSTREAM NAME: an API server on TLS that asks for client certificates, for tests: what it is asked it asks of
http://127.0.0.1:UPSTREAM. Its certificate is DIR/NAME.crt, clients' must be by DIR/ca.crt, and their common name what stands in
DIR/valid at that moment; others get 401. Prints "READY url=https://127.0.0.1:PORT", then a line a request: the common name, the path,
and a number for the connection.
"""
import http.client
import http.server
import itertools
import ssl
import sys

folder, upstream, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
numbers = itertools.count(1)


class Gate(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.request.do_handshake()
        self.number = next(numbers)
        super().setup()

    def log_message(self, *_):
        pass

    def do_GET(self):
        names = [v for part in self.connection.getpeercert()["subject"] for k, v in part if k == "commonName"]
        print(names[0], self.path, self.number, flush=True)
        with open(folder + "/valid") as file:
            valid = file.read().strip()
        if names[0] != valid:
            body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}'
            self.send_response(401)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            return
        back = http.client.HTTPConnection("127.0.0.1", upstream)
        back.request("GET", self.path, headers={"Accept": self.headers["Accept"]})
        answer = back.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while data := answer.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.write(b"0\r\n\r\n")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(f"{folder}/{name}.crt", f"{folder}/{name}.key")
context.load_verify_locations(f"{folder}/ca.crt")
context.verify_mode = ssl.CERT_REQUIRED
server = Server(("127.0.0.1", 0), Gate)
server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
print(f"READY url=https://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
