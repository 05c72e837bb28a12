# SPDX-License-Identifier: Apache-2.0
# For each small fault of tests/mutants that is put into the sources a test turns red.
# Not upstream: it needs no server.
# Takes 1800 s.
unset ONLY MAKEFLAGS
exec make -s KEEP_GOING=1 JOBS=1 B="${B:-build}" mutants
