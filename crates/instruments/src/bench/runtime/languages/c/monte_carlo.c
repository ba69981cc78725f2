/*
 * Points of the unit square that fall into the quarter circle, which estimates pi. One cycle is one point.
 *
 * SciMark2 counts 4 operations a point and nothing for its two random numbers, which take nearly all of the time. Each
 * run starts the generator afresh, from a seed of its own. The size changes nothing.
 */
#include <stdlib.h>

#include "scimark.h"

enum { SAMPLE_SEED = 113 };

/* Of all runs. */
struct hits {
    int64_t count;
};

TIMED static long hits_among(long samples)
{
    struct random *random = new_random(SAMPLE_SEED);
    long hits = 0;
    for (long sample = 0; sample < samples; sample++) {
        double x = next_random(random);
        double y = next_random(random);
        if (x * x + y * y <= 1.0)
            hits++;
    }
    free_random(random);
    return hits;
}

static void *make(const struct size *size)
{
    struct hits *hits = allocate(1, sizeof *hits);
    (void)size;
    hits->count = 0;
    return hits;
}

TIMED static void run(void *data, long cycles)
{
    struct hits *hits = data;
    hits->count += hits_among(cycles);
}

static void check(void *data)
{
    (void)data;
    show_whole("hits.1000", hits_among(1000));
    show_whole("hits.100000", hits_among(100000));
}

static double sum(const void *data)
{
    const struct hits *hits = data;
    return (double)hits->count;
}

static void discard(void *data)
{
    free(data);
}

const struct kernel monte_carlo = {"monte-carlo", make, run, check, sum, discard};
