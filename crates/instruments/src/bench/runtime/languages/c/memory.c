/* Memory for vectors and matrices. A matrix is an array of rows, each allocated by itself: LU exchanges rows. */
#include <stdio.h>
#include <stdlib.h>

#include "scimark.h"

void *allocate(int count, int bytes_each)
{
    void *memory = malloc((size_t)count * (size_t)bytes_each);
    if (memory == NULL) {
        char bytes[32];
        snprintf(bytes, sizeof bytes, "%.0f bytes", (double)count * bytes_each);
        fail(1, "out of memory", bytes);
    }
    return memory;
}

double **new_matrix(int rows, int columns)
{
    double **matrix = allocate(rows, sizeof *matrix);
    for (int i = 0; i < rows; i++)
        matrix[i] = allocate(columns, sizeof **matrix);
    return matrix;
}

void free_matrix(double **matrix, int rows)
{
    for (int i = 0; i < rows; i++)
        free(matrix[i]);
    free(matrix);
}
