# SPDX-License-Identifier: Apache-2.0
# All of `make test` under ASan and UBSan, with built-in kinds in JSON; and the rooms that share memory under TSan.
# Not upstream: `make test` needs none.
# Takes 900 s.
unset ONLY MAKEFLAGS B LONG
WIRE=json JOBS=2 make -s SAN=address,undefined test && JOBS=1 make -s SAN=thread test
