/* The floor under a load generator: one thread, one epoll, one write and one read a request, nothing else.
 *
 *   floor PORT CONNECTIONS SECONDS REQUEST_FILE
 *
 * sends the bytes of REQUEST_FILE to 127.0.0.1:PORT in a closed loop on every connection and prints the number of
 * answers. How long an answer is is learnt from the first one (its Content-Length, or the length of a RESP bulk
 * string); no other is looked at. Not counted: what is in flight at the end. CPU time is for the caller to measure.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what) { perror(what); exit(1); }

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static int dial(int port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static char request[65536], buffer[65536];
static ssize_t request_length;

static void ask(int fd) {
    if (write(fd, request, request_length) != request_length) die("write");
}

/* Bytes of one whole answer. */
static long learn(int port) {
    int fd = dial(port);
    long have = 0;
    ask(fd);
    for (;;) {
        ssize_t n = read(fd, buffer + have, sizeof buffer - 1 - have);
        if (n <= 0) die("first answer");
        buffer[have += n] = 0;
        char *line = strstr(buffer, "\r\n");
        if (line && *buffer == '$') {
            long whole = line + 2 - buffer + atol(buffer + 1) + 2;
            if (have >= whole) { close(fd); return whole; }
            continue;
        }
        char *end = strstr(buffer, "\r\n\r\n"), *length = strcasestr(buffer, "\r\ncontent-length:");
        if (!end) continue;
        if (!length || length > end) { fputs("the first answer has no Content-Length\n", stderr); exit(1); }
        long whole = end + 4 - buffer + atol(length + 17);
        if (have >= whole) { close(fd); return whole; }
    }
}

int main(int argc, char **argv) {
    if (argc != 5) { fputs("floor PORT CONNECTIONS SECONDS REQUEST_FILE\n", stderr); return 2; }
    int port = atoi(argv[1]), connections = atoi(argv[2]);
    double seconds = atof(argv[3]);
    FILE *file = fopen(argv[4], "r");
    if (!file) die(argv[4]);
    request_length = fread(request, 1, sizeof request, file);
    long whole = learn(port);
    int epoll = epoll_create1(0);
    long *missing = calloc(65536 * 16, sizeof *missing);
    if (epoll < 0 || !missing) die("epoll");
    for (int i = 0; i < connections; i++) {
        int fd = dial(port);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        if (fd >= 65536 * 16 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event)) die("epoll_ctl");
        missing[fd] = whole;
        ask(fd);
    }
    long answers = 0;
    double end = now() + seconds;
    struct epoll_event events[512];
    while (now() < end) {
        int ready = epoll_wait(epoll, events, 512, 1000);
        if (ready < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            int fd = events[i].data.fd;
            ssize_t n = read(fd, buffer, sizeof buffer);
            if (n <= 0) die("read");
            if ((missing[fd] -= n) > 0) continue;
            missing[fd] = whole;
            answers++;
            ask(fd);
        }
    }
    printf("%ld\n", answers);
    return 0;
}
