/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The picture: a bar for each ratio on a logarithmic scale, beside it both figures; below, what has no peer.
 */
#include "tests/bench/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 1210
#define LEFT 290		/* of the scale: 0.3 x */
#define RIGHT 700		/* of the scale; longer bars are cut there */
#define FIGURES 775		/* where the figures stand */
#define LOWEST (-0.5)		/* decades */
#define HIGHEST 3.0
#define TOP 132
#define LINE 30
#define BAR 18

/* What people read instead of a name, in the order of the picture; a row not named here is not in it. */
static const struct {
	const char *name, *label;
	bool left_out;	/* of the picture: said already by another row */
} labels[] = {
	{"get_1k", "get by key, 1,000 pods", false},
	{"get_1k_client_go", "get by key, 1,000 pods", false},
	{"get_10k", "get by key, 10,000 pods", false},
	{"get_10k_client_go", "get by key, 10,000 pods", false},
	{"get_100k", "get by key, 100,000 pods", false},
	{"get_100k_client_go", "get by key, 100,000 pods", false},
	{"get_10k_with_writer_10k_per_s", "… while 10,000 change a second", false},
	{"worst_get_10k_with_writer_us", "… slowest of millions", false},
	{"get_10k_two_readers", "… two readers at once", false},
	{"by_index_1k_client_go", "50 pods of a node, of 1,000", false},
	{"by_index_1k_lmdb", "50 pods of a node, of 1,000", true},
	{"by_index_10k", "50 pods of a node, of 10,000", false},
	{"by_index_10k_client_go", "", true},
	{"by_index_10k_lmdb", "50 pods of a node, of 10,000", false},
	{"by_index_100k_client_go", "50 pods of a node, of 100,000", false},
	{"by_index_100k_lmdb", "50 pods of a node, of 100,000", true},
	{"bytes_per_pod", "memory a pod", false},
	{"bytes_per_pod_client_go", "memory a pod", false},
	{"bytes_per_pod_unreplicated", "", true},
	{"bytes_per_pod_generated", "memory a pod, generated cluster", false},
	{"writer_private_bytes_per_pod", "writer's own memory a pod", false},
	{"reader_private_bytes", "memory of one more reader", false},
	{"attach_us", "attach until first lookup", false},
	{"decode_commit_us", "JSON to commit, a pod", false},
	{"update_commit_us", "a change to commit, a pod", false},
	{"decode_commit_us_client_go_protobuf", "JSON to commit, a pod", false},
	{"decode_commit_us_client_go_json", "JSON to commit, a pod", false},
	{"adopt_ms", "new writer takes over 100,000 pods", false},
	{"restart_100k_ms", "killed daemon is back, 100,000 pods", false},
	{"verify_100k_ms", "verify all tags, 100,000 pods", false},
	{"list_peak_bytes", "peak memory, LIST of 100,000 pods", false},
	{"list_100k_ms", "LIST of 100,000 pods until readable", false},
	{"sync_10k_wall_ms", "initial sync, 10,000 pods, time", false},
	{"sync_10k_cpu_ms", "initial sync, 10,000 pods, CPU", false},
	{"sync_10k_wall_ms_client_go_json", "", true},
	{"sync_10k_cpu_ms_client_go_json", "initial sync, 10,000 pods, CPU", false},
	{"sync_50k_wall_ms", "initial sync, 50,000 pods, time", false},
	{"sync_50k_cpu_ms", "initial sync, 50,000 pods, CPU", false},
	{"sync_50k_wall_ms_client_go_json", "", true},
	{"sync_50k_cpu_ms_client_go_json", "initial sync, 50,000 pods, CPU", false},
	{"traffic_1_agent_bytes", "server's bytes, 1 agent", false},
	{"traffic_4_agents_bytes", "server's bytes, 4 agents", false},
	{"traffic_8_agents_bytes", "server's bytes, 8 agents", false},
	{"traffic_8_agents_requests", "server's requests, 8 agents", false},
	{"event_latency_100_p50_us", "change to handler, 100/s, median", false},
	{"event_latency_100_p99_us", "change to handler, 100/s, p99", false},
	{"event_latency_1000_p50_us", "change to handler, 1,000/s, median", false},
	{"event_latency_1000_p99_us", "change to handler, 1,000/s, p99", false},
	{"event_latency_5000_p50_us", "change to handler, 5,000/s, median", false},
	{"event_latency_5000_p99_us", "change to handler, 5,000/s, p99", false},
	{"commit_to_handler_1000_p50_us", "commit to handler, median", false},
	{"events_sustained", "events a second, sustained", false},
	{"events_closed_loop", "events a second, the most", false},
	{"writer_cpu_per_event_us", "CPU an event", false},
	{"eight_readers_pss", "8 agents with handlers, 10,000 pods", false},
	{"commit_64_readers", "commit with 64 interested readers", false},
	{"wake_64_cpu_per_event_us", "commit that wakes 64 readers", false},
};

