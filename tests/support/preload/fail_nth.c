/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To be preloaded (LD_PRELOAD) by a process under test: of the calls that can fail, the n-th does.
 *
 *	FAIL_NTH_FILE=FILE	mapped by the process and its controller (prog/fail_nth.c):
 *
 *	0   u32  classes  which calls count, by these bits:
 *	4   u32  many     how many in a row fail, from the n-th on
 *	8   u64  n        0: none fails
 *	16  u64  count    of calls since it was set to 0
 *	24  u64  failed   of these
 *
 * Each failure is a line in FILE.log: the call and its caller.
 *
 *	1  memory       malloc, calloc, realloc, aligned_alloc, posix_memalign, strdup, strndup, asprintf,
 *	                vasprintf: ENOMEM
 *	2  descriptors  open, openat, socket, accept4, eventfd, memfd_create, timerfd_create, epoll_create1,
 *	                F_DUPFD_CLOEXEC: EMFILE (not pipe2, without which libuv aborts when it begins)
 *	4  space        posix_fallocate, fallocate (unless it punches), ftruncate that grows: ENOSPC
 *	8  maps         mmap: ENOMEM; pthread_create: EAGAIN
 *
 * Calls of libraries count, but for libcurl's and those of what it stands on: version 7.88 divides by zero
 * when some of its allocations fail, which cannot be fixed here.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { FAIL_MEMORY = 1, FAIL_DESCRIPTORS = 2, FAIL_SPACE = 4, FAIL_MAPS = 8 };

struct control {
	_Atomic uint32_t classes, many;
	_Atomic uint64_t n, count, failed;
};

static struct control *control;
static int log_fd = -1;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

__attribute__((constructor)) static void
set_up(void)
{
	const char *file = getenv("FAIL_NTH_FILE");
	char name[4096];
	void *p;
	int fd;

	if (!file || (size_t)snprintf(name, sizeof(name), "%s.log", file) >= sizeof(name))
		return;
	fd = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	log_fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	p = (void *)syscall(SYS_mmap, NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);
	syscall(SYS_close, fd);
	if (p != MAP_FAILED)
		control = p;
}

static __attribute__((noinline)) void
tell(const char *call, uint64_t at, const void *caller)
{
	static __thread bool telling;
	Dl_info info = {0};
	char line[512];
	int n;

	if (telling) /* dladdr() may allocate */
		return;
	telling = true;
	dladdr(caller, &info);
	n = snprintf(line, sizeof(line), "%llu %s %s+0x%llx\n", (unsigned long long)at, call,
		     info.dli_fname ? info.dli_fname : "?",
		     (unsigned long long)((const char *)caller - (const char *)info.dli_fbase));
	if (n > 0 && log_fd >= 0)
		(void)!write(log_fd, line, (size_t)n);
	telling = false;
}

/* True if a failure for this caller is the program's to handle. */
static bool
counts(const void *caller)
{
	static const char *const others[] = {"libc.so", "ld-linux", "libcurl", "libssl", "libcrypto",
					     "libnghttp2", "libgnutls", "libp11-kit", "libstdc++"};
	Dl_info info = {0};

	if (dladdr(caller, &info) == 0 || !info.dli_fname)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strstr(info.dli_fname, others[i]))
			return false;
	return true;
}

static bool
fails(uint32_t class, const char *call, const void *caller)
{
	uint64_t at, n;

	if (!control || !(control->classes & class) || !counts(caller))
		return false;
	at = atomic_fetch_add(&control->count, 1) + 1;
	n = control->n;
	if (n == 0 || at < n || at >= n + control->many)
		return false;
	atomic_fetch_add(&control->failed, 1);
	tell(call, at, caller);
	return true;
}

#define FAILS(class, call) fails(class, call, __builtin_return_address(0))
/* If this call fails, the caller returns this. */
#define FAIL(class, call, code, result)                                                                      \
	do {                                                                                                 \
		if (FAILS(class, call)) {                                                                    \
			errno = code;                                                                        \
			return result;                                                                       \
		}                                                                                            \
	} while (0)

/* ---- memory ---- */

EXPORT void *
malloc(size_t bytes)
{
	FAIL(FAIL_MEMORY, "malloc", ENOMEM, NULL);
	return __libc_malloc(bytes);
}

EXPORT void *
calloc(size_t n, size_t bytes)
{
	FAIL(FAIL_MEMORY, "calloc", ENOMEM, NULL);
	return __libc_calloc(n, bytes);
}

EXPORT void *
realloc(void *p, size_t bytes)
{
	FAIL(FAIL_MEMORY, "realloc", ENOMEM, NULL);
	return __libc_realloc(p, bytes);
}

EXPORT void *
aligned_alloc(size_t alignment, size_t bytes)
{
	FAIL(FAIL_MEMORY, "aligned_alloc", ENOMEM, NULL);
	return __libc_memalign(alignment, bytes);
}

EXPORT int
posix_memalign(void **ret, size_t alignment, size_t bytes)
{
	void *p = FAILS(FAIL_MEMORY, "posix_memalign") ? NULL : __libc_memalign(alignment, bytes);

	if (p)
		*ret = p;
	return p ? 0 : ENOMEM;
}

EXPORT char *
strndup(const char *text, size_t length)
{
	size_t n = strnlen(text, length);
	char *copy = FAILS(FAIL_MEMORY, "strndup") ? NULL : __libc_malloc(n + 1);

	if (!copy) {
		errno = ENOMEM;
		return NULL;
	}
	copy[n] = '\0';
	return memcpy(copy, text, n);
}

