/*
 * boxscore's client of RAMCloud: loads the user's libramcloud.so, makes batches of requests, and times each of them.
 *
 * usage: helper LIBRARY, with frames on stdin and stdout (frames.rs has the other end). A frame is the length of the
 * rest (u32), its kind (u8) and its body; numbers have this machine's byte order. One frame comes for each that was
 * read, and one at the start. Times are nanoseconds of CLOCK_MONOTONIC, taken right before and right after the
 * call of the library: what is between two calls, and what goes over these pipes, is in none of them.
 *
 * It believes no length: a frame that is longer than MOST_FRAME, or whose parts do not fit into it, ends it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VERSION 2
#define MOST_FRAME (64u << 20)
#define MOST_REQUESTS 65536u
/* RAMCloud takes no larger object. */
#define MOST_VALUE (1u << 20)
/* Buffers of one multi-read together. */
#define MOST_BUFFERS (256ull << 20)

#define OBJECT_DOESNT_EXIST 3
/* Of a failure that is not RAMCloud's. */
#define NO_STATUS UINT32_MAX

/* MultiOp of CRamCloud.h. */
#define MULTI_OP_READ 1
#define MULTI_OP_WRITE 2

enum { READ, WRITE, REMOVE, MULTI_READ, MULTI_WRITE };

/* As CRamCloud.h declares them; a Status has the size of an int. Rules and versions are not used: NULL is allowed. */
static struct {
	void (*set_log_file)(const char *path);
	int (*connect)(const char *locator, const char *cluster, void **client);
	void (*disconnect)(void *client);
	int (*create_table)(void *client, const char *name, uint32_t span);
	int (*drop_table)(void *client, const char *name);
	int (*get_table_id)(void *client, const char *name, uint64_t *table);
	int (*read)(void *client, uint64_t table, const void *key, uint16_t key_length, const void *rules,
		    uint64_t *version, void *buffer, uint32_t room, uint32_t *length);
	int (*write)(void *client, uint64_t table, const void *key, uint16_t key_length, const void *value,
		     uint32_t length, const void *rules, uint64_t *version);
	int (*remove)(void *client, uint64_t table, const void *key, uint16_t key_length, const void *rules,
		      uint64_t *version);
	void (*multi_read_create)(uint64_t table, const void *key, uint16_t key_length, void *buffer, uint32_t room,
				  uint32_t *length, void *where);
	void (*multi_write_create)(uint64_t table, const void *key, uint16_t key_length, const void *value,
				   uint32_t length, const void *rules, void *where);
	uint16_t (*multi_op_size_of)(int kind);
	int (*multi_op_status)(const void *request, int kind);
	void (*multi_op_destroy)(void *request, int kind);
	void (*multi_read)(void *client, void **requests, uint32_t count);
	void (*multi_write)(void *client, void **requests, uint32_t count);
} api;

static const struct {
	const char *name;
	size_t place;
} SYMBOLS[] = {
	{ "rc_set_log_file", offsetof(__typeof__(api), set_log_file) },
	{ "rc_connect", offsetof(__typeof__(api), connect) },
	{ "rc_disconnect", offsetof(__typeof__(api), disconnect) },
	{ "rc_createTable", offsetof(__typeof__(api), create_table) },
	{ "rc_dropTable", offsetof(__typeof__(api), drop_table) },
	{ "rc_getTableId", offsetof(__typeof__(api), get_table_id) },
	{ "rc_read", offsetof(__typeof__(api), read) },
	{ "rc_write", offsetof(__typeof__(api), write) },
	{ "rc_remove", offsetof(__typeof__(api), remove) },
	{ "rc_multiReadCreate", offsetof(__typeof__(api), multi_read_create) },
	{ "rc_multiWriteCreate", offsetof(__typeof__(api), multi_write_create) },
	{ "rc_multiOpSizeOf", offsetof(__typeof__(api), multi_op_size_of) },
	{ "rc_multiOpStatus", offsetof(__typeof__(api), multi_op_status) },
	{ "rc_multiOpDestroy", offsetof(__typeof__(api), multi_op_destroy) },
	{ "rc_multiRead", offsetof(__typeof__(api), multi_read) },
	{ "rc_multiWrite", offsetof(__typeof__(api), multi_write) },
};

static int input, output;
static void *client;
static uint64_t table;
/* What writes write, and where reads read to. */
static unsigned char *value, *buffer;
static uint32_t value_length;

__attribute__((noreturn)) static void die(const char *what)
{
	fprintf(stderr, "boxscore's RAMCloud helper: %s\n", what);
	_exit(3);
}

