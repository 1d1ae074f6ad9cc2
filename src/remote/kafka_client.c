/* remote/kafka_client.c: the contract of kafka_client.h by librdkafka.
 *
 * Partitions are read through its simple consumer, each into a queue of its own: offsets are ours, so no group is
 * joined and nothing is committed. A message is freed when the next ones are asked for: what is handed out points
 * into librdkafka's receive buffers, nothing is copied. */
#include "remote/kafka_client.h"

#include <errno.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/clock.h"
#include "os/thread.h"

enum {
    ERROR_TEXT_SIZE = 512,
    ASK_AGAIN_US = 100000,        /* between two times of one question: Java's retry.backoff.ms */
    TELL_AFTER_MS = 3000,         /* so long nobody answers before people are told */
    LOOK_UP_MS = 5000,            /* so long one answer is waited for before the client looks whether it should stop */
    STALL_MS = 2,                 /* a read that gets nothing for so long nudges librdkafka: see nudge() */
    AHEAD_MESSAGES = 100000,      /* how far a partition is read ahead: queued.min.messages, */
    AHEAD_KBYTES = 32768,         /* and queued.max.messages.kbytes */
    NUDGE_MESSAGES = AHEAD_MESSAGES / 4, /* so many taken make room that is worth a nudge */
    NUDGE_SIZE = AHEAD_KBYTES / 4 * 1024
};

/* Where nudges come from, off the readers' way: see nudge(). */
typedef struct nudger {
    fm_thread *thread;
    fm_mutex *mutex;
    fm_cond *changed;
    bool ends, wanted;
    char topic[250]; /* of what is wanted */
    int32_t partition;
} nudger;

struct fm_kafka_client {
    rd_kafka_t *rk;
    bool scram; /* by which the broker is asked to let us in */
    int timeout_ms;
    const char *servers;              /* bootstrap.servers, the settings' */
    void (*warn)(void *ctx, fm_str text);
    void *warn_ctx;
    bool (*stopped)(void *ctx);
    void *stopped_ctx;
    fm_mutex *mutex;                  /* guards last_error */
    char last_error[ERROR_TEXT_SIZE]; /* what librdkafka said last of the connection; "": nothing */
    bool is_told;                     /* people know that nobody answers; guarded, too */
    rd_kafka_resp_err_t undelivered;  /* why the first message that was lost was; guarded, too */
    nudger *nudger;                   /* NULL: this librdkafka needs none, or nothing is read */
    struct known_topic *written;      /* topics that messages went to, the last one first; guarded, too */
};

/* A topic whose partitions were asked for before the first message. librdkafka by itself would look only once a second. */
typedef struct known_topic {
    struct known_topic *next;
    char name[];
} known_topic;

/* ---- errors ---- */

/* Called by librdkafka's threads: connections lost, TLS and SASL refused, ... It tries again by itself. */
static void on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    fm_kafka_client *client = opaque;

    (void)rk;
    fm_mutex_lock(client->mutex);
    if (code != RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || !client->last_error[0])
        snprintf(client->last_error, sizeof client->last_error, "%s", reason ? reason : rd_kafka_err2str(code));
    fm_mutex_unlock(client->mutex);
}

/* Called by rd_kafka_poll for messages that did not arrive. */
static void on_undelivered(rd_kafka_t *rk, const rd_kafka_message_t *message, void *opaque)
{
    fm_kafka_client *client = opaque;

    (void)rk;
    fm_mutex_lock(client->mutex);
    if (message->err && !client->undelivered) client->undelivered = message->err;
    fm_mutex_unlock(client->mutex);
}

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text; /* errors come through on_error too; a library does not print */
}

static bool is_unknown(rd_kafka_resp_err_t code)
{
    return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION;
}

/* librdkafka before 2.6.1 says the client's nonce twice in SCRAM, which brokers have refused since 3.7.2, 3.8.1 and 3.9. */
static const char *scram_hint(const fm_kafka_client *client, const char *said)
{
    if (!client->scram || rd_kafka_version() >= 0x020601ff || !strstr(said, "uthentication failed")) return "";
    return ". If the password is right: brokers from 3.7.2 on refuse SCRAM as this librdkafka speaks it; it needs librdkafka 2.6.1 or "
           "newer, or SASL PLAIN over TLS";
}

static bool is_stopped(const fm_kafka_client *client) { return client->stopped && client->stopped(client->stopped_ctx); }

/* What failed, what Kafka calls it, and what the connection said meanwhile. */
static fm_status failed(fm_kafka_client *client, rd_kafka_resp_err_t code, const char *what, fm_error *err)
{
    char last[ERROR_TEXT_SIZE];

    if (is_stopped(client)) return fm_fail(err, FM_CANCELLED, "FLOODMARK_CANCELLED", "The query was stopped while it waited for Kafka.");
    rd_kafka_poll(client->rk, 0); /* lets on_error run */
    fm_mutex_lock(client->mutex);
    snprintf(last, sizeof last, "%s", client->last_error);
    fm_mutex_unlock(client->mutex);
    return fm_fail(err, is_unknown(code) ? FM_NOT_FOUND : FM_UNAVAILABLE,
                   is_unknown(code) ? "UNKNOWN_TOPIC_OR_PARTITION" : "FLOODMARK_KAFKA", "Kafka: %s: %s%s%s%s", what,
                   rd_kafka_err2str(code), last[0] ? "; last said: " : "", last, scram_hint(client, last));
}

