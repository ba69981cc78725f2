/* Memory, random numbers (SplitMix64), text and digests: the same as those of the kernels that are compiled in. */
#include <stdlib.h>
#include <string.h>

#include "index.h"

void *allocate(size_t count, size_t bytes_each)
{
    void *memory = calloc(count, bytes_each);
    if (memory == NULL)
        fail(1, "out of memory", "an array of a part");
    return memory;
}

typedef uint64_t __attribute__((may_alias)) any_word;

TIMED void copy_words(void *to, const void *from, size_t count)
{
    any_word *target = to;
    const any_word *source = from;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = source[i];
        KEEP(word);
        target[i] = word;
    }
}

TIMED void wipe_words(void *to, size_t count)
{
    any_word *target = to;
    for (size_t i = 0; i < count; i++) {
        uint64_t word = 0;
        KEEP(word);
        target[i] = word;
    }
}

uint64_t next_random(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = random->state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The upper half of the product, from halves of the number: the bound is below 2^32. */
uint64_t random_below(struct random *random, uint64_t bound)
{
    uint64_t number = next_random(random);
    uint64_t low = (number & UINT64_C(0xffffffff)) * bound;
    uint64_t high = (number >> 32) * bound;
    return (high + (low >> 32)) >> 32;
}

double random_unit(struct random *random)
{
    return (double)(next_random(random) >> 11) / 9007199254740992.0;
}

double random_signed(struct random *random)
{
    return 2.0 * random_unit(random) - 1.0;
}

/* A place below the bound, low ones more often. Each product is rounded by itself, whatever the compiler may do. */
static size_t low_place(struct random *random, size_t bound)
{
    volatile double one = random_unit(random);
    volatile double other = random_unit(random);
    volatile double square = one * other;
    volatile double scaled = square * (double)bound;
    size_t place = (size_t)scaled;
    return place < bound ? place : bound - 1;
}

enum { WORDS = 400, LONGEST_WORD = 16 };

void make_text(uint8_t *text, size_t bytes, uint64_t seed)
{
    static const char letters[] = "etaoinshrdlucmfwypvbgk";
    struct random random = {seed};
    char (*words)[LONGEST_WORD] = allocate(WORDS, sizeof *words);
    size_t *lengths = allocate(WORDS, sizeof *lengths);
    for (size_t rank = 0; rank < WORDS; rank++) {
        lengths[rank] = 2 + (size_t)random_below(&random, 3 + rank / 50);
        for (size_t i = 0; i < lengths[rank]; i++)
            words[rank][i] = letters[low_place(&random, sizeof letters - 1)];
    }
    size_t at = 0;
    while (at < bytes) {
        size_t rank = low_place(&random, WORDS);
        for (size_t i = 0; i < lengths[rank] && at < bytes; i++)
            text[at++] = (uint8_t)words[rank][i];
        uint8_t gap = random_below(&random, 12) == 0 ? '\n' : ' ';
        if (at < bytes)
            text[at++] = gap;
    }
    free(words);
    free(lengths);
}

struct digest new_digest(void)
{
    struct digest digest = {UINT64_C(0xcbf29ce484222325), 0.0, 0.0};
    return digest;
}

void add_word(struct digest *digest, uint64_t word)
{
    digest->fnv = (digest->fnv ^ word) * UINT64_C(0x100000001b3);
}

void add_double(struct digest *digest, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    add_word(digest, bits);
    digest->sum += value;
    digest->squares += value * value;
}
