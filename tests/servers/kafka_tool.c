/* tests/servers/kafka_tool.c: what the tests ask of a Kafka cluster, without starting a JVM for each question.
 *
 *   kafka_tool BROKER create TOPIC PARTITIONS [CONFIG=VALUE ...]
 *   kafka_tool BROKER grow TOPIC PARTITIONS
 *   kafka_tool BROKER delete TOPIC
 *   kafka_tool BROKER delete-records TOPIC PARTITION BEFORE_OFFSET
 *   kafka_tool BROKER commit|abort|dangle TOPIC PARTITION TRANSACTIONAL_ID    lines of stdin as one transaction; dangle leaves
 *                                                                             it open and ends
 *   kafka_tool BROKER pipe TOPIC PARTITION [LINGER_MS]          lines of stdin, each sent at once, or after so long
 *   kafka_tool BROKER group GROUP TOPIC PARTITIONS              the offsets that a consumer group holds; -1: none
 *   kafka_tool BROKER version                                   of librdkafka, as a number
 *   kafka_tool BROKER fill TOPIC PARTITIONS MESSAGES [KEYS]     JSON events of about 100 bytes, for measuring
 */
#include <inttypes.h>
#include <stdbool.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_MS = 30000 };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "kafka_tool: %s: %s\n", what, why);
    exit(1);
}

static void check(rd_kafka_resp_err_t code, const char *what)
{
    if (code) die(what, rd_kafka_err2str(code));
}

static void check_error(rd_kafka_error_t *error, const char *what)
{
    if (error) die(what, rd_kafka_error_string(error));
}

static int64_t number(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);

    if (*end || end == text) die("not a number", text);
    return value;
}

static rd_kafka_t *open_client(const char *broker, const char *const *settings)
{
    char why[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();

    rd_kafka_conf_set(conf, "bootstrap.servers", broker, why, sizeof why);
    rd_kafka_conf_set(conf, "log_level", "3", why, sizeof why);
    for (; settings && settings[0]; settings += 2)
        if (rd_kafka_conf_set(conf, settings[0], settings[1], why, sizeof why) != RD_KAFKA_CONF_OK) die(settings[0], why);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!rk) die("client", why);
    return rk;
}

/* ---- topics ---- */

static rd_kafka_event_t *wait_event(rd_kafka_queue_t *queue, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, TIMEOUT_MS);

    if (!event) die(what, "no answer");
    check(rd_kafka_event_error(event), what);
    return event;
}

static void check_topics(const rd_kafka_topic_result_t **results, size_t n, const char *what)
{
    for (size_t i = 0; i < n; i++) check(rd_kafka_topic_result_error(results[i]), what);
}

static void create(rd_kafka_t *rk, rd_kafka_queue_t *queue, char **args, int n)
{
    char why[512];
    size_t count;
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(args[0], (int)number(args[1]), 1, why, sizeof why);

    if (!topic) die("create", why);
    for (int i = 2; i < n; i++) {
        char *equals = strchr(args[i], '=');
        if (!equals) die("not CONFIG=VALUE", args[i]);
        *equals = 0;
        check(rd_kafka_NewTopic_set_config(topic, args[i], equals + 1), "config");
    }
    rd_kafka_CreateTopics(rk, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = wait_event(queue, "create");
    const rd_kafka_topic_result_t **results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count);
    check_topics(results, count, "create");
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
}

static void grow(rd_kafka_t *rk, rd_kafka_queue_t *queue, char **args)
{
    char why[512];
    size_t count;
    rd_kafka_NewPartitions_t *more = rd_kafka_NewPartitions_new(args[0], (size_t)number(args[1]), why, sizeof why);

    if (!more) die("grow", why);
    rd_kafka_CreatePartitions(rk, &more, 1, NULL, queue);
    rd_kafka_event_t *event = wait_event(queue, "grow");
    const rd_kafka_topic_result_t **results = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count);
    check_topics(results, count, "grow");
    rd_kafka_event_destroy(event);
    rd_kafka_NewPartitions_destroy(more);
}

static void delete(rd_kafka_t *rk, rd_kafka_queue_t *queue, char **args)
{
    size_t count;
    rd_kafka_DeleteTopic_t *topic = rd_kafka_DeleteTopic_new(args[0]);

    rd_kafka_DeleteTopics(rk, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = wait_event(queue, "delete");
    const rd_kafka_topic_result_t **results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
    check_topics(results, count, "delete");
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteTopic_destroy(topic);
}

static void delete_records(rd_kafka_t *rk, rd_kafka_queue_t *queue, char **args)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, args[0], (int32_t)number(args[1]))->offset = number(args[2]);
    rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);

    rd_kafka_DeleteRecords(rk, &records, 1, NULL, queue);
    rd_kafka_event_t *event = wait_event(queue, "delete-records");
    const rd_kafka_topic_partition_list_t *result =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    for (int i = 0; i < result->cnt; i++) check(result->elems[i].err, "delete-records");
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(list);
}

/* ---- messages ---- */

static void send_message(rd_kafka_t *rk, const char *topic, int32_t partition, const char *bytes, size_t size)
{
    rd_kafka_resp_err_t code;

    for (;;) {
        code = rd_kafka_producev(rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_PARTITION(partition),
                                 RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE((void *)(uintptr_t)bytes, size),
                                 RD_KAFKA_V_END);
        if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) break;
        rd_kafka_poll(rk, 100);
    }
    check(code, "produce");
}

