/*
 * Jacobi's successive over-relaxation of a square grid, omega 1.25. One cycle is one sweep over the inner points.
 *
 * SciMark2 counts 6 (N - 1)^2 operations a sweep, though a sweep updates (N - 2)^2 points.
 */
#include <stdio.h>
#include <stdlib.h>

#include "scimark.h"

struct grid {
    int side;
    double **points;
};

static void *make(const struct size *size)
{
    struct grid *grid = allocate(1, sizeof *grid);
    struct random *random = new_random(SEED);
    grid->side = size->sor_side;
    grid->points = new_matrix(grid->side, grid->side);
    fill_matrix(grid->points, grid->side, grid->side, random);
    free_random(random);
    return grid;
}

TIMED static void run(void *data, long cycles)
{
    const double omega = 1.25;
    const double weight_around = omega * 0.25;
    const double weight_own = 1.0 - omega;
    const struct grid *grid = data;
    double **points = grid->points;
    int last = grid->side - 1;
    for (long sweep = 0; sweep < cycles; sweep++) {
        for (int i = 1; i < last; i++) {
            const double *above = points[i - 1];
            double *row = points[i];
            const double *below = points[i + 1];
            for (int j = 1; j < last; j++)
                row[j] = weight_around * (above[j] + below[j] + row[j - 1] + row[j + 1]) + weight_own * row[j];
        }
    }
}

static struct digest digest_of(const struct grid *grid)
{
    struct digest digest = new_digest();
    for (int i = 0; i < grid->side; i++)
        add_doubles(&digest, grid->points[i], grid->side);
    return digest;
}

/* A hundred sweeps of a large grid would take longer than a take. */
static void check(void *data)
{
    const struct grid *grid = data;
    int most = grid->side > 100 ? 1 : 100;
    int done = 0;
    for (int sweeps = 1; sweeps <= most; sweeps *= 10) {
        char name[16];
        run(data, sweeps - done);
        done = sweeps;
        struct digest digest = digest_of(grid);
        snprintf(name, sizeof name, "sweep%d", sweeps);
        show_digest(name, &digest);
    }
}

static double sum(const void *data)
{
    return digest_of(data).sum;
}

static void discard(void *data)
{
    struct grid *grid = data;
    free_matrix(grid->points, grid->side);
    free(grid);
}

const struct kernel sor = {"sor", make, run, check, sum, discard};
