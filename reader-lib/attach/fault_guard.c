/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of guarded arenas. It is made with the handler, and has as many entries as the largest arenas
 * have address space. Each entry has a turn, which counts its changes:
 *
 *	free ──claimed──▶ being filled ──▶ guards ──claimed──▶ being emptied ──▶ free
 *	0 mod 4           1                2                   3                 0, four more
 *
 * Invariant: if the handler loads the same guarding turn twice, the fields that it loaded in between belong
 * to one arena.
 */
#include "reader-lib/attach/fault_guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#include "shm-layout/page_size.h"

#define ENTRIES 4096u

enum turn { FREE, FILLED, GUARDS, EMPTIED, TURNS };

struct entry {
	_Atomic uint64_t turn;
	_Atomic uintptr_t arena, bytes, slot;
};

static struct entry *entries;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sigaction before;
static int install_error;

/* ---- the handler ---- */

static bool
is_revoked(const struct header *arena, const struct slot *slot)
{
	const _Atomic uint32_t *state = &arena->state;

	return atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)state, memory_order_relaxed) ==
		       HEADER_REVOKED ||
	       slot_is_closed(slot);
}

bool
fault_guard_blank(const struct header *arena, size_t bytes)
{
	/* What shares the header's last page keeps its memory, so no access to it faults. */
	size_t kept = page_round_up(HEADER_BYTES);

	return bytes <= kept || mmap((uint8_t *)(uintptr_t)arena + kept, bytes - kept, PROT_READ,
				     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
				     0) != MAP_FAILED;
}

/* Map zeros over the entry's arena, if the address lies in it and it is revoked. Returns whether it did. */
static bool
repair(struct entry *e, uintptr_t address)
{
	/* Meets the release in fill(): the fields are those of this turn, or of a later one. */
	uint64_t turn = atomic_load_explicit(&e->turn, memory_order_acquire);
	uintptr_t arena = atomic_load_explicit(&e->arena, memory_order_relaxed);
	uintptr_t bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	uintptr_t slot = atomic_load_explicit(&e->slot, memory_order_relaxed);

	/* Meets the fence in take(): if a field is of a later turn, the second load sees that turn. */
	atomic_thread_fence(memory_order_acquire);
	if (turn % TURNS != GUARDS || atomic_load_explicit(&e->turn, memory_order_relaxed) != turn ||
	    address - arena >= bytes || address - arena < HEADER_BYTES)
		return false;
	/* The thread that faulted reads there, so arena and slot stay mapped. */
	return is_revoked((const struct header *)arena, (const struct slot *)slot) &&
	       fault_guard_blank((const struct header *)arena, bytes);
}

static bool
repair_any(uintptr_t address)
{
	for (unsigned i = 0; i < ENTRIES; i++)
		if (repair(&entries[i], address))
			return true;
	return false;
}

/* Do what would happen without this handler. */
static void
pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction die = {.sa_handler = SIG_DFL};

	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(number, info, context);
		return;
	}
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
		return;
	}
	if (before.sa_handler == SIG_IGN && info->si_code <= 0)
		return;
	/* A fault recurs when we return. A signal that a process sent does not, so raise() sends it again. */
	sigaction(number, &die, NULL);
	if (info->si_code <= 0)
		raise(number);
}

static void
on_fault(int number, siginfo_t *info, void *context)
{
	int error = errno;

	if (info->si_code != BUS_ADRERR || !repair_any((uintptr_t)info->si_addr))
		pass_on(number, info, context);
	errno = error;
}

static void
install(void)
{
	struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	void *table = mmap(NULL, ENTRIES * sizeof(*entries), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	entries = table == MAP_FAILED ? NULL : table;
	if (!entries || madvise(table, ENTRIES * sizeof(*entries), MADV_WIPEONFORK) < 0 ||
	    sigaction(SIGBUS, NULL, &before) < 0 || sigaction(SIGBUS, &ours, NULL) < 0)
		install_error = -errno;
}

/* ---- the entries ---- */

/* Go from turn `from` to the next one. False: it is in another turn, or another thread was first. */
static bool
take(struct entry *e, enum turn from)
{
	uint64_t turn = atomic_load_explicit(&e->turn, memory_order_relaxed);

	/* Acquire: meets the release that ended the turn before. */
	if (turn % TURNS != from ||
	    !atomic_compare_exchange_strong_explicit(&e->turn, &turn, turn + 1, memory_order_acquire,
						     memory_order_relaxed))
		return false;
	/* Meets the fence in repair(): a thread that sees a later store sees the turn. */
	atomic_thread_fence(memory_order_release);
	return true;
}

static void
fill(struct entry *e, uintptr_t arena, uintptr_t bytes, uintptr_t slot)
{
	atomic_store_explicit(&e->arena, arena, memory_order_relaxed);
	atomic_store_explicit(&e->bytes, bytes, memory_order_relaxed);
	atomic_store_explicit(&e->slot, slot, memory_order_relaxed);
	/* Meets the acquire loads in repair() and take(). */
	atomic_fetch_add_explicit(&e->turn, 1, memory_order_release);
}

int
fault_guard_add(const struct header *arena, size_t bytes, const struct slot *slot)
{
	unsigned i = 0;

	pthread_once(&once, install);
	if (install_error < 0)
		return install_error;
	while (i < ENTRIES && !take(&entries[i], FREE))
		i++;
	if (i == ENTRIES)
		return -ENOMEM;
	fill(&entries[i], (uintptr_t)arena, bytes, (uintptr_t)slot);
	return 0;
}

void
fault_guard_remove(const struct header *arena)
{
	for (unsigned i = 0; entries && i < ENTRIES; i++) {
		if (atomic_load_explicit(&entries[i].arena, memory_order_relaxed) == (uintptr_t)arena &&
		    take(&entries[i], GUARDS)) {
			fill(&entries[i], 0, 0, 0);
			return;
		}
	}
}
