/* cli/live_progress.c: what is shown while a job runs: a live line in a terminal, or Spark's JSON lines to where --progress says. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

struct cli_progress {
    FILE *json;     /* one line per report; NULL: none */
    bool owns_json;
    bool live;      /* a line in the terminal, rewritten in place */
    bool shown;
};

cli_progress *cli_progress_new(const char *where)
{
    cli_progress *p = calloc(1, sizeof *p);

    if (!p) {
        fprintf(stderr, "floodmark: no memory left\n");
        return NULL;
    }
    if (!where) {
        p->live = isatty(STDERR_FILENO) != 0;
    } else if (strcmp(where, "stdout") == 0 || strcmp(where, "-") == 0) {
        p->json = stdout;
    } else if (strcmp(where, "stderr") == 0) {
        p->json = stderr;
    } else if (strcmp(where, "none") != 0) {
        p->json = fopen(where, "ab");
        p->owns_json = true;
        if (!p->json) {
            fprintf(stderr, "floodmark: cannot open '%s' for the progress: %s\n", where, strerror(errno));
            free(p);
            return NULL;
        }
    }
    return p;
}

/* The text or number behind "key": in one line of JSON that we wrote ourselves. */
static void copy_value(const char *json, const char *key, char *out, size_t size)
{
    const char *at = strstr(json, key);
    size_t n = 0;

    if (at) {
        at += strlen(key);
        if (*at == '"') at++;
        while (at[n] && at[n] != '"' && at[n] != ',' && at[n] != '}' && n + 1 < size) n++;
        memcpy(out, at, n);
    }
    out[n] = 0;
}

static void show_live(cli_progress *p, const char *name, const char *json)
{
    char batch[24], rows[24], rate[32], watermark[40], late[24];

    copy_value(json, "\"batchId\":", batch, sizeof batch);
    copy_value(json, "\"numInputRows\":", rows, sizeof rows);
    copy_value(json, "\"processedRowsPerSecond\":", rate, sizeof rate);
    copy_value(json, "\"nextWatermark\":", watermark, sizeof watermark);
    copy_value(json, "\"lateRows\":", late, sizeof late);
    fprintf(stderr, "\r\033[K%s%sbatch %s, %s rows in (%s a second)", name, *name ? ": " : "", batch, rows, rate);
    if (*watermark) fprintf(stderr, ", watermark %s", watermark);
    if (*late && strcmp(late, "0") != 0) fprintf(stderr, ", %s late", late);
    fflush(stderr);
    p->shown = true;
}

void cli_progress_report(void *progress, const char *query_name, const char *json)
{
    cli_progress *p = progress;

    if (p->json) {
        fprintf(p->json, "%s\n", json);
        fflush(p->json);
    }
    if (p->live) show_live(p, query_name ? query_name : "", json);
}

void cli_progress_clear(cli_progress *p)
{
    if (!p || !p->shown) return;
    fprintf(stderr, "\r\033[K");
    fflush(stderr);
    p->shown = false;
}

void cli_progress_free(cli_progress *p)
{
    if (!p) return;
    cli_progress_clear(p);
    if (p->owns_json) fclose(p->json);
    free(p);
}
