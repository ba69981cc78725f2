/*
 * A sparse matrix in compressed rows times a vector. One cycle is one product.
 *
 * SciMark2 counts two operations for each element that is not zero. Rows have equally many of them, spread from the
 * first column to the diagonal.
 */
#include <stdlib.h>

#include "scimark.h"

struct product {
    int rows;
    int nonzeros;
    double *x;
    double *y;
    double *values;
    int *columns;
    int *starts;
};

static void *make(const struct size *size)
{
    struct product *product = allocate(1, sizeof *product);
    struct random *random = new_random(SEED);
    int rows = size->sparse_rows;
    int in_row = size->sparse_nonzeros / rows;
    product->rows = rows;
    product->nonzeros = in_row * rows;
    product->x = allocate(rows, sizeof *product->x);
    product->y = allocate(rows, sizeof *product->y);
    product->values = allocate(product->nonzeros, sizeof *product->values);
    product->columns = allocate(product->nonzeros, sizeof *product->columns);
    product->starts = allocate(rows + 1, sizeof *product->starts);
    fill_vector(product->x, rows, random);
    fill_vector(product->values, product->nonzeros, random);
    for (int row = 0; row < rows; row++) {
        int step = row < in_row ? 1 : row / in_row;
        product->y[row] = 0.0;
        product->starts[row] = row * in_row;
        for (int i = 0; i < in_row; i++)
            product->columns[row * in_row + i] = i * step;
    }
    product->starts[rows] = product->nonzeros;
    free_random(random);
    return product;
}

TIMED static void run(void *data, long cycles)
{
    const struct product *product = data;
    int rows = product->rows;
    const double *x = product->x;
    const double *values = product->values;
    const int *columns = product->columns;
    const int *starts = product->starts;
    double *y = product->y;
    for (long cycle = 0; cycle < cycles; cycle++) {
        for (int row = 0; row < rows; row++) {
            double total = 0.0;
            int end = starts[row + 1];
            for (int i = starts[row]; i < end; i++)
                total += x[columns[i]] * values[i];
            y[row] = total;
        }
    }
}

static void check(void *data)
{
    const struct product *product = data;
    struct digest digest = new_digest();
    int64_t columns = 0;
    run(data, 1);
    add_doubles(&digest, product->y, product->rows);
    show_digest("y", &digest);
    for (int i = 0; i < product->nonzeros; i++)
        columns += product->columns[i];
    show_whole("row.last", product->starts[product->rows]);
    show_whole("col.last", product->columns[product->nonzeros - 1]);
    show_whole("col.sum", columns);
}

static double sum(const void *data)
{
    const struct product *product = data;
    struct digest digest = new_digest();
    add_doubles(&digest, product->y, product->rows);
    return digest.sum;
}

static void discard(void *data)
{
    struct product *product = data;
    free(product->starts);
    free(product->columns);
    free(product->values);
    free(product->y);
    free(product->x);
    free(product);
}

const struct kernel sparse = {"sparse", make, run, check, sum, discard};