/* What the library would do at the end of a program may wait for its threads: it is left out everywhere. */
__attribute__((noreturn)) static void quit(void)
{
	if (client)
		api.disconnect(client);
	_exit(0);
}

static void *room_for(size_t size)
{
	void *room = malloc(size ? size : 1);
	if (!room)
		die("out of memory");
	return room;
}

static uint64_t now_ns(void)
{
	struct timespec time;
	if (clock_gettime(CLOCK_MONOTONIC, &time))
		die("no monotonic clock");
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* 0 at the end of the input. */
static int read_all(void *to, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t got = read(input, (char *)to + done, size - done);
		if (got > 0)
			done += (size_t)got;
		else if (got == 0)
			return 0;
		else if (errno != EINTR)
			die(strerror(errno));
	}
	return 1;
}

static void write_all(const void *from, size_t size)
{
	size_t done = 0;
	while (done < size) {
		ssize_t put = write(output, (const char *)from + done, size - done);
		if (put > 0)
			done += (size_t)put;
		else if (put < 0 && errno != EINTR)
			_exit(0); /* Nobody listens any more. */
	}
}

/* A frame that is put together. */
static unsigned char *out;
static size_t out_length, out_room;

static void put(const void *bytes, size_t size)
{
	if (out_length + size > out_room) {
		out_room = (out_length + size) * 2;
		out = realloc(out, out_room);
		if (!out)
			die("out of memory");
	}
	memcpy(out + out_length, bytes, size);
	out_length += size;
}

static void put_u32(uint32_t number) { put(&number, sizeof number); }
static void put_u64(uint64_t number) { put(&number, sizeof number); }

static void begin(char kind)
{
	out_length = 0;
	put_u32(0);
	put(&kind, 1);
}

static void send_frame(void)
{
	uint32_t rest = (uint32_t)(out_length - sizeof rest);
	memcpy(out, &rest, sizeof rest);
	write_all(out, out_length);
}

static void put_text(const char *text)
{
	size_t length = strlen(text);
	if (length > 4096)
		length = 4096;
	put_u32((uint32_t)length);
	put(text, length);
}

static void failed(const char *call, uint32_t status, const char *text)
{
	begin('E');
	put_u32(status);
	put_text(call);
	put_text(text);
	send_frame();
}

static void done(uint64_t number)
{
	begin('O');
	put_u64(number);
	send_frame();
}

/* A frame that is taken apart. */
static unsigned char *in;
static size_t in_length, in_at;

static const void *take(size_t size)
{
	if (size > in_length - in_at)
		die("a part of a frame is longer than the frame");
	in_at += size;
	return in + in_at - size;
}

static uint8_t take_u8(void) { return *(const uint8_t *)take(1); }

static uint16_t take_u16(void)
{
	uint16_t number;
	memcpy(&number, take(sizeof number), sizeof number);
	return number;
}

static uint32_t take_u32(void)
{
	uint32_t number;
	memcpy(&number, take(sizeof number), sizeof number);
	return number;
}

static uint64_t take_u64(void)
{
	uint64_t number;
	memcpy(&number, take(sizeof number), sizeof number);
	return number;
}

/* To be freed. */
static char *take_text(void)
{
	uint16_t length = take_u16();
	char *text = room_for((size_t)length + 1);
	memcpy(text, take(length), length);
	text[length] = 0;
	return text;
}

/* 0 at the end of the input. */
static int receive(void)
{
	uint32_t length;
	if (!read_all(&length, sizeof length))
		return 0;
	if (length == 0 || length > MOST_FRAME)
		die("a frame has an impossible length");
	free(in);
	in = room_for(length);
	in_length = length;
	in_at = 0;
	return read_all(in, length);
}

/* One request, as it went. */
struct outcome {
	uint64_t begin_ns, end_ns;
	uint32_t status;
	/* Objects that came, were written or removed, and the bytes of those that came. */
	uint32_t good;
	uint64_t bytes;
};

struct key {
	const void *bytes;
	uint16_t length;
};

/* The requests of a batch, all of one kind; `each` is how many bytes of a value are kept. */
struct batch {
	uint8_t kind, wanted;
	uint32_t repeat, step, each, count;
	uint64_t limit_ns;
	struct key *keys;
};

/* A multi-read or multi-write that is made again and again. */
struct multi {
	int op;
	void **requests;
	unsigned char *objects, *buffers;
	uint32_t *lengths;
};