static void transaction(const char *broker, const char *how, char **args)
{
    const char *settings[] = {"transactional.id", args[2], NULL};
    rd_kafka_t *rk = open_client(broker, settings);
    char line[65536];

    check_error(rd_kafka_init_transactions(rk, TIMEOUT_MS), "init");
    check_error(rd_kafka_begin_transaction(rk), "begin");
    while (fgets(line, sizeof line, stdin)) send_message(rk, args[0], (int32_t)number(args[1]), line, strcspn(line, "\n"));
    check(rd_kafka_flush(rk, TIMEOUT_MS), "flush");
    if (strcmp(how, "dangle") == 0) _exit(0);
    check_error(strcmp(how, "commit") == 0 ? rd_kafka_commit_transaction(rk, TIMEOUT_MS) : rd_kafka_abort_transaction(rk, TIMEOUT_MS),
                how);
    rd_kafka_destroy(rk);
}

static void send_lines(const char *broker, char **args, int n)
{
    const char *settings[] = {"linger.ms", n > 2 ? args[2] : "0", "socket.nagle.disable", "true", NULL};
    rd_kafka_t *rk = open_client(broker, settings);
    char line[65536];

    while (fgets(line, sizeof line, stdin)) {
        send_message(rk, args[0], (int32_t)number(args[1]), line, strcspn(line, "\n"));
        rd_kafka_poll(rk, 0);
    }
    check(rd_kafka_flush(rk, TIMEOUT_MS), "flush");
    rd_kafka_destroy(rk);
}

static void print_group(const char *broker, char **args)
{
    char why[512];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int32_t n = (int32_t)number(args[2]);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n);

    rd_kafka_conf_set(conf, "bootstrap.servers", broker, why, sizeof why);
    rd_kafka_conf_set(conf, "group.id", args[0], why, sizeof why);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    if (!rk) die("client", why);
    for (int32_t i = 0; i < n; i++) rd_kafka_topic_partition_list_add(list, args[1], i);
    check(rd_kafka_committed(rk, list, TIMEOUT_MS), "offsets of the group");
    for (int32_t i = 0; i < n; i++) printf("%" PRId64 "\n", list->elems[i].offset < 0 ? -1 : list->elems[i].offset);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(rk);
}

/* Events in order of time but for some that are up to 2 s late; which, and their keys, by a fixed rule. */
static void fill(const char *broker, char **args, int n)
{
    const char *settings[] = {"linger.ms", "50", "batch.num.messages", "10000", "queue.buffering.max.messages", "500000", NULL};
    rd_kafka_t *rk = open_client(broker, settings);
    int64_t partitions = number(args[1]), messages = number(args[2]), keys = n > 3 ? number(args[3]) : 1000;
    uint64_t x = 88172645463325252u;
    char text[256];

    for (int64_t i = 0; i < messages; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int64_t ms = i / 20 - (int64_t)(x % 2000);
        if (ms < 0) ms = 0;
        int64_t s = ms / 1000;
        int len = snprintf(text, sizeof text,
                           "{\"user_id\":\"user%08" PRIu64 "\",\"amount\":%" PRIu64 ".%02" PRIu64
                           ",\"event_time\":\"2026-03-01T%02d:%02d:%02d.%03dZ\",\"status\":\"ok\"}",
                           (x >> 20) % (uint64_t)keys, (x >> 8) % 900 + 10, (x >> 32) % 100, (int)(s / 3600), (int)(s / 60 % 60),
                           (int)(s % 60), (int)(ms % 1000));
        send_message(rk, args[0], (int32_t)(i % partitions), text, (size_t)len);
    }
    check(rd_kafka_flush(rk, 10 * TIMEOUT_MS), "flush");
    rd_kafka_destroy(rk);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int args;
    } commands[] = {{"create", 2}, {"grow", 2}, {"delete", 1}, {"delete-records", 3}, {"commit", 3}, {"abort", 3}, {"dangle", 3}, {"fill", 3}, {"version", 0}, {"group", 3}, {"pipe", 2}};
    char **args = argv + 3;
    int n = argc - 3;
    bool known = false;

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        known = known || (argc > 2 && strcmp(argv[2], commands[i].name) == 0 && n >= commands[i].args);
    if (!known) die("usage", "see the top of tests/servers/kafka_tool.c");
    const char *what = argv[2];
    if (strcmp(what, "commit") == 0 || strcmp(what, "abort") == 0 || strcmp(what, "dangle") == 0) {
        transaction(argv[1], what, args);
        return 0;
    }
    if (strcmp(what, "pipe") == 0) {
        send_lines(argv[1], args, n);
        return 0;
    }
    if (strcmp(what, "group") == 0) {
        print_group(argv[1], args);
        return 0;
    }
    if (strcmp(what, "version") == 0) {
        printf("%d\n", rd_kafka_version());
        return 0;
    }
    if (strcmp(what, "fill") == 0) {
        fill(argv[1], args, n);
        return 0;
    }
    rd_kafka_t *rk = open_client(argv[1], NULL);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    if (strcmp(what, "create") == 0) create(rk, queue, args, n);
    else if (strcmp(what, "grow") == 0) grow(rk, queue, args);
    else if (strcmp(what, "delete") == 0) delete(rk, queue, args);
    else delete_records(rk, queue, args);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(rk);
    return 0;
}
