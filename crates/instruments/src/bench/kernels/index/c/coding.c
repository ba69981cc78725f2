/* Coding parts: Huffman's code, and a small dictionary (LZ77). Each codes 8 KiB of text and decodes it. */
#include "index.h"

enum { BYTES = 8192, LEAVES = 256, NODES = 2 * LEAVES, NO_NODE = 0xffff };

struct node {
    uint32_t weight;
    uint16_t parent;
    uint16_t zero;
    uint16_t one;
};

struct code {
    uint64_t bits;
    uint32_t length;
};

struct coder {
    struct node nodes[NODES];
    int node_count;
    uint16_t heap[LEAVES];
    int heap_count;
    struct code codes[LEAVES];
    uint64_t bits[BYTES + 1];
    size_t length;
    uint8_t plain[BYTES];
    uint8_t back[BYTES];
};

static int is_lighter(const struct coder *coder, int a, int b)
{
    uint16_t one = coder->heap[a];
    uint16_t other = coder->heap[b];
    uint32_t weight = coder->nodes[one].weight;
    uint32_t other_weight = coder->nodes[other].weight;
    return weight < other_weight || (weight == other_weight && one < other);
}

static void swap_places(struct coder *coder, int a, int b)
{
    uint16_t node = coder->heap[a];
    coder->heap[a] = coder->heap[b];
    coder->heap[b] = node;
}

static void sink(struct coder *coder, int at)
{
    for (;;) {
        int least = at;
        for (int child = 2 * at + 1; child <= 2 * at + 2; child++)
            if (child < coder->heap_count && is_lighter(coder, child, least))
                least = child;
        if (least == at)
            return;
        swap_places(coder, at, least);
        at = least;
    }
}

