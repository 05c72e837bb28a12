#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold tools/monitoring against what programs print: monitoring_names.py METRICS...

METRICS are answers of /metrics. Each metric that a rule, a test of a rule or the dashboard names must be a sample there. Each label
that a matcher, a grouping, a legend or an annotation names must be one of its metrics', or a target's (job, instance). The value of
a matcher must be one that occurs. Prints what is missing, and exits 1.
"""
import json
import re
import sys

FOLDER = "tools/monitoring/"
TARGET = {"job", "instance"}  # Prometheus adds them, and the metric `up`
WORDS = {"and", "or", "unless", "bool", "offset", "group_left", "group_right"}
OURS = re.compile(r"\b(?:informer|rest_client|process)_[a-z0-9_]+")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
faults = []


def read_metrics(paths):
    """Name to the list of its samples' labels."""
    series = {"up": [{}]}
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for line in f:
                m = re.match(r"([a-z_]\w*)(?:\{(.*)\})? \S+$", line)
                if m:
                    labels = dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', m.group(2) or ""))
                    series.setdefault(m.group(1), []).append(labels)
    return series


def check_query(where, query, legend, series):
    grouping = r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)"
    grouped = {label for group in re.findall(grouping, query) for label in re.findall(r"\w+", group)}
    plain = re.sub(r"\[[^]]*\]", "", re.sub(grouping, " ", query))
    known, named = set(TARGET), False
    for name, after in re.findall(r"(?<![\w.])([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?", plain):
        if name in WORDS or after == "(":
            continue
        named = True
        if name not in series:
            faults.append(f"{where}: no metric {name}")
            continue
        labels = {label for sample in series[name] for label in sample}
        known |= labels
        for label, how, value in MATCHER.findall(after):
            if label not in labels | TARGET:
                faults.append(f"{where}: {name} has no label {label}")
            elif label in labels and "$" not in value:
                # each alternative of =~ must mean something
                for one in value.split("|") if how in ("=~", "!~") else [re.escape(value)]:
                    if not any(re.fullmatch(one, sample.get(label, "")) for sample in series[name]):
                        faults.append(f"{where}: no {name} has {label}={one}")
    if not named:
        faults.append(f"{where}: no metric in {query}")
    shown = set(re.findall(r"\{\{\s*(?:\$labels\.)?([a-z]\w*)\s*\}\}", legend))
    for label in sorted(grouped - known):
        faults.append(f"{where}: no metric of the query has the label {label}")
    for label in sorted(shown - (grouped or known)):
        faults.append(f"{where}: the result has no label {label}")


def queries():
    """Place, query, and the text that names labels of its result."""
    with open(FOLDER + "informer.rules.yaml", encoding="utf-8") as f:
        rules = re.split(r"\n\s*- alert: ", f.read())[1:]
    for rule in rules:
        m = re.search(r"expr:(?: >-)?(.*?)\n\s+(?:for|labels):(.*)", rule, re.S)
        yield rule.split("\n", 1)[0], m.group(1), m.group(2)
    with open(FOLDER + "informer-dashboard.json", encoding="utf-8") as f:
        dashboard = json.load(f)
    for panel in dashboard["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"], target["legendFormat"]


def main():
    series = read_metrics(sys.argv[1:])
    count = 0
    for where, query, legend in queries():
        check_query(where, query, legend, series)
        count += 1
    if count < 40:
        faults.append(f"only {count} queries were found")
    for name in ("informer.rules.yaml", "informer.rules.test.yaml", "informer-dashboard.json"):
        with open(FOLDER + name, encoding="utf-8") as f:
            for metric in sorted(set(OURS.findall(f.read())) - set(series)):
                faults.append(f"{FOLDER}{name}: no metric {metric}")
    for line in faults:
        print(line, file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
