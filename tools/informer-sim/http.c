/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: collects each request's body, authenticates the client, and passes complete requests on; see
 * http.h.
 */
#include "tools/informer-sim/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <gnutls/gnutls.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/hold.h"
#include "tools/informer-sim/listen.h"
#include "tools/informer-sim/reply.h"
#include "tools/informer-sim/served_store.h"
#include "tools/informer-sim/slow_watches.h"

/* The real server's limit of a request's body. */
#define SIM_BODY_MAX 3145728u /* 3 MiB */

/* Whether the client has a valid certificate that our authority signed. */
static bool
has_certificate(const struct sim_request *request)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->api.connection,
								       MHD_CONNECTION_INFO_GNUTLS_SESSION);
	unsigned status = 0;

	return info && info->tls_session &&
	       gnutls_certificate_verify_peers2(info->tls_session, &status) == 0 && status == 0;
}

static bool
authorized(const struct sim_request *request)
{
	const struct sim_server_options *o = &request->server->options;
	const char *header;

	if (!o->token && !o->client_ca)
		return true;
	if (o->client_ca && has_certificate(request))
		return true;
	header = api_request_header(&request->api, "Authorization");
	return o->token && header && !strncmp(header, "Bearer ", 7) && !strcmp(header + 7, o->token);
}

/* Count a request that began (1) or ended (-1). */
static void
count(struct sim_server *server, int change)
{
	pthread_mutex_lock(&server->lock);
	server->begun += change > 0;
	server->under_way += (unsigned)change;
	pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
       const char *upload, size_t *upload_len, void **state)
{
	struct sim_request *request = *state;
	struct sim_server *server = cls;

	(void)version;
	/* a server that is down does not answer on old connections either */
	if (!request && sim_listen_refusing(server->listen))
		return MHD_NO;
	if (!request) {
		request = api_alloc(sizeof(*request));
		*request = (struct sim_request){.server = server,
						.page = 1,
						.api = {.connection = connection,
							.method = method,
							.url = url,
							.watch_list = !server->options.no_watch_list,
							.offer = {.protobuf = !server->options.no_protobuf,
								  .drop = server->options.drop_fields}}};
		*state = request;
		count(server, 1);
		return MHD_YES;
	}
	if (*upload_len) {
		if (request->body.len + *upload_len > SIM_BODY_MAX)
			request->too_large = true;
		else
			api_buf_put(&request->body, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	request->api.url = url;
	request->api.method = method;
	if (!authorized(request)) {
		api_status_set(&request->api.status, 401, "Unauthorized", "Unauthorized");
		return sim_reply_status(request);
	}
	if (request->too_large) {
		api_status_set(&request->api.status, 413, "RequestEntityTooLarge",
			       "Request entity too large: limit is %u", SIM_BODY_MAX);
		return sim_reply_status(request);
	}
	return request->server->answer(request);
}

static void
completed(void *cls, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode why)
{
	struct sim_request *request = *state;

	(void)cls;
	(void)connection;
	(void)why;
	if (!request)
		return;
	count(request->server, -1);
	api_buf_done(&request->body);
	api_buf_done(&request->note);
	api_status_done(&request->api.status);
	free(request);
	*state = NULL;
}

static void __attribute__((format(printf, 2, 0)))
complain(void *cls, const char *format, va_list args)
{
	const struct sim_server *server = cls;

	/* after the start, messages only concern clients that went away */
	if (!server->serving) {
		fputs("informer-sim: ", stderr);
		vfprintf(stderr, format, args);
	}
}

/* Bind as the options say; print failures. */
static int
open_listen(struct sim_server *server)
{
	const struct sim_server_options *o = &server->options;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *address = NULL;
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%u", o->port);
	if (getaddrinfo(o->address, port, &hints, &address) != 0) {
		fprintf(stderr, "informer-sim: --address %s: not an IP address\n", o->address);
		return -EINVAL;
	}
	r = sim_listen_new(address->ai_addr, address->ai_addrlen, &server->listen, &server->port);
	freeaddrinfo(address);
	if (r < 0)
		fprintf(stderr, "informer-sim: cannot listen on %s port %u: %s\n", o->address, o->port,
			strerror(-r));
	return r;
}

int
sim_server_start(struct sim_server *server, enum MHD_Result (*answer)(struct sim_request *request))
{
	const struct sim_server_options *o = &server->options;
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
			 MHD_USE_ERROR_LOG | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC;
	struct MHD_OptionItem tls[4] = {{MHD_OPTION_END, 0, NULL},
					{MHD_OPTION_END, 0, NULL},
					{MHD_OPTION_END, 0, NULL},
					{MHD_OPTION_END, 0, NULL}};
	int r = open_listen(server);

	if (r < 0)
		return r;
	if (o->tls_cert) {
		flags |= MHD_USE_TLS;
		tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->tls_key};
		tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0,
						 (void *)(uintptr_t)o->tls_cert};
		/* a client without a certificate may have a token */
		if (o->client_ca)
			tls[2] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_TRUST, 0,
							 (void *)(uintptr_t)o->client_ca};
	}
	server->answer = answer;
	server->served = sim_store_served(server->store);
	signal(SIGPIPE, SIG_IGN);
	pthread_mutex_init(&server->lock, NULL);
	sim_metrics_init(&server->metrics);
	sim_journal_init(&server->journal);
	server->holds = sim_holds_new();
	/* the error log comes first: messages about options in front of it are lost */
	server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER,
					  complain, server, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
					  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)256 * 1024,
					  MHD_OPTION_CONNECTION_LIMIT, 2000u, MHD_OPTION_ARRAY, tls,
					  MHD_OPTION_END);
	server->serving = server->daemon != NULL;
	if (!server->daemon) {
		fputs("informer-sim: the HTTP server does not start\n", stderr);
		sim_metrics_done(&server->metrics);
		sim_journal_done(&server->journal);
		sim_holds_free(server->holds);
		sim_listen_free(server->listen);
		return -EIO;
	}
	sim_slow_watches_start(server);
	sim_listen_start(server->listen, server->daemon);
	return 0;
}

void
sim_server_stop(struct sim_server *server)
{
	sim_listen_stop(server->listen);
	sim_store_stop(server->store);
	sim_slow_watches_stop(server);
	MHD_stop_daemon(server->daemon);
	sim_listen_free(server->listen);
	sim_holds_free(server->holds);
	sim_journal_done(&server->journal);
	sim_metrics_done(&server->metrics);
	pthread_mutex_destroy(&server->lock);
}
