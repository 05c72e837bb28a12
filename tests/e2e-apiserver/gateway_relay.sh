#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The nodes and relays of tests/e2e/gateway_relay.sh behind upstream's API server, which goes and comes back with what it had: neither the nodes
# nor the relays list again.
SERVER=apiserver
. "$(dirname "$0")/../e2e/gateway_relay.sh"
