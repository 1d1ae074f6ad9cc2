/* remote/kafka_settings.c: the table of names, and the values that are taken apart. */
#include "remote/kafka_settings.h"

#include <stdio.h>

enum { TIMEOUT_MS_DEFAULT = 60000 };

/* ---- names ---- */

/* Properties that both clients have, under other names. */
typedef struct renamed {
    const char *java, *own;
} renamed;

static const renamed renames[] = {
    {"fetch.max.wait.ms", "fetch.wait.max.ms"},
    {"max.partition.fetch.bytes", "fetch.message.max.bytes"},
    {"max.request.size", "message.max.bytes"},
    {"receive.buffer.bytes", "socket.receive.buffer.bytes"},
    {"request.timeout.ms", "socket.timeout.ms"},
    {"sasl.mechanism", "sasl.mechanisms"},
    {"send.buffer.bytes", "socket.send.buffer.bytes"},
    {"ssl.keystore.certificate.chain", "ssl.certificate.pem"},
    {"ssl.keystore.key", "ssl.key.pem"},
    {"ssl.truststore.certificates", "ssl.ca.pem"},
};

/* Properties that cannot be had, and why or what instead. */
typedef struct refusal {
    const char *name;
    bool consumer, producer;
    fm_status status;
    const char *why;
} refusal;

static const refusal refusals[] = {
    {"auto.offset.reset", true, false, FM_INVALID,
     "Set the option startingOffsets to 'earliest' or 'latest' instead: it says where a new query starts, and a query "
     "that goes on starts where it left off"},
    {"key.deserializer", true, false, FM_INVALID, "Keys are BINARY; cast them in the query"},
    {"value.deserializer", true, false, FM_INVALID, "Values are BINARY; cast them in the query: CAST(value AS STRING)"},
    {"enable.auto.commit", true, false, FM_INVALID, "How far the query has read stands in its checkpoint"},
    {"interceptor.classes", true, true, FM_INVALID, "There are no Java classes here"},
    {"key.serializer", false, true, FM_INVALID, "Keys are written as the bytes of the column 'key'"},
    {"value.serializer", false, true, FM_INVALID, "Values are written as the bytes of the column 'value'"},
    {"transactional.id", false, true, FM_INVALID,
     "Set the option transactional to 'true': the ids are made from the checkpoint"},
    {"partitioner.class", false, true, FM_UNSUPPORTED,
     "Keys are spread as Java's default does it; to choose otherwise, give the rows a column 'partition'"},
    {"metric.reporters", true, true, FM_UNSUPPORTED, "The query's progress has the metrics"},
    {"ssl.provider", true, true, FM_UNSUPPORTED, "TLS is OpenSSL's"},
    {"ssl.protocol", true, true, FM_UNSUPPORTED, "The version is agreed upon with the broker: TLS 1.2 or 1.3"},
    {"ssl.enabled.protocols", true, true, FM_UNSUPPORTED,
     "The version is agreed upon with the broker: TLS 1.2 or 1.3"},
    {"ssl.keymanager.algorithm", true, true, FM_UNSUPPORTED, "There is no Java security provider here"},
    {"ssl.trustmanager.algorithm", true, true, FM_UNSUPPORTED, "There is no Java security provider here"},
    {"ssl.secure.random.implementation", true, true, FM_UNSUPPORTED, "There is no Java security provider here"},
    {"ssl.engine.factory.class", true, true, FM_UNSUPPORTED, "There are no Java classes here"},
    {"security.providers", true, true, FM_UNSUPPORTED, "There is no Java security provider here"},
    {"sasl.client.callback.handler.class", true, true, FM_UNSUPPORTED, "There are no Java classes here"},
    {"sasl.login.callback.handler.class", true, true, FM_UNSUPPORTED, "There are no Java classes here"},
    {"sasl.login.class", true, true, FM_UNSUPPORTED, "There are no Java classes here"},
    {"enable.partition.eof", true, false, FM_INVALID, "It is used by the source itself"},
};

