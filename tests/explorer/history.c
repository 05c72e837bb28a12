/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a run's events: the thread, its operation, the word and the source line. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/explorer/machine.h"

#define EVENTS 4096u
#define NOTE 0xff
#define PLACES 4096u

struct function {
	uintptr_t start, end;
	const char *name;
};

/* An address of the program and its function, cached over all runs. */
struct place {
	uintptr_t pc;
	const char *function;
};

static struct {
	OWN_PAGES struct event events[EVENTS];
	unsigned long count;
	struct function *functions;
	size_t function_count;
	char *names;
	struct place places[PLACES];
} history;

void
history_begin(void)
{
	history.count = 0;
}

struct event *
history_add(enum explorer_operation kind, uintptr_t pc)
{
	struct event *e = &history.events[history.count++ % EVENTS];

	memset(e, 0, offsetof(struct event, note));
	e->thread = running ? (uint8_t)running->number : 0;
	e->kind = (uint8_t)kind;
	e->pc = pc;
	e->from = running && running->depth ? running->frames[running->depth - 1].from : 0;
	e->note[0] = '\0';
	return e;
}

void
explorer_note(const char *format, ...)
{
	struct event *e = history_add(EXPLORER_LOAD, 0);
	va_list args;

	e->kind = NOTE;
	va_start(args, format);
	vsnprintf(e->note, sizeof(e->note), format, args);
	va_end(args);
}

/* ---- functions ---- */

extern const char __executable_start[];

static int
compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static const char *
short_name(const char *name, size_t length)
{
	char *copy = own_memory(length + 1);

	memcpy(copy, name, length);
	return copy;
}

/* Read the program's own symbol table. */
static void
read_symbols(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n;
	uint8_t *file;
	const ElfW(Ehdr) * head;
	const ElfW(Shdr) * sections;

	if (fd < 0 || fstat(fd, &st) < 0)
		abort();
	file = own_memory((size_t)st.st_size);
	for (size_t at = 0; at < (size_t)st.st_size; at += (size_t)n) {
		n = pread(fd, file + at, (size_t)st.st_size - at, (off_t)at);
		if (n <= 0)
			abort();
	}
	head = (const ElfW(Ehdr) *)(const void *)file;
	sections = (const ElfW(Shdr) *)(const void *)(file + head->e_shoff);
	for (unsigned i = 0; i < head->e_shnum; i++) {
		const ElfW(Sym) *symbols = (const ElfW(Sym) *)(const void *)(file + sections[i].sh_offset);
		size_t count = sections[i].sh_entsize ? sections[i].sh_size / sections[i].sh_entsize : 0;
		uintptr_t base = head->e_type == ET_DYN ? (uintptr_t)__executable_start : 0;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		history.functions = own_memory(count * sizeof(history.functions[0]));
		for (size_t k = 0; k < count; k++) {
			const char *name = (const char *)file + sections[sections[i].sh_link].sh_offset +
					   symbols[k].st_name;
			size_t length = strcspn(name, ".");

			if (ELF64_ST_TYPE(symbols[k].st_info) != STT_FUNC || symbols[k].st_size == 0)
				continue;
			history.functions[history.function_count++] = (struct function){
				base + symbols[k].st_value, base + symbols[k].st_value + symbols[k].st_size,
				name[length] ? short_name(name, length) : name};
		}
	}
	qsort(history.functions, history.function_count, sizeof(history.functions[0]), compare);
}

static const char *
find_function(uintptr_t pc)
{
	size_t low = 0, high;

	if (!history.functions)
		read_symbols();
	high = history.function_count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (history.functions[middle].end <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	return low < history.function_count && history.functions[low].start <= pc
		       ? history.functions[low].name
		       : "?";
}

const char *
function_of(uintptr_t pc)
{
	struct place *p = &history.places[(pc * 0x9e3779b97f4a7c15ull >> 40) % PLACES];

	pc--; /* a return address: step back into the call */
	if (p->pc != pc) {
		p->function = find_function(pc);
		p->pc = pc;
	}
	return p->function;
}

void
where_is(uintptr_t pc, char *text, size_t size)
{
	char command[128], line[256] = "??:0";
	const char *file, *slash;
	FILE *f;

	snprintf(command, sizeof(command), "addr2line -e /proc/%ld/exe %#lx", (long)getpid(),
		 (unsigned long)(pc - 1 - (uintptr_t)__executable_start));
	f = popen(command, "r");
	if (f && fgets(line, sizeof(line), f))
		line[strcspn(line, " \n")] = '\0';
	if (f)
		pclose(f);
	/* keep the last two parts of the path */
	slash = strrchr(line, '/');
	while (slash && slash > line && slash[-1] != '/')
		slash--;
	file = slash ? slash : line;
	snprintf(text, size, "%s %s()", file, function_of(pc));
}

/* ---- the whole ---- */

static const char *
order_name(uint8_t order)
{
	static const char *const names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

	return order < sizeof(names) / sizeof(names[0]) ? names[order] : "?";
}

static void
print_event(unsigned long number, const struct event *e)
{
	const char *thread = thread_number(e->thread)->name;
	char name[80], place[160];

	if (e->kind == NOTE) {
		printf("%5lu %-8s        %s\n", number, thread, e->note);
		return;
	}
	where_is(e->pc, place, sizeof(place));
	if (e->kind == EXPLORER_FENCE) {
		printf("%5lu %-8s fence           %s  %s, from %s()\n", number, thread, order_name(e->order),
		       place, e->from ? function_of(e->from) : "?");
		return;
	}
	region_name(e->address, name, sizeof(name));
	printf("%5lu %-8s %-8s %s ", number, thread,
	       e->kind == EXPLORER_LOAD    ? "load"
	       : e->kind == EXPLORER_STORE ? "store"
					   : "exchange",
	       name);
	if (e->kind == EXPLORER_EXCHANGE)
		printf("%#llx -> %#llx%s", (unsigned long long)e->before, (unsigned long long)e->value,
		       e->failed ? " (not)" : "");
	else
		printf("%#llx", (unsigned long long)e->value);
	if (e->behind)
		printf(" (%u older than the newest)", e->behind);
	printf(" %s  %s\n", order_name(e->order), place);
}

/* Events on words that one thread alone uses are left out. */
void
history_print(void)
{
	unsigned long first = history.count > EVENTS ? history.count - EVENTS : 0;

	for (unsigned long i = first; i < history.count; i++)
		if (!history.events[i % EVENTS].alone)
			print_event(i, &history.events[i % EVENTS]);
}
