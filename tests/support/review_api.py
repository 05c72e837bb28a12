#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An API server as far as reviews go, for tests of a gateway's real program.

    review_api.py PORT-FILE

Tokens are JWTs that nobody signed: {"sub": USER, "aud": AUDIENCE, "exp": SECONDS}. A TokenReview accepts one
that has not run out and is for an audience that is asked for; where none is, that is the audience "api". A SubjectAccessReview allows what the table
says. What it is asked of some users is not answered: of "hang" no review ever, of "hang-later" only the
first; and those of "broken" with 500. Sentences have no token in them.
"""
import base64
import http.server
import json
import os
import sys
import threading
import time

ALLOWED = {
    "viewer": lambda a: a.get("resource") in ("pods", "nodes"),
    "other": lambda a: a.get("resource") == "pods",
    "keeper": lambda a: True,
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

    def do_POST(self):
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reviews = {"TokenReview": review_token, "SubjectAccessReview": review_access}
        status = reviews[question["kind"]](question["spec"])
        answer = json.dumps(dict(question, status=status or {})).encode()
        self.send_response(201 if status else 500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(sys.argv[1] + ".new", "w", encoding="ascii") as file:
    file.write(f"{server.server_port}\n")
os.rename(sys.argv[1] + ".new", sys.argv[1])
server.serve_forever()