/* Properties of Java that change nothing here: the source joins no group and reads each partition by itself. */
static const char *const without_effect[] = {"group.id",
                                             "group.instance.id",
                                             "group.protocol",
                                             "heartbeat.interval.ms",
                                             "partition.assignment.strategy",
                                             "session.timeout.ms",
                                             "max.poll.interval.ms",
                                             "exclude.internal.topics",
                                             "metadata.max.idle.ms",
                                             "sasl.jaas.config", /* read below */
                                             "ssl.keystore.type",
                                             "ssl.truststore.type",
                                             "ssl.truststore.password"};

static bool among(fm_str name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (fm_str_eq_ci(name, fm_str_c(names[i]))) return true;
    return false;
}

/* ---- the list ---- */

const fm_kafka_setting *fm_kafka_settings_find(const fm_kafka_settings *s, const char *name)
{
    for (int32_t i = 0; i < s->n; i++)
        if (fm_str_eq(s->items[i].name, fm_str_c(name))) return &s->items[i];
    return NULL;
}

static fm_status put(fm_kafka_settings *s, fm_str name, fm_str value, fm_str written, fm_error *err)
{
    fm_kafka_setting made = {fm_arena_str(s->arena, name), fm_arena_str(s->arena, value),
                             fm_arena_str(s->arena, written)};

    if (!made.name.ptr || !made.value.ptr || !made.written.ptr) return fm_no_memory(s->arena, err);
    for (int32_t i = 0; i < s->n; i++) {
        if (!fm_str_eq(s->items[i].name, name)) continue;
        s->items[i] = made;
        return FM_OK;
    }
    if (s->n == s->cap) {
        int32_t cap = s->cap ? s->cap * 2 : 32;
        fm_kafka_setting *items = fm_arena_array(s->arena, fm_kafka_setting, cap);
        if (!items) return fm_no_memory(s->arena, err);
        if (s->n) memcpy(items, s->items, (size_t)s->n * sizeof *items);
        s->items = items;
        s->cap = cap;
    }
    s->items[s->n++] = made;
    return FM_OK;
}

fm_status fm_kafka_settings_set(fm_kafka_settings *s, const char *name, fm_str value, fm_error *err)
{
    return put(s, fm_str_c(name), value, (fm_str){"", 0}, err);
}

fm_status fm_kafka_settings_default(fm_kafka_settings *s, const char *name, fm_str value, fm_error *err)
{
    return fm_kafka_settings_find(s, name) ? FM_OK : fm_kafka_settings_set(s, name, value, err);
}

/* ---- sasl.jaas.config ---- */

/* key="value" pairs behind the class and its control flag:
 *
 *     org.apache.kafka.common.security.scram.ScramLoginModule required username="alice" password="a \" b"; */
typedef struct jaas {
    fm_str rest, module;
} jaas;

static fm_status bad_jaas(const char *what, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option kafka.sasl.jaas.config is not understood: %s. Write it like "
                   "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"alice\" "
                   "password=\"...\";",
                   what);
}

static fm_str next_word(jaas *j, const char *stops)
{
    size_t from = 0, to;

    while (from < j->rest.len && strchr(" \t\r\n", j->rest.ptr[from])) from++;
    for (to = from; to < j->rest.len && !strchr(stops, j->rest.ptr[to]);) to++;
    fm_str word = {j->rest.ptr + from, to - from};
    j->rest = (fm_str){j->rest.ptr + to, j->rest.len - to};
    return word;
}

static fm_status quoted_value(jaas *j, fm_arena *arena, fm_str *out, fm_error *err)
{
    char *copy = fm_arena_alloc(arena, j->rest.len + 1, 1), quote = j->rest.ptr[0];
    size_t n = 0, i = 1;

    if (!copy) return fm_no_memory(arena, err);
    for (; i < j->rest.len && j->rest.ptr[i] != quote; i++) {
        if (j->rest.ptr[i] == '\\' && i + 1 < j->rest.len) i++;
        copy[n++] = j->rest.ptr[i];
    }
    if (i >= j->rest.len) return bad_jaas("a quote is not closed", err);
    copy[n] = 0;
    *out = (fm_str){copy, n};
    j->rest = (fm_str){j->rest.ptr + i + 1, j->rest.len - i - 1};
    return FM_OK;
}

