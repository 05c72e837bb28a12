/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the compiler calls at each memory access under -fsanitize=thread. While nothing is
 * explored they only perform the access.
 */
#include <string.h>

#include "tests/explorer/machine.h"

#define PC ((uintptr_t)__builtin_return_address(0))
#define EXPORT __attribute__((visibility("default")))

/* No header declares them: they are private to the compiler and its sanitizer. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

EXPORT void
__tsan_init(void)
{
}

EXPORT void
__tsan_func_entry(void *from)
{
	struct thread *t = running;

	if (!t)
		return;
	if (t->depth == FRAMES)
		explorer_bad("functions call each other %u deep", FRAMES);
	t->frames[t->depth++] = (struct frame){.from = (uintptr_t)from};
}

EXPORT void
__tsan_func_exit(void)
{
	if (running && running->depth > 0)
		running->depth--;
}

/* ---- plain ---- */

#define PLAIN(name, length, is_write)                                                                        \
	EXPORT void name(void *address)                                                                      \
	{                                                                                                    \
		if (running)                                                                                 \
			model_plain(address, length, is_write, PC);                                          \
	}
#define PLAINS(length)                                                                                       \
	PLAIN(__tsan_read##length, length, false)                                                            \
	PLAIN(__tsan_write##length, length, true)                                                            \
	PLAIN(__tsan_volatile_read##length, length, false)                                                   \
	PLAIN(__tsan_volatile_write##length, length, true)                                                   \
	PLAIN(__tsan_unaligned_read##length, length, false)                                                  \
	PLAIN(__tsan_unaligned_write##length, length, true)
PLAINS(1)
PLAINS(2)
PLAINS(4)
PLAINS(8)
PLAINS(16)

EXPORT void
__tsan_read_range(void *address, size_t length)
{
	if (running)
		model_plain(address, length, false, PC);
}

EXPORT void
__tsan_write_range(void *address, size_t length)
{
	if (running)
		model_plain(address, length, true, PC);
}

/* The sources are compiled with -fno-builtin, so these are calls, which the linker leads here (--wrap). */

void *__real_memcpy(void *to, const void *from, size_t length);
void *__real_memmove(void *to, const void *from, size_t length);
void *__real_memset(void *to, int value, size_t length);
int __real_memcmp(const void *a, const void *b, size_t length);

void *
__wrap_memcpy(void *to, const void *from, size_t length)
{
	if (running) {
		model_plain(from, length, false, PC);
		model_plain(to, length, true, PC);
	}
	return __real_memcpy(to, from, length);
}

void *
__wrap_memmove(void *to, const void *from, size_t length)
{
	if (running) {
		model_plain(from, length, false, PC);
		model_plain(to, length, true, PC);
	}
	return __real_memmove(to, from, length);
}

void *
__wrap_memset(void *to, int value, size_t length)
{
	if (running)
		model_plain(to, length, true, PC);
	return __real_memset(to, value, length);
}

int
__wrap_memcmp(const void *a, const void *b, size_t length)
{
	if (running) {
		model_plain(a, length, false, PC);
		model_plain(b, length, false, PC);
	}
	return __real_memcmp(a, b, length);
}

/* clang's names for them */
EXPORT void *__tsan_memcpy(void *to, const void *from, size_t length) __attribute__((alias("__wrap_memcpy")));
EXPORT void *__tsan_memmove(void *to, const void *from, size_t length)
	__attribute__((alias("__wrap_memmove")));
EXPORT void *__tsan_memset(void *to, int value, size_t length) __attribute__((alias("__wrap_memset")));

/* ---- atomic ---- */

#define CHANGE(name, result)                                                                                 \
	static uint64_t name(uint64_t before, uint64_t argument)                                             \
	{                                                                                                    \
		(void)before;                                                                                \
		return result;                                                                               \
	}
CHANGE(set, argument)
CHANGE(add, before + argument)
CHANGE(subtract, before - argument)
CHANGE(both, before & argument)
CHANGE(either, before | argument)
CHANGE(one_of, before ^ argument)

/* NOLINTBEGIN(bugprone-macro-parentheses): bits is part of names */
#define FETCH(bits, name, what, change)                                                                      \
	EXPORT uint##bits##_t __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t value,         \
							   int order)                                        \
	{                                                                                                    \
		if (!running)                                                                                \
			return what(at, value, __ATOMIC_SEQ_CST);                                            \
		return (uint##bits##_t)model_exchange(at, bits / 8, change, value, NULL,                     \
						      (memory_order)order, memory_order_relaxed, PC);        \
	}

#define EXCHANGE_IF(bits, name)                                                                              \
	EXPORT int __tsan_atomic##bits##_##name(uint##bits##_t *at, uint##bits##_t *expected,                \
						uint##bits##_t value, int order, int failed)                 \
	{                                                                                                    \
		uint64_t wanted = *expected, was;                                                            \
                                                                                                             \
		if (!running)                                                                                \
			return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST,         \
							   __ATOMIC_SEQ_CST);                                \
		was = model_exchange(at, bits / 8, set, value, &wanted, (memory_order)order,                 \
				     (memory_order)failed, PC);                                              \
		if (was == wanted)                                                                           \
			return 1;                                                                            \
		*expected = (uint##bits##_t)was;                                                             \
		return 0;                                                                                    \
	}

/* clang's form, which returns the old value */
#define EXCHANGE_VALUE(bits)                                                                                 \
	EXPORT uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(                                    \
		uint##bits##_t *at, uint##bits##_t expected, uint##bits##_t value, int order, int failed)    \
	{                                                                                                    \
		uint64_t wanted = expected;                                                                  \
                                                                                                             \
		if (running)                                                                                 \
			return (uint##bits##_t)model_exchange(at, bits / 8, set, value, &wanted,             \
							      (memory_order)order, (memory_order)failed,     \
							      PC);                                           \
		__atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
		return expected;                                                                             \
	}

#define ATOMICS(bits)                                                                                        \
	EXPORT uint##bits##_t __tsan_atomic##bits##_load(const uint##bits##_t *at, int order)                \
	{                                                                                                    \
		if (!running)                                                                                \
			return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                        \
		return (uint##bits##_t)model_load((void *)(uintptr_t)at, bits / 8, (memory_order)order, PC); \
	}                                                                                                    \
	EXPORT void __tsan_atomic##bits##_store(uint##bits##_t *at, uint##bits##_t value, int order)         \
	{                                                                                                    \
		if (!running)                                                                                \
			__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                       \
		else                                                                                         \
			model_store(at, bits / 8, value, (memory_order)order, PC);                           \
	}                                                                                                    \
	FETCH(bits, exchange, __atomic_exchange_n, set)                                                      \
	FETCH(bits, fetch_add, __atomic_fetch_add, add)                                                      \
	FETCH(bits, fetch_sub, __atomic_fetch_sub, subtract)                                                 \
	FETCH(bits, fetch_and, __atomic_fetch_and, both)                                                     \
	FETCH(bits, fetch_or, __atomic_fetch_or, either)                                                     \
	FETCH(bits, fetch_xor, __atomic_fetch_xor, one_of)                                                   \
	EXCHANGE_IF(bits, compare_exchange_strong)                                                           \
	EXCHANGE_IF(bits, compare_exchange_weak)                                                             \
	EXCHANGE_VALUE(bits)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)
/* NOLINTEND(bugprone-macro-parentheses) */

EXPORT void
__tsan_atomic_thread_fence(int order)
{
	if (running)
		model_fence((memory_order)order, PC);
	else
		atomic_thread_fence(memory_order_seq_cst);
}

EXPORT void
__tsan_atomic_signal_fence(int order)
{
	if (running)
		model_signal_fence((memory_order)order);
}
