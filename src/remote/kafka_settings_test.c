/* remote/kafka_settings_test.c: properties as Java users write them. */
#include "remote/kafka_client.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct one_case {
    fm_kafka_role role;
    const char *options[8]; /* key, value, ...; NULL ends them; bootstrap.servers is added */
    fm_status status;
    const char *want; /* "name=value ..." without bootstrap.servers; or what stands in the message */
} one_case;

#define SCRAM "org.apache.kafka.common.security.scram.ScramLoginModule required "

static const one_case cases[] = {
    {FM_KAFKA_CONSUMER, {NULL}, FM_OK, ""},
    {FM_KAFKA_CONSUMER, {"KAFKA.Fetch.Max.Wait.Ms", "10"}, FM_OK, "fetch.wait.max.ms=10"},
    {FM_KAFKA_CONSUMER, {"kafka.max.partition.fetch.bytes", "1000"}, FM_OK, "fetch.message.max.bytes=1000"},
    {FM_KAFKA_CONSUMER, {"kafka.group.id", "g", "kafka.session.timeout.ms", "1"}, FM_OK, ""},
    {FM_KAFKA_CONSUMER, {"kafka.queued.min.messages", "7"}, FM_OK, "queued.min.messages=7"},
    {FM_KAFKA_CONSUMER,
     {"kafka.security.protocol", "SASL_SSL", "kafka.sasl.mechanism", "SCRAM-SHA-256", "kafka.sasl.jaas.config",
      SCRAM "username=\"alice\" password=\"se\\\"c;r et\";"},
     FM_OK,
     "security.protocol=SASL_SSL sasl.mechanisms=SCRAM-SHA-256 sasl.username=alice sasl.password=se\"c;r et"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", SCRAM "\n username = 'a'\n  password=b ;\n"}, FM_OK, "sasl.username=a sasl.password=b"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", SCRAM "username=\"a\""}, FM_INVALID, "does not end with ';'"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", SCRAM "username=\"a"}, FM_INVALID, "quote is not closed"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", SCRAM "username;"}, FM_INVALID, "without '='"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", SCRAM "color=\"red\";"}, FM_UNSUPPORTED, "'color'"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", "x.y.OtherModule required;"}, FM_INVALID, "none of the login modules"},
    {FM_KAFKA_CONSUMER, {"kafka.sasl.jaas.config", ""}, FM_OK, ""},
    {FM_KAFKA_CONSUMER, {"kafka.ssl.truststore.location", "/ca.pem", "kafka.ssl.truststore.type", "pem"}, FM_OK, "ssl.ca.location=/ca.pem"},
    {FM_KAFKA_CONSUMER, {"kafka.ssl.truststore.location", "/ca.jks"}, FM_UNSUPPORTED, "JKS"},
    {FM_KAFKA_CONSUMER, {"kafka.ssl.keystore.location", "/k.p12", "kafka.ssl.keystore.type", "PKCS12"}, FM_OK, "ssl.keystore.location=/k.p12"},
    {FM_KAFKA_CONSUMER, {"kafka.ssl.endpoint.identification.algorithm", ""}, FM_OK, "ssl.endpoint.identification.algorithm=none"},
    {FM_KAFKA_CONSUMER, {"kafka.isolation.level", "serializable"}, FM_INVALID, "read_committed"},
    {FM_KAFKA_CONSUMER, {"kafka.auto.offset.reset", "earliest"}, FM_INVALID, "startingOffsets"},
    {FM_KAFKA_CONSUMER, {"kafka.key.deserializer", "x"}, FM_INVALID, "key.deserializer"},
    {FM_KAFKA_CONSUMER, {"kafka.interceptor.classes", "x"}, FM_INVALID, "interceptor.classes"},
    {FM_KAFKA_CONSUMER, {"kafka.max.poll.records", "x"}, FM_INVALID, "max.poll.records"},
    {FM_KAFKA_PRODUCER, {"kafka.key.serializer", "x"}, FM_INVALID, "key.serializer"},
    {FM_KAFKA_PRODUCER, {"kafka.transactional.id", "x"}, FM_INVALID, "transactional"},
    {FM_KAFKA_PRODUCER, {"kafka.buffer.memory", "2048", "kafka.max.request.size", "5000"}, FM_OK, "queue.buffering.max.kbytes=2 message.max.bytes=5000"},
    {FM_KAFKA_PRODUCER, {"kafka.partitioner.class", "x"}, FM_UNSUPPORTED, "partition"},
};