/* ---- telling people ---- */

/* That the query waits for a broker is told once, until one has answered. */
static void tell(fm_kafka_client *client)
{
    char text[2 * ERROR_TEXT_SIZE];

    rd_kafka_poll(client->rk, 0); /* lets on_error run */
    fm_mutex_lock(client->mutex);
    bool is_news = !client->is_told;
    client->is_told = true;
    snprintf(text, sizeof text, "Kafka at %s does not answer%s%s. It is asked again and again.", client->servers, client->last_error[0] ? ": " : "",
             client->last_error);
    fm_mutex_unlock(client->mutex);
    if (is_news && client->warn) client->warn(client->warn_ctx, fm_str_c(text));
}

/* Messages that wait to be taken: their number, and when it is time to tell people that it does not fall. */
typedef struct stall {
    int left;
    int64_t tell_us;
} stall;

static void watch(fm_kafka_client *client, stall *s)
{
    int left = rd_kafka_outq_len(client->rk);
    int64_t now_us = fm_clock_monotonic_us(fm_clock_real());

    if (s->tell_us == 0 || left < s->left) s->tell_us = now_us + TELL_AFTER_MS * 1000;
    else if (now_us > s->tell_us) tell(client);
    s->left = left;
}

static void note_answer(fm_kafka_client *client)
{
    fm_mutex_lock(client->mutex);
    client->is_told = false;
    fm_mutex_unlock(client->mutex);
}

static bool is_told(fm_kafka_client *client)
{
    fm_mutex_lock(client->mutex);
    bool told = client->is_told;
    fm_mutex_unlock(client->mutex);
    return told;
}

/* ---- asking again ---- */

/* What passes by itself when brokers come and go: a leader or a coordinator that moves or is not back yet. Java's client asks again
 * for as long as default.api.timeout.ms; librdkafka leaves it to the caller. */
static bool passes(rd_kafka_resp_err_t code)
{
    switch (code) {
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__TIMED_OUT: return true;
    default: return false;
    }
}

/* How long a question that is asked now may be asked. */
static int64_t patience_us(const fm_kafka_client *client)
{
    return fm_clock_monotonic_us(fm_clock_real()) + (int64_t)client->timeout_ms * 1000;
}

/* How long one answer is waited for: until people were told only so long that they can be, then until it is time to look up. */
static int answer_ms(fm_kafka_client *client, int64_t until_us)
{
    int64_t left_ms = (until_us - fm_clock_monotonic_us(fm_clock_real())) / 1000;

    if (left_ms < 1) left_ms = 1;
    if (client->stopped && left_ms > LOOK_UP_MS) left_ms = LOOK_UP_MS;
    return (int)(left_ms > TELL_AFTER_MS && !is_told(client) ? TELL_AFTER_MS : left_ms);
}

/* Whether to ask again, after a little while. */
static bool waits(fm_kafka_client *client, int64_t until_us, rd_kafka_resp_err_t code)
{
    if (!code) note_answer(client);
    if (!passes(code) || fm_clock_monotonic_us(fm_clock_real()) >= until_us || is_stopped(client)) return false;
    if (code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__TIMED_OUT) tell(client);
    fm_clock_sleep(fm_clock_real(), ASK_AGAIN_US, NULL);
    return true;
}

/* ---- nudges ---- */

/* librdkafka before 2.2 that has read as far ahead as it may looks again whether it may read on only once a second, unless
 * something else goes through its connection to the broker. So something else does: a small question, asked by a thread of its
 * own, since the answer is waited for. */
static void nudge_along(void *arg)
{
    fm_kafka_client *client = arg;
    nudger *n = client->nudger;
    char topic[sizeof n->topic];
    int64_t low, high;

    fm_mutex_lock(n->mutex);
    for (;;) {
        while (!n->ends && !n->wanted) fm_cond_wait(n->changed, n->mutex);
        if (n->ends) break;
        n->wanted = false;
        memcpy(topic, n->topic, sizeof topic);
        int32_t partition = n->partition;
        fm_mutex_unlock(n->mutex);
        rd_kafka_query_watermark_offsets(client->rk, topic, partition, &low, &high, 1000);
        fm_mutex_lock(n->mutex);
    }
    fm_mutex_unlock(n->mutex);
}

static void nudger_free(nudger *n)
{
    if (!n) return;
    if (n->thread) {
        fm_mutex_lock(n->mutex);
        n->ends = true;
        fm_cond_broadcast(n->changed);
        fm_mutex_unlock(n->mutex);
        fm_thread_join(n->thread);
    }
    fm_mutex_free(n->mutex);
    fm_cond_free(n->changed);
    free(n);
}

static fm_status nudger_new(fm_kafka_client *client, fm_error *err)
{
    nudger *n = client->nudger = calloc(1, sizeof *n);

    if (!n) return fm_no_memory(NULL, err);
    n->mutex = fm_mutex_new();
    n->changed = fm_cond_new();
    if (!n->mutex || !n->changed) return fm_no_memory(NULL, err);
    return fm_thread_start(nudge_along, client, "fm-kafka", &n->thread, err);
}

