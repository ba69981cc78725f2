/* The kernels of crates/instruments/src/bench/runtime/languages/c in a bare loop, without the program that boxscore runs.
 *
 *   kernels KERNEL MIN_SECONDS
 *
 * doubles the cycles until they take the least CPU time and prints the cycles of the last batch per second. Results are
 * neither checked nor printed. Built of this file and of that folder's files but main.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scimark.h"

void fail(int code, const char *message, const char *detail) {
    fprintf(stderr, "kernels: %s: %s\n", message, detail);
    exit(code);
}

int main(int argc, char **argv) {
    const struct kernel *all[] = {&fft, &sor, &monte_carlo, &sparse, &lu};
    const struct size small = {"small", 1024, 100, 1000, 5000, 100};
    if (argc != 3) fail(2, "usage", "kernels KERNEL MIN_SECONDS");
    for (int i = 0; i < 5; i++) {
        if (strcmp(argv[1], all[i]->name)) continue;
        void *data = all[i]->make(&small);
        for (long cycles = 1; cycles <= 1L << 40; cycles *= 2) {
            clock_t start = clock();
            all[i]->run(data, cycles);
            double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
            if (seconds < atof(argv[2])) continue;
            printf("%.9g\n", cycles / seconds);
            return 0;
        }
        fail(1, "the least time is too long", argv[2]);
    }
    fail(2, "no such kernel", argv[1]);
}