EXPORT char *
strdup(const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = FAILS(FAIL_MEMORY, "strdup") ? NULL : __libc_malloc(n);

	if (!copy) {
		errno = ENOMEM;
		return NULL;
	}
	return memcpy(copy, text, n);
}

static __attribute__((format(printf, 2, 0))) int
print(char **ret, const char *format, va_list arguments)
{
	va_list again;
	int n;

	va_copy(again, arguments);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	*ret = n < 0 ? NULL : __libc_malloc((size_t)n + 1);
	return *ret ? vsnprintf(*ret, (size_t)n + 1, format, arguments) : -1;
}

EXPORT int
vasprintf(char **restrict ret, const char *restrict format, va_list arguments)
{
	FAIL(FAIL_MEMORY, "vasprintf", ENOMEM, -1);
	return print(ret, format, arguments);
}

EXPORT int
asprintf(char **restrict ret, const char *restrict format, ...)
{
	va_list arguments;
	int n;

	FAIL(FAIL_MEMORY, "asprintf", ENOMEM, -1);
	va_start(arguments, format);
	n = print(ret, format, arguments);
	va_end(arguments);
	return n;
}

/* What the two are under FORTIFY. */
int __vasprintf_chk(char **ret, int flag, const char *format, va_list arguments);
int __asprintf_chk(char **ret, int flag, const char *format, ...);

EXPORT __attribute__((format(printf, 3, 0))) int
__vasprintf_chk(char **ret, int flag, const char *format, va_list arguments)
{
	(void)flag;
	return vasprintf(ret, format, arguments);
}

EXPORT __attribute__((format(printf, 3, 4))) int
__asprintf_chk(char **ret, int flag, const char *format, ...)
{
	va_list arguments;
	int n;

	(void)flag;
	FAIL(FAIL_MEMORY, "asprintf", ENOMEM, -1);
	va_start(arguments, format);
	n = print(ret, format, arguments);
	va_end(arguments);
	return n;
}

/* ---- descriptors ---- */

#define NO_DESCRIPTOR(call) FAIL(FAIL_DESCRIPTORS, call, EMFILE, -1)

EXPORT int
open(const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
	va_end(more);
	NO_DESCRIPTOR("open");
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int __open_2(const char *path, int flags);

/* What open() is under FORTIFY, if the compiler does not know the flags. */
EXPORT int
__open_2(const char *path, int flags)
{
	return open(path, flags);
}

EXPORT int
openat(int directory, const char *path, int flags, ...)
{
	va_list more;
	mode_t mode;

	va_start(more, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
	va_end(more);
	NO_DESCRIPTOR("openat");
	return (int)syscall(SYS_openat, directory, path, flags, mode);
}

/* Calls that only ask the kernel. */
#define DESCRIPTOR(call, number, parameters, ...)                                                            \
	EXPORT int call parameters                                                                           \
	{                                                                                                    \
		NO_DESCRIPTOR(#call);                                                                        \
		return (int)syscall(number, __VA_ARGS__);                                                    \
	}
DESCRIPTOR(socket, SYS_socket, (int domain, int type, int protocol), domain, type, protocol)
DESCRIPTOR(accept4, SYS_accept4,
	   (int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags), fd, address,
	   length, flags)
DESCRIPTOR(eventfd, SYS_eventfd2, (unsigned count, int flags), count, flags)
DESCRIPTOR(memfd_create, SYS_memfd_create, (const char *name, unsigned flags), name, flags)
DESCRIPTOR(timerfd_create, SYS_timerfd_create, (clockid_t clock, int flags), clock, flags)
DESCRIPTOR(epoll_create1, SYS_epoll_create1, (int flags), flags)

EXPORT int
fcntl(int fd, int command, ...)
{
	va_list more;
	void *argument;

	va_start(more, command);
	argument = va_arg(more, void *);
	va_end(more);
	if (command == F_DUPFD_CLOEXEC)
		NO_DESCRIPTOR("fcntl");
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* ---- space ---- */

EXPORT int
posix_fallocate(int fd, off_t from, off_t bytes)
{
	if (FAILS(FAIL_SPACE, "posix_fallocate"))
		return ENOSPC;
	return syscall(SYS_fallocate, fd, 0, from, bytes) < 0 ? errno : 0;
}

EXPORT int
fallocate(int fd, int mode, off_t from, off_t bytes)
{
	if (!(mode & FALLOC_FL_PUNCH_HOLE))
		FAIL(FAIL_SPACE, "fallocate", ENOSPC, -1);
	return (int)syscall(SYS_fallocate, fd, mode, from, bytes);
}

EXPORT int
ftruncate(int fd, off_t bytes)
{
	struct stat st;

	if (fstat(fd, &st) == 0 && bytes > st.st_size)
		FAIL(FAIL_SPACE, "ftruncate", ENOSPC, -1);
	return (int)syscall(SYS_ftruncate, fd, bytes);
}

/* ---- maps ---- */

EXPORT void *
mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	FAIL(FAIL_MAPS, "mmap", ENOMEM, MAP_FAILED);
	return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

EXPORT int
pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*run)(void *),
	       void *restrict argument)
{
	static __typeof__(pthread_create) *next;

	if (FAILS(FAIL_MAPS, "pthread_create"))
		return EAGAIN;
	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attributes, run, argument);
}
