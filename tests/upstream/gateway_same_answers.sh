#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A gateway answers as upstream's API server does: same_answers.sh, which says what may differ.
# Takes 60 s.
OURS=gateway exec bash "$(dirname "$0")/same_answers.sh"
