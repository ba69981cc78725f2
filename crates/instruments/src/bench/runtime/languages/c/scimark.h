/* What the files of the program know of each other: data, the generator, the kernels and what is printed of them. */
#ifndef SCIMARK_H
#define SCIMARK_H

#include <stdint.h>

/* Where a loop lies in a line of the cache can halve its speed. A function that is timed begins with a line, so that
 * what the linker put before it does not matter. */
#define TIMED __attribute__((aligned(64)))

/* Ends the program with a message and the given exit code. */
void fail(int code, const char *message, const char *detail);

/* memory.c: ends the program when memory is short. */
void *allocate(int count, int bytes_each);
double **new_matrix(int rows, int columns);
void free_matrix(double **matrix, int rows);

/* random.c: numbers in [0, 1]. */
struct random;
struct random *new_random(int seed);
void free_random(struct random *random);
TIMED double next_random(struct random *random);
void fill_vector(double *vector, int count, struct random *random);
void fill_matrix(double **matrix, int rows, int columns, struct random *random);

/* check.c: lines `check NAME VALUE`. */
struct digest {
    double sum;
    double squares;
    uint64_t fnv;
};
struct digest new_digest(void);
void add_doubles(struct digest *digest, const double *values, int count);
void show_digest(const char *name, const struct digest *digest);
void show_real(const char *name, double value);
void show_whole(const char *name, int64_t value);
uint64_t bits_of(double value);

/* The seed of all data; Monte Carlo's samples have their own. */
enum { SEED = 101010 };

struct size {
    const char *name;
    int fft_points;
    int sor_side;
    int sparse_rows;
    int sparse_nonzeros;
    int lu_side;
};

/* One kernel. Its data come from a fresh generator and carry on from one run to the next. */
struct kernel {
    const char *name;
    void *(*make)(const struct size *size);
    void (*run)(void *data, long cycles);
    /* Does a known number of cycles on fresh data and prints what came out. */
    void (*check)(void *data);
    /* Depends on all that was computed. */
    double (*sum)(const void *data);
    void (*discard)(void *data);
};

extern const struct kernel fft;
extern const struct kernel sor;
extern const struct kernel monte_carlo;
extern const struct kernel sparse;
extern const struct kernel lu;

#endif
