/* source/kafka_options.h: the options of the Kafka source, read and checked. Rule: semantics 9.2, Spark's
 * KafkaSourceProvider. */
#ifndef FM_SOURCE_KAFKA_OPTIONS_H
#define FM_SOURCE_KAFKA_OPTIONS_H

#include "source/kafka_offsets.h"

typedef enum fm_kafka_choice { FM_KAFKA_ASSIGN, FM_KAFKA_SUBSCRIBE, FM_KAFKA_PATTERN } fm_kafka_choice;

/* Where reading starts or ends. */
typedef enum fm_kafka_bound_kind {
    FM_KAFKA_AT_EARLIEST,
    FM_KAFKA_AT_LATEST,
    FM_KAFKA_AT_OFFSETS,      /* offsets, -1 and -2 among them */
    FM_KAFKA_AT_TIMES,        /* offsets holds ms since 1970 per partition */
    FM_KAFKA_AT_TIME          /* time_ms for all */
} fm_kafka_bound_kind;

typedef struct fm_kafka_bound {
    fm_kafka_bound_kind kind;
    fm_kafka_offsets offsets;
    int64_t time_ms;
} fm_kafka_bound;

typedef struct fm_kafka_options {
    fm_kafka_settings settings;
    fm_kafka_choice choice;
    fm_kafka_offsets assigned;   /* ASSIGN */
    fm_str *topics;              /* SUBSCRIBE */
    int32_t n_topics;
    fm_str pattern;              /* PATTERN: a Java regular expression, found anywhere in the name */
    fm_str written;              /* the value of that option, for the description */
    fm_kafka_bound starting, ending;
    bool latest_when_none;       /* startingOffsetsByTimestampStrategy: latest */
    bool fail_on_data_loss, headers;
    int64_t offsets_min, offsets_max; /* per trigger; 0: no bound */
    int64_t delay_max_ms;
    int64_t parts_min, records_max;   /* minPartitions, maxRecordsPerPartition; 0: not said */
    int64_t tries, retry_ms;          /* fetchOffset.numRetries, fetchOffset.retryIntervalMs */
    int64_t poll_timeout_ms;
    fm_str group;                     /* commitOffsets: kafka.group.id; empty: nothing is committed */
} fm_kafka_options;

extern const char *const fm_kafka_option_names[]; /* NULL-terminated; kafka.* besides */

/* Reads all of them; everything lives in arena.
 *
 * errors  FM_INVALID: FLOODMARK_MISSING_OPTION, FLOODMARK_INVALID_OPTION, UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET,
 *         MISMATCHED_TOPIC_PARTITIONS_BETWEEN_START_OFFSET_AND_END_OFFSET */
fm_status fm_kafka_options_read(const fm_options *o, const char *what, bool is_stream, fm_arena *arena,
                                fm_kafka_options *out, fm_error *err);

/* Checks what does not depend on whether the table is read as a stream: for CREATE TABLE. */
fm_status fm_kafka_options_check(const fm_options *o, const char *what, fm_arena *arena, bool *headers, fm_error *err);

#endif
