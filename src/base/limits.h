/* base/limits.h: the bounds of the program, each with its unit and its reason. */
#ifndef FM_BASE_LIMITS_H
#define FM_BASE_LIMITS_H

#include <stddef.h>

enum {
    FM_BATCH_ROWS_MAX = 4096,       /* rows of a column batch: its used columns fit L2 */
    FM_BATCH_ROWS_DECODE = 2048,    /* rows a decoder puts in a batch */
    FM_VIRTUAL_SHARDS = 64,         /* hash ranges state is cut into; workers own ranges of them */
    FM_WORKERS_MAX = 64,            /* threads of one query; at most one per virtual shard */
    FM_EXPR_DEPTH_MAX = 500,        /* nesting of a SQL expression or subquery */
    FM_PLAN_DEPTH_MAX = 1000,       /* nesting of plan nodes: views upon views, long chains of withColumn() */
    FM_EXPR_NODES_MAX = 1 << 20,    /* parts of a statement, shared ones each time: what walks it ends soon */
    FM_TYPE_DEPTH_MAX = 64,         /* nesting of array, map and struct */
    FM_JSON_DEPTH_MAX = 1000,       /* nesting of JSON input, as Jackson's default */
    FM_SQL_TEXT_SIZE_MAX = 16 << 20, /* bytes of one job file */
    FM_WINDOWS_OF_ROW_MAX = 1000000, /* windows that overlap: each is a row of the result */
    FM_SCHEMA_FIELDS_MAX = 10000,   /* columns of one relation */
    FM_BLOCK_SIZE = 1 << 18,        /* bytes read at once: measured best; the rest of the second-level cache is for state */
    FM_BLOCK_PADDING = 64,          /* readable zero bytes behind every input block, for SIMD */
    FM_ROW_SIZE_MAX = 1 << 29,      /* bytes of one input line */
    FM_LOG_ENTRY_SIZE_MAX = 64 << 20, /* bytes of one entry of an offset, commit or source log */
    FM_REGEX_STEPS_MAX = 10000000,  /* backtracks of one match: a second at most, where Java would never return */
    FM_REGEX_HEAP_KIB_MAX = 64 << 10, /* KiB one match may backtrack over, where the interpreter runs */
    FM_DECIMAL_PRECISION_MAX = 38   /* digits; Spark's limit */
};

#define FM_ARENA_BUDGET_DEFAULT ((size_t)8 << 30) /* bytes */

#endif
