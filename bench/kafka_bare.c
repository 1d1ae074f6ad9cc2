/* bench/kafka_bare.c: how fast librdkafka alone hands over a topic: the ceiling for the Kafka source.
 *
 *   kafka_bare BROKER TOPIC PARTITIONS MESSAGES [each]
 *
 * All partitions come through one queue; with `each`, one after the other through queues of their own, as the source reads
 * them. librdkafka before 2.2 needs a nudge when it has stopped reading ahead (fm_kafka_feed_read tells why): it gets one
 * here, too, so that the ceiling is no lower than it is.
 *
 * The settings are those of the source (src/remote/kafka_client.c). Each message is looked at as little as can be: its
 * length is added up. Prints messages, bytes, seconds and CPU seconds as JSON. */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { BATCH = 1024 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

typedef struct totals {
    int64_t seen, bytes;
} totals;

/* Reads until `total` messages were seen. */
static int read_queue(rd_kafka_t *rk, const char *topic, rd_kafka_queue_t *queue, int32_t partition, int64_t total, totals *t)
{
    static rd_kafka_message_t *messages[BATCH];
    double begun = now();

    while (t->seen < total) {
        ssize_t n = rd_kafka_consume_batch_queue(queue, 0, messages, BATCH);
        if (n <= 0) n = rd_kafka_consume_batch_queue(queue, 5, messages, 1);
        if (n <= 0 && rd_kafka_version() < 0x02020000) {
            int64_t low, high;
            rd_kafka_query_watermark_offsets(rk, topic, partition, &low, &high, 1000);
        }
        for (ssize_t i = 0; i < n; i++) {
            if (!messages[i]->err) {
                t->seen++;
                t->bytes += (int64_t)messages[i]->len;
            }
            rd_kafka_message_destroy(messages[i]);
        }
        if (now() - begun > 300) return 1;
    }
    return 0;
}

static int64_t end_of(rd_kafka_t *rk, const char *topic, int32_t partition)
{
    int64_t low = 0, high = 0;

    rd_kafka_query_watermark_offsets(rk, topic, partition, &low, &high, 10000);
    return high;
}

int main(int argc, char **argv)
{
    static const char *const settings[] = {
        "enable.auto.commit", "false", "auto.offset.reset", "error", "enable.partition.eof", "true", "check.crcs", "true",
        "socket.nagle.disable", "true", "fetch.message.max.bytes", "1048576", "fetch.wait.max.ms", "20", "queued.min.messages", "100000",
        "queued.max.messages.kbytes", "32768", "isolation.level", "read_uncommitted"};
    static rd_kafka_queue_t *queues[1024];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[512];
    totals t = {0};
    int failed = 0;

    if (argc < 5) {
        fprintf(stderr, "kafka_bare BROKER TOPIC PARTITIONS MESSAGES [each]\n");
        return 2;
    }
    int32_t partitions = (int32_t)strtol(argv[3], NULL, 10);
    bool each = argc > 5;
    if (partitions < 1 || partitions > 1024) return 2;
    rd_kafka_conf_set(conf, "bootstrap.servers", argv[1], why, sizeof why);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i += 2)
        rd_kafka_conf_set(conf, settings[i], settings[i + 1], why, sizeof why);
    double begun = now();
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, argv[2], NULL);
    for (int32_t p = 0; p < partitions; p++) {
        queues[p] = each || p == 0 ? rd_kafka_queue_new(rk) : queues[0];
        if (rd_kafka_consume_start_queue(topic, p, 0, queues[p]) != 0) return 1;
    }
    if (!each) failed = read_queue(rk, argv[2], queues[0], 0, strtoll(argv[4], NULL, 10), &t);
    for (int32_t p = 0; each && p < partitions && !failed; p++)
        failed = read_queue(rk, argv[2], queues[p], p, t.seen + end_of(rk, argv[2], p), &t);
    if (failed) return 1;
    double took = now() - begun;
    printf("{\"messages\": %" PRId64 ", \"bytes\": %" PRId64 ", \"seconds\": %.3f, \"cpu\": %.3f}\n", t.seen, t.bytes, took, cpu());
    return 0;
}