#define LABELS (sizeof(labels) / sizeof(labels[0]))

static void
escaped(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			fputs("&amp;", f);
		else if (*text == '<')
			fputs("&lt;", f);
		else
			fputc(*text, f);
	}
}

static void
text(FILE *f, double x, double y, const char *class, const char *line)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	escaped(f, line);
	fputs("</text>\n", f);
}

static const char *
colour(const struct row *row)
{
	if (strncmp(row->peer, "LMDB", 4) == 0)
		return "#3b7dd8";
	if (strncmp(row->peer, "client-go", 9) == 0)
		return "#12a594";
	return "#8e6fd1";
}

static double
place(double ratio)
{
	double at = log10(ratio > 0 ? ratio : 1e-9);

	at = at < LOWEST ? LOWEST : at > HIGHEST ? HIGHEST : at;
	return LEFT + (RIGHT - LEFT) * (at - LOWEST) / (HIGHEST - LOWEST);
}

static void
head(FILE *f, const struct report *r, int height)
{
	char machine[320];

	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d "
		"%d\">\n"
		"<style>text{font-family:'Inter','Segoe UI','Helvetica Neue',Arial,sans-serif;fill:#1f2933}"
		".title{font-size:24px;font-weight:700}.sub{font-size:13px;fill:#66727f}.label{font-size:"
		"14px;text-anchor:end}"
		".axis{font-size:12px;fill:#8a949e;text-anchor:middle}.value{font-size:14px;font-weight:700}"
		".figures{font-size:12.5px;fill:#66727f}.head{font-size:15px;font-weight:700}.plain{font-"
		"size:14px}"
		".number{font-size:14px;font-weight:700;text-anchor:end}.mark{font-size:14px;fill:#2f9e44}</"
		"style>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
		WIDTH, height, WIDTH, height, WIDTH, height);
	text(f, 32, 44, "title", "informer: how many times better");
	snprintf(machine, sizeof(machine),
		 "%s · %s · one run, rounds in turn, ratio of medians; longer is better, logarithmic", r->cpu,
		 r->date);
	text(f, 32, 66, "sub", machine);
	fputs("<rect x=\"32\" y=\"80\" width=\"12\" height=\"12\" rx=\"3\" fill=\"#3b7dd8\"/>\n", f);
	text(f, 50, 91, "sub", "than LMDB");
	fputs("<rect x=\"132\" y=\"80\" width=\"12\" height=\"12\" rx=\"3\" fill=\"#12a594\"/>\n", f);
	text(f, 150, 91, "sub", "than client-go");
	fputs("<rect x=\"252\" y=\"80\" width=\"12\" height=\"12\" rx=\"3\" fill=\"#8e6fd1\"/>\n", f);
	text(f, 270, 91, "sub", "than plain JSON (cJSON, or the text's bytes)");
	fputs("<line x1=\"566\" y1=\"79\" x2=\"566\" y2=\"93\" stroke=\"#d9480f\" stroke-width=\"3\"/>\n", f);
	text(f, 574, 91, "sub", "wanted at least");
}

