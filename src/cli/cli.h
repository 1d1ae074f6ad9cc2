/* cli/cli.h: the parts of the program floodmark. */
#ifndef FM_CLI_CLI_H
#define FM_CLI_CLI_H

#include <floodmark.h>
#include <stdbool.h>
#include <stdio.h>

enum { CLI_WORDS_MAX = 8, CLI_SETTINGS_MAX = 256 };

typedef struct cli_options {
    const char *words[CLI_WORDS_MAX]; /* command and what follows it */
    int n_words;
    const char *settings[CLI_SETTINGS_MAX]; /* key=value */
    int n_settings;
    const char *trigger;  /* "once", "availableNow" or NULL */
    const char *progress; /* "none", "stderr", "stdout", a file; NULL: a live line in a terminal */
    const char *format;   /* of rows: table, csv, json */
    bool story;           /* tell each micro-batch in words */
    bool help, version;
} cli_options;

/* Commands: return the exit code. */
int cli_run(const cli_options *o);
int cli_sql(const cli_options *o);
int cli_explain(const cli_options *o);
int cli_checkpoint(const cli_options *o);
int cli_help(const cli_options *o);
int cli_help_for(const char *command);
void cli_help_short(FILE *out);
/* Says on stderr that there is no such command; returns the exit code of a wrong command line. */
int cli_no_command(const char *name);

/* A session with the settings of the command line; NULL when one was refused (said on stderr). */
floodmark_session *cli_session(const cli_options *o);
/* Prints an error as a person wants it; returns the exit code 1. `file` may be NULL. */
int cli_fail(const char *file, const floodmark_error *err);
/* Whole text of a file, or of standard input for "-". NULL: said on stderr. free() it. */
char *cli_read_text(const char *path);

/* What a job shows while it runs (cli/live_progress.c). */
typedef struct cli_progress cli_progress;
cli_progress *cli_progress_new(const char *where); /* NULL: said on stderr */
void cli_progress_report(void *progress, const char *query_name, const char *json);
void cli_progress_clear(cli_progress *progress); /* wipes the live line, before other text is printed */
void cli_progress_free(cli_progress *progress);

#endif
