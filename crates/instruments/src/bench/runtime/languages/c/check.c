/*
 * What a kernel computed, in lines `check NAME VALUE` for whoever knows the right values; this program does not.
 *
 * Doubles are printed as the 16 hexadecimal digits of their IEEE bits. A digest of many doubles is their sum, the root of
 * the sum of their squares, and FNV-1a (64 bits) over their bytes, lowest first, in the order of memory.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scimark.h"

uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

struct digest new_digest(void)
{
    struct digest digest = {0.0, 0.0, UINT64_C(0xcbf29ce484222325)};
    return digest;
}

void add_doubles(struct digest *digest, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t bits = bits_of(values[i]);
        digest->sum += values[i];
        digest->squares += values[i] * values[i];
        for (int shift = 0; shift < 64; shift += 8)
            digest->fnv = (digest->fnv ^ (bits >> shift & 0xff)) * UINT64_C(0x100000001b3);
    }
}

void show_digest(const char *name, const struct digest *digest)
{
    printf("check %s.sum x%016" PRIx64 "\n", name, bits_of(digest->sum));
    printf("check %s.l2 x%016" PRIx64 "\n", name, bits_of(sqrt(digest->squares)));
    printf("check %s.fnv x%016" PRIx64 "\n", name, digest->fnv);
}

void show_real(const char *name, double value)
{
    printf("check %s x%016" PRIx64 "\n", name, bits_of(value));
}

void show_whole(const char *name, int64_t value)
{
    printf("check %s %" PRId64 "\n", name, value);
}
