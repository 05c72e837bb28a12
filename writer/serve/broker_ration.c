/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the writer's time its readers get: each packet, report and attachment is work on the loop's
 * thread, which commits too.
 *
 * User  a tenth of that thread's time (root and the daemon's own user a fifth), with which short bursts are
 *       answered at once. Whoever has used it up is not heard until there is some again; nothing is lost, his
 *       packets wait in his sockets.
 * Door  another tenth for all connections that are accepted: whose they are is known only then. When it is
 *       used up, who connects waits in the kernel's queue.
 * Turn  what all of them together may take of one turn of the loop, for with the next turn it hears the API
 *       server, commits and wakes. What is left over is told again in that turn.
 *
 * Invariant: what one user asks costs the loop no more than his ration, and one request at a time more; and a
 * turn of the loop is no longer than TURN_NS for it, and one request more.
 */
#include <time.h>

#include "writer/serve/broker_internal.h"

#define PART 10u /* of the time: one in so many */
#define PART_PRIVILEGED 5u
#define BURST_NS 20000000 /* at once */
#define BURST_PRIVILEGED_NS 100000000
#define TURN_NS 100000u
#define RESUME_MS 10u

uint64_t
ration_begin(void)
{
	struct timespec t;

	/* of this thread alone: it may have been kept waiting by anybody */
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool
is_privileged(uid_t uid)
{
	return peer_is_privileged(&(struct ucred){.uid = uid});
}

static void
earn(struct ration *r, uint64_t now, unsigned part, int64_t burst)
{
	uint64_t earned = (now - r->at_ns) / part;

	r->left_ns = earned > (uint64_t)(burst - r->left_ns) ? burst : r->left_ns + (int64_t)earned;
	r->at_ns = now;
}

/* The user's ration as it is now. Who is not remembered takes the place of the one not heard for longest. */
static struct ration *
ration_of(struct broker *b, uid_t uid)
{
	bool privileged = is_privileged(uid);
	int64_t burst = privileged ? BURST_PRIVILEGED_NS : BURST_NS;
	struct ration *r = &b->rations[0];
	uint64_t now = uv_hrtime();

	for (unsigned i = 0; i < BROKER_RATIONS; i++) {
		struct ration *other = &b->rations[i];

		if (other->at_ns && other->uid == uid) {
			r = other;
			break;
		}
		if (other->at_ns < r->at_ns)
			r = other;
	}
	if (!r->at_ns || r->uid != uid)
		*r = (struct ration){.uid = uid, .left_ns = burst, .at_ns = now};
	earn(r, now, privileged ? PART_PRIVILEGED : PART, burst);
	return r;
}

static struct ration *
ration_of_door(struct broker *b)
{
	earn(&b->door, uv_hrtime(), PART, BURST_NS);
	return &b->door;
}

static int64_t
spent(struct broker *b, uint64_t begun_ns)
{
	uint64_t now = ration_begin(), took = now > begun_ns ? now - begun_ns : 0;

	b->turn_ns += took;
	return (int64_t)took;
}

void
ration_end(struct broker *b, uid_t uid, uint64_t begun_ns)
{
	ration_of(b, uid)->left_ns -= spent(b, begun_ns);
}

void
ration_end_at_door(struct broker *b, uint64_t begun_ns)
{
	ration_of_door(b)->left_ns -= spent(b, begun_ns);
}

void
ration_rest(struct broker *b, uid_t uid, uint64_t ms)
{
	struct ration *r = ration_of(b, uid);
	uint64_t until = uv_now(b->loop) + ms;

	if (until > r->rest_until_ms)
		r->rest_until_ms = until;
}

uint64_t
ration_rest_left_ms(struct broker *b, uid_t uid)
{
	uint64_t until = ration_of(b, uid)->rest_until_ms, now = uv_now(b->loop);

	return until > now ? until - now : 0;
}

static bool
resume_client(struct client *c)
{
	if (ration_of(c->broker, c->peer.uid)->left_ns <= 0)
		return false;
	c->paused = false;
	if (c->state == CLIENT_GREETING)
		client_set_deadline(c);
	client_listen(c, UV_READABLE);
	return true;
}

static void
on_resume(uv_timer_t *timer)
{
	struct broker *b = timer->data;
	bool any = false;

	for (struct client *c = b->clients; c; c = c->next)
		if (c->paused)
			any |= !resume_client(c);
	if (b->shut && ration_of_door(b)->left_ns > 0) {
		b->shut = false;
		broker_listen(b);
	}
	if (!any && !b->shut)
		uv_timer_stop(timer);
}

static void
resume_later(struct broker *b)
{
	if (!uv_is_active((uv_handle_t *)&b->resume))
		uv_timer_start(&b->resume, on_resume, RESUME_MS, RESUME_MS);
}

bool
ration_has_turn(const struct broker *b)
{
	return b->turn_ns < TURN_NS;
}

bool
ration_is_left(struct broker *b, uid_t uid)
{
	return ration_of(b, uid)->left_ns > 0;
}

bool
ration_allows(struct client *c)
{
	struct broker *b = c->broker;

	if (ration_of(b, c->peer.uid)->left_ns > 0)
		return true;
	c->paused = true;
	b->stats.paused++;
	client_listen(c, 0);
	resume_later(b);
	return false;
}

bool
ration_allows_door(struct broker *b)
{
	if (ration_of_door(b)->left_ns > 0)
		return true;
	b->shut = true;
	b->stats.held++;
	uv_poll_stop(&b->listener);
	resume_later(b);
	return false;
}

static void
on_turn(uv_prepare_t *turn)
{
	struct broker *b = turn->data;

	b->turn_ns = 0;
}

void
ration_open(struct broker *b)
{
	b->door = (struct ration){.left_ns = BURST_NS, .at_ns = uv_hrtime()};
	uv_timer_init(b->loop, &b->resume);
	uv_prepare_init(b->loop, &b->turn);
	b->resume.data = b->turn.data = b;
	b->open_handles += 2;
	uv_prepare_start(&b->turn, on_turn);
}

void
ration_close(struct broker *b)
{
	uv_close((uv_handle_t *)&b->resume, broker_on_closed);
	uv_close((uv_handle_t *)&b->turn, broker_on_closed);
}
