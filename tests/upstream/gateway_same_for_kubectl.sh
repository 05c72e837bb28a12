#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kubectl cannot tell a gateway from upstream's API server: same_for_kubectl.sh, which says what may differ.
# Takes 60 s.
OURS=gateway exec bash "$(dirname "$0")/same_for_kubectl.sh"
