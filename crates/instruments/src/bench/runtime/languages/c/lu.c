/*
 * Factors a dense square matrix into a lower and an upper triangle, with partial pivoting. One cycle is a copy of the
 * matrix and its factors.
 *
 * SciMark2 counts 2/3 N^3 operations a cycle; the copy takes time and is not counted.
 */
#include <math.h>
#include <stdlib.h>

#include "scimark.h"

struct factors {
    int side;
    double **matrix;
    double **lu;
    int *pivots;
};

static void *make(const struct size *size)
{
    struct factors *factors = allocate(1, sizeof *factors);
    struct random *random = new_random(SEED);
    int side = size->lu_side;
    factors->side = side;
    factors->matrix = new_matrix(side, side);
    fill_matrix(factors->matrix, side, side, random);
    factors->lu = new_matrix(side, side);
    factors->pivots = allocate(side, sizeof *factors->pivots);
    free_random(random);
    return factors;
}

TIMED static void copy_matrix(double **to, double **from, int side)
{
    for (int i = 0; i < side; i++) {
        double *target = to[i];
        const double *source = from[i];
        for (int j = 0; j < side; j++)
            target[j] = source[j];
    }
}

/* The row, from `column` down, of the column's largest element; the first of equal ones. */
static int largest(double **a, int side, int column)
{
    int row = column;
    double most = fabs(a[column][column]);
    for (int i = column + 1; i < side; i++) {
        double size = fabs(a[i][column]);
        if (size > most) {
            row = i;
            most = size;
        }
    }
    return row;
}

TIMED static void factor(double **a, int side, int *pivots)
{
    for (int k = 0; k < side; k++) {
        int pivot = largest(a, side, k);
        pivots[k] = pivot;
        if (a[pivot][k] == 0.0)
            fail(1, "lu", "the matrix is singular");
        if (pivot != k) {
            double *row = a[k];
            a[k] = a[pivot];
            a[pivot] = row;
        }
        double reciprocal = 1.0 / a[k][k];
        for (int i = k + 1; i < side; i++)
            a[i][k] *= reciprocal;
        for (int i = k + 1; i < side; i++) {
            double *row = a[i];
            const double *upper = a[k];
            double multiple = row[k];
            for (int j = k + 1; j < side; j++)
                row[j] -= multiple * upper[j];
        }
    }
}

TIMED static void run(void *data, long cycles)
{
    const struct factors *factors = data;
    for (long cycle = 0; cycle < cycles; cycle++) {
        copy_matrix(factors->lu, factors->matrix, factors->side);
        factor(factors->lu, factors->side, factors->pivots);
    }
}

static struct digest digest_of(const struct factors *factors)
{
    struct digest digest = new_digest();
    for (int i = 0; i < factors->side; i++)
        add_doubles(&digest, factors->lu[i], factors->side);
    return digest;
}

static void check(void *data)
{
    const struct factors *factors = data;
    int64_t total = 0;
    int64_t weighted = 0;
    run(data, 1);
    struct digest digest = digest_of(factors);
    show_digest("lu", &digest);
    for (int i = 0; i < factors->side; i++) {
        total += factors->pivots[i];
        weighted += (int64_t)(i + 1) * factors->pivots[i];
    }
    show_whole("pivot.0", factors->pivots[0]);
    show_whole("pivot.sum", total);
    show_whole("pivot.weighted", weighted);
}

static double sum(const void *data)
{
    return digest_of(data).sum;
}

static void discard(void *data)
{
    struct factors *factors = data;
    free(factors->pivots);
    free_matrix(factors->lu, factors->side);
    free_matrix(factors->matrix, factors->side);
    free(factors);
}

const struct kernel lu = {"lu", make, run, check, sum, discard};
