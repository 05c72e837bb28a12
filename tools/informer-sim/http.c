/*
 * The daemon: collects each request's body, checks the token, and hands whole
 * requests to route.c; builds the answers.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/informer-sim/server.h"
#include "tools/informer-sim/warden.h"

const char *
sim_request_query(const struct sim_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *
sim_request_header(const struct sim_request *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

enum MHD_Result
sim_reply_response(struct sim_request *request, unsigned code, const char *content_type,
		   struct MHD_Response *response)
{
	enum MHD_Result result;
	char uid[SIM_UID_SIZE];

	if (!response)
		return MHD_NO;
	sim_server_uid(request->server, uid);
	MHD_add_response_header(response, "Audit-Id", uid);
	MHD_add_response_header(response, "Cache-Control", "no-cache, private");
	MHD_add_response_header(response, "Content-Type", content_type);
	if (request->status.code == (int)code && request->status.retry_after)
		MHD_add_response_header(response, "Retry-After", "1");
	if (request->verb && request->resource)
		sim_metrics_count(&request->server->metrics, request->verb, request->resource, code);
	result = MHD_queue_response(request->connection, code, response);
	MHD_destroy_response(response);
	return result;
}

enum MHD_Result
sim_reply(struct sim_request *request, unsigned code, const char *content_type, struct sim_buf *body)
{
	size_t len = body->len;
	char *data = sim_buf_take(body);
	struct MHD_Response *response = MHD_create_response_from_buffer(len, data, MHD_RESPMEM_MUST_FREE);

	if (!response)
		free(data);
	return sim_reply_response(request, code, content_type, response);
}

enum MHD_Result
sim_reply_status(struct sim_request *request)
{
	struct sim_buf body = {0};

	sim_status_print(&request->status, &body);
	sim_buf_puts(&body, "\n");
	return sim_reply(request, (unsigned)request->status.code, "application/json", &body);
}

enum MHD_Result
sim_reply_object(struct sim_request *request, unsigned code, const struct sim_object *object, uint64_t rv)
{
	struct sim_buf body = {0};

	sim_object_print(request->resource, object, rv, &body);
	sim_buf_puts(&body, "\n");
	return sim_reply(request, code, "application/json", &body);
}

void
sim_server_uid(struct sim_server *server, char out[SIM_UID_SIZE])
{
	pthread_mutex_lock(&server->lock);
	sim_rng_uid(&server->rng, out);
	pthread_mutex_unlock(&server->lock);
}

void
sim_server_suffix(struct sim_server *server, char out[6])
{
	pthread_mutex_lock(&server->lock);
	sim_rng_suffix(&server->rng, out, 5);
	pthread_mutex_unlock(&server->lock);
}

static bool
authorized(const struct sim_request *request)
{
	const char *token = request->server->options.token;
	const char *header;

	if (!token)
		return true;
	header = sim_request_header(request, "Authorization");
	return header && !strncmp(header, "Bearer ", 7) && !strcmp(header + 7, token);
}

static enum MHD_Result
handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
       const char *upload, size_t *upload_len, void **state)
{
	struct sim_request *request = *state;

	(void)version;
	if (!request) {
		request = sim_alloc(sizeof(*request));
		*request = (struct sim_request){
			.server = cls, .connection = connection, .method = method, .url = url};
		*state = request;
		return MHD_YES;
	}
	if (*upload_len) {
		if (request->body.len + *upload_len > SIM_BODY_MAX)
			request->too_large = true;
		else
			sim_buf_put(&request->body, upload, *upload_len);
		*upload_len = 0;
		return MHD_YES;
	}
	request->url = url;
	request->method = method;
	if (!authorized(request)) {
		sim_status_set(&request->status, 401, "Unauthorized", "Unauthorized");
		return sim_reply_status(request);
	}
	if (request->too_large) {
		sim_status_set(&request->status, 413, "RequestEntityTooLarge",
			       "Request entity too large: limit is %u", SIM_BODY_MAX);
		return sim_reply_status(request);
	}
	return sim_route(request);
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
	sim_buf_done(&request->body);
	sim_status_done(&request->status);
	free(request);
	*state = NULL;
}

static void __attribute__((format(printf, 2, 0)))
complain(void *cls, const char *format, va_list args)
{
	const struct sim_server *server = cls;

	/* Before the port is known it tells why starting failed; later, only of clients that went away. */
	if (server->port == 0) {
		fputs("informer-sim: ", stderr);
		vfprintf(stderr, format, args);
	}
}

int
sim_server_start(struct sim_server *server)
{
	const struct sim_server_options *o = &server->options;
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *address = NULL;
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL | MHD_USE_ERROR_LOG;
	struct MHD_OptionItem tls[] = {{MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}, {MHD_OPTION_END, 0, NULL}};
	const union MHD_DaemonInfo *info;
	char port[8];

	snprintf(port, sizeof(port), "%u", o->port);
	if (getaddrinfo(o->address, port, &hints, &address) != 0) {
		fprintf(stderr, "informer-sim: --address %s: not an IP address\n", o->address);
		return -EINVAL;
	}
	if (address->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	if (o->tls_cert) {
		flags |= MHD_USE_TLS;
		tls[0] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->tls_key};
		tls[1] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->tls_cert};
	}
	signal(SIGPIPE, SIG_IGN);
	pthread_mutex_init(&server->lock, NULL);
	sim_metrics_init(&server->metrics);
	/* The error log first: what it has to say about the options behind it would be lost. */
	server->daemon = MHD_start_daemon(flags, o->port, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER, complain,
					  server, MHD_OPTION_SOCK_ADDR, address->ai_addr, MHD_OPTION_NOTIFY_COMPLETED,
					  completed, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)256 * 1024,
					  MHD_OPTION_CONNECTION_LIMIT, 2000u, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u,
					  MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
	freeaddrinfo(address);
	if (!server->daemon) {
		fprintf(stderr, "informer-sim: cannot listen on %s port %u: %s\n", o->address, o->port, strerror(errno));
		sim_metrics_done(&server->metrics);
		return -EADDRINUSE;
	}
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
	server->port = info ? info->port : o->port;
	sim_warden_start(server);
	return 0;
}

void
sim_server_stop(struct sim_server *server)
{
	sim_store_stop(server->store);
	sim_warden_stop(server);
	MHD_stop_daemon(server->daemon);
	sim_metrics_done(&server->metrics);
	pthread_mutex_destroy(&server->lock);
}
