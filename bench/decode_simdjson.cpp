// bench/decode_simdjson.cpp: the work of bench/decode.c with simdjson, by its fastest interface: on-demand over many
// lines, strings as views, doubles, times by a plain ISO reader with the date kept.
//
// The lines come in blocks that were just copied to one place, as after a read, and the copy is not counted: the same for
// both. Of the sizes of blocks that it is tried with the fastest counts. Its second thread, which looks for structure ahead,
// is off: with one core and CPU time there is nothing to win, and the two threads' changes of place cost up to as much again.
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

// The end of the last whole line among the first `size` bytes.
static size_t whole_lines(const char *text, size_t size, bool last)
{
    if (last) return size;
    while (size > 0 && text[size - 1] != '\n') size--;
    return size;
}

struct columns {
    std::string_view user[1024];
    double amount[1024];
    int64_t when[1024];
};

struct sums {
    int64_t rows, bytes, time_us;
    double amount;
};

static void add_up(const columns &c, int n, sums &s)
{
    for (int i = 0; i < n; i++) {
        s.bytes += int64_t(c.user[i].size());
        s.amount += c.amount[i];
        s.time_us += c.when[i] & 0xFFFFFFFF;
    }
    s.rows += n;
}

static bool decode(simdjson::ondemand::parser &parser, const char *text, size_t size, sums &s)
{
    static columns c;
    simdjson::ondemand::document_stream docs;
    int k = 0;

    if (parser.iterate_many(text, size, size).get(docs)) return false;
    for (auto doc : docs) {
        simdjson::ondemand::object o;
        std::string_view when;
        if (doc.get_object().get(o)) return false;
        if (o["user_id"].get_string().get(c.user[k])) return false;
        if (o["amount"].get_double().get(c.amount[k])) return false;
        if (o["event_time"].get_string().get(when) || !parse_time(when, &c.when[k])) return false;
        if (++k < 1024) continue;
        add_up(c, k, s);
        k = 0;
    }
    add_up(c, k, s);
    return true;
}

// Seconds of CPU for all lines; negative: it failed.
static double run(simdjson::ondemand::parser &parser, const char *text, size_t len, std::vector<char> &buf, size_t block, sums &s)
{
    double begun = now_s(), copying = 0;

    s = {};
    for (size_t at = 0; at < len;) {
        double copy = now_s();
        size_t size = std::min(block, len - at);
        memcpy(buf.data(), text + at, size);
        size = whole_lines(buf.data(), size, at + size == len);
        memset(buf.data() + size, 0, simdjson::SIMDJSON_PADDING);
        copying += now_s() - copy;
        if (!decode(parser, buf.data(), size, s)) return -1;
        at += size;
    }
    return now_s() - begun - copying;
}

int main(int argc, char **argv)
{
    static const size_t blocks[] = {64 << 10, 256 << 10, 1 << 20};
    int64_t rows = argc > 1 ? atoll(argv[1]) : 2000000;
    int other = argc > 2 ? atoi(argv[2]) : 0, runs = argc > 3 ? atoi(argv[3]) : 9;
    size_t len = 0, fastest = 0;
    char *text = make_lines(rows, other, &len);
    double median = 0, best = 0;
    sums s = {};

    if (!text || runs < 1) return 1;
    simdjson::ondemand::parser parser;
#ifdef SIMDJSON_THREADS_ENABLED
    parser.threaded = false;
#endif
    for (size_t block : blocks) {
        std::vector<char> buf(block + simdjson::SIMDJSON_PADDING);
        std::vector<double> times;
        for (int i = 0; i < runs; i++) {
            times.push_back(run(parser, text, len, buf, block, s));
            if (times.back() < 0 || s.rows != rows) return 1;
        }
        std::sort(times.begin(), times.end());
        if (fastest && times[times.size() / 2] >= median) continue;
        fastest = block;
        median = times[times.size() / 2];
        best = times[0];
    }
    printf("simdjson  %d%% other order: %.1f ns/row (best %.1f), %.2f GB/s, %.1f M rows/s; rows %" PRId64 " bytes %" PRId64
           " amount %.3f time %" PRId64 " (%s, blocks of %zu KB)\n",
           other, median * 1e9 / double(rows), best * 1e9 / double(rows), double(len) / median * 1e-9,
           double(rows) / median * 1e-6, s.rows, s.bytes, s.amount, s.time_us,
           std::string(simdjson::get_active_implementation()->name()).c_str(), fastest >> 10);
    free(text);
}
