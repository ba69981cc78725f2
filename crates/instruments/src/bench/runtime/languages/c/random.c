/*
 * SciMark2's generator: a subtractive lagged Fibonacci sequence of 17 numbers below 2^31 - 1.
 *
 * It stands in a file of its own because a call into another file is what Monte Carlo measures in C; a compiler that
 * optimises across files (-flto) changes that figure, not the numbers.
 */
#include <stdlib.h>

#include "scimark.h"

enum { LAGS = 17, MODULUS = 2147483647, HALF_WORD = 65536, MULTIPLIER = 9069 };

struct random {
    int lags[LAGS];
    int minuend;
    int place;
    double scale;
    /* SciMark2's generator asks with each number whether it was made for another range than [0, 1]. None of these is,
     * but the question takes several per cent of Monte Carlo's time, and is part of the work in every language. */
    int ranged;
    double low;
    double width;
};

struct random *new_random(int seed)
{
    struct random *random = allocate(1, sizeof *random);
    int state = abs(seed);
    if (state % 2 == 0)
        state--;
    int low = state % HALF_WORD;
    int high = state / HALF_WORD;
    for (int i = 0; i < LAGS; i++) {
        int product = low * MULTIPLIER;
        high = (product / HALF_WORD + high * MULTIPLIER) % (HALF_WORD / 2);
        low = product % HALF_WORD;
        random->lags[i] = low + HALF_WORD * high;
    }
    random->minuend = 4;
    random->place = LAGS - 1;
    random->scale = 1.0 / MODULUS;
    random->ranged = 0;
    random->low = 0.0;
    random->width = 1.0;
    return random;
}

void free_random(struct random *random)
{
    free(random);
}

double next_random(struct random *random)
{
    int minuend = random->minuend;
    int place = random->place;
    int number = random->lags[minuend] - random->lags[place];
    if (number < 0)
        number += MODULUS;
    random->lags[place] = number;
    random->minuend = minuend == 0 ? LAGS - 1 : minuend - 1;
    random->place = place == 0 ? LAGS - 1 : place - 1;
    double fraction = random->scale * number;
    return random->ranged ? random->low + fraction * random->width : fraction;
}

void fill_vector(double *vector, int count, struct random *random)
{
    for (int i = 0; i < count; i++)
        vector[i] = next_random(random);
}

void fill_matrix(double **matrix, int rows, int columns, struct random *random)
{
    for (int i = 0; i < rows; i++)
        fill_vector(matrix[i], columns, random);
}