static struct multi multi_make(const struct batch *batch)
{
	int op = batch->kind == MULTI_WRITE ? MULTI_OP_WRITE : MULTI_OP_READ;
	size_t size = ((size_t)api.multi_op_size_of(op) + 15) / 16 * 16;
	uint32_t count = batch->count, each = op == MULTI_OP_READ ? batch->each : 0;
	struct multi multi;
	if ((uint64_t)each * count > MOST_BUFFERS)
		die("a multi-read of too many bytes");
	multi.op = op;
	multi.requests = room_for(count * sizeof *multi.requests);
	multi.objects = room_for(count * size);
	multi.lengths = room_for(count * sizeof *multi.lengths);
	multi.buffers = room_for((size_t)each * count);
	memset(multi.buffers, 1, (size_t)each * count);
	for (uint32_t i = 0; i < count; i++) {
		struct key key = batch->keys[i];
		multi.requests[i] = multi.objects + i * size;
		multi.lengths[i] = 0;
		if (op == MULTI_OP_WRITE)
			api.multi_write_create(table, key.bytes, key.length, value, value_length, NULL,
					       multi.requests[i]);
		else
			api.multi_read_create(table, key.bytes, key.length, multi.buffers + (size_t)i * each, each,
					      &multi.lengths[i], multi.requests[i]);
	}
	return multi;
}

static void multi_free(const struct batch *batch, struct multi *multi)
{
	for (uint32_t i = 0; i < batch->count; i++)
		api.multi_op_destroy(multi->requests[i], multi->op);
	free(multi->requests);
	free(multi->objects);
	free(multi->lengths);
	free(multi->buffers);
}

static struct outcome multi_request(const struct batch *batch, struct multi *multi)
{
	struct outcome outcome = { .status = 0 };
	int is_read = multi->op == MULTI_OP_READ;
	outcome.begin_ns = now_ns();
	(is_read ? api.multi_read : api.multi_write)(client, multi->requests, batch->count);
	outcome.end_ns = now_ns();
	for (uint32_t i = 0; i < batch->count; i++) {
		uint32_t status = (uint32_t)api.multi_op_status(multi->requests[i], multi->op);
		if (status == 0) {
			outcome.good++;
			outcome.bytes += multi->lengths[i];
		} else if (!is_read || status != OBJECT_DOESNT_EXIST) {
			outcome.status = status;
		}
	}
	return outcome;
}

static struct outcome single(const struct batch *batch, struct key key, uint32_t *length)
{
	struct outcome outcome = { .status = 0 };
	int status;
	*length = 0;
	outcome.begin_ns = now_ns();
	switch (batch->kind) {
	case READ:
		status = api.read(client, table, key.bytes, key.length, NULL, NULL, buffer, MOST_VALUE, length);
		break;
	case WRITE:
		status = api.write(client, table, key.bytes, key.length, value, value_length, NULL, NULL);
		break;
	default:
		status = api.remove(client, table, key.bytes, key.length, NULL, NULL);
	}
	outcome.end_ns = now_ns();
	outcome.status = (uint32_t)status;
	outcome.good = status == 0;
	outcome.bytes = status == 0 ? *length : 0;
	return outcome;
}

/* All keys by one request. */
static int is_multi(const struct batch *batch) { return batch->kind >= MULTI_READ; }

static struct batch take_batch(void)
{
	struct batch batch;
	batch.kind = take_u8();
	batch.wanted = take_u8();
	batch.repeat = take_u32();
	batch.step = take_u32();
	batch.each = take_u32();
	batch.limit_ns = take_u64();
	batch.count = take_u32();
	if (batch.kind > MULTI_WRITE || batch.count == 0 || batch.count > MOST_REQUESTS || batch.repeat == 0 ||
	    batch.repeat > MOST_REQUESTS || batch.step == 0 || batch.each > MOST_VALUE)
		die("a batch that cannot be");
	if (!is_multi(&batch) && (uint64_t)batch.count * batch.repeat > MOST_REQUESTS)
		die("a batch of too many requests");
	batch.keys = room_for(batch.count * sizeof *batch.keys);
	for (uint32_t i = 0; i < batch.count; i++) {
		batch.keys[i].length = take_u16();
		batch.keys[i].bytes = take(batch.keys[i].length);
	}
	return batch;
}

