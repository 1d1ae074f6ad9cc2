/* engine/story.c: the words. */
#include "engine/story.h"

#include <inttypes.h>

#include "base/time_text.h"

/* "10:05:00", or with the date before it when that is not the one of `beside`. */
static void add_clock(int64_t us, int64_t beside_us, const fm_zone *zone, fm_strbuf *out)
{
    char text[FM_ISO_TEXT_SIZE];
    int64_t local = fm_zone_to_local(zone, us), other = fm_zone_to_local(zone, beside_us);
    size_t n = fm_iso_us(local, text);
    size_t date = n - sizeof "T00:00:00.000000Z" + 1;

    if (fm_floor_div(local, FM_US_PER_DAY) != fm_floor_div(other, FM_US_PER_DAY)) {
        fm_strbuf_add(out, (fm_str){text, date});
        fm_strbuf_add_char(out, ' ');
    }
    fm_strbuf_add(out, (fm_str){text + date + 1, 8});
}

/* "7 min 12 s" */
static void add_span(int64_t us, fm_strbuf *out)
{
    int64_t s = us / FM_US_PER_SECOND;

    if (us < FM_US_PER_SECOND) fm_strbuf_printf(out, "%" PRId64 " ms", us / FM_US_PER_MS);
    else if (s < 60) fm_strbuf_printf(out, "%" PRId64 " s", s);
    else if (s < 3600) fm_strbuf_printf(out, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    else fm_strbuf_printf(out, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
}

static bool has_window(const fm_op_window *windows, int32_t n, const fm_op_window *w)
{
    for (int32_t i = 0; i < n; i++) {
        if (windows[i].start_us == w->start_us && windows[i].end_us == w->end_us) return true;
    }
    return false;
}

static void add_window(const fm_op_window *w, const fm_zone *zone, fm_strbuf *out)
{
    add_clock(w->start_us, w->start_us, zone, out);
    fm_strbuf_add_c(out, " to ");
    add_clock(w->end_us, w->start_us, zone, out);
}

/* The windows of a that b has not: those that opened, or closed. */
static void tell_windows(const char *what, const fm_op_window *a, int32_t n_a, const fm_op_window *b, int32_t n_b, const fm_zone *zone, fm_strbuf *out)
{
    for (int32_t i = 0; i < n_a; i++) {
        if (has_window(b, n_b, &a[i])) continue;
        fm_strbuf_printf(out, "  %s", what);
        add_window(&a[i], zone, out);
        fm_strbuf_printf(out, " (%" PRId64 " group%s)\n", a[i].groups, a[i].groups == 1 ? "" : "s");
    }
}

static void tell_watermark(const fm_progress *p, const fm_zone *zone, fm_strbuf *out)
{
    if (!p->has_watermark) return;
    fm_strbuf_add_c(out, "  watermark       ");
    if (p->next_watermark_ms == p->watermark_ms) {
        fm_strbuf_add_c(out, "stays at ");
        if (p->watermark_ms) add_clock(p->watermark_ms * 1000, p->watermark_ms * 1000, zone, out);
        else fm_strbuf_add_c(out, "the beginning");
    } else {
        if (p->watermark_ms) add_clock(p->watermark_ms * 1000, p->next_watermark_ms * 1000, zone, out);
        else fm_strbuf_add_c(out, "the beginning");
        fm_strbuf_add_c(out, " -> ");
        add_clock(p->next_watermark_ms * 1000, p->next_watermark_ms * 1000, zone, out);
    }
    fm_strbuf_add_char(out, '\n');
}

static void tell_late(const fm_progress *p, const fm_zone *zone, fm_strbuf *out)
{
    for (int32_t i = 0; i < p->n_late_texts; i++) {
        const fm_late_text *t = &p->late_texts[i];
        fm_strbuf_printf(out, "  LATE            %.*s is ", FM_STR_ARG(t->row));
        add_span(t->late_us, out);
        fm_strbuf_add_c(out, " behind the watermark");
        if (t->end_us) {
            fm_op_window w = {t->start_us, t->end_us, 0};
            fm_strbuf_add_c(out, "; its window ");
            add_window(&w, zone, out);
            fm_strbuf_add_c(out, " is closed");
        }
        fm_strbuf_add_char(out, '\n');
    }
    int64_t untold = p->late_rows - p->n_late_texts;
    if (untold > 0) fm_strbuf_printf(out, "  LATE            %" PRId64 " %srow%s%s\n", untold, p->n_late_texts ? "more " : "", untold == 1 ? "" : "s",
                                    p->n_late_texts ? "" : " (the hint LATE_ROWS keeps and names them)");
}

/* Why a micro-batch ran although no row came in. */
static const char *no_rows(const fm_progress *p)
{
    for (int32_t i = 0; i < p->n_sources; i++) {
        if (!fm_str_eq(p->sources[i].start, p->sources[i].end)) return "what came in is empty";
    }
    return p->n_windows || p->has_watermark ? "nothing came in: the watermark had moved, and what it has passed is closed" : "nothing came in";
}

void fm_story_tell(fm_story *story, const fm_progress *p, const fm_zone *zone, fm_strbuf *out)
{
    if (p->idle) return;
    fm_strbuf_printf(out, "micro-batch %" PRId64 "\n", p->batch_id);
    if (p->rows) {
        fm_strbuf_printf(out, "  rows in         %" PRId64, p->rows);
        if (p->event_count) {
            bool is_one = p->event_min_ms == p->event_max_ms;
            fm_strbuf_add_c(out, is_one || p->event_min_ms ? ", of " : ", up to "); /* 1970: a row without event time */
            if (p->event_min_ms && !is_one) {
                add_clock(p->event_min_ms * 1000, p->event_max_ms * 1000, zone, out);
                fm_strbuf_add_c(out, " to ");
            }
            add_clock(p->event_max_ms * 1000, p->event_max_ms * 1000, zone, out);
        }
        fm_strbuf_add_char(out, '\n');
    } else {
        fm_strbuf_printf(out, "  no rows         %s\n", no_rows(p));
    }
    if (p->bad_rows) fm_strbuf_printf(out, "  BAD             %" PRId64 " record%s could not be read as the table says\n", p->bad_rows, p->bad_rows == 1 ? "" : "s");
    tell_windows("window opened   ", p->windows, p->n_windows, story->windows, story->n_windows, zone, out);
    tell_late(p, zone, out);
    tell_windows("window closed   ", story->windows, story->n_windows, p->windows, p->n_windows, zone, out);
    tell_watermark(p, zone, out);
    story->n_windows = p->n_windows;
    if (p->n_windows) memcpy(story->windows, p->windows, (size_t)p->n_windows * sizeof *p->windows);
}