static void nudge(fm_kafka_client *client, const char *topic, int32_t partition)
{
    nudger *n = client->nudger;

    fm_mutex_lock(n->mutex);
    if (!n->wanted) {
        n->wanted = true;
        snprintf(n->topic, sizeof n->topic, "%s", topic);
        n->partition = partition;
        fm_cond_broadcast(n->changed);
    }
    fm_mutex_unlock(n->mutex);
}

/* ---- a client ---- */

static fm_status set(rd_kafka_conf_t *conf, const fm_kafka_setting *s, fm_error *err)
{
    char why[ERROR_TEXT_SIZE];
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, s->name.ptr, s->value.ptr, why, sizeof why);

    if (result == RD_KAFKA_CONF_OK) return FM_OK;
    const char *shown = s->written.len ? s->written.ptr : s->name.ptr;
    if (result == RD_KAFKA_CONF_UNKNOWN)
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_OPTION",
                       "Option %s has no counterpart in librdkafka, which speaks to Kafka here. Leave it out.", shown);
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option %s is not accepted: %s.", shown, why);
}

/* WAIT: how long a broker may hold a question for more messages when it has none. librdkafka asks one question at a time over a
 * connection, about the partitions that it may read on. While those with a backlog are read as far ahead as they may be, that is a
 * question about the ones that are at their end: no other can be asked until the broker gives up. With librdkafka's own half a
 * second a backlog of 4 partitions was read at a quarter of the speed. */
static fm_status configure(const fm_kafka_settings *settings, rd_kafka_conf_t **out, fm_error *err)
{
    static const struct {
        const char *name, *value;
        bool consumer, producer, always;
    } ours[] = {
        {"enable.auto.commit", "false", true, false, true},
        {"enable.auto.offset.store", "false", true, false, true},
        {"auto.offset.reset", "error", true, false, true},   /* a hole is told, never jumped over */
        {"enable.partition.eof", "true", true, false, true}, /* the end may lie behind the last record */
        {"check.crcs", "true", true, false, false},
        {"socket.nagle.disable", "true", true, true, false},
        {"fetch.message.max.bytes", "1048576", true, false, false},  /* of each partition; more falls out of the caches */
        {"fetch.wait.max.ms", "20", true, false, false},               /* see WAIT */
        {"queued.min.messages", "100000", true, false, false},       /* AHEAD_MESSAGES */
        {"queued.max.messages.kbytes", "32768", true, false, false}, /* AHEAD_KBYTES; of each partition */
        {"reconnect.backoff.max.ms", "1000", true, true, false}, /* Java's; librdkafka's own is ten times that */
        {"enable.idempotence", "true", false, true, false},
        {"delivery.report.only.error", "true", false, true, true},
        {"queue.buffering.max.kbytes", "65536", false, true, false}, /* librdkafka's own would be a gigabyte */
        {"queue.buffering.max.messages", "200000", false, true, false},
        {"linger.ms", "5", false, true, false},
        {"partitioner", "murmur2_random", false, true, false}, /* Java's */
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    fm_status st = FM_OK;
    char why[ERROR_TEXT_SIZE];
    bool consumer = settings->role == FM_KAFKA_CONSUMER;

    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (consumer ? ours[i].consumer : ours[i].producer)
            rd_kafka_conf_set(conf, ours[i].name, ours[i].value, why, sizeof why);
    if (consumer)
        rd_kafka_conf_set(conf, "isolation.level", settings->read_committed ? "read_committed" : "read_uncommitted", why,
                          sizeof why);
    for (int32_t i = 0; st == FM_OK && i < settings->n; i++) {
        bool taken = false;
        for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++)
            taken = taken || (ours[k].always && (consumer ? ours[k].consumer : ours[k].producer) &&
                              fm_str_eq(settings->items[i].name, fm_str_c(ours[k].name)));
        if (!taken) st = set(conf, &settings->items[i], err);
    }
    if (st == FM_OK) *out = conf;
    else rd_kafka_conf_destroy(conf);
    return st;
}

fm_status fm_kafka_check(const fm_kafka_settings *settings, fm_error *err)
{
    rd_kafka_conf_t *conf;

    FM_TRY(configure(settings, &conf, err));
    rd_kafka_conf_destroy(conf);
    return FM_OK;
}