/* Makes the requests of a batch until all are made, one fails, or its time is over at a multiple of `step`. */
static void run(void)
{
	struct batch batch = take_batch();
	uint32_t most = is_multi(&batch) ? batch.repeat : batch.count * batch.repeat;
	struct outcome *outcomes = room_for(most * sizeof *outcomes);
	struct multi multi = { 0, NULL, NULL, NULL, NULL };
	uint32_t made = 0, length = 0;
	uint64_t begun_ns;
	/* Its pages are touched now, and not between two requests. */
	memset(outcomes, 1, most * sizeof *outcomes);
	if (is_multi(&batch))
		multi = multi_make(&batch);
	begun_ns = now_ns();
	while (made < most) {
		struct outcome *outcome = &outcomes[made];
		*outcome = is_multi(&batch) ? multi_request(&batch, &multi)
					    : single(&batch, batch.keys[made % batch.count], &length);
		made++;
		if (outcome->status != 0 && outcome->status != OBJECT_DOESNT_EXIST)
			break;
		if (made % batch.step == 0 && outcome->end_ns - begun_ns >= batch.limit_ns)
			break;
	}
	begin('R');
	put_u32(made);
	put(outcomes, made * sizeof *outcomes);
	if (!batch.wanted || batch.kind != READ || length > MOST_VALUE)
		length = 0;
	put_u32(length);
	put(buffer, length);
	send_frame();
	if (is_multi(&batch))
		multi_free(&batch, &multi);
	free(outcomes);
	free(batch.keys);
}

static void connect_to(void)
{
	char *locator = take_text(), *cluster = take_text();
	int status;
	if (client)
		die("connected twice");
	/* Else it logs to stderr, which may be read slowly. */
	api.set_log_file("/dev/null");
	status = api.connect(locator, cluster, &client);
	if (status != 0) {
		client = NULL;
		failed("rc_connect", (uint32_t)status, "");
	} else {
		done(0);
	}
	free(locator);
	free(cluster);
}

/* `create` it first where it is ours to make. */
static void use_table(int create)
{
	char *name = take_text();
	int status = create ? api.create_table(client, name, 1) : 0;
	if (status != 0) {
		failed("rc_createTable", (uint32_t)status, "");
	} else {
		status = api.get_table_id(client, name, &table);
		if (status != 0)
			failed("rc_getTableId", (uint32_t)status, "");
		else
			done(table);
	}
	free(name);
}

static void drop_table(void)
{
	char *name = take_text();
	int status = api.drop_table(client, name);
	if (status != 0)
		failed("rc_dropTable", (uint32_t)status, "");
	else
		done(0);
	free(name);
}

static void set_value(void)
{
	uint32_t length = take_u32();
	if (length > MOST_VALUE)
		die("a value that is too long");
	memcpy(value, take(length), length);
	value_length = length;
	done(length);
}

/* Whether the library has everything; else why not, in the loader's words. */
static int load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const char *why;
	if (!library) {
		why = dlerror();
		failed("dlopen", NO_STATUS, why ? why : "no reason given");
		return 0;
	}
	for (size_t i = 0; i < sizeof SYMBOLS / sizeof *SYMBOLS; i++) {
		void *symbol = dlsym(library, SYMBOLS[i].name);
		if (!symbol) {
			why = dlerror();
			failed("dlsym", NO_STATUS, why ? why : SYMBOLS[i].name);
			return 0;
		}
		memcpy((char *)&api + SYMBOLS[i].place, &symbol, sizeof symbol);
	}
	return 1;
}

/* What the library prints must not get among the frames. */
static void own_pipes(void)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	input = fcntl(0, F_DUPFD_CLOEXEC, 3);
	output = fcntl(1, F_DUPFD_CLOEXEC, 3);
	if (null < 0 || input < 0 || output < 0 || dup2(null, 0) < 0 || dup2(2, 1) < 0)
		die(strerror(errno));
	close(null);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		die("usage: helper LIBRARY");
	own_pipes();
	if (!load(argv[1]))
		_exit(1);
	value = room_for(MOST_VALUE);
	buffer = room_for(MOST_VALUE);
	memset(value, 1, MOST_VALUE);
	memset(buffer, 1, MOST_VALUE);
	done(VERSION);
	while (receive()) {
		uint8_t kind = take_u8();
		if (kind == 'Q')
			break;
		if (!client && kind != 'C')
			die("not connected yet");
		switch (kind) {
		case 'C':
			connect_to();
			break;
		case 'T':
			use_table(1);
			break;
		case 'G':
			use_table(0);
			break;
		case 'D':
			drop_table();
			break;
		case 'V':
			set_value();
			break;
		case 'B':
			run();
			break;
		default:
			die("a frame of no kind");
		}
	}
	quit();
}
