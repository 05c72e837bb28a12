/* SPDX-License-Identifier: Apache-2.0 */
/* Another page size for programs that are linked to wrap sysconf(). */
#include "tests/support/large_pages.h"

#include <unistd.h>

long __real_sysconf(int name);
long __wrap_sysconf(int name);

long large_page_bytes;

long
__wrap_sysconf(int name)
{
	return name == _SC_PAGESIZE && large_page_bytes ? large_page_bytes : __real_sysconf(name);
}
