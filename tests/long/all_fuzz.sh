# SPDX-License-Identifier: Apache-2.0
# What a server, a file or a plugin sends breaks no parser: a minute of libFuzzer for each.
# Not upstream: it needs no server.
# Takes 1300 s.
unset ONLY MAKEFLAGS
exec make -s FUZZ_SECONDS=60 fuzz
