/* Memory parts: sorting strings, bit fields, the assignment problem. All fit the caches. */
#include "index.h"

enum { STRINGS = 1024, LONGEST_STRING = 35 };

/* Where a string begins and ends in the pool. */
struct string {
    uint64_t from;
    uint64_t to;
};

struct strings {
    uint8_t pool[STRINGS * LONGEST_STRING];
    struct string start[STRINGS];
    struct string sorted[STRINGS];
};

/* The pool of the strings that are being sorted. */
static const uint8_t *string_pool;

/* Byte by byte: the comparison must be ours, not the C library's. */
static inline int is_before(struct string a, struct string b)
{
    uint64_t a_length = a.to - a.from;
    uint64_t b_length = b.to - b.from;
    for (uint64_t i = 0; i < a_length && i < b_length; i++) {
        uint8_t x = string_pool[a.from + i];
        uint8_t y = string_pool[b.from + i];
        if (x != y)
            return x < y;
    }
    return a_length < b_length;
}

QUICKSORT(sort_strings, struct string, is_before)

static void *make_strings(void)
{
    struct strings *strings = allocate(1, sizeof *strings);
    struct random random = {SEED};
    uint64_t end = 0;
    for (int i = 0; i < STRINGS; i++) {
        strings->start[i].from = end;
        uint64_t length = 4 + random_below(&random, 32);
        /* Few letters make long common beginnings. */
        for (uint64_t letter = 0; letter < length; letter++)
            strings->pool[end++] = (uint8_t)('a' + (next_random(&random) >> 62 == 0));
        strings->start[i].to = end;
    }
    string_pool = strings->pool;
    return strings;
}

TIMED static struct digest run_string_sort(void *data)
{
    struct strings *strings = data;
    struct digest digest = new_digest();
    copy_words(strings->sorted, strings->start, sizeof strings->start / 8);
    sort_strings(strings->sorted, STRINGS);
    for (int i = 0; i < STRINGS; i += 16)
        add_word(&digest, strings->sorted[i].from);
    return digest;
}

const struct part string_sort_part = {"string-sort", make_strings, run_string_sort, 0};

enum { BITS = 32 * 1024 * 8, MAP_WORDS = BITS / 64, CHANGES = 2000, SET = 0, CLEAR = 1, FLIP = 2 };

struct change {
    size_t from;
    size_t count;
    int kind;
};

struct bit_field {
    struct change changes[CHANGES];
    uint64_t map[MAP_WORDS];
};

/* A word at a time where whole words are covered. */
static void change_bits(uint64_t *map, struct change change)
{
    size_t end = change.from + change.count;
    for (size_t at = change.from; at < end;) {
        size_t bit = at % 64;
        size_t here = 64 - bit < end - at ? 64 - bit : end - at;
        uint64_t ones = here == 64 ? UINT64_MAX : ((UINT64_C(1) << here) - 1) << bit;
        switch (change.kind) {
        case SET:
            map[at / 64] |= ones;
            break;
        case CLEAR:
            map[at / 64] &= ~ones;
            break;
        default:
            map[at / 64] ^= ones;
        }
        at += here;
    }
}

static void *make_bit_field(void)
{
    struct bit_field *field = allocate(1, sizeof *field);
    struct random random = {SEED};
    for (int i = 0; i < CHANGES; i++) {
        struct change *change = &field->changes[i];
        change->count = 1 + (size_t)random_below(&random, 500);
        change->kind = (int)random_below(&random, 3);
        change->from = (size_t)random_below(&random, BITS - change->count);
    }
    return field;
}

TIMED static struct digest run_bit_field(void *data)
{
    struct bit_field *field = data;
    struct digest digest = new_digest();
    wipe_words(field->map, MAP_WORDS);
    for (int i = 0; i < CHANGES; i++)
        change_bits(field->map, field->changes[i]);
    for (int i = 0; i < MAP_WORDS; i += 7)
        add_word(&digest, field->map[i]);
    return digest;
}

const struct part bit_field_part = {"bit-field", make_bit_field, run_bit_field, 0};

enum { TASKS = 64, PLACES = TASKS + 1 };

/* No cost comes near it. */
static const int64_t FAR = INT64_MAX / 4;

/* The state of the method of shortest augmenting paths; row and column 0 stand for nobody. */
struct assignment {
    int64_t cost[TASKS * TASKS];
    int64_t row_price[PLACES];
    int64_t column_price[PLACES];
    /* The row that has each column. */
    uint64_t owner[PLACES];
    uint64_t before[PLACES];
    int64_t slack[PLACES];
    uint8_t done[PLACES];
};

static int64_t cost_of(const struct assignment *problem, uint64_t row, uint64_t column)
{
    return problem->cost[(row - 1) * TASKS + column - 1];
}

/* The column that costs least to reach next; prices move by that much. */
static uint64_t nearest(struct assignment *problem, uint64_t column)
{
    uint64_t row = problem->owner[column];
    int64_t step = FAR;
    uint64_t next = 0;
    for (uint64_t other = 1; other <= TASKS; other++) {
        if (problem->done[other])
            continue;
        int64_t reduced = cost_of(problem, row, other) - problem->row_price[row] - problem->column_price[other];
        if (reduced < problem->slack[other]) {
            problem->slack[other] = reduced;
            problem->before[other] = column;
        }
        if (problem->slack[other] < step) {
            step = problem->slack[other];
            next = other;
        }
    }
    for (uint64_t other = 0; other <= TASKS; other++) {
        if (problem->done[other]) {
            problem->row_price[problem->owner[other]] += step;
            problem->column_price[other] -= step;
        } else {
            problem->slack[other] -= step;
        }
    }
    return next;
}

/* Gives a row a column, moving others along the cheapest chain. */
static void place(struct assignment *problem, uint64_t row)
{
    problem->owner[0] = row;
    for (int i = 0; i < PLACES; i++) {
        problem->slack[i] = FAR;
        problem->done[i] = 0;
    }
    uint64_t column = 0;
    while (problem->owner[column] != 0) {
        problem->done[column] = 1;
        column = nearest(problem, column);
    }
    while (column != 0) {
        uint64_t before = problem->before[column];
        problem->owner[column] = problem->owner[before];
        column = before;
    }
}

static void *make_assignment(void)
{
    struct assignment *problem = allocate(1, sizeof *problem);
    struct random random = {SEED};
    for (int i = 0; i < TASKS * TASKS; i++)
        problem->cost[i] = (int64_t)random_below(&random, 10000);
    return problem;
}

TIMED static struct digest run_assignment(void *data)
{
    struct assignment *problem = data;
    struct digest digest = new_digest();
    int64_t total = 0;
    wipe_words(problem->row_price, PLACES);
    wipe_words(problem->column_price, PLACES);
    wipe_words(problem->owner, PLACES);
    wipe_words(problem->before, PLACES);
    for (uint64_t row = 1; row <= TASKS; row++)
        place(problem, row);
    for (uint64_t column = 1; column <= TASKS; column++)
        total += cost_of(problem, problem->owner[column], column);
    for (int i = 0; i < PLACES; i++)
        add_word(&digest, problem->owner[i]);
    add_word(&digest, (uint64_t)total);
    return digest;
}

const struct part assignment_part = {"assignment", make_assignment, run_assignment, 0};