/* One pair; *end at the ';' or the end of the text. */
static fm_status next_pair(jaas *j, fm_arena *arena, fm_str *key, fm_str *value, bool *end, fm_error *err)
{
    *key = next_word(j, " \t\r\n=;");
    *end = key->len == 0;
    if (*end) return FM_OK;
    next_word(j, "=;"); /* blanks before the '=' */
    if (j->rest.len == 0 || j->rest.ptr[0] != '=') return bad_jaas("a name stands without '=' and a value", err);
    j->rest = (fm_str){j->rest.ptr + 1, j->rest.len - 1};
    while (j->rest.len && strchr(" \t\r\n", j->rest.ptr[0])) j->rest = (fm_str){j->rest.ptr + 1, j->rest.len - 1};
    if (j->rest.len && (j->rest.ptr[0] == '"' || j->rest.ptr[0] == '\''))
        return quoted_value(j, arena, value, err);
    *value = next_word(j, " \t\r\n;");
    return FM_OK;
}

/* What each login module's pairs are called by librdkafka. */
typedef struct jaas_pair {
    const char *module, *key, *own;
} jaas_pair;

static const jaas_pair jaas_pairs[] = {
    {"PlainLoginModule", "username", "sasl.username"},
    {"PlainLoginModule", "password", "sasl.password"},
    {"ScramLoginModule", "username", "sasl.username"},
    {"ScramLoginModule", "password", "sasl.password"},
    {"OAuthBearerLoginModule", "clientId", "sasl.oauthbearer.client.id"},
    {"OAuthBearerLoginModule", "clientSecret", "sasl.oauthbearer.client.secret"},
    {"OAuthBearerLoginModule", "scope", "sasl.oauthbearer.scope"},
    {"Krb5LoginModule", "keyTab", "sasl.kerberos.keytab"},
    {"Krb5LoginModule", "principal", "sasl.kerberos.principal"},
    {"Krb5LoginModule", "serviceName", "sasl.kerberos.service.name"},
    {"Krb5LoginModule", "useKeyTab", NULL}, /* said by the keytab */
    {"Krb5LoginModule", "storeKey", NULL},
    {"Krb5LoginModule", "useTicketCache", NULL},
    {"ScramLoginModule", "tokenauth", NULL},
};

static fm_status put_jaas_pair(fm_kafka_settings *s, fm_str module, fm_str key, fm_str value, fm_error *err)
{
    for (size_t i = 0; i < sizeof jaas_pairs / sizeof jaas_pairs[0]; i++) {
        const jaas_pair *p = &jaas_pairs[i];
        if (!fm_str_eq(module, fm_str_c(p->module)) || !fm_str_eq(key, fm_str_c(p->key))) continue;
        return p->own ? put(s, fm_str_c(p->own), value, FM_STR("kafka.sasl.jaas.config"), err) : FM_OK;
    }
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_OPTION",
                   "Option kafka.sasl.jaas.config: '%.*s' of %.*s has no counterpart here.", FM_STR_ARG(key),
                   FM_STR_ARG(module));
}

static fm_status read_jaas(fm_kafka_settings *s, fm_str text, fm_error *err)
{
    jaas j = {.rest = text};
    fm_str key, value;
    bool end, known = false;

    j.module = next_word(&j, " \t\r\n;");
    const char *dot = j.module.len ? memrchr(j.module.ptr, '.', j.module.len) : NULL;
    if (dot) j.module = (fm_str){dot + 1, (size_t)(j.module.ptr + j.module.len - dot - 1)};
    for (size_t i = 0; i < sizeof jaas_pairs / sizeof jaas_pairs[0]; i++)
        known = known || fm_str_eq(j.module, fm_str_c(jaas_pairs[i].module));
    if (!known) return bad_jaas("it begins with none of the login modules Plain, Scram, OAuthBearer and Krb5", err);
    next_word(&j, " \t\r\n;"); /* required */
    for (;;) {
        FM_TRY(next_pair(&j, s->arena, &key, &value, &end, err));
        if (end) break;
        FM_TRY(put_jaas_pair(s, j.module, key, value, err));
    }
    if (!fm_str_eq(fm_str_trim(j.rest), FM_STR(";"))) return bad_jaas("it does not end with ';'", err);
    if (fm_str_eq(j.module, FM_STR("OAuthBearerLoginModule")))
        return put(s, FM_STR("sasl.oauthbearer.method"), FM_STR("oidc"), FM_STR("kafka.sasl.jaas.config"), err);
    return FM_OK;
}

