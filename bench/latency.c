/* bench/latency.c: from the rename of a file into a stream's folder to its row on the console.
 *
 * Runs `floodmark run` on a job that reads JSON lines and prints to the console, checkpoint synced, trigger as fast as possible;
 * then, again and again, writes a file of one row beside the folder, renames it into it, and waits until the row was printed.
 *
 *   latency PROGRAM FOLDER [ROUNDS] [-- further arguments of floodmark run]
 *
 * FOLDER is emptied and used: its disk is what is measured, too. Prints one line. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH_SIZE = 4096, WAIT_MS = 10000, WARM_UP = 20 };

static int64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) || close(fd) != 0) die(path);
}

static pid_t start(const char *program, const char *job, char **more, int *out)
{
    int pipes[2];
    char *args[64] = {(char *)(uintptr_t)program, "run", (char *)(uintptr_t)job};

    for (int i = 3; *more && i < 63; i++) args[i] = *more++;
    if (pipe(pipes) != 0) die("pipe");
    pid_t pid = fork();
    if (pid < 0) die("fork");
    if (pid == 0) {
        dup2(pipes[1], 1);
        close(pipes[0]);
        close(pipes[1]);
        execv(program, args);
        die(program);
    }
    close(pipes[1]);
    *out = pipes[0];
    return pid;
}

/* Reads the program's output until `wanted` was in it. */
static bool wait_for(int fd, const char *wanted)
{
    static char text[1 << 16];
    static size_t len;
    int64_t until_us = now_us() + WAIT_MS * 1000;

    for (;;) {
        text[len] = 0;
        char *found = strstr(text, wanted);
        if (found) {
            found += strlen(wanted);
            len = strlen(found);
            memmove(text, found, len + 1);
            return true;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (now_us() > until_us || poll(&p, 1, 1000) < 0) return false;
        if (!(p.revents & (POLLIN | POLLHUP))) continue;
        if (len > sizeof text / 2) len = 0;
        ssize_t n = read(fd, text + len, sizeof text - 1 - len);
        if (n <= 0) return false;
        len += (size_t)n;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return x < y ? -1 : x > y;
}

int main(int argc, char **argv)
{
    char path[PATH_SIZE], to[PATH_SIZE], text[PATH_SIZE * 3];
    static char *none[] = {NULL};

    if (argc < 3) return fprintf(stderr, "usage: latency PROGRAM FOLDER [ROUNDS] [-- ...]\n"), 2;
    const char *dir = argv[2];
    int rounds = argc > 3 && strcmp(argv[3], "--") != 0 ? (int)strtol(argv[3], NULL, 10) : 500, out;
    char **more = none;
    for (int i = 3; i < argc; i++)
        if (strcmp(argv[i], "--") == 0) more = argv + i + 1;
    if (rounds < 1 || rounds > 100000) rounds = 500;
    if (mkdir(dir, 0755) != 0) die(dir);
    snprintf(path, sizeof path, "%s/in", dir);
    if (mkdir(path, 0755) != 0) die(path);
    snprintf(text, sizeof text,
             "CREATE TABLE t (n BIGINT) USING json OPTIONS (path '%s/in');\n"
             "CREATE STREAMING TABLE o USING console OPTIONS (checkpointLocation '%s/ck') AS SELECT n FROM STREAM t;\n",
             dir, dir);
    snprintf(path, sizeof path, "%s/job.sql", dir);
    write_file(path, text);
    signal(SIGPIPE, SIG_IGN);
    pid_t pid = start(argv[1], path, more, &out);
    int64_t *took = calloc((size_t)rounds, sizeof *took);
    if (!took) die("calloc");
    for (int i = -WARM_UP; i < rounds; i++) {
        snprintf(path, sizeof path, "%s/next", dir);
        snprintf(to, sizeof to, "%s/in/%06d.json", dir, i + WARM_UP);
        snprintf(text, sizeof text, "{\"n\":%d}\n", 100000000 + i);
        write_file(path, text);
        usleep((unsigned)(2000 + (i & 7) * 137)); /* not in step with the program's polling */
        int64_t from_us = now_us();
        if (rename(path, to) != 0) die(to);
        snprintf(text, sizeof text, "|%d|", 100000000 + i);
        if (!wait_for(out, text)) {
            fprintf(stderr, "row %d was not printed within %d ms\n", i, WAIT_MS);
            kill(pid, SIGKILL);
            return 1;
        }
        if (i >= 0) took[i] = now_us() - from_us;
    }
    kill(pid, SIGINT);
    close(out);
    waitpid(pid, NULL, 0);
    qsort(took, (size_t)rounds, sizeof *took, by_value);
    printf("latency, one row from a file to the console: median %.2f ms, p90 %.2f ms, p99 %.2f ms, max %.2f ms (%d files)\n",
           (double)took[rounds / 2] / 1000, (double)took[rounds * 9 / 10] / 1000, (double)took[rounds * 99 / 100] / 1000,
           (double)took[rounds - 1] / 1000, rounds);
    free(took);
    return 0;
}
