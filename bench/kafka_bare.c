/* bench/kafka_bare.c: how fast librdkafka alone hands over a topic: the ceiling for the Kafka source.
 *
 *   kafka_bare BROKER TOPIC PARTITIONS MESSAGES
 *
 * The settings are those of the source (src/remote/kafka_client.c). Each message is looked at as little as can be: its
 * length is added up. Prints messages, bytes, seconds, messages per second and CPU seconds. */
#include <inttypes.h>
#include <librdkafka/rdkafka.h>
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

int main(int argc, char **argv)
{
    static const char *const settings[] = {
        "enable.auto.commit", "false", "auto.offset.reset", "error", "enable.partition.eof", "true", "check.crcs", "true",
        "socket.nagle.disable", "true", "fetch.message.max.bytes", "8388608", "queued.min.messages", "100000",
        "queued.max.messages.kbytes", "32768", "isolation.level", "read_uncommitted"};
    static rd_kafka_message_t *messages[BATCH];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[512];
    int64_t seen = 0, bytes = 0;

    if (argc < 5) {
        fprintf(stderr, "kafka_bare BROKER TOPIC PARTITIONS MESSAGES\n");
        return 2;
    }
    int64_t total = strtoll(argv[4], NULL, 10);
    rd_kafka_conf_set(conf, "bootstrap.servers", argv[1], why, sizeof why);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i += 2)
        rd_kafka_conf_set(conf, settings[i], settings[i + 1], why, sizeof why);
    double begun = now();
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_topic_t *topic = rd_kafka_topic_new(rk, argv[2], NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    for (int32_t p = 0; p < (int32_t)strtol(argv[3], NULL, 10); p++)
        if (rd_kafka_consume_start_queue(topic, p, 0, queue) != 0) return 1;
    while (seen < total) {
        ssize_t n = rd_kafka_consume_batch_queue(queue, 1000, messages, BATCH);
        for (ssize_t i = 0; i < n; i++) {
            if (!messages[i]->err) {
                seen++;
                bytes += (int64_t)messages[i]->len;
            }
            rd_kafka_message_destroy(messages[i]);
        }
        if (now() - begun > 300) return 1;
    }
    double took = now() - begun;
    printf("%" PRId64 " messages, %" PRId64 " bytes, %.3f s, %.0f messages/s, %.3f CPU s\n", seen, bytes, took, (double)seen / took, cpu());
    return 0;
}