/* ---- key and trust stores ---- */

static fm_str option(const fm_options *options, const char *key)
{
    return fm_options_get(options, key, (fm_str){"", 0});
}

static fm_status bad_store(const char *key, const char *take, fm_error *err)
{
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_OPTION",
                   "Option %s: Java key stores (JKS) cannot be read. Export it with keytool and openssl to PEM, and say so: "
                   "%s.",
                   key, take);
}

/* Stores are files of PEM texts, the texts themselves, or, for keys, PKCS #12. */
static fm_status read_stores(fm_kafka_settings *s, const fm_options *options, fm_error *err)
{
    fm_str trust = option(options, "kafka.ssl.truststore.location"), trust_type = option(options, "kafka.ssl.truststore.type");
    fm_str keys = option(options, "kafka.ssl.keystore.location"), keys_type = option(options, "kafka.ssl.keystore.type");

    if (trust.len) {
        if (!fm_str_eq_ci(trust_type, FM_STR("PEM")))
            return bad_store("kafka.ssl.truststore.location", "kafka.ssl.truststore.type 'PEM'", err);
        FM_TRY(put(s, FM_STR("ssl.ca.location"), trust, FM_STR("kafka.ssl.truststore.location"), err));
    }
    if (keys.len && fm_str_eq_ci(keys_type, FM_STR("PKCS12"))) {
        FM_TRY(put(s, FM_STR("ssl.keystore.location"), keys, FM_STR("kafka.ssl.keystore.location"), err));
    } else if (keys.len) {
        if (!fm_str_eq_ci(keys_type, FM_STR("PEM")))
            return bad_store("kafka.ssl.keystore.location", "kafka.ssl.keystore.type 'PEM' or 'PKCS12'", err);
        FM_TRY(put(s, FM_STR("ssl.certificate.location"), keys, FM_STR("kafka.ssl.keystore.location"), err));
        FM_TRY(put(s, FM_STR("ssl.key.location"), keys, FM_STR("kafka.ssl.keystore.location"), err));
    }
    return FM_OK;
}

/* ---- one option ---- */

static fm_status check_refused(fm_str name, fm_kafka_role role, fm_error *err)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const refusal *r = &refusals[i];
        if (!fm_str_eq_ci(name, fm_str_c(r->name)) || !(role == FM_KAFKA_CONSUMER ? r->consumer : r->producer)) continue;
        return fm_fail(err, r->status, r->status == FM_INVALID ? "FLOODMARK_INVALID_OPTION" : "FLOODMARK_UNSUPPORTED_OPTION",
                       "Kafka option '%s' is not supported. %s.", r->name, r->why);
    }
    return FM_OK;
}

static fm_status number(const fm_option *o, int64_t *out, fm_error *err)
{
    if (fm_str_to_i64(o->value, out) && *out >= 0) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option %.*s '%.*s' must be a number, 0 or more.",
                   FM_STR_ARG(o->key), FM_STR_ARG(o->value));
}

/* Settings that this program obeys itself. *own: it is one of them. */
static fm_status read_own(fm_kafka_settings *s, const fm_option *o, fm_str name, bool *own, fm_error *err)
{
    *own = true;
    if (fm_str_eq_ci(name, FM_STR("max.poll.records"))) return number(o, &s->rows_max, err);
    if (fm_str_eq_ci(name, FM_STR("default.api.timeout.ms")) || fm_str_eq_ci(name, FM_STR("max.block.ms")))
        return number(o, &s->timeout_ms, err);
    if (fm_str_eq_ci(name, FM_STR("buffer.memory"))) {
        int64_t bytes;
        char text[24];
        FM_TRY(number(o, &bytes, err));
        snprintf(text, sizeof text, "%lld", (long long)(bytes < 1024 ? 1 : bytes / 1024));
        return put(s, FM_STR("queue.buffering.max.kbytes"), fm_str_c(text), o->key, err);
    }
    if (fm_str_eq_ci(name, FM_STR("isolation.level"))) {
        s->read_committed = fm_str_eq_ci(o->value, FM_STR("read_committed"));
        if (s->read_committed || fm_str_eq_ci(o->value, FM_STR("read_uncommitted"))) return FM_OK;
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option kafka.isolation.level '%.*s' is not known: use read_committed or read_uncommitted.",
                       FM_STR_ARG(o->value));
    }
    if (fm_str_eq_ci(name, FM_STR("ssl.endpoint.identification.algorithm")) && o->value.len == 0)
        return put(s, FM_STR("ssl.endpoint.identification.algorithm"), FM_STR("none"), o->key, err);
    *own = false;
    return FM_OK;
}

