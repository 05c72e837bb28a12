/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's rows, its table and its JSON.
 */
#include "tests/bench/report.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

static void
cpu_model(char *model, size_t size)
{
	char line[512];
	FILE *f = fopen("/proc/cpuinfo", "re");

	snprintf(model, size, "unknown CPU");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		snprintf(model, size, "%s", colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

void
report_machine(struct report *r)
{
	struct utsname system;
	double load[3] = {0, 0, 0};
	time_t now = time(NULL);
	struct tm utc;
	long cores = sysconf(_SC_NPROCESSORS_ONLN), pages = sysconf(_SC_PHYS_PAGES),
	     page = sysconf(_SC_PAGESIZE);

	uname(&system);
	if (getloadavg(load, 3) < 0)
		load[0] = 0;
	gmtime_r(&now, &utc);
	strftime(r->date, sizeof(r->date), "%Y-%m-%d %H:%M UTC", &utc);
	cpu_model(r->cpu, sizeof(r->cpu));
	snprintf(r->machine, sizeof(r->machine),
		 "CPU     %s, %ld cores\nmemory  %.0f GiB\nkernel  %s %s\ndate    %s\nload    %.2f before "
		 "the run%s\n",
		 r->cpu, cores, (double)pages * (double)page / (1u << 30), system.sysname, system.release,
		 r->date, load[0],
		 load[0] > 0.7 ? ": this machine is BUSY, trust ratios more than values" : "");
}

static struct row *
add(struct report *r, const char *name, const char *unit)
{
	struct row *row;

	if (r->count == ROWS_MAX)
		abort();
	row = &r->rows[r->count++];
	*row = (struct row){0};
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	return row;
}

struct row *
report_add(struct report *r, const char *name, const char *unit, double value, const char *peer,
	   double peer_value, const char *format, ...)
{
	struct row *row = add(r, name, unit);
	char figure[32];
	va_list args;

	va_start(args, format);
	vsnprintf(row->conditions, sizeof(row->conditions), format, args);
	va_end(args);
	row->measured = true;
	row->value = value;
	row->more_is_better = strcmp(unit, "1/s") == 0;
	if (peer) {
		snprintf(row->peer, sizeof(row->peer), "%s", peer);
		row->compared = peer_value > 0;
		row->peer_value = peer_value;
	}
	row_figure(value, unit, figure, sizeof(figure));
	fprintf(stderr, "  %-34s %s", name, figure);
	if (row->compared)
		fprintf(stderr, "   %.2f x %s", row_ratio(row), peer);
	fputc('\n', stderr);
	return row;
}

void
report_skip(struct report *r, const char *name, const char *unit, const char *format, ...)
{
	struct row *row = add(r, name, unit);
	char why[sizeof(row->conditions) - 8];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	snprintf(row->conditions, sizeof(row->conditions), "SKIP: %s", why);
	fprintf(stderr, "  %-34s SKIP: %s\n", name, why);
}

const struct row *
report_find(const struct report *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->rows[i].name, name) == 0)
			return &r->rows[i];
	return NULL;
}

double
row_ratio(const struct row *row)
{
	if (!row->measured || !row->compared || row->value <= 0)
		return 0;
	return row->more_is_better ? row->value / row->peer_value : row->peer_value / row->value;
}

static bool
falls_short(const struct row *row, double wanted)
{
	return row->more_is_better ? row->value < wanted : row->value > wanted;
}

const char *
row_mark(const struct row *row)
{
	const struct target *t = &row->target;
	double ratio = row_ratio(row);
	bool wanted = t->ratio > 0 || t->value > 0;

	if (!row->measured || (!wanted && t->value_aim <= 0) || (t->ratio > 0 && !row->compared))
		return "";
	if ((t->ratio > 0 && ratio < t->ratio) || (t->value > 0 && falls_short(row, t->value)))
		return "✗";
	if ((t->ratio_aim > 0 && ratio < t->ratio_aim) ||
	    (t->value_aim > 0 && falls_short(row, t->value_aim)))
		return wanted ? "✓" : "";
	return t->ratio_aim > 0 || t->value_aim > 0 ? "✓✓" : "✓";
}

void
row_figure(double value, const char *unit, char *buffer, size_t size)
{
	const char *shown = unit;

	if (strcmp(unit, "bytes") == 0) {
		shown = "B";
		if (value >= 10e6) {
			value /= 1 << 20;
			shown = "MiB";
		} else if (value >= 100e3) {
			value /= 1 << 10;
			shown = "KiB";
		}
	} else if (strcmp(unit, "us") == 0) {
		shown = "µs";
	}
	if (strcmp(unit, "ns") == 0 && value >= 1e6) {
		value /= 1e6;
		shown = "ms";
	} else if (strcmp(unit, "ns") == 0 && value >= 1e5) {
		value /= 1e3;
		shown = "µs";
	}
	snprintf(buffer, size, "%.*f %s",
		 strcmp(unit, "requests") == 0 ? 0
		 : value < 10                  ? 2
		 : value < 1000                ? 1
					       : 0,
		 value, shown);
}

