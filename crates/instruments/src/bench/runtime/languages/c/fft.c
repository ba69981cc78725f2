/*
 * Fourier transform of complex numbers, in place, of radix 2. One cycle is a transform and the inverse one.
 *
 * SciMark2 counts (5 N - 2) log2 N + 2 (N + 1) operations a cycle, which is one transform of the two. Real and imaginary
 * parts alternate.
 */
#include <math.h>
#include <stdlib.h>

#include "scimark.h"

struct signal {
    int points;
    double *data;
};

/* Swaps each point with the one whose index has the same bits in reverse, where that stands behind it. */
TIMED static void reverse_bits(double *data, int points)
{
    int reversed = 0;
    for (int i = 0; i < points - 1; i++) {
        if (i < reversed) {
            double re = data[2 * i];
            double im = data[2 * i + 1];
            data[2 * i] = data[2 * reversed];
            data[2 * i + 1] = data[2 * reversed + 1];
            data[2 * reversed] = re;
            data[2 * reversed + 1] = im;
        }
        /* Adds one to the reversed index: the carry runs from the highest bit down. */
        int bit = points >> 1;
        while (bit <= reversed) {
            reversed -= bit;
            bit >>= 1;
        }
        reversed += bit;
    }
}

/* The two points become their sum and their difference, of which (re, im) is the second, turned. */
static inline void butterfly(double *data, int even, int odd, double re, double im)
{
    data[odd] = data[even] - re;
    data[odd + 1] = data[even + 1] - im;
    data[even] += re;
    data[even + 1] += im;
}

/* Direction -1 is forward, +1 is inverse without its factor. */
TIMED static void transform(double *data, int points, int direction)
{
    const double pi = 3.14159265358979323846;
    reverse_bits(data, points);
    for (int half = 1; half < points; half *= 2) {
        double angle = direction * pi / half;
        double sine = sin(angle);
        double half_sine = sin(angle / 2.0);
        double versine = 2.0 * half_sine * half_sine;
        double re = 1.0;
        double im = 0.0;
        for (int block = 0; block < points; block += 2 * half) {
            int odd = 2 * (block + half);
            butterfly(data, 2 * block, odd, data[odd], data[odd + 1]);
        }
        for (int offset = 1; offset < half; offset++) {
            /* Turns the factor by the angle. */
            double turned = re - sine * im - versine * re;
            im = im + sine * re - versine * im;
            re = turned;
            for (int block = 0; block < points; block += 2 * half) {
                int even = 2 * (block + offset);
                int odd = 2 * (block + offset + half);
                double odd_re = data[odd];
                double odd_im = data[odd + 1];
                butterfly(data, even, odd, re * odd_re - im * odd_im, re * odd_im + im * odd_re);
            }
        }
    }
}

TIMED static void inverse(double *data, int points)
{
    double factor = 1.0 / points;
    transform(data, points, 1);
    for (int i = 0; i < 2 * points; i++)
        data[i] *= factor;
}

static void *make(const struct size *size)
{
    struct signal *signal = allocate(1, sizeof *signal);
    struct random *random = new_random(SEED);
    signal->points = size->fft_points;
    signal->data = allocate(2 * signal->points, sizeof *signal->data);
    fill_vector(signal->data, 2 * signal->points, random);
    free_random(random);
    return signal;
}

TIMED static void run(void *data, long cycles)
{
    const struct signal *signal = data;
    for (long cycle = 0; cycle < cycles; cycle++) {
        transform(signal->data, signal->points, -1);
        inverse(signal->data, signal->points);
    }
}

static struct digest digest_of(const struct signal *signal)
{
    struct digest digest = new_digest();
    add_doubles(&digest, signal->data, 2 * signal->points);
    return digest;
}

/* The root of the mean square of what differs from the input, which is generated once more. */
static double difference(const struct signal *signal)
{
    struct random *random = new_random(SEED);
    double squares = 0.0;
    for (int i = 0; i < 2 * signal->points; i++) {
        double difference = signal->data[i] - next_random(random);
        squares += difference * difference;
    }
    free_random(random);
    return sqrt(squares / (2.0 * signal->points));
}

static void check(void *data)
{
    const struct signal *signal = data;
    transform(signal->data, signal->points, -1);
    struct digest digest = digest_of(signal);
    show_digest("forward", &digest);
    inverse(signal->data, signal->points);
    digest = digest_of(signal);
    show_digest("inverse", &digest);
    show_real("rms", difference(signal));
}

static double sum(const void *data)
{
    return digest_of(data).sum;
}

static void discard(void *data)
{
    struct signal *signal = data;
    free(signal->data);
    free(signal);
}

const struct kernel fft = {"fft", make, run, check, sum, discard};
