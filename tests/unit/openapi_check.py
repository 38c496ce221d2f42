#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# openapi_check.py URL TOKEN: asks a running hub for every path of its own description and checks
# each answer against its schema. What a path needs (a node, a GPU, a job) is taken from the lists.
import json
import sys
import urllib.error
import urllib.request

import jsonschema

url, token = sys.argv[1], sys.argv[2]
failures = 0


def ask(path, method="GET", body=None):
    request = urllib.request.Request(url + path, method=method, data=body)
    request.add_header("Authorization", "Bearer " + token)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            if reply.headers.get_content_type() == "text/event-stream":
                return reply.status, reply.headers.get_content_type(), reply.read1(10).decode()
            return reply.status, reply.headers.get_content_type(), reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers.get_content_type(), error.read().decode()


def fail(sentence):
    global failures
    failures += 1
    print(sentence)


def resolve(part, described):
    while "$ref" in part:
        place = described
        for step in part["$ref"].removeprefix("#/").split("/"):
            place = place[step]
        part = place
    return part


def check(method, path, operation, described, body=None):
    status, kind, text = ask(path, method, body)
    answer = operation["responses"].get(str(status))
    if answer is None:
        return fail(f"{method} {path}: status {status} is not described: {text[:200]}")
    content = resolve(answer, described)["content"]
    if kind not in content:
        return fail(f"{method} {path}: {kind} is not described")
    if kind != "application/json":
        return None
    schema = {"components": described["components"], **content[kind]["schema"]}
    try:
        jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    except (jsonschema.ValidationError, ValueError) as error:
        fail(f"{method} {path}: status {status}: {str(error)[:600]}")
    return status


def first(path, key, name):
    items = json.loads(ask(path)[2]).get(key, [])
    return str(items[0][name]) if items else "none"


described = json.loads(ask("/openapi.json")[2])
jsonschema.Draft202012Validator.check_schema(described["components"]["schemas"]["Fleet"])
examples = {
    "/v1/nodes/{name}": ("{name}", first("/v1/nodes", "nodes", "name")),
    "/v1/nodes/{name}/history": ("{name}", first("/v1/nodes", "nodes", "name")),
    "/v1/gpus/{uuid}": ("{uuid}", first("/v1/gpus", "gpus", "uuid")),
    "/v1/incidents/{id}": ("{id}", first("/v1/incidents", "incidents", "id")),
    "/v1/jobs/{id}": ("{id}", first("/v1/jobs", "jobs", "id")),
}
walked = 0
for path, methods in described["paths"].items():
    for method, operation in methods.items():
        walked += 1
        where = path.replace(*examples[path]) if path in examples else path
        if path.endswith("/history"):
            where += "?metric=temperature_c"
        if method == "get":
            status = check("GET", where, operation, described)
            if status not in (200, None) and path not in ("/v1/sim", "/healthz"):
                if "none" not in where:
                    fail(f"GET {where}: status {status}, 200 was expected")
            if path in examples:
                lost = path.replace(examples[path][0], "no-such-thing")
                check("GET", lost + ("?metric=power_w" if path.endswith("/history") else ""),
                      operation, described)
        else:
            check("POST", where, operation, described, b"{")
check("POST", "/v1/actions", described["paths"]["/v1/actions"]["post"], described,
      json.dumps({"action": "return", "node": examples["/v1/nodes/{name}"][1]}).encode())
if failures == 0:
    print(f"{walked} operations of {len(described['paths'])} paths are as described")
sys.exit(1 if failures else 0)