static fm_status read(const one_case *c, fm_arena *arena, fm_kafka_settings *out, fm_error *err)
{
    fm_options options = {0};

    for (int i = 0; c->options[i]; i += 2) fm_options_set(arena, &options, fm_str_c(c->options[i]), fm_str_c(c->options[i + 1]));
    fm_options_set(arena, &options, FM_STR("kafka.bootstrap.servers"), FM_STR("127.0.0.1:1"));
    return fm_kafka_settings_read(&options, c->role, arena, out, err);
}

static void properties_are_translated(void **state)
{
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_kafka_settings s;
        fm_error err = FM_ERROR_INIT;
        fm_strbuf text = {0};
        fm_status st = read(&cases[i], arena, &s, &err);
        if (st != cases[i].status) fail_msg("case %zu: %s %s", i, fm_status_name(st), err.message);
        for (int32_t k = 0; st == FM_OK && k < s.n; k++)
            if (!fm_str_eq(s.items[k].name, FM_STR("bootstrap.servers")))
                fm_strbuf_printf(&text, "%s%s=%s", text.len ? " " : "", s.items[k].name.ptr, s.items[k].value.ptr);
        if (st == FM_OK) assert_string_equal(text.ptr ? text.ptr : "", cases[i].want);
        else assert_non_null(strstr(err.message, cases[i].want));
        fm_strbuf_fini(&text);
    }
    fm_arena_free(arena);
}

static void the_brokers_are_needed(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_options none = {0};
    fm_kafka_settings s;
    fm_error err = FM_ERROR_INIT;

    (void)state;
    assert_int_equal(fm_kafka_settings_read(&none, FM_KAFKA_CONSUMER, arena, &s, &err), FM_INVALID);
    assert_string_equal(err.condition, "FLOODMARK_MISSING_OPTION");
    static const struct {
        const char *servers;
        bool good;
    } addresses[] = {{"a:1", true}, {"a:9092, b:9093", true}, {"[::1]:9092", true}, {"PLAINTEXT://a:9092,", true}, {"", false}, {"a", false}, {"a:", false}, {":9092", false},
                     {"http://x", false}, {"a:1,b", false}, {"a:99999", false}, {"a:x", false}};
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
        fm_options options = {0};
        fm_options_set(arena, &options, FM_STR("kafka.bootstrap.servers"), fm_str_c(addresses[i].servers));
        fm_status st = fm_kafka_settings_read(&options, FM_KAFKA_CONSUMER, arena, &s, &err);
        if ((st == FM_OK) != addresses[i].good) fail_msg("'%s': %s", addresses[i].servers, fm_status_name(st));
    }
    fm_arena_free(arena);
}

static void the_client_library_is_asked(void **state)
{
    static const one_case asked[] = {
        {FM_KAFKA_CONSUMER, {"kafka.fetch.min.bytes", "1"}, FM_OK, ""},
        {FM_KAFKA_CONSUMER, {"kafka.fetch.min.bytes", "many"}, FM_INVALID, "kafka.fetch.min.bytes"},
        {FM_KAFKA_CONSUMER, {"kafka.no.such.thing", "1"}, FM_UNSUPPORTED, "kafka.no.such.thing"},
        {FM_KAFKA_PRODUCER, {"kafka.compression.type", "zstd", "kafka.acks", "all"}, FM_OK, ""},
    };
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        fm_kafka_settings s;
        fm_error err = FM_ERROR_INIT;
        assert_int_equal(read(&asked[i], arena, &s, &err), FM_OK);
        assert_int_equal(fm_kafka_check(&s, &err), asked[i].status);
        assert_non_null(strstr(err.message, asked[i].want));
    }
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(properties_are_translated),
        cmocka_unit_test(the_brokers_are_needed),
        cmocka_unit_test(the_client_library_is_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
