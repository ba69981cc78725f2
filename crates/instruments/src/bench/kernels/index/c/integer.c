/* Integer parts: sorting numbers, and the arithmetic of the cipher IDEA. */
#include "index.h"

enum { NUMBERS = 4096 };

struct numbers {
    uint64_t start[NUMBERS];
    uint64_t sorted[NUMBERS];
};

#define LESS_NUMBER(a, b) ((a) < (b))
QUICKSORT(sort_numbers, uint64_t, LESS_NUMBER)

static void *make_numbers(void)
{
    struct numbers *numbers = allocate(1, sizeof *numbers);
    struct random random = {SEED};
    for (int i = 0; i < NUMBERS; i++)
        numbers->start[i] = next_random(&random) >> 32;
    return numbers;
}

TIMED static struct digest run_sort(void *data)
{
    struct numbers *numbers = data;
    struct digest digest = new_digest();
    copy_words(numbers->sorted, numbers->start, NUMBERS);
    sort_numbers(numbers->sorted, NUMBERS);
    for (int i = 0; i < NUMBERS; i += 64)
        add_word(&digest, numbers->sorted[i]);
    return digest;
}

const struct part sort_part = {"sort", make_numbers, run_sort, 0};

enum { KEYS = 52, BLOCKS = 512 };

struct block {
    uint16_t words[4];
};

struct cipher {
    uint16_t encrypting[KEYS];
    uint16_t decrypting[KEYS];
    struct block plain[BLOCKS];
};

/* Multiplication modulo 65537, where 0 stands for 65536. */
static inline uint16_t times(uint16_t a, uint16_t b)
{
    uint32_t product = (uint32_t)a * b;
    if (product == 0)
        return (uint16_t)(1 - a - b);
    uint16_t low = (uint16_t)product;
    uint16_t high = (uint16_t)(product >> 16);
    return (uint16_t)(low - high + (low < high));
}

/* By Fermat: a^65535. */
static uint16_t inverse(uint16_t a)
{
    uint16_t power = a;
    for (int i = 0; i < 15; i++)
        power = times(times(power, power), a);
    return power;
}

static void make_keys(uint16_t *keys, uint64_t high, uint64_t low)
{
    for (int at = 0; at < KEYS; at++) {
        int word = at % 8;
        keys[at] = (uint16_t)((word < 4 ? high : low) >> (48 - 16 * (word % 4)));
        if (word == 7) {
            uint64_t turned = high << 25 | low >> 39;
            low = low << 25 | high >> 39;
            high = turned;
        }
    }
}

static void invert_keys(uint16_t *back, const uint16_t *keys)
{
    for (int round = 0; round < 9; round++) {
        int to = 6 * round;
        int from = 48 - 6 * round;
        /* The middle words change places in all rounds but the first and the last. */
        int crossed = round > 0 && round < 8;
        back[to] = inverse(keys[from]);
        back[to + 1] = (uint16_t)-keys[from + 1 + crossed];
        back[to + 2] = (uint16_t)-keys[from + 2 - crossed];
        back[to + 3] = inverse(keys[from + 3]);
        if (round < 8) {
            back[to + 4] = keys[from - 2];
            back[to + 5] = keys[from - 1];
        }
    }
}

static struct block words_of(uint64_t wide)
{
    struct block block = {{(uint16_t)(wide >> 48), (uint16_t)(wide >> 32), (uint16_t)(wide >> 16), (uint16_t)wide}};
    return block;
}

static uint64_t joined(struct block block)
{
    uint64_t all = 0;
    for (int i = 0; i < 4; i++)
        all = all << 16 | block.words[i];
    return all;
}

static struct block crypt(struct block block, const uint16_t *key)
{
    uint16_t a = block.words[0];
    uint16_t b = block.words[1];
    uint16_t c = block.words[2];
    uint16_t d = block.words[3];
    for (int round = 0; round < 8; round++, key += 6) {
        a = times(a, key[0]);
        b = (uint16_t)(b + key[1]);
        c = (uint16_t)(c + key[2]);
        d = times(d, key[3]);
        uint16_t e = times(a ^ c, key[4]);
        uint16_t f = times((uint16_t)((b ^ d) + e), key[5]);
        e = (uint16_t)(e + f);
        uint16_t old_b = b;
        a ^= f;
        b = c ^ f;
        c = old_b ^ e;
        d ^= e;
    }
    struct block done = {{times(a, key[0]), (uint16_t)(c + key[1]), (uint16_t)(b + key[2]), times(d, key[3])}};
    return done;
}

static void *make_cipher(void)
{
    struct cipher *cipher = allocate(1, sizeof *cipher);
    struct random random = {SEED};
    uint64_t high = next_random(&random);
    uint64_t low = next_random(&random);
    make_keys(cipher->encrypting, high, low);
    invert_keys(cipher->decrypting, cipher->encrypting);
    for (int i = 0; i < BLOCKS; i++)
        cipher->plain[i] = words_of(next_random(&random));
    return cipher;
}

TIMED static struct digest run_idea(void *data)
{
    const struct cipher *cipher = data;
    uint64_t sum = 0;
    for (int i = 0; i < BLOCKS; i++) {
        struct block secret = crypt(cipher->plain[i], cipher->encrypting);
        struct block back = crypt(secret, cipher->decrypting);
        sum = (sum << 5 | sum >> 59) ^ joined(secret) ^ joined(back);
    }
    struct digest digest = {sum, 0.0, 0.0};
    return digest;
}

const struct part idea_part = {"idea", make_cipher, run_idea, 0};
