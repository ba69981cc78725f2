/* What the files of the program know of each other: random numbers, text, digests and the parts. */
#ifndef INDEX_H
#define INDEX_H

#include <stddef.h>
#include <stdint.h>

/* Where a loop lies in a line of the cache can halve its speed. A function that is timed begins with a line, so that
 * what the linker put before it does not matter. */
#define TIMED __attribute__((aligned(64)))

/* The value is taken for one that may have changed, so that no loop over it becomes a call of the C library. */
#define KEEP(value) __asm__ volatile("" : "+r"(value))

/* The inputs are a part of the definition. */
enum { SEED = 1 };

/* Ends the program with a message and the given exit code. */
void fail(int code, const char *message, const char *detail);

/* support.c: memory that is there for the whole program; ends it when memory is short. */
void *allocate(size_t count, size_t bytes_each);
/* Copies and clears words of 64 bits, without the C library. */
void copy_words(void *to, const void *from, size_t count);
void wipe_words(void *to, size_t count);

/* support.c: SplitMix64. */
struct random {
    uint64_t state;
};
uint64_t next_random(struct random *random);
/* Below the bound, which is not 0. */
uint64_t random_below(struct random *random, uint64_t bound);
/* From 0 to below 1. */
double random_unit(struct random *random);
/* Between -1 and 1. */
double random_signed(struct random *random);
/* Text of frequent short words and rare long ones. */
void make_text(uint8_t *text, size_t bytes, uint64_t seed);

/* support.c: FNV-1a over words, and of doubles their sum and the sum of their squares too. */
struct digest {
    uint64_t fnv;
    double sum;
    double squares;
};
struct digest new_digest(void);
void add_word(struct digest *digest, uint64_t word);
void add_double(struct digest *digest, double value);

/* One small program. It does the same work from the same start each time. */
struct part {
    const char *name;
    void *(*make)(void);
    /* Does the work once and digests the result. */
    struct digest (*run)(void *data);
    int is_floating;
};

extern const struct part sort_part, idea_part, huffman_part, dictionary_part;
extern const struct part string_sort_part, bit_field_part, assignment_part;
extern const struct part fft_part, lu_part, network_part, gravity_part;

/* A quicksort of TYPE by LESS: median of three, insertion below 16, and the longer half left to the loop. */
#define QUICKSORT(NAME, TYPE, LESS)                                          \
    static size_t NAME##_partition(TYPE *items, size_t count)                \
    {                                                                        \
        size_t last = count - 1;                                             \
        size_t middle = count / 2;                                           \
        const size_t pairs[3][2] = {{0, middle}, {0, last}, {middle, last}}; \
        for (int i = 0; i < 3; i++) {                                        \
            TYPE *a = items + pairs[i][0];                                   \
            TYPE *b = items + pairs[i][1];                                   \
            if (LESS(*b, *a)) {                                              \
                TYPE item = *a;                                              \
                *a = *b;                                                     \
                *b = item;                                                   \
            }                                                                \
        }                                                                    \
        TYPE pivot = items[middle];                                          \
        size_t left = 0;                                                     \
        size_t right = last;                                                 \
        for (;;) {                                                           \
            while (LESS(items[left], pivot))                                 \
                left++;                                                      \
            while (LESS(pivot, items[right]))                                \
                right--;                                                     \
            if (left >= right)                                               \
                return right + 1;                                            \
            TYPE item = items[left];                                         \
            items[left++] = items[right];                                    \
            items[right--] = item;                                           \
        }                                                                    \
    }                                                                        \
    TIMED static void NAME(TYPE *items, size_t count)                        \
    {                                                                        \
        while (count > 16) {                                                 \
            size_t low = NAME##_partition(items, count);                     \
            if (low < count - low) {                                         \
                NAME(items, low);                                            \
                items += low;                                                \
                count -= low;                                                \
            } else {                                                         \
                NAME(items + low, count - low);                              \
                count = low;                                                 \
            }                                                                \
        }                                                                    \
        for (size_t sorted = 1; sorted < count; sorted++) {                  \
            TYPE item = items[sorted];                                       \
            size_t at = sorted;                                              \
            for (; at > 0 && LESS(item, items[at - 1]); at--)                \
                items[at] = items[at - 1];                                   \
            items[at] = item;                                                \
        }                                                                    \
    }

#endif
