/* cli/help.c: texts that teach. */
#include <string.h>

#include "cli/cli.h"

static const char overview[] =
    "floodmark: event-time stream processing, with the semantics of Spark Structured Streaming.\n"
    "\n"
    "  floodmark run job.sql          run a job: tables in, streams out, until it ends or is stopped\n"
    "  floodmark sql \"SELECT 1\"       run statements given on the command line\n"
    "  floodmark explain job.sql      show how the queries of a file (or a query) would run\n"
    "  floodmark checkpoint FOLDER    say what a checkpoint folder holds\n"
    "  floodmark help COMMAND         more about one of them\n"
    "\n"
    "Options\n"
    "  -c KEY=VALUE        a setting, as SET in SQL; 'floodmark sql SET' lists them\n"
    "  --available-now     process what is there now, then end (overrides the triggers of the job)\n"
    "  --once              one micro-batch over all there is, then end\n"
    "  --progress WHERE    a line of JSON per micro-batch (Spark's progress) to a file, stdout, stderr or none\n"
    "  --story             tell each micro-batch in words: rows in, windows opened and closed, late rows, the watermark\n"
    "  --format FORMAT     rows of 'floodmark sql' as table, csv or json\n"
    "  --version\n"
    "\n"
    "A job, in full:\n"
    "\n"
    "  CREATE TABLE clicks (user STRING, at TIMESTAMP) USING json OPTIONS (path 'in/');\n"
    "\n"
    "  CREATE STREAMING TABLE per_minute USING json\n"
    "  OPTIONS (path 'out/', checkpointLocation 'checkpoint/', outputMode 'append', trigger '10 seconds')\n"
    "  AS SELECT window.start, user, count(*) AS clicks\n"
    "     FROM STREAM clicks WATERMARK at DELAY OF INTERVAL 10 MINUTES\n"
    "     GROUP BY window(at, '1 minute'), user;\n"
    "\n"
    "The watermark is the latest event time seen, minus the delay: how far the job has stopped waiting. When it\n"
    "passes the end of a window, the window's rows come out, once, and its state is freed. Rows that come\n"
    "later than that are counted as late; LATE_ROWS keeps them:\n"
    "\n"
    "  SELECT /*+ LATE_ROWS('json', 'late/') */ window.start, ...\n"
    "\n"
    "Records that cannot be read are nulls, as in Spark; BAD_ROWS keeps them, with the reason:\n"
    "  SELECT /*+ BAD_ROWS('json', 'bad/') */ ...\n";

static const struct {
    const char *command, *text;
} commands[] = {
    {"run",
     "floodmark run job.sql [-c KEY=VALUE] [--available-now | --once] [--progress WHERE] [--story]\n"
     "\n"
     "Runs the statements of a file ('-': standard input) in order. CREATE STREAMING TABLE ... AS SELECT starts a stream,\n"
     "and so does a SELECT over a stream, whose rows are printed. Streams begin when all statements were taken, so nothing\n"
     "starts if any is wrong, and a query over what a stream writes sees what earlier runs wrote. The job ends when\n"
     "all its streams have ended, or when it is stopped: Ctrl-C (or SIGTERM) finishes the micro-batch in flight, a second one\n"
     "gives it up without a trace. Run the same job again and it goes on from its checkpoints.\n"
     "\n"
     "${env:NAME} in the text is the environment variable NAME, ${key} a setting given with -c key=value.\n"
     "\n"
     "Exit code: 0 ended or stopped, 1 failed (said on standard error), 2 wrong command line,\n"
     "130 interrupted before the streams began.\n"},
    {"sql",
     "floodmark sql \"STATEMENTS\" [-c KEY=VALUE] [--format table|csv|json]\n"
     "\n"
     "Runs statements, parted by ';', and prints their rows. Files can be read without a table:\n"
     "\n"
     "  floodmark sql \"SELECT user, count(*) FROM read_files('in/*.json') GROUP BY user\"\n"
     "  floodmark sql 'SELECT * FROM json.`out/` LIMIT 10'\n"
     "  floodmark sql \"SHOW FUNCTIONS LIKE 'date*'\"\n"
     "\n"
     "Delta tables are made and changed by SQL: CREATE TABLE t (...) USING delta, INSERT, UPDATE, DELETE, MERGE, ALTER TABLE,\n"
     "OPTIMIZE, VACUUM, RESTORE, DESCRIBE HISTORY. They lie in the folder of the setting floodmark.warehouse, or are named by\n"
     "their own:\n"
     "\n"
     "  floodmark sql 'SELECT * FROM delta.`gold/totals` VERSION AS OF 3'\n"
     "\n"
     "In single quotes the shell leaves backquotes alone. --format csv or json gives rows to other programs.\n"},
    {"explain",
     "floodmark explain job.sql | \"SELECT ...\" [-c KEY=VALUE]\n"
     "\n"
     "Shows the plans of a query, or of each stream of a job, in all phases: as parsed, as analyzed (names and types\n"
     "resolved), as optimized, and as it would run.\n"},
    {"checkpoint",
     "floodmark checkpoint FOLDER\n"
     "\n"
     "Says what a checkpoint folder holds: the query's identity, the last micro-batch begun and the last one committed, the\n"
     "watermark, how far each source was read, and the state of each operator. Changes nothing.\n"},
};

void cli_help_short(FILE *out)
{
    fputs("usage: floodmark run job.sql | sql \"...\" | explain job.sql | checkpoint FOLDER\n"
          "'floodmark --help' says more.\n",
          out);
}

int cli_help_for(const char *command)
{
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (strcmp(commands[i].command, command) != 0) continue;
        fputs(commands[i].text, stdout);
        return 0;
    }
    if (*command && strcmp(command, "help") != 0) return cli_no_command(command);
    fputs(overview, stdout);
    return 0;
}

int cli_help(const cli_options *o)
{
    return cli_help_for(o->n_words > 1 ? o->words[1] : "");
}

int cli_no_command(const char *name)
{
    size_t len = strlen(name);
    bool is_file = len > 4 && strcmp(name + len - 4, ".sql") == 0;

    fprintf(stderr, "floodmark: there is no command %s. There are run, sql, explain, checkpoint and help.\n", name);
    if (is_file) fprintf(stderr, "To run a file: floodmark run %s\n", name);
    else fputs("Try 'floodmark --help'.\n", stderr);
    return 2;
}
