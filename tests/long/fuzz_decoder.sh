# SPDX-License-Identifier: Apache-2.0
# A bounded number of mutated documents: decoded whole and in pieces, as document, list and watch, they must
# agree, print, and leave nothing behind. More of it: fuzz_decoder -n 1000000 -s SEED [DIR].
# Not upstream: it needs no server.
# Takes 5 s.
set -eu
exec "$B"/tests/fuzz_decoder -n 10000 -s "${SEED:-1}"