static fm_status read_one(fm_kafka_settings *s, const fm_option *o, fm_error *err)
{
    fm_str name = {o->key.ptr + 6, o->key.len - 6};
    bool own;

    FM_TRY(check_refused(name, s->role, err));
    FM_TRY(read_own(s, o, name, &own, err));
    if (own || among(name, without_effect, sizeof without_effect / sizeof without_effect[0])) return FM_OK;
    if (fm_str_eq_ci(name, FM_STR("ssl.truststore.location")) || fm_str_eq_ci(name, FM_STR("ssl.keystore.location")))
        return FM_OK; /* read_stores */
    for (size_t i = 0; i < sizeof renames / sizeof renames[0]; i++)
        if (fm_str_eq_ci(name, fm_str_c(renames[i].java)))
            return put(s, fm_str_c(renames[i].own), o->value, o->key, err);
    char *lower = fm_arena_alloc(s->arena, name.len + 1, 1); /* options fold case, librdkafka's names do not */
    if (!lower) return fm_no_memory(s->arena, err);
    for (size_t i = 0; i < name.len; i++) lower[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] + 32) : name.ptr[i];
    return put(s, (fm_str){lower, name.len}, o->value, o->key, err);
}

/* Rule: Java's client: each address has a port. One that cannot be an address would be tried for ever. */
static fm_status check_servers(fm_str servers, fm_error *err)
{
    for (size_t from = 0, i = 0; i <= servers.len; i++) {
        if (i < servers.len && servers.ptr[i] != ',') continue;
        fm_str one = fm_str_trim((fm_str){servers.ptr + from, i - from});
        const char *colon = one.len ? memrchr(one.ptr, ':', one.len) : NULL;
        fm_str port = colon ? (fm_str){colon + 1, (size_t)(one.ptr + one.len - colon - 1)} : (fm_str){"", 0};
        int64_t number;
        from = i + 1;
        if (one.len == 0 && servers.len) continue;
        if (colon && colon > one.ptr && fm_str_to_i64(port, &number) && number > 0 && number < 65536) continue;
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "Option kafka.bootstrap.servers: '%.*s' is no address of a broker: write host:port, and commas between several.", FM_STR_ARG(one));
    }
    return FM_OK;
}

fm_status fm_kafka_settings_read(const fm_options *options, fm_kafka_role role, fm_arena *arena, fm_kafka_settings *out,
                                 fm_error *err)
{
    *out = (fm_kafka_settings){.role = role, .arena = arena, .timeout_ms = TIMEOUT_MS_DEFAULT};
    for (int32_t i = 0; i < options->n; i++) {
        const fm_option *o = &options->items[i];
        if (o->key.len > 6 && fm_str_eq_ci((fm_str){o->key.ptr, 6}, FM_STR("kafka."))) FM_TRY(read_one(out, o, err));
    }
    fm_str jaas_text = option(options, "kafka.sasl.jaas.config");
    if (jaas_text.len) FM_TRY(read_jaas(out, jaas_text, err));
    FM_TRY(read_stores(out, options, err));
    const fm_kafka_setting *servers = fm_kafka_settings_find(out, "bootstrap.servers");
    if (servers) return check_servers(servers->value, err);
    return fm_fail(err, FM_INVALID, "FLOODMARK_MISSING_OPTION",
                   "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka %s: the addresses of some "
                   "brokers, host:port,host:port.",
                   role == FM_KAFKA_CONSUMER ? "consumer" : "producer");
}
