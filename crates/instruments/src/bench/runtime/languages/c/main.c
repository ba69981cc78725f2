/*
 * The kernels of SciMark2 as one short-lived program: checks what a kernel computes, times it, or shows how it warms up.
 *
 *   scimark KERNEL SIZE check
 *   scimark KERNEL SIZE time MIN_SECONDS
 *   scimark KERNEL SIZE warmup ITERATIONS CYCLES
 *
 * Times are in nanoseconds: the CPU time of the thread, then wall time. Making and checking the data are not timed.
 * Exit code 2 is a wrong command line, 1 a failure; both say why on stderr.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scimark.h"

static const struct kernel *const KERNELS[] = {&fft, &sor, &monte_carlo, &sparse, &lu};

static const struct size SIZES[] = {
    {"tiny", 16, 10, 10, 50, 10},
    {"small", 1024, 100, 1000, 5000, 100},
    {"large", 1048576, 1000, 100000, 1000000, 1000},
};

enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS, SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

struct times {
    int64_t cpu_ns;
    int64_t wall_ns;
    /* When it was over, by the clock that never steps back. */
    int64_t end_ns;
};

void fail(int code, const char *message, const char *detail)
{
    fflush(stdout);
    fprintf(stderr, "scimark: %s: %s\n", message, detail);
    exit(code);
}

static int64_t now(clockid_t clock)
{
    struct timespec time;
    if (clock_gettime(clock, &time) != 0)
        fail(1, "a clock cannot be read", clock == CLOCK_MONOTONIC ? "CLOCK_MONOTONIC" : "CLOCK_THREAD_CPUTIME_ID");
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static struct times timed(const struct kernel *kernel, void *data, long cycles)
{
    struct times times;
    int64_t wall = now(CLOCK_MONOTONIC);
    int64_t cpu = now(CLOCK_THREAD_CPUTIME_ID);
    kernel->run(data, cycles);
    times.cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    times.end_ns = now(CLOCK_MONOTONIC);
    times.wall_ns = times.end_ns - wall;
    return times;
}

static void check(const struct kernel *kernel, const struct size *size)
{
    void *data = kernel->make(size);
    kernel->check(data);
    kernel->discard(data);
}

/* Doubles the cycles until a batch takes the least time; that one counts. The data carry on from batch to batch. */
static void time_batches(const struct kernel *kernel, const struct size *size, double min_seconds)
{
    void *data = kernel->make(size);
    long cycles = 1;
    for (;;) {
        struct times took = timed(kernel, data, cycles);
        printf("batch %ld %" PRId64 " %" PRId64 " %" PRId64 "\n", cycles, took.cpu_ns, took.wall_ns, took.end_ns);
        if ((double)took.cpu_ns >= min_seconds * 1e9)
            break;
        if (cycles > LONG_MAX / 2)
            fail(1, "the least time is too long", "cycles exceed a long");
        cycles *= 2;
    }
    printf("sum x%016" PRIx64 "\n", bits_of(kernel->sum(data)));
    kernel->discard(data);
}

static void warm_up(const struct kernel *kernel, const struct size *size, int iterations, long cycles)
{
    struct times *took = allocate(iterations, sizeof *took);
    void *data = kernel->make(size);
    for (int i = 0; i < iterations; i++)
        took[i] = timed(kernel, data, cycles);
    for (int i = 0; i < iterations; i++)
        printf("iteration %" PRId64 " %" PRId64 "\n", took[i].cpu_ns, took[i].wall_ns);
    printf("sum x%016" PRIx64 "\n", bits_of(kernel->sum(data)));
    kernel->discard(data);
    free(took);
}

static const struct kernel *kernel_named(const char *name)
{
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (strcmp(name, KERNELS[i]->name) == 0)
            return KERNELS[i];
    fail(2, "no such kernel (fft, sor, monte-carlo, sparse, lu)", name);
    return NULL;
}

static const struct size *size_named(const char *name)
{
    for (int i = 0; i < SIZE_COUNT; i++)
        if (strcmp(name, SIZES[i].name) == 0)
            return &SIZES[i];
    fail(2, "no such size (tiny, small, large)", name);
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

static int count_of(const char *text)
{
    char *end;
    long count = strtol(text, &end, 10);
    if (end == text || *end != '\0' || count < 1 || count > 1000000)
        fail(2, "not a number from 1 to 1000000", text);
    return (int)count;
}

int main(int argc, char **argv)
{
    const char *task = argc > 3 ? argv[3] : "";
    int right = (argc == 4 && strcmp(task, "check") == 0) || (argc == 5 && strcmp(task, "time") == 0) ||
                (argc == 6 && strcmp(task, "warmup") == 0);
    if (!right)
        fail(2, "usage", "scimark KERNEL SIZE check | time MIN_SECONDS | warmup ITERATIONS CYCLES");
    const struct kernel *kernel = kernel_named(argv[1]);
    const struct size *size = size_named(argv[2]);
    if (argc == 4) {
        check(kernel, size);
    } else if (argc == 5) {
        double min_seconds = seconds_of(argv[4]);
        check(kernel, size);
        time_batches(kernel, size, min_seconds);
    } else {
        warm_up(kernel, size, count_of(argv[4]), count_of(argv[5]));
    }
    puts("end");
    if (fflush(stdout) != 0)
        fail(1, "the results cannot be written", "stdout");
    return 0;
}