static void
scale(FILE *f, int bottom)
{
	static const char *const marks[] = {"1×", "10×", "100×", "1,000×"};

	for (int d = 0; d <= (int)HIGHEST; d++) {
		double x = place(pow(10, d));

		fprintf(f, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\"/>\n", x, TOP - 10,
			x, bottom, d == 0 ? "#1f2933" : "#e3e7eb");
		text(f, x, TOP - 16, "axis", marks[d]);
	}
}

static void
bar(FILE *f, const struct row *row, const char *label, int y)
{
	double ratio = row_ratio(row), one = place(1), end = place(ratio);
	char ours[32], theirs[32], figures[160], value[32];

	row_figure(row->value, row->unit, ours, sizeof(ours));
	row_figure(row->peer_value, row->unit, theirs, sizeof(theirs));
	text(f, LEFT - 14, y + BAR - 4, "label", label);
	fprintf(f, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"4\" fill=\"%s\"/>\n",
		end < one ? end : one, y, fabs(end - one) > 2 ? fabs(end - one) : 2, BAR,
		ratio >= 1 ? colour(row) : "#c92a2a");
	end = end > one ? end : one;
	if (row->target.ratio >= 1) {
		double x = place(row->target.ratio);

		fprintf(f,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#d9480f\" "
			"stroke-width=\"3\"/>\n",
			x, y - 3, x, y + BAR + 3);
		end = x > end ? x : end;
	}
	snprintf(value, sizeof(value), ratio < 10 ? "%.1f×" : "%.0f×", ratio);
	text(f, end + 8, y + BAR - 4, "value", value);
	snprintf(figures, sizeof(figures), "%s against %s, %s", ours, theirs, row->peer);
	text(f, FIGURES, y + BAR - 4, "figures", figures);
}

/* The row that a label stands for, where the picture shows it as a bar, or (bars false) as a line below. */
static const struct row *
shown(const struct report *r, size_t i, bool bars)
{
	const struct row *row = labels[i].left_out ? NULL : report_find(r, labels[i].name);

	return row && row->measured && (row_ratio(row) > 0) == bars ? row : NULL;
}

static void
figures_without_peer(FILE *f, const struct report *r, int y)
{
	bool right = false;

	text(f, 32, y, "head", "and, without a peer");
	y += 28;
	for (size_t i = 0; i < LABELS; i++) {
		const struct row *row = shown(r, i, false);
		char figure[32], least[32], wanted[64] = "";
		double x = right ? 640 : 32;

		if (!row)
			continue;
		row_figure(row->value, row->unit, figure, sizeof(figure));
		if (row->target.value > 0) {
			row_figure(row->target.value, row->unit, least, sizeof(least));
			snprintf(wanted, sizeof(wanted), "%s wanted: at most %s", row_mark(row), least);
		}
		text(f, x, y, "plain", labels[i].label);
		text(f, x + 340, y, "number", figure);
		text(f, x + 352, y, "figures", wanted);
		right = !right;
		if (!right)
			y += 26;
	}
}

int
report_picture(const struct report *r, const char *path)
{
	int bars = 0, lines = 0, y = TOP;
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	for (size_t i = 0; i < LABELS; i++) {
		bars += shown(r, i, true) != NULL;
		lines += shown(r, i, false) != NULL;
	}
	head(f, r, TOP + bars * LINE + 24 + (lines ? 44 + (lines + 1) / 2 * 26 : 0) + 16);
	scale(f, TOP + bars * LINE);
	for (size_t i = 0; i < LABELS; i++) {
		const struct row *row = shown(r, i, true);

		if (!row)
			continue;
		bar(f, row, labels[i].label, y + (LINE - BAR) / 2);
		y += LINE;
	}
	if (lines)
		figures_without_peer(f, r, y + 44);
	fputs("</svg>\n", f);
	return fclose(f) == 0 ? 0 : -errno;
}