static void rise(struct coder *coder, int at)
{
    while (at > 0 && is_lighter(coder, at, (at - 1) / 2)) {
        swap_places(coder, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static uint16_t take_lightest(struct coder *coder)
{
    swap_places(coder, 0, --coder->heap_count);
    uint16_t lightest = coder->heap[coder->heap_count];
    sink(coder, 0);
    return lightest;
}

/* Joins the two lightest nodes until one is left. */
static void build(struct coder *coder)
{
    coder->heap_count = 0;
    for (int leaf = 0; leaf < LEAVES; leaf++)
        if (coder->nodes[leaf].weight > 0)
            coder->heap[coder->heap_count++] = (uint16_t)leaf;
    for (int at = coder->heap_count / 2 - 1; at >= 0; at--)
        sink(coder, at);
    while (coder->heap_count > 1) {
        uint16_t zero = take_lightest(coder);
        uint16_t one = take_lightest(coder);
        uint16_t parent = (uint16_t)coder->node_count++;
        struct node node = {coder->nodes[zero].weight + coder->nodes[one].weight, NO_NODE, zero, one};
        coder->nodes[zero].parent = parent;
        coder->nodes[one].parent = parent;
        coder->nodes[parent] = node;
        coder->heap[coder->heap_count] = parent;
        rise(coder, coder->heap_count++);
    }
}

/* A leaf's code is its path from the root, first step in the lowest bit. */
static void assign(struct coder *coder)
{
    for (int leaf = 0; leaf < LEAVES; leaf++) {
        struct code code = {0, 0};
        uint16_t at = (uint16_t)leaf;
        while (coder->nodes[at].parent != NO_NODE) {
            uint16_t parent = coder->nodes[at].parent;
            code.bits = code.bits << 1 | (coder->nodes[parent].one == at);
            code.length++;
            at = parent;
        }
        coder->codes[leaf] = code;
    }
}

TIMED static void encode(struct coder *coder)
{
    const struct node leaf = {0, NO_NODE, NO_NODE, NO_NODE};
    for (int i = 0; i < LEAVES; i++)
        coder->nodes[i] = leaf;
    coder->node_count = LEAVES;
    for (int i = 0; i < BYTES; i++)
        coder->nodes[coder->plain[i]].weight++;
    build(coder);
    assign(coder);
    wipe_words(coder->bits, BYTES + 1);
    coder->length = 0;
    for (int i = 0; i < BYTES; i++) {
        struct code code = coder->codes[coder->plain[i]];
        size_t word = coder->length / 64;
        unsigned shift = (unsigned)(coder->length % 64);
        coder->bits[word] |= code.bits << shift;
        if (shift > 0 && shift + code.length > 64)
            coder->bits[word + 1] |= code.bits >> (64 - shift);
        coder->length += code.length;
    }
}

TIMED static size_t decode(struct coder *coder)
{
    uint16_t root = (uint16_t)(coder->node_count - 1);
    uint16_t at = root;
    size_t count = 0;
    for (size_t bit = 0; bit < coder->length; bit++) {
        int one = (int)(coder->bits[bit / 64] >> (bit % 64) & 1);
        at = one ? coder->nodes[at].one : coder->nodes[at].zero;
        if (at < LEAVES && count < BYTES) {
            coder->back[count++] = (uint8_t)at;
            at = root;
        }
    }
    return count;
}

static void *make_coder(void)
{
    struct coder *coder = allocate(1, sizeof *coder);
    make_text(coder->plain, BYTES, SEED);
    return coder;
}

static struct digest digest_of(const uint8_t *bytes, size_t count, uint64_t last)
{
    struct digest digest = new_digest();
    for (size_t i = 0; i < count; i += 61)
        add_word(&digest, bytes[i]);
    add_word(&digest, last);
    return digest;
}

static struct digest run_huffman(void *data)
{
    struct coder *coder = data;
    encode(coder);
    size_t count = decode(coder);
    return digest_of(coder->back, count, coder->length);
}

const struct part huffman_part = {"huffman", make_coder, run_huffman, 0};

enum { HASH_BITS = 10, SLOTS = 1 << HASH_BITS, LONGEST = 255 };

/* A literal byte where the length is 0, or a match: how far back, and how long. */
struct token {
    uint16_t back;
    uint16_t length;
    uint8_t literal;
};

struct dictionary {
    uint8_t plain[BYTES];
    uint8_t back[BYTES];
    struct token tokens[BYTES];
    size_t token_count;
    /* Where each hash of four bytes was last seen. */
    uint16_t latest[SLOTS];
};

static struct token token_at(struct dictionary *dictionary, size_t at)
{
    const uint8_t *plain = dictionary->plain;
    struct token literal = {0, 0, plain[at]};
    if (at + 4 > BYTES)
        return literal;
    uint32_t four = plain[at] | (uint32_t)plain[at + 1] << 8 | (uint32_t)plain[at + 2] << 16 |
                    (uint32_t)plain[at + 3] << 24;
    uint16_t *slot = &dictionary->latest[four * UINT32_C(0x9e3779b1) >> (32 - HASH_BITS)];
    size_t candidate = *slot;
    *slot = (uint16_t)at;
    size_t length = 0;
    while (length < LONGEST && at + length < BYTES && plain[candidate + length] == plain[at + length])
        length++;
    if (candidate >= at || length < 4)
        return literal;
    struct token match = {(uint16_t)(at - candidate), (uint16_t)length, 0};
    return match;
}

TIMED static void compress(struct dictionary *dictionary)
{
    dictionary->token_count = 0;
    wipe_words(dictionary->latest, SLOTS * sizeof *dictionary->latest / 8);
    for (size_t at = 0; at < BYTES;) {
        struct token token = token_at(dictionary, at);
        at += token.length > 0 ? token.length : 1;
        dictionary->tokens[dictionary->token_count++] = token;
    }
}

TIMED static size_t expand(struct dictionary *dictionary)
{
    size_t count = 0;
    for (size_t i = 0; i < dictionary->token_count; i++) {
        struct token token = dictionary->tokens[i];
        if (token.length == 0) {
            dictionary->back[count++] = token.literal;
            continue;
        }
        for (uint16_t done = 0; done < token.length; done++, count++)
            dictionary->back[count] = dictionary->back[count - token.back];
    }
    return count;
}

static void *make_dictionary(void)
{
    struct dictionary *dictionary = allocate(1, sizeof *dictionary);
    make_text(dictionary->plain, BYTES, SEED);
    return dictionary;
}

static struct digest run_dictionary(void *data)
{
    struct dictionary *dictionary = data;
    compress(dictionary);
    size_t count = expand(dictionary);
    return digest_of(dictionary->back, count, dictionary->token_count);
}

const struct part dictionary_part = {"dictionary", make_dictionary, run_dictionary, 0};
