/* remote/kafka_settings.h: Kafka client properties as Java users write them, in librdkafka's words.
 *
 * Tables carry them as options with the prefix "kafka.": kafka.bootstrap.servers, kafka.sasl.jaas.config, ... Most names
 * are the same in both clients; some are spelled otherwise, some want their value taken apart, and some have no
 * counterpart and are refused by name. Names of librdkafka alone (kafka.queued.min.messages) pass as they are. */
#ifndef FM_REMOTE_KAFKA_SETTINGS_H
#define FM_REMOTE_KAFKA_SETTINGS_H

#include "base/options.h"

typedef enum fm_kafka_role { FM_KAFKA_CONSUMER, FM_KAFKA_PRODUCER } fm_kafka_role;

typedef struct fm_kafka_setting {
    fm_str name, value; /* librdkafka's; NUL-terminated */
    fm_str written;     /* the option it came from, for messages; empty: ours */
} fm_kafka_setting;

typedef struct fm_kafka_settings {
    fm_kafka_role role;
    fm_kafka_setting *items;
    int32_t n, cap;
    fm_arena *arena;
    bool read_committed;    /* isolation.level */
    int64_t rows_max;       /* max.poll.records; 0: not said */
    int64_t timeout_ms;     /* of one request: default.api.timeout.ms, or max.block.ms; 60 s unless said */
    /* Told, in one line, what people should know while a client waits: no broker answers. Set by who makes the client; NULL:
     * nobody is told. Any thread may call it. */
    void (*warn)(void *ctx, fm_str text);
    void *warn_ctx;
    /* Whether a client that waits should give up, with FM_CANCELLED. Set likewise; NULL: never. */
    bool (*stopped)(void *ctx);
    void *stopped_ctx;
} fm_kafka_settings;

/* Translates the options that begin with "kafka.".
 *
 * errors  FM_INVALID, naming the option: what Spark refuses (kafka.auto.offset.reset, deserializers, ...), a
 *         missing kafka.bootstrap.servers, a value that is not understood; FM_UNSUPPORTED: no counterpart */
fm_status fm_kafka_settings_read(const fm_options *options, fm_kafka_role role, fm_arena *arena,
                                 fm_kafka_settings *out, fm_error *err);

/* Adds or replaces one setting of our own, by librdkafka's name. */
fm_status fm_kafka_settings_set(fm_kafka_settings *s, const char *name, fm_str value, fm_error *err);
/* Likewise, unless the user gave it. */
fm_status fm_kafka_settings_default(fm_kafka_settings *s, const char *name, fm_str value, fm_error *err);
const fm_kafka_setting *fm_kafka_settings_find(const fm_kafka_settings *s, const char *name); /* or NULL */

#endif
