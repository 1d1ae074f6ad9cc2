// bench/decode_simdjson.cpp: the work of bench/decode.c with simdjson, by its fastest interface: on-demand over all the
// lines, strings as views, doubles, times by a plain ISO reader with the date kept.
#include <simdjson.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <ctime>
#include <vector>

#include "decode_lines.h"

static double now_s()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return double(t.tv_sec) + double(t.tv_nsec) * 1e-9;
}

static int64_t days_from_civil(int64_t y, int m, int d)
{
    y -= m <= 2;
    int64_t era = (y >= 0 ? y : y - 399) / 400, yoe = y - era * 400;
    int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1, doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
    return era * 146097 + doe - 719468;
}

// "2026-01-01T10:00:00.123Z"
static bool parse_time(std::string_view s, int64_t *out)
{
    static thread_local char day[10];
    static thread_local int64_t day_us;
    auto two = [&](size_t i) { return (s[i] - '0') * 10 + (s[i + 1] - '0'); };
    if (s.size() != 24 || s[10] != 'T' || s[23] != 'Z') return false;
    if (memcmp(day, s.data(), 10) != 0) {
        memcpy(day, s.data(), 10);
        day_us = days_from_civil(two(0) * 100 + two(2), two(5), two(8)) * 86400000000;
    }
    int64_t ms = ((two(11) * 60 + two(14)) * 60 + two(17)) * 1000 + (s[20] - '0') * 100 + two(21);
    *out = day_us + ms * 1000;
    return true;
}

struct columns {
    std::string_view user[1024];
    double amount[1024];
    int64_t when[1024];
};

int main(int argc, char **argv)
{
    int64_t rows = argc > 1 ? atoll(argv[1]) : 2000000;
    int other = argc > 2 ? atoi(argv[2]) : 0, runs = argc > 3 ? atoi(argv[3]) : 9;
    size_t len = 0;
    char *text = make_lines(rows, other, &len);
    std::vector<double> times;
    int64_t n = 0, bytes = 0, time_us = 0;
    double amount = 0;
    static columns c;

    if (!text || runs < 1) return 1;
    simdjson::ondemand::parser parser;
    for (int run = 0; run < runs; run++) {
        n = bytes = time_us = 0;
        amount = 0;
        double begun = now_s();
        simdjson::ondemand::document_stream docs;
        if (parser.iterate_many(text, len, 1 << 20).get(docs)) return 1;
        int k = 0;
        auto consume = [&] {
            for (int i = 0; i < k; i++) {
                bytes += int64_t(c.user[i].size());
                amount += c.amount[i];
                time_us += c.when[i] & 0xFFFFFFFF;
            }
            n += k;
            k = 0;
        };
        for (auto doc : docs) {
            simdjson::ondemand::object o;
            std::string_view when;
            if (doc.get_object().get(o)) return 1;
            if (o["user_id"].get_string().get(c.user[k])) return 1;
            if (o["amount"].get_double().get(c.amount[k])) return 1;
            if (o["event_time"].get_string().get(when) || !parse_time(when, &c.when[k])) return 1;
            if (++k == 1024) consume();
        }
        consume();
        times.push_back(now_s() - begun);
        if (n != rows) return 1;
    }
    std::sort(times.begin(), times.end());
    double median = times[times.size() / 2];
    printf("simdjson  %d%% other order: %.1f ns/row (best %.1f), %.2f GB/s, %.1f M rows/s; rows %" PRId64 " bytes %" PRId64
           " amount %.3f time %" PRId64 " (%s)\n",
           other, median * 1e9 / double(rows), times[0] * 1e9 / double(rows), double(len) / median * 1e-9,
           double(rows) / median * 1e-6, n, bytes, amount, time_us,
           std::string(simdjson::get_active_implementation()->name()).c_str());
    free(text);
}
