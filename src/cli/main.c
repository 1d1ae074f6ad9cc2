/* cli/main.c: the program floodmark: what its words mean.
 *
 * It is the first user of floodmark.h and uses nothing else. Results go to standard output; errors and progress to
 * standard error. Exit codes: 0 done, 1 failed, 2 the command line is wrong, 130 interrupted before streams ran. */
#include <floodmark.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

enum { EXIT_USAGE = 2 };

static int usage_error(const char *message, const char *what)
{
    fprintf(stderr, "floodmark: %s%s\nTry 'floodmark --help'.\n", message, what);
    return EXIT_USAGE;
}

/* Takes --name VALUE or --name=VALUE at *i; *value is NULL when nothing follows. */
static bool take_value(int argc, char **argv, int *i, const char *name, const char **value)
{
    size_t len = strlen(name);

    if (strncmp(argv[*i], name, len) != 0) return false;
    if (argv[*i][len] == '=') {
        *value = argv[*i] + len + 1;
        return true;
    }
    if (argv[*i][len] != 0) return false;
    *value = *i + 1 < argc ? argv[++*i] : NULL;
    return true;
}

/* An option that is not there. --availablenow, --available_now and the like are told what they mean. */
static int unknown_option(const char *given)
{
    static const char *const names[] = {"--available-now", "--once", "--progress", "--story", "--format", "--help", "--version"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *a = given, *b = names[i];
        for (;; a++, b++) {
            a += strspn(a, "-_");
            b += strspn(b, "-_");
            if (*b == 0 || (*a | 0x20) != *b) break;
        }
        if (*b || (*a && *a != '=')) continue;
        fprintf(stderr, "floodmark: there is no option %s. Did you mean %s?\nTry 'floodmark --help'.\n", given, names[i]);
        return EXIT_USAGE;
    }
    return usage_error("there is no option ", given);
}

static bool add_setting(cli_options *o, const char *text)
{
    const char *equals = strchr(text, '=');

    if (!equals || equals == text || o->n_settings == CLI_SETTINGS_MAX) return false;
    o->settings[o->n_settings++] = text;
    return true;
}

/* A text of SQL may begin with a comment, '-- like this'. */
static bool is_option(const char *word)
{
    return word[0] == '-' && word[1] != 0 && !(word[1] == '-' && word[2] && strchr(" \t\n", word[2]));
}

/* Options may stand anywhere; what is left are words. */
static int parse(int argc, char **argv, cli_options *o)
{
    const char *value = "";

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            o->help = true;
        } else if (strcmp(argv[i], "--version") == 0) {
            o->version = true;
        } else if (strcmp(argv[i], "--story") == 0) {
            o->story = true;
        } else if (strcmp(argv[i], "--once") == 0) {
            if (o->trigger && strcmp(o->trigger, "once") != 0) return usage_error("--available-now and --once: choose one", "");
            o->trigger = "once";
        } else if (strcmp(argv[i], "--available-now") == 0) {
            if (o->trigger && strcmp(o->trigger, "once") == 0) return usage_error("--available-now and --once: choose one", "");
            o->trigger = "availableNow";
        } else if (take_value(argc, argv, &i, "--progress", &value)) {
            o->progress = value;
        } else if (take_value(argc, argv, &i, "--format", &value)) {
            o->format = value;
        } else if (take_value(argc, argv, &i, "-c", &value)) {
            if (value && !add_setting(o, value)) return usage_error("-c wants key=value, not ", value);
        } else if (is_option(argv[i])) {
            return unknown_option(argv[i]);
        } else if (o->n_words < CLI_WORDS_MAX) {
            o->words[o->n_words++] = argv[i];
        } else {
            return usage_error("too many words, from ", argv[i]);
        }
        if (!value) return usage_error("a value is missing after ", argv[i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int words_min, words_max;
        int (*run)(const cli_options *o);
        const char *wants;
    } commands[] = {
        {"run", 1, 1, cli_run, "run wants one file of SQL: floodmark run job.sql"},
        {"sql", 1, 1, cli_sql, "sql wants one text of SQL, in quotes: floodmark sql \"SELECT 1; SELECT 2\""},
        {"explain", 1, 1, cli_explain, "explain wants a file of SQL or a query in quotes: floodmark explain job.sql"},
        {"checkpoint", 1, 1, cli_checkpoint, "checkpoint wants the folder that a job names as its checkpointLocation: floodmark checkpoint FOLDER"},
        {"help", 0, 1, cli_help, "help wants one command: floodmark help run"},
    };
    cli_options o = {.format = "table"};
    int bad = parse(argc, argv, &o);

    if (bad) return bad;
    if (o.version) {
        puts("floodmark " FLOODMARK_VERSION);
        return 0;
    }
    if (o.n_words == 0) {
        if (o.help) return cli_help(&o);
        cli_help_short(stderr);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(o.words[0], commands[i].name) != 0) continue;
        if (o.help) return cli_help_for(commands[i].name);
        int given = o.n_words - 1;
        if (given < commands[i].words_min || given > commands[i].words_max) return usage_error(commands[i].wants, "");
        return commands[i].run(&o);
    }
    return cli_no_command(o.words[0]);
}
