/* STREAM's copy and triad, as `gcc -O2` makes them of plain loops over static arrays of N doubles, beside our kernels.
 * Prints the array's length and the best rate of nine passes after one, in MB (10^6 bytes) a second: copy counts two
 * arrays, triad three, as STREAM does. The copy is gcc's choice, which may be the C library's memcpy. */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

static double a[N], b[N], c[N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(void)
{
    double copy = 0, triad = 0, scalar = 3.0;
    for (long i = 0; i < N; i++) {
        a[i] = 1.0;
        b[i] = 2.0;
        c[i] = 0.0;
    }
    for (int pass = 0; pass < 10; pass++) {
        double start = now();
        for (long i = 0; i < N; i++)
            c[i] = a[i];
        double middle = now();
        for (long i = 0; i < N; i++)
            a[i] = b[i] + scalar * c[i];
        double end = now();
        double rate = 2.0 * sizeof(double) * N / (middle - start) / 1e6;
        if (pass > 0 && rate > copy)
            copy = rate;
        rate = 3.0 * sizeof(double) * N / (end - middle) / 1e6;
        if (pass > 0 && rate > triad)
            triad = rate;
    }
    printf("Array size = %ld\nCopy: %.1f\nTriad: %.1f\n", (long)N, copy, triad);
    return a[N / 2] > 0 ? 0 : 1;
}