fm_status fm_kafka_client_new(const fm_kafka_settings *settings, fm_kafka_client **out, fm_error *err)
{
    rd_kafka_conf_t *conf;
    char why[ERROR_TEXT_SIZE];
    fm_kafka_client *client = calloc(1, sizeof *client);

    *out = NULL;
    if (!client || !(client->mutex = fm_mutex_new())) {
        free(client);
        return fm_no_memory(NULL, err);
    }
    const fm_kafka_setting *mechanism = fm_kafka_settings_find(settings, "sasl.mechanisms");
    client->scram = mechanism && fm_str_starts(mechanism->value, FM_STR("SCRAM"));
    const fm_kafka_setting *servers = fm_kafka_settings_find(settings, "bootstrap.servers");
    client->servers = servers ? servers->value.ptr : "";
    client->warn = settings->warn;
    client->warn_ctx = settings->warn_ctx;
    client->stopped = settings->stopped;
    client->stopped_ctx = settings->stopped_ctx;
    client->timeout_ms = settings->timeout_ms > INT32_MAX ? INT32_MAX : (int)settings->timeout_ms;
    fm_status st = configure(settings, &conf, err);
    if (st == FM_OK) {
        rd_kafka_conf_set_opaque(conf, client);
        rd_kafka_conf_set_error_cb(conf, on_error);
        rd_kafka_conf_set_log_cb(conf, on_log);
        if (settings->role == FM_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf, on_undelivered);
        bool consumer = settings->role == FM_KAFKA_CONSUMER;
        client->rk = rd_kafka_new(consumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER, conf, why, sizeof why);
        if (!client->rk) {
            rd_kafka_conf_destroy(conf);
            st = fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Kafka: the options do not make a client: %s", why);
        }
    }
    if (st == FM_OK && settings->role == FM_KAFKA_CONSUMER && rd_kafka_version() < 0x02020000) st = nudger_new(client, err);
    if (st == FM_OK) *out = client;
    else fm_kafka_client_free(client);
    return st;
}

void fm_kafka_client_free(fm_kafka_client *client)
{
    if (!client) return;
    nudger_free(client->nudger);
    if (client->rk) rd_kafka_destroy(client->rk);
    for (known_topic *t = client->written, *next; t; t = next) {
        next = t->next;
        free(t);
    }
    fm_mutex_free(client->mutex);
    free(client);
}

/* ---- what there is ---- */

static fm_status add_topic(fm_kafka_client *client, const rd_kafka_metadata_topic_t *t, fm_arena *arena,
                           fm_kafka_partition *out, int32_t *n, fm_error *err)
{
    fm_str name = fm_arena_str(arena, fm_str_c(t->topic));

    if (!name.ptr) return fm_no_memory(arena, err);
    if (t->err) {
        char what[ERROR_TEXT_SIZE];
        snprintf(what, sizeof what, "asking for topic '%s'", t->topic);
        return failed(client, t->err, what, err);
    }
    /* The array of the answer is not in order. Partitions are numbered from 0 without holes. */
    for (int32_t i = 0; i < t->partition_cnt; i++) out[(*n)++] = (fm_kafka_partition){name, i, FM_KAFKA_NONE};
    return FM_OK;
}

static bool is_internal(const char *topic)
{
    return strcmp(topic, "__consumer_offsets") == 0 || strcmp(topic, "__transaction_state") == 0 ||
           strcmp(topic, "__share_group_state") == 0;
}

static fm_status copy_metadata(fm_kafka_client *client, const rd_kafka_metadata_t *meta, bool all, fm_arena *arena,
                               fm_kafka_partition **out, int32_t *n, fm_error *err)
{
    int64_t total = 0;

    for (int i = 0; i < meta->topic_cnt; i++) total += meta->topics[i].partition_cnt;
    *out = fm_arena_array(arena, fm_kafka_partition, total);
    *n = 0;
    if (!*out) return fm_no_memory(arena, err);
    for (int i = 0; i < meta->topic_cnt; i++) {
        if (all && (meta->topics[i].err || is_internal(meta->topics[i].topic))) continue;
        FM_TRY(add_topic(client, &meta->topics[i], arena, *out, n, err));
    }
    return FM_OK;
}

/* Asks for all topics or for one; what is wrong with that one is the code, too, and the answer there. */
static rd_kafka_resp_err_t ask_metadata(fm_kafka_client *client, rd_kafka_topic_t *rkt, int wait_ms, const rd_kafka_metadata_t **meta)
{
    if (*meta) rd_kafka_metadata_destroy(*meta);
    *meta = NULL;
    rd_kafka_resp_err_t code = rd_kafka_metadata(client->rk, rkt == NULL, rkt, meta, wait_ms);
    return !code && rkt && (*meta)->topic_cnt == 1 ? (*meta)->topics[0].err : code;
}

fm_status fm_kafka_client_partitions(fm_kafka_client *client, fm_str topic, fm_arena *arena, fm_kafka_partition **out,
                                     int32_t *n, fm_error *err)
{
    const rd_kafka_metadata_t *meta = NULL;
    rd_kafka_topic_t *rkt = topic.len ? rd_kafka_topic_new(client->rk, topic.ptr, NULL) : NULL;

    if (topic.len && !rkt)
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "'%.*s' is no name of a Kafka topic.", FM_STR_ARG(topic));
    int64_t until_us = patience_us(client);
    rd_kafka_resp_err_t code;
    while (waits(client, until_us, code = ask_metadata(client, rkt, answer_ms(client, until_us), &meta))) { }
    fm_status st = code && !meta ? failed(client, code, "asking for topics", err)
                        : copy_metadata(client, meta, topic.len == 0, arena, out, n, err);
    if (meta) rd_kafka_metadata_destroy(meta);
    if (rkt) rd_kafka_topic_destroy(rkt);
    return st;
}

