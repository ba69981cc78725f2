/*
 * The parts of the three indices as one short-lived program: shows what a part computes, then times it.
 *
 *   index PART MIN_SECONDS
 *
 * Times are in nanoseconds: the CPU time of the thread, then wall time. Making the data is not timed; comparing each
 * result with the first one is. Exit code 2 is a wrong command line, 1 a failure; both say why on stderr.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "index.h"

static const struct part *const PARTS[] = {
    &sort_part,        &idea_part,      &huffman_part,    &dictionary_part, &string_sort_part, &bit_field_part,
    &assignment_part,  &fft_part,       &lu_part,         &network_part,    &gravity_part,
};

enum { PART_COUNT = sizeof PARTS / sizeof *PARTS };

void fail(int code, const char *message, const char *detail)
{
    fflush(stdout);
    fprintf(stderr, "index: %s: %s\n", message, detail);
    exit(code);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail(1, "a clock cannot be read", clock == CLOCK_MONOTONIC ? "CLOCK_MONOTONIC" : "CLOCK_THREAD_CPUTIME_ID");
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void show_double(const char *name, const char *what, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    printf("check %s.%s x%016" PRIx64 "\n", name, what, bits);
}

static void show(const struct part *part, const struct digest *digest)
{
    printf("check %s.fnv x%016" PRIx64 "\n", part->name, digest->fnv);
    if (part->is_floating) {
        show_double(part->name, "sum", digest->sum);
        show_double(part->name, "l2", sqrt(digest->squares));
    }
}

/* Doubles the runs until a batch takes the least time; that one counts. */
static void time_batches(const struct part *part, void *data, uint64_t expected, double min_seconds)
{
    for (long runs = 1;; runs *= 2) {
        int64_t wall = now(CLOCK_MONOTONIC);
        int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
        for (long run = 0; run < runs; run++)
            if (part->run(data).fnv != expected)
                fail(1, "another result than before", part->name);
        int64_t took = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
        int64_t end = now(CLOCK_MONOTONIC);
        printf("batch %ld %" PRId64 " %" PRId64 " %" PRId64 "\n", runs, took, end - wall, end);
        if ((double)took >= min_seconds * 1e9)
            return;
        if (runs > LONG_MAX / 2)
            fail(1, "the least time is too long", "runs exceed a long");
    }
}

static const struct part *part_named(const char *name)
{
    for (int i = 0; i < PART_COUNT; i++)
        if (strcmp(name, PARTS[i]->name) == 0)
            return PARTS[i];
    fail(2, "no such part", name);
    return NULL;
}

static double seconds_of(const char *text)
{
    char *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds >= 0.0 && seconds <= 3600.0))
        fail(2, "not a number of seconds from 0 to 3600", text);
    return seconds;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail(2, "usage", "index PART MIN_SECONDS");
    const struct part *part = part_named(argv[1]);
    double min_seconds = seconds_of(argv[2]);
    void *data = part->make();
    struct digest digest = part->run(data);
    show(part, &digest);
    time_batches(part, data, digest.fnv, min_seconds);
    puts("end");
    if (fflush(stdout) != 0)
        fail(1, "the results cannot be written", "stdout");
    return 0;
}
