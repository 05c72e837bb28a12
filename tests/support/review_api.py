#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An API server as far as reviews go, for tests of a gateway's real program.

    review_api.py PORT-FILE [BEHIND PASSED-FILE]

With BEHIND, the URL of an API server, it passes all other requests on to that server, and writes a line for each
to PASSED-FILE: METHOD PATH AUTHORIZATION. Logs of pods, which that server does not have, it tells itself.

Tokens are JWTs that nobody signed: {"sub": USER, "aud": AUDIENCE, "exp": SECONDS}. A TokenReview accepts one
that has not run out and is for an audience that is asked for; where none is, that is the audience "api". A SubjectAccessReview allows what the table
says. What it is asked of some users is not answered: of "hang" no review ever, of "hang-later" only the
first; and those of "broken" with 500. "tenant" may read pods of the namespace default. Sentences have no token in them.
"""
import base64
import http.server
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request

ALLOWED = {
    "viewer": lambda a: a.get("resource") in ("pods", "nodes"),
    "other": lambda a: a.get("resource") == "pods",
    "tenant": lambda a: (a.get("resource"), a.get("namespace")) == ("pods", "default"),
    "keeper": lambda a: True,
    "agent": lambda a: (a.get("verb"), a.get("resource"), a.get("subresource")) == ("get", "nodes", "pods"),
    "old-agent": lambda a: (a.get("verb"), a.get("resource"), a.get("subresource")) == ("get", "nodes", "proxy"),
}
never = threading.Event()


def claims(token):
    try:
        part = token.split(".")[1]
        return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (IndexError, ValueError):
        return {}


def review_token(spec):
    said = claims(spec.get("token", ""))
    user, audience = said.get("sub", ""), said.get("aud", "")
    if user == "hang":
        never.wait()
    if user == "broken":
        return None
    wanted = spec.get("audiences") or ["api"]
    if not user or said.get("exp", 0) <= time.time() or audience not in wanted:
        return {"authenticated": False, "error": "invalid bearer token"}
    return {"authenticated": True, "user": {"username": user, "uid": "u-" + user, "groups": ["people"]},
            "audiences": [audience]}


def review_access(spec):
    user = spec.get("user", "")
    if user == "hang-later":
        never.wait()
    asked = spec.get("resourceAttributes")
    may = ALLOWED.get(user, lambda a: False)
    if asked is None:
        return {"allowed": user == "keeper"}
    return {"allowed": bool(may(asked)), "reason": "" if may(asked) else "no rule has it"}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, content_type, body):
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def pass_on(self, body=None):
        if len(sys.argv) < 4:
            self.answer(404, "text/plain", b"")
            return
        with open(sys.argv[3], "a", encoding="utf-8") as file:
            file.write(f"{self.command} {self.path} {self.headers.get('Authorization')}\n")
        if self.path.split("?")[0].endswith("/log"):
            self.answer(200, "text/plain", b"a line of the log\n")
            return
        request = urllib.request.Request(sys.argv[2] + self.path, data=body, method=self.command)
        for name in ("Accept", "Content-Type"):
            if name in self.headers:
                request.add_header(name, self.headers[name])
        try:
            with urllib.request.urlopen(request) as got:
                self.answer(got.status, got.headers["Content-Type"], got.read())
        except urllib.error.HTTPError as error:
            self.answer(error.code, error.headers["Content-Type"], error.read())

    def do_GET(self):
        self.pass_on()

    def do_DELETE(self):
        self.pass_on()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.endswith("reviews"):
            self.pass_on(body)
            return
        question = json.loads(body)
        reviews = {"TokenReview": review_token, "SubjectAccessReview": review_access}
        status = reviews[question["kind"]](question["spec"])
        answer = json.dumps(dict(question, status=status or {})).encode()
        self.answer(201 if status else 500, "application/json", answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
    file.write(f"{server.server_port}\n")
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
