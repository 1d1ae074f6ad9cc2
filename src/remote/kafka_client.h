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

/* Notes offsets with the group of the setting group.id, for people to look at: the group has no members. wait_ms 0: hands
 * it over, and what becomes of it nobody asks.
 *
 * errors  FM_UNAVAILABLE: not within wait_ms, or the group has members, or may not be written */
fm_status fm_kafka_group_note(fm_kafka_client *client, const fm_kafka_partition *partitions, int32_t n, int32_t wait_ms, fm_error *err);

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

/* Whether something came that was not handed out yet: a record, or an error. Asks nobody, and does not wait. */
bool fm_kafka_feed_has_news(fm_kafka_feed *feed);

/* Header i of a record; false: there is none. value.ptr NULL: null. */
bool fm_kafka_record_header(const fm_kafka_record *record, int32_t i, fm_str *name, fm_str *value);

/* ---- writing ---- */

typedef struct fm_kafka_header {
    fm_str name, value; /* value.ptr NULL: null */
} fm_kafka_header;

typedef struct fm_kafka_outgoing {
    fm_str topic;       /* NUL-terminated */
    int32_t partition;  /* -1: by the key, as Java's client does it */
    fm_str key, value;  /* ptr NULL: null */
    const fm_kafka_header *headers;
    int32_t n_headers;
} fm_kafka_outgoing;

/* Hands a message to a client made for writing, which copies it and sends it with others. Waits while too many are under
 * way. Any thread may call it.
 *
 * errors  FM_INVALID: the message is too large, the partition is not there; FM_UNAVAILABLE */
fm_status fm_kafka_send(fm_kafka_client *client, const fm_kafka_outgoing *message, fm_error *err);
/* Waits until all messages handed over so far have arrived; the first that did not is the error: FM_UNAVAILABLE. */
fm_status fm_kafka_flush(fm_kafka_client *client, fm_error *err);

/* Transactions: the setting transactional.id names them. Between begin and commit the messages sent are seen by nobody who
 * reads committed ones. One thread calls these.
 *
 * start   once, before all others: ends what an earlier run under the same id left open, and shuts that run out
 * commit  sets `mark` in the same breath: an offset of `group` in partition 0 of `topic`, which fm_kafka_mark reads. After a
 *         failure nobody knows whether it took place; start, then fm_kafka_mark tell */
fm_status fm_kafka_transactions_start(fm_kafka_client *client, fm_error *err);
fm_status fm_kafka_transaction_begin(fm_kafka_client *client, fm_error *err);
fm_status fm_kafka_transaction_commit(fm_kafka_client *client, fm_str group, fm_str topic, int64_t mark, fm_error *err);
fm_status fm_kafka_transaction_abort(fm_kafka_client *client, fm_error *err);

/* The offset that a group committed for partition 0 of a topic, by a client made for reading whose setting group.id is the
 * group; FM_KAFKA_NONE: none. */
fm_status fm_kafka_mark(fm_kafka_client *client, fm_str topic, int64_t *out, fm_error *err);

#endif
