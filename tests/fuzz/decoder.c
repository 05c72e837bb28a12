/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a LIST or WATCH stream: see tests/support/prog/fuzz_decoder.c, of which this is libFuzzer's
 * half.
 */
#define FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#include "tests/support/prog/fuzz_decoder.c" /* NOLINT(bugprone-suspicious-include) */