/* What a mark is measured against. */
static void
target_text(const struct row *row, char *buffer, size_t size)
{
	const struct target *t = &row->target;
	const char *sign = row->more_is_better ? "≥" : "≤";
	char least[32] = "", aim[32] = "";

	if (t->ratio > 0)
		snprintf(least, sizeof(least), "≥ %.3g x", t->ratio);
	else if (t->value > 0)
		row_figure(t->value, row->unit, least + sprintf(least, "%s ", sign), sizeof(least) - 8);
	if (t->ratio_aim > t->ratio)
		snprintf(aim, sizeof(aim), "%.3g", t->ratio_aim);
	else if (t->value_aim > 0)
		row_figure(t->value_aim, row->unit, aim, sizeof(aim));
	snprintf(buffer, size, "%s%s%s%s", least, least[0] && aim[0] ? ", " : "", aim[0] ? "aim " : "", aim);
}

/* Pad by characters, not bytes. */
static void
column(const char *text, int width, bool right)
{
	int length = 0;

	for (const char *p = text; *p; p++)
		length += (*p & 0xc0) != 0x80;
	if (right)
		printf("%*s%s", width > length ? width - length : 0, "", text);
	else
		printf("%s%*s", text, width > length ? width - length : 0, "");
}

static void
wrapped(const char *text, size_t width)
{
	while (*text) {
		size_t n = strlen(text);

		if (n > width) {
			n = width;
			while (n > 0 && text[n] != ' ')
				n--;
			if (n == 0)
				n = width;
		}
		printf("    %.*s\n", (int)n, text);
		text += n + (text[n] == ' ');
	}
}

void
report_table(const struct report *r)
{
	printf("\n%s\n", r->machine);
	column("name", 36, false);
	column("ours", 12, true);
	column("peer's", 12, true);
	column("ratio", 9, true);
	printf("   ");
	column("peer", 34, false);
	printf("wanted\n");
	for (size_t i = 0; i < r->count; i++) {
		const struct row *row = &r->rows[i];
		char ours[32] = "-", theirs[32] = "-", ratio[32] = "-", target[80];

		if (row->measured)
			row_figure(row->value, row->unit, ours, sizeof(ours));
		if (row->compared) {
			row_figure(row->peer_value, row->unit, theirs, sizeof(theirs));
			snprintf(ratio, sizeof(ratio), "%.2f x", row_ratio(row));
		}
		target_text(row, target, sizeof(target));
		column(row->name, 36, false);
		column(ours, 12, true);
		column(theirs, 12, true);
		column(ratio, 9, true);
		printf("   ");
		column(row->peer, 34, false);
		printf("%s%s%s\n", row_mark(row), target[0] ? " " : "", target);
		wrapped(row->conditions, 130);
	}
	printf("\n✓✓ aim reached   ✓ minimum reached   ✗ not reached   (ratio > 1: ours is better)\n");
}

static cJSON *
row_json(const struct row *row)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "name", row->name);
	if (row->measured)
		cJSON_AddNumberToObject(o, "value", row->value);
	else
		cJSON_AddNullToObject(o, "value");
	cJSON_AddStringToObject(o, "unit", row->unit);
	if (row->peer[0])
		cJSON_AddStringToObject(o, "peer", row->peer);
	else
		cJSON_AddNullToObject(o, "peer");
	if (row->compared) {
		cJSON_AddNumberToObject(o, "peer_value", row->peer_value);
		cJSON_AddNumberToObject(o, "ratio", row_ratio(row));
	} else {
		cJSON_AddNullToObject(o, "peer_value");
		cJSON_AddNullToObject(o, "ratio");
	}
	cJSON_AddStringToObject(o, "conditions", row->conditions);
	return o;
}

int
report_json(const struct report *r, const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	fputs("[\n", f);
	for (size_t i = 0; i < r->count; i++) {
		cJSON *o = row_json(&r->rows[i]);
		char *text = cJSON_PrintUnformatted(o);

		fprintf(f, "%s%s\n", text, i + 1 < r->count ? "," : "");
		free(text);
		cJSON_Delete(o);
	}
	fputs("]\n", f);
	return fclose(f) == 0 ? 0 : -errno;
}
