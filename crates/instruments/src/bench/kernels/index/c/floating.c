/*
 * Floating-point parts: Fourier transform, linear equations, a small neural network, gravity.
 *
 * Double precision; additions, multiplications, divisions and square roots alone, so that a compiler that keeps to
 * IEEE 754 gives the same bits everywhere.
 */
#include <math.h>

#include "index.h"

enum { POINTS = 1024 };

struct complex {
    double re;
    double im;
};

struct signal {
    struct complex start[POINTS];
    struct complex values[POINTS];
    struct complex roots[POINTS / 2];
};

static inline struct complex times(struct complex a, struct complex b)
{
    struct complex product = {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    return product;
}

/* e^(2 pi i k / POINTS) for the first half circle, by halving angles: no sine of any library. */
static void make_roots(struct complex *roots)
{
    struct complex root = {0.0, 1.0};
    roots[0].re = 1.0;
    roots[0].im = 0.0;
    for (int step = POINTS / 4; step >= 1; step /= 2) {
        for (int at = step; at < POINTS / 2; at += 2 * step)
            roots[at] = times(roots[at - step], root);
        double half = sqrt((1.0 + root.re) / 2.0);
        root.im = root.im / (2.0 * half);
        root.re = half;
    }
}

/* In place, by bit reversal and butterflies; the sign is -1 forward, +1 back (unscaled). */
TIMED static void transform(struct complex *values, const struct complex *roots, double sign)
{
    for (unsigned at = 0; at < POINTS; at++) {
        unsigned other = 0;
        for (unsigned bit = 0; bit < 10; bit++)
            other |= (at >> bit & 1) << (9 - bit);
        if (at < other) {
            struct complex value = values[at];
            values[at] = values[other];
            values[other] = value;
        }
    }
    for (int half = 1; half < POINTS; half *= 2) {
        int stride = POINTS / 2 / half;
        for (int group = 0; group < POINTS; group += 2 * half) {
            for (int i = 0; i < half; i++) {
                struct complex root = {roots[i * stride].re, sign * roots[i * stride].im};
                struct complex *a = &values[group + i];
                struct complex *b = &values[group + half + i];
                struct complex turned = times(*b, root);
                b->re = a->re - turned.re;
                b->im = a->im - turned.im;
                a->re = a->re + turned.re;
                a->im = a->im + turned.im;
            }
        }
    }
}

static void *make_signal(void)
{
    struct signal *signal = allocate(1, sizeof *signal);
    struct random random = {SEED};
    for (int i = 0; i < POINTS; i++) {
        signal->start[i].re = random_signed(&random);
        signal->start[i].im = random_signed(&random);
    }
    make_roots(signal->roots);
    return signal;
}

TIMED static struct digest run_fft(void *data)
{
    struct signal *signal = data;
    struct digest digest = new_digest();
    copy_words(signal->values, signal->start, sizeof signal->start / 8);
    transform(signal->values, signal->roots, -1.0);
    transform(signal->values, signal->roots, 1.0);
    for (int i = 0; i < POINTS; i += 16)
        add_double(&digest, signal->values[i].re);
    return digest;
}

const struct part fft_part = {"fft", make_signal, run_fft, 1};

enum { EQUATIONS = 64 };

struct equations {
    double matrix[EQUATIONS][EQUATIONS];
    double right[EQUATIONS];
    double rows[EQUATIONS][EQUATIONS];
    double found[EQUATIONS];
};

/* Number by number: whole rows would be copied by the C library. */
static void exchange(double *row, double *other)
{
    for (int i = 0; i < EQUATIONS; i++) {
        double number = row[i];
        row[i] = other[i];
        other[i] = number;
    }
}

/* Solves rows x = found in place; found becomes x. */
TIMED static int solve(double rows[][EQUATIONS], double *found)
{
    for (int column = 0; column < EQUATIONS; column++) {
        int pivot = column;
        for (int row = column + 1; row < EQUATIONS; row++)
            if (fabs(rows[row][column]) > fabs(rows[pivot][column]))
                pivot = row;
        if (pivot != column)
            exchange(rows[column], rows[pivot]);
        double number = found[column];
        found[column] = found[pivot];
        found[pivot] = number;
        if (rows[column][column] == 0.0)
            return 0;
        for (int row = column + 1; row < EQUATIONS; row++) {
            double factor = rows[row][column] / rows[column][column];
            for (int i = column; i < EQUATIONS; i++)
                rows[row][i] -= factor * rows[column][i];
            found[row] -= factor * found[column];
        }
    }
    for (int row = EQUATIONS - 1; row >= 0; row--) {
        double known = 0.0;
        for (int column = row + 1; column < EQUATIONS; column++)
            known += rows[row][column] * found[column];
        found[row] = (found[row] - known) / rows[row][row];
    }
    return 1;
}

static void *make_equations(void)
{
    struct equations *equations = allocate(1, sizeof *equations);
    struct random random = {SEED};
    double wanted[EQUATIONS];
    for (int row = 0; row < EQUATIONS; row++)
        for (int column = 0; column < EQUATIONS; column++)
            equations->matrix[row][column] = random_signed(&random);
    for (int i = 0; i < EQUATIONS; i++)
        wanted[i] = random_signed(&random);
    for (int row = 0; row < EQUATIONS; row++)
        for (int column = 0; column < EQUATIONS; column++)
            equations->right[row] += equations->matrix[row][column] * wanted[column];
    return equations;
}

TIMED static struct digest run_lu(void *data)
{
    struct equations *equations = data;
    struct digest digest = new_digest();
    copy_words(equations->rows, equations->matrix, EQUATIONS * EQUATIONS);
    copy_words(equations->found, equations->right, EQUATIONS);
    int is_solved = solve(equations->rows, equations->found);
    for (int i = 0; i < EQUATIONS; i++)
        add_double(&digest, equations->found[i]);
    add_word(&digest, (uint64_t)is_solved);
    return digest;
}

const struct part lu_part = {"lu", make_equations, run_lu, 1};

enum { INPUTS = 64, HIDDEN = 32, OUTPUTS = 16, LESSONS = 8 };

/* Two layers of weights, a row a neuron. */
struct weights {
    double first[HIDDEN][INPUTS];
    double second[OUTPUTS][HIDDEN];
};

struct network {
    struct weights start;
    struct weights trained;
    double input[INPUTS];
    double wanted[OUTPUTS];
};

/* A soft step without an exponential, and its slope. */
static inline void squash(double x, double *value, double *slope)
{
    double scale = 1.0 / (1.0 + fabs(x));
    *value = x * scale;
    *slope = scale * scale;
}

/* Four sums that do not wait for each other. */
static inline double dot(const double *a, const double *b, int count)
{
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    for (int i = 0; i < count; i += 4)
        for (int k = 0; k < 4; k++)
            sums[k] += a[i + k] * b[i + k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* One step of learning. Returns the squared error before it. */
TIMED static double learn(struct weights *weights, const double *input, const double *wanted, double rate)
{
    double hidden[HIDDEN];
    double hidden_slope[HIDDEN];
    double blame[HIDDEN] = {0.0};
    double error = 0.0;
    for (int i = 0; i < HIDDEN; i++)
        squash(dot(weights->first[i], input, INPUTS), &hidden[i], &hidden_slope[i]);
    for (int out = 0; out < OUTPUTS; out++) {
        double value;
        double slope;
        squash(dot(weights->second[out], hidden, HIDDEN), &value, &slope);
        double off = value - wanted[out];
        error += off * off;
        double push = off * slope;
        for (int i = 0; i < HIDDEN; i++) {
            blame[i] += push * weights->second[out][i];
            weights->second[out][i] -= rate * push * hidden[i];
        }
    }
    for (int i = 0; i < HIDDEN; i++) {
        double push = rate * blame[i] * hidden_slope[i];
        for (int k = 0; k < INPUTS; k++)
            weights->first[i][k] -= push * input[k];
    }
    return error;
}

static void *make_network(void)
{
    struct network *network = allocate(1, sizeof *network);
    struct random random = {SEED};
    for (int i = 0; i < HIDDEN; i++)
        for (int k = 0; k < INPUTS; k++)
            network->start.first[i][k] = 0.2 * random_signed(&random);
    for (int i = 0; i < OUTPUTS; i++)
        for (int k = 0; k < HIDDEN; k++)
            network->start.second[i][k] = 0.2 * random_signed(&random);
    for (int i = 0; i < INPUTS; i++)
        network->input[i] = random_signed(&random);
    for (int i = 0; i < OUTPUTS; i++)
        network->wanted[i] = 0.5 * random_signed(&random);
    return network;
}

TIMED static struct digest run_network(void *data)
{
    struct network *network = data;
    struct digest digest = new_digest();
    copy_words(&network->trained, &network->start, sizeof network->start / 8);
    for (int lesson = 0; lesson < LESSONS; lesson++)
        add_double(&digest, learn(&network->trained, network->input, network->wanted, 0.05));
    return digest;
}

const struct part network_part = {"network", make_network, run_network, 1};

enum { BODIES = 16, AXES = 3, STEPS = 20 };

struct body {
    double place[AXES];
    double speed[AXES];
    double mass;
};

struct bodies {
    struct body start[BODIES];
    struct body moved[BODIES];
};

/* Speeds change by each pair's pull, then places by the speeds. */
TIMED static void advance(struct body *bodies, double time)
{
    for (int at = 0; at < BODIES; at++) {
        struct body *one = &bodies[at];
        for (int with = at + 1; with < BODIES; with++) {
            struct body *other = &bodies[with];
            double apart[AXES];
            double square = 0.0;
            for (int axis = 0; axis < AXES; axis++) {
                apart[axis] = one->place[axis] - other->place[axis];
                square += apart[axis] * apart[axis];
            }
            square += 0.01;
            double pull = time / (square * sqrt(square));
            for (int axis = 0; axis < AXES; axis++) {
                one->speed[axis] -= apart[axis] * other->mass * pull;
                other->speed[axis] += apart[axis] * one->mass * pull;
            }
        }
    }
    for (int at = 0; at < BODIES; at++)
        for (int axis = 0; axis < AXES; axis++)
            bodies[at].place[axis] += time * bodies[at].speed[axis];
}

static void *make_bodies(void)
{
    struct bodies *bodies = allocate(1, sizeof *bodies);
    struct random random = {SEED};
    for (int i = 0; i < BODIES; i++) {
        struct body *body = &bodies->start[i];
        for (int axis = 0; axis < AXES; axis++)
            body->place[axis] = random_signed(&random);
        for (int axis = 0; axis < AXES; axis++)
            body->speed[axis] = random_signed(&random);
        body->mass = 0.1 + random_unit(&random);
    }
    return bodies;
}

TIMED static struct digest run_gravity(void *data)
{
    struct bodies *bodies = data;
    struct digest digest = new_digest();
    copy_words(bodies->moved, bodies->start, sizeof bodies->start / 8);
    for (int step = 0; step < STEPS; step++)
        advance(bodies->moved, 1e-4);
    for (int i = 0; i < BODIES; i++)
        for (int axis = 0; axis < AXES; axis++)
            add_double(&digest, bodies->moved[i].place[axis]);
    return digest;
}

const struct part gravity_part = {"gravity", make_bodies, run_gravity, 1};
