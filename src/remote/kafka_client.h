/* remote/kafka_client.h: talking to Kafka: what there is, how far it goes, its messages; and writing to it.
 *
 * librdkafka stands behind this header and is seen by nobody else, so that a fetch path of our own can take its
 * place. A client is one connection to a cluster with threads of its own; any thread may call it. A feed is one
 * partition being read, by one thread at a time; a producer belongs to one thread. */
#ifndef FM_REMOTE_KAFKA_CLIENT_H
#define FM_REMOTE_KAFKA_CLIENT_H

#include "remote/kafka_settings.h"

typedef struct fm_kafka_client fm_kafka_client;

/* Offsets that are no offsets. In a question they are Kafka's own; in an answer NONE: nothing is there. */
enum { FM_KAFKA_LATEST = -1, FM_KAFKA_EARLIEST = -2, FM_KAFKA_NONE = -1 };

typedef struct fm_kafka_partition {
    fm_str topic; /* NUL-terminated */
    int32_t partition;
    int64_t offset;
} fm_kafka_partition;

/* Whether the settings are such that a client can be made of them: names, values, files that they name. */
fm_status fm_kafka_check(const fm_kafka_settings *settings, fm_error *err);

/* Does not wait for the cluster: whether it is there, the first question tells. */
fm_status fm_kafka_client_new(const fm_kafka_settings *settings, fm_kafka_client **out, fm_error *err);
void fm_kafka_client_free(fm_kafka_client *client); /* accepts NULL; its feeds are closed before */

/* The partitions of a topic, offsets unset, in order; or of all topics but Kafka's own when topic is empty.
 *
 * errors  FM_NOT_FOUND: UNKNOWN_TOPIC_OR_PARTITION; FM_UNAVAILABLE: no broker answers, or it refuses us */
fm_status fm_kafka_client_partitions(fm_kafka_client *client, fm_str topic, fm_arena *arena,
                                     fm_kafka_partition **out, int32_t *n, fm_error *err);

/* Asks for offsets, one question for all: `offset` is the first of a message at or after that many ms since 1970,
 * FM_KAFKA_LATEST (the end; under read_committed the last stable offset) or FM_KAFKA_EARLIEST; it becomes the
 * answer, or FM_KAFKA_NONE when no message is so late. */
fm_status fm_kafka_client_offsets(fm_kafka_client *client, fm_kafka_partition *partitions, int32_t n, fm_error *err);

/* ---- reading ---- */

typedef struct fm_kafka_record {
    fm_str key, value; /* ptr NULL: null */
    int64_t offset;
    int64_t timestamp_ms;
    int32_t timestamp_type; /* 0: when it was made, 1: when it was appended; Kafka's own numbers */
    void *message;          /* for fm_kafka_record_header */
} fm_kafka_record;

enum { FM_KAFKA_RECORDS_MAX = 1024 }; /* of one fm_kafka_feed_read: more fall out of the caches */

typedef struct fm_kafka_feed fm_kafka_feed;

/* Begins to read a partition at an offset, ahead of what is asked for.
 */
fm_status fm_kafka_feed_open(fm_kafka_client *client, fm_str topic, int32_t partition, int64_t offset,
                             fm_kafka_feed **out, fm_error *err);
void fm_kafka_feed_close(fm_kafka_feed *feed); /* accepts NULL */
int64_t fm_kafka_feed_at(const fm_kafka_feed *feed); /* all before this offset was handed out */

/* Hands out records in order, up to `max` of them, all with offsets below `end`. They live until the next call or
 * the close. *n = 0: none came within wait_ms, or there is none before `end` any more; then fm_kafka_feed_at has come
 * to `end` or beyond (compaction and transactions leave offsets without records).
 *
 * errors  FM_NOT_FOUND: the offset is gone, or not there yet (fm_kafka_feed_at tells which one);
 *         FM_UNAVAILABLE: the partition is gone or may not be read */
fm_status fm_kafka_feed_read(fm_kafka_feed *feed, int64_t end, int32_t max, int32_t wait_ms, fm_kafka_record *out,
                             int32_t *n, fm_error *err);

/* Header i of a record; false: there is none. value.ptr NULL: null. */
bool fm_kafka_record_header(const fm_kafka_record *record, int32_t i, fm_str *name, fm_str *value);

#endif