static rd_kafka_resp_err_t first_error(const rd_kafka_topic_partition_list_t *list)
{
    for (int i = 0; i < list->cnt; i++)
        if (list->elems[i].err) return list->elems[i].err;
    return RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* Asks once; what is wrong with the first partition that has an error is the code, too. */
static rd_kafka_resp_err_t ask_offsets(fm_kafka_client *client, const fm_kafka_partition *partitions, int32_t n, int wait_ms,
                                       rd_kafka_topic_partition_list_t **list)
{
    if (*list) rd_kafka_topic_partition_list_destroy(*list);
    *list = rd_kafka_topic_partition_list_new(n);
    for (int32_t i = 0; i < n; i++)
        rd_kafka_topic_partition_list_add(*list, partitions[i].topic.ptr, partitions[i].partition)->offset = partitions[i].offset;
    rd_kafka_resp_err_t code = rd_kafka_offsets_for_times(client->rk, *list, wait_ms);
    return code ? code : first_error(*list);
}

fm_status fm_kafka_client_offsets(fm_kafka_client *client, fm_kafka_partition *partitions, int32_t n, fm_error *err)
{
    rd_kafka_topic_partition_list_t *list = NULL;
    int64_t until_us = patience_us(client);
    rd_kafka_resp_err_t code;
    fm_status st = FM_OK;

    if (n == 0) return FM_OK;
    while (waits(client, until_us, code = ask_offsets(client, partitions, n, answer_ms(client, until_us), &list))) { }
    if (code && code != first_error(list)) st = failed(client, code, "asking for offsets", err);
    for (int32_t i = 0; st == FM_OK && i < n; i++) {
        /* The answer is in order of topic and partition, not in that of the question. */
        const rd_kafka_topic_partition_t *p =
            rd_kafka_topic_partition_list_find(list, partitions[i].topic.ptr, partitions[i].partition);
        char what[ERROR_TEXT_SIZE];
        snprintf(what, sizeof what, "asking for an offset of %s-%d", partitions[i].topic.ptr, partitions[i].partition);
        if (!p || p->err) st = failed(client, p ? p->err : RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, what, err);
        else partitions[i].offset = p->offset < 0 ? FM_KAFKA_NONE : p->offset;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return st;
}

fm_status fm_kafka_group_note(fm_kafka_client *client, const fm_kafka_partition *partitions, int32_t n, int32_t wait_ms, fm_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(n);
    rd_kafka_queue_t *answers = wait_ms > 0 ? rd_kafka_queue_new(client->rk) : NULL;
    rd_kafka_resp_err_t code;

    for (int32_t i = 0; i < n; i++)
        rd_kafka_topic_partition_list_add(list, partitions[i].topic.ptr, partitions[i].partition)->offset = partitions[i].offset;
    if (!answers) {
        code = rd_kafka_commit(client->rk, list, 1);
    } else {
        code = rd_kafka_commit_queue(client->rk, list, answers, NULL, NULL);
        rd_kafka_event_t *answer = code ? NULL : rd_kafka_queue_poll(answers, wait_ms);
        if (!code) code = answer ? rd_kafka_event_error(answer) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_event_destroy(answer);
        rd_kafka_queue_destroy(answers);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return code ? failed(client, code, "noting offsets with a consumer group", err) : FM_OK;
}

/* ---- reading ---- */

struct fm_kafka_feed {
    fm_kafka_client *client;
    rd_kafka_topic_t *rkt;
    rd_kafka_queue_t *queue;
    char *topic;
    int32_t partition;
    int64_t at; /* all before was handed out, or is known to be no record */
    rd_kafka_message_t *messages[FM_KAFKA_RECORDS_MAX];
    int32_t from, n;  /* messages[from..n) came but were not asked for yet */
    int32_t lent;     /* messages[0..lent) are with the caller */
    int64_t taken, taken_size; /* messages and bytes since the last nudge */
};

fm_status fm_kafka_feed_open(fm_kafka_client *client, fm_str topic, int32_t partition, int64_t offset, fm_kafka_feed **out,
                             fm_error *err)
{
    fm_kafka_feed *f = calloc(1, sizeof *f);

    *out = NULL;
    if (!f) return fm_no_memory(NULL, err);
    f->client = client;
    f->partition = partition;
    f->at = offset;
    f->topic = malloc(topic.len + 1);
    f->rkt = rd_kafka_topic_new(client->rk, topic.ptr, NULL);
    f->queue = rd_kafka_queue_new(client->rk);
    if (!f->topic || !f->rkt || !f->queue) {
        fm_kafka_feed_close(f);
        return fm_no_memory(NULL, err);
    }
    memcpy(f->topic, topic.ptr, topic.len + 1);
    if (rd_kafka_consume_start_queue(f->rkt, partition, offset, f->queue) != 0) {
        rd_kafka_resp_err_t code = rd_kafka_last_error();
        fm_kafka_feed_close(f);
        return failed(client, code, "beginning to read", err);
    }
    *out = f;
    return FM_OK;
}

static void give_back(fm_kafka_feed *f)
{
    for (int32_t i = 0; i < f->lent; i++) rd_kafka_message_destroy(f->messages[i]);
    f->lent = 0;
}

void fm_kafka_feed_close(fm_kafka_feed *f)
{
    if (!f) return;
    give_back(f);
    for (int32_t i = f->from; i < f->n; i++) rd_kafka_message_destroy(f->messages[i]);
    if (f->queue && f->rkt) rd_kafka_consume_stop(f->rkt, f->partition);
    if (f->queue) rd_kafka_queue_destroy(f->queue);
    if (f->rkt) rd_kafka_topic_destroy(f->rkt);
    free(f->topic);
    free(f);
}

int64_t fm_kafka_feed_at(const fm_kafka_feed *f) { return f->at; }

/* What a reader has taken since the last nudge makes room for more to be read ahead: librdkafka shall see it. */
static void count_taken(fm_kafka_feed *f, const fm_kafka_record *records, int32_t n)
{
    if (!f->client->nudger) return;
    f->taken += n;
    for (int32_t i = 0; i < n; i++) f->taken_size += (int64_t)(records[i].key.len + records[i].value.len);
    if (f->taken < NUDGE_MESSAGES && f->taken_size < NUDGE_SIZE) return;
    f->taken = f->taken_size = 0;
    nudge(f->client, f->topic, f->partition);
}

/* Fetches messages: those that are there; if there are none, waits for one. */
static int32_t fetch(fm_kafka_feed *f, int32_t max, int32_t wait_ms)
{
    ssize_t n = rd_kafka_consume_batch_queue(f->queue, 0, f->messages, (size_t)max);

    if (n > 0 || wait_ms <= 0) return n > 0 ? (int32_t)n : 0;
    if (f->client->nudger && wait_ms > STALL_MS) {
        n = rd_kafka_consume_batch_queue(f->queue, STALL_MS, f->messages, 1);
        if (n <= 0) nudge(f->client, f->topic, f->partition);
    }
    if (n <= 0) n = rd_kafka_consume_batch_queue(f->queue, wait_ms, f->messages, 1);
    if (n <= 0 || max == 1) return n > 0 ? (int32_t)n : 0;
    ssize_t more = rd_kafka_consume_batch_queue(f->queue, 0, f->messages + 1, (size_t)max - 1);
    return 1 + (more > 0 ? (int32_t)more : 0);
}

/* A message that is none: the end of what is there, or an error. */
static fm_status take_event(fm_kafka_feed *f, rd_kafka_message_t *m, fm_error *err)
{
    rd_kafka_resp_err_t code = m->err;
    char what[ERROR_TEXT_SIZE];

    if (code == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (m->offset > f->at) f->at = m->offset;
        return FM_OK;
    }
    snprintf(what, sizeof what, "reading %s-%d at offset %lld", f->topic, f->partition, (long long)f->at);
    if (code == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE || code == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
        return fm_fail(err, FM_NOT_FOUND, "OFFSET_OUT_OF_RANGE", "Kafka: %s: this offset is not there.", what);
    fm_status st = failed(f->client, code, what, err);
    return st == FM_NOT_FOUND ? FM_UNAVAILABLE : st;
}

static void fill(const rd_kafka_message_t *m, fm_kafka_record *out)
{
    rd_kafka_timestamp_type_t type;

    out->key = (fm_str){m->key, m->key ? m->key_len : 0};
    out->value = (fm_str){m->payload, m->payload ? m->len : 0};
    out->offset = m->offset;
    out->timestamp_ms = rd_kafka_message_timestamp(m, &type);
    out->timestamp_type = type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME ? 1 : type == RD_KAFKA_TIMESTAMP_CREATE_TIME ? 0 : -1;
    out->message = (void *)(uintptr_t)m;
}

/* What came earlier and was not asked for moves to the front. */
static void move_kept(fm_kafka_feed *f)
{
    int32_t kept = f->n - f->from;

    if (kept && f->from) memmove(f->messages, f->messages + f->from, (size_t)kept * sizeof f->messages[0]);
    f->from = 0;
    f->n = kept;
}

fm_status fm_kafka_feed_read(fm_kafka_feed *f, int64_t end, int32_t max, int32_t wait_ms, fm_kafka_record *out, int32_t *n,
                             fm_error *err)
{
    int32_t taken = 0, i;
    fm_status st = FM_OK;

    fm_assert(max > 0 && max <= FM_KAFKA_RECORDS_MAX);
    *n = 0;
    give_back(f);
    move_kept(f);
    if (f->at >= end) return FM_OK;
    if (f->n == 0) f->n = fetch(f, max, wait_ms);
    for (i = 0; i < f->n && taken < max && st == FM_OK; i++) {
        rd_kafka_message_t *m = f->messages[i];
        if (m->err) {
            if (taken && m->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) break; /* first what came before it */
            st = take_event(f, m, err);
            rd_kafka_message_destroy(m);
            continue;
        }
        if (m->offset < f->at) { /* the front of a batch of records that began before */
            rd_kafka_message_destroy(m);
            continue;
        }
        if (m->offset >= end) {
            f->at = end;
            break;
        }
        f->messages[taken] = m;
        fill(m, &out[taken++]);
        f->at = m->offset + 1;
    }
    count_taken(f, out, taken);
    f->lent = taken;
    f->from = i;
    *n = taken;
    return st;
}

bool fm_kafka_feed_has_news(fm_kafka_feed *f)
{
    int32_t kept = 0;

    give_back(f);
    move_kept(f);
    if (f->n == 0) f->n = fetch(f, FM_KAFKA_RECORDS_MAX, 0);
    for (int32_t i = 0; i < f->n; i++) {
        rd_kafka_message_t *m = f->messages[i];
        bool is_end = m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && kept == 0;
        if (is_end && m->offset > f->at) f->at = m->offset;
        if (is_end) rd_kafka_message_destroy(m);
        else f->messages[kept++] = m;
    }
    f->n = kept;
    return kept > 0;
}

bool fm_kafka_record_header(const fm_kafka_record *record, int32_t i, fm_str *name, fm_str *value)
{
    rd_kafka_headers_t *headers;
    const char *key;
    const void *bytes;
    size_t size;

    if (rd_kafka_message_headers(record->message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        rd_kafka_header_get_all(headers, (size_t)i, &key, &bytes, &size) != RD_KAFKA_RESP_ERR_NO_ERROR)
        return false;
    *name = fm_str_c(key);
    *value = (fm_str){bytes, bytes ? size : 0};
    return true;
}

/* ---- writing ---- */

static fm_status check_delivered(fm_kafka_client *client, fm_error *err)
{
    fm_mutex_lock(client->mutex);
    rd_kafka_resp_err_t code = client->undelivered;
    fm_mutex_unlock(client->mutex);
    if (!code) return FM_OK;
    fm_status st = failed(client, code, "sending messages", err);
    return st == FM_NOT_FOUND ? FM_UNAVAILABLE : st;
}

/* NULL: there are none, or memory is out. */
static rd_kafka_headers_t *make_headers(const fm_kafka_outgoing *m)
{
    rd_kafka_headers_t *headers = m->n_headers ? rd_kafka_headers_new((size_t)m->n_headers) : NULL;

    for (int32_t i = 0; headers && i < m->n_headers; i++) {
        const fm_kafka_header *h = &m->headers[i];
        rd_kafka_header_add(headers, h->name.ptr, (ssize_t)h->name.len, h->value.ptr, h->value.ptr ? (ssize_t)h->value.len : -1);
    }
    return headers;
}

static rd_kafka_resp_err_t send_once(fm_kafka_client *client, const fm_kafka_outgoing *m)
{
    rd_kafka_headers_t *headers = make_headers(m);
    rd_kafka_resp_err_t code;

    /* An empty value is not a null one: it needs an address. */
    void *value = m->value.ptr ? (void *)(uintptr_t)m->value.ptr : NULL, *key = m->key.ptr ? (void *)(uintptr_t)m->key.ptr : NULL;
    code = headers ? rd_kafka_producev(client->rk, RD_KAFKA_V_TOPIC(m->topic.ptr), RD_KAFKA_V_PARTITION(m->partition),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, m->key.len),
                                       RD_KAFKA_V_VALUE(value, m->value.len), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END)
                   : rd_kafka_producev(client->rk, RD_KAFKA_V_TOPIC(m->topic.ptr), RD_KAFKA_V_PARTITION(m->partition),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, m->key.len),
                                       RD_KAFKA_V_VALUE(value, m->value.len), RD_KAFKA_V_END);
    if (code && headers) rd_kafka_headers_destroy(headers); /* it owns them only when it took the message */
    return code;
}

/* Whether messages went to the topic before; if not, notes that from now on they did. */
static bool is_written(fm_kafka_client *client, fm_str topic)
{
    fm_mutex_lock(client->mutex);
    known_topic **at = &client->written, *t = *at;
    for (; t && strcmp(t->name, topic.ptr) != 0; t = *at) at = &t->next;
    bool known = t != NULL;
    if (!t) t = malloc(sizeof *t + topic.len + 1);
    else *at = t->next;
    if (t) {
        memcpy(t->name, topic.ptr, topic.len + 1);
        t->next = client->written;
        client->written = t;
    }
    fm_mutex_unlock(client->mutex);
    return known || !t;
}

/* Learns who leads the partitions of a topic. Whether it is there at all, sending will tell. */
static void look_up(fm_kafka_client *client, fm_str topic)
{
    const rd_kafka_metadata_t *meta = NULL;
    rd_kafka_topic_t *rkt = rd_kafka_topic_new(client->rk, topic.ptr, NULL);
    int64_t until_us = patience_us(client);
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;

    if (!rkt) return; /* sending tells why */
    do code = ask_metadata(client, rkt, answer_ms(client, until_us), &meta);
    while ((code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__TIMED_OUT) && waits(client, until_us, code));
    if (meta) rd_kafka_metadata_destroy(meta);
    rd_kafka_topic_destroy(rkt);
}

fm_status fm_kafka_send(fm_kafka_client *client, const fm_kafka_outgoing *message, fm_error *err)
{
    rd_kafka_resp_err_t code;
    stall s = {0};

    if (!is_written(client, message->topic)) look_up(client, message->topic);
    while ((code = send_once(client, message)) == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
        rd_kafka_poll(client->rk, 10);
        FM_TRY(check_delivered(client, err));
        watch(client, &s);
    }
    if (!code) return FM_OK;
    char what[ERROR_TEXT_SIZE];
    snprintf(what, sizeof what, "sending a message of %zu bytes to '%s'", message->value.len, message->topic.ptr);
    FM_TRY(check_delivered(client, err));
    fm_status st = failed(client, code, what, err);
    bool users = code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
                 code == RD_KAFKA_RESP_ERR__INVALID_ARG;
    if (users && err) err->status = FM_INVALID;
    return users ? FM_INVALID : st == FM_NOT_FOUND ? FM_UNAVAILABLE : st;
}

fm_status fm_kafka_flush(fm_kafka_client *client, fm_error *err)
{
    stall s = {0};

    while (rd_kafka_flush(client->rk, 100) == RD_KAFKA_RESP_ERR__TIMED_OUT) {
        FM_TRY(check_delivered(client, err));
        watch(client, &s);
    }
    FM_TRY(check_delivered(client, err));
    note_answer(client);
    return FM_OK;
}

/* What failed in a transaction; frees the error. */
static fm_status transaction_failed(fm_kafka_client *client, rd_kafka_error_t *error, const char *what, fm_error *err)
{
    rd_kafka_resp_err_t code = rd_kafka_error_code(error);
    bool fenced = code == RD_KAFKA_RESP_ERR__FENCED || code == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH ||
                  code == RD_KAFKA_RESP_ERR_PRODUCER_FENCED;
    fm_status st;

    if (fenced)
        st = fm_fail(err, FM_CONFLICT, "FLOODMARK_KAFKA_FENCED",
                     "Kafka: %s: another run of this query has taken over its transactions. Only one may run at a time.", what);
    else
        st = failed(client, code, what, err);
    rd_kafka_error_destroy(error);
    return st == FM_NOT_FOUND ? FM_UNAVAILABLE : st;
}

enum { TRANSACTION_TRIES = 5 };

/* Whether to ask again: what failed may go well the next time. Frees the error then. */
static bool asks_again(fm_kafka_client *client, int64_t until_us, rd_kafka_error_t *error, int tried)
{
    if (!error) return false;
    if (!waits(client, until_us, rd_kafka_error_code(error)) && (!rd_kafka_error_is_retriable(error) || tried >= TRANSACTION_TRIES)) return false;
    rd_kafka_error_destroy(error);
    return true;
}

static rd_kafka_error_t *take_step(fm_kafka_client *client, rd_kafka_error_t *(*step)(rd_kafka_t *rk, int timeout_ms))
{
    int64_t until_us = patience_us(client);
    rd_kafka_error_t *error;
    int tried = 0;

    do error = step(client->rk, client->timeout_ms);
    while (asks_again(client, until_us, error, ++tried));
    return error;
}

fm_status fm_kafka_transactions_start(fm_kafka_client *client, fm_error *err)
{
    rd_kafka_error_t *error = take_step(client, rd_kafka_init_transactions);

    return error ? transaction_failed(client, error, "starting transactions", err) : FM_OK;
}

fm_status fm_kafka_transaction_begin(fm_kafka_client *client, fm_error *err)
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(client->rk);

    fm_mutex_lock(client->mutex);
    client->undelivered = RD_KAFKA_RESP_ERR_NO_ERROR; /* of the one before, which was aborted */
    fm_mutex_unlock(client->mutex);
    return error ? transaction_failed(client, error, "beginning a transaction", err) : FM_OK;
}

static rd_kafka_error_t *set_mark(fm_kafka_client *client, fm_str group, fm_str topic, int64_t mark)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_consumer_group_metadata_t *of = rd_kafka_consumer_group_metadata_new(group.ptr);
    rd_kafka_error_t *error;

    rd_kafka_topic_partition_list_add(list, topic.ptr, 0)->offset = mark;
    int64_t until_us = patience_us(client);
    int tried = 0;
    do error = rd_kafka_send_offsets_to_transaction(client->rk, list, of, client->timeout_ms);
    while (asks_again(client, until_us, error, ++tried));
    rd_kafka_consumer_group_metadata_destroy(of);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

fm_status fm_kafka_transaction_commit(fm_kafka_client *client, fm_str group, fm_str topic, int64_t mark, fm_error *err)
{
    FM_TRY(fm_kafka_flush(client, err));
    rd_kafka_error_t *error = set_mark(client, group, topic, mark);
    if (error) return transaction_failed(client, error, "marking a transaction", err);
    error = take_step(client, rd_kafka_commit_transaction);
    return error ? transaction_failed(client, error, "committing a transaction", err) : FM_OK;
}

fm_status fm_kafka_transaction_abort(fm_kafka_client *client, fm_error *err)
{
    rd_kafka_error_t *error = take_step(client, rd_kafka_abort_transaction);

    return error ? transaction_failed(client, error, "aborting a transaction", err) : FM_OK;
}

fm_status fm_kafka_mark(fm_kafka_client *client, fm_str topic, int64_t *out, fm_error *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    int64_t until_us = patience_us(client);
    rd_kafka_resp_err_t code;

    rd_kafka_topic_partition_list_add(list, topic.ptr, 0);
    do {
        code = rd_kafka_committed(client->rk, list, answer_ms(client, until_us));
        if (!code) code = list->elems[0].err;
    } while (waits(client, until_us, code));
    *out = list->elems[0].offset < 0 ? FM_KAFKA_NONE : list->elems[0].offset;
    rd_kafka_topic_partition_list_destroy(list);
    return code ? failed(client, code, "asking which batch was written last", err) : FM_OK;
}
