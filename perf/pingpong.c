/* The floor under a round trip: one blocking connection, a write and reads until the answer's last byte, nothing else.
 *
 *   pingpong PORT BLOCKS REQUEST_FILE
 *
 * sends the bytes of REQUEST_FILE to 127.0.0.1:PORT and waits for the answer, again and again, in blocks of 100 ms, and
 * prints the mean of each block in nanoseconds, as a JSON list. How long an answer is is learnt from the first one, a
 * RESP bulk string; no other is looked at. Not counted: connecting, and the first round trip.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) { perror(what); exit(1); }

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static char request[65536], buffer[1 << 20];
static ssize_t request_length;

static void ask(int fd) {
    if (write(fd, request, request_length) != request_length) die("write");
}

static long learn(int fd) {
    long have = 0;
    ask(fd);
    for (;;) {
        ssize_t n = read(fd, buffer + have, sizeof buffer - 1 - have);
        if (n <= 0) die("first answer");
        buffer[have += n] = 0;
        char *end = strstr(buffer, "\r\n");
        if (!end) continue;
        if (*buffer != '$' || buffer[1] == '-') { fputs("the first answer is no value\n", stderr); exit(1); }
        long whole = end + 2 - buffer + atol(buffer + 1) + 2;
        if (have >= whole) return whole;
    }
}

int main(int argc, char **argv) {
    if (argc != 4) { fputs("pingpong PORT BLOCKS REQUEST_FILE\n", stderr); return 2; }
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    int one = 1, blocks = atoi(argv[2]), fd = socket(AF_INET, SOCK_STREAM, 0);
    FILE *file = fopen(argv[3], "r");
    if (!file) die(argv[3]);
    request_length = fread(request, 1, sizeof request, file);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    long whole = learn(fd);
    for (int block = 0; block < blocks; block++) {
        long begun = now(), last, count = 0;
        do {
            for (int i = 0; i < 10; i++, count++) {
                ask(fd);
                for (long have = 0; have < whole;) {
                    ssize_t n = read(fd, buffer, sizeof buffer);
                    if (n <= 0) die("read");
                    have += n;
                }
            }
            last = now();
        } while (last - begun < 100000000L);
        printf("%s%.2f", block ? "," : "[", (double)(last - begun) / count);
    }
    puts("]");
    return 0;
}
