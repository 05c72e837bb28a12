/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of struct informer_path.
 */
#ifndef READER_LIB_READ_COMPILED_PATH_H
#define READER_LIB_READ_COMPILED_PATH_H

#include "reader-lib/base/allocator.h"
#include "reader-lib/informer.h"
#include "shm-layout/path.h"

struct informer_path {
	struct path path;
	struct allocator memory;
};

#endif
