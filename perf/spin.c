/* Spins for as many microseconds as its argument says, by the monotonic clock, then ends. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now_us(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}

int main(int count, char **words) {
    double end = now_us() + (count > 1 ? atof(words[1]) : 0);
    while (now_us() < end) {
    }
    return 0;
}
