/* stream/offset_log.c: the text of the offset log. */
#include "stream/offset_log.h"

#include <inttypes.h>

#include "base/seal.h"
#include "format/json.h"

/* Takes the next line off *rest; false at the end. */
static bool take_line(fm_str *rest, fm_str *line)
{
    if (!rest->ptr) return false;
    const char *end = rest->len ? memchr(rest->ptr, '\n', rest->len) : NULL;

    if (end) {
        *line = (fm_str){rest->ptr, (size_t)(end - rest->ptr)};
        *rest = (fm_str){end + 1, rest->len - line->len - 1};
    } else {
        *line = *rest;
        *rest = (fm_str){NULL, 0};
    }
    return true;
}

static fm_status damaged(fm_error *err, const char *what)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_CHECKPOINT_DAMAGED",
                   "An entry of the offset log is damaged: %s. Restore the file from a backup, or start with a new "
                   "checkpoint folder.",
                   what);
}

/* The metadata line. Old checkpoints of Spark may have none. */
static fm_status parse_metadata(fm_str line, fm_arena *arena, fm_offsets *out, fm_error *err)
{
    const fm_json *root;

    if (fm_str_trim(line).len == 0) return FM_OK;
    if (fm_json_read(arena, line, &root, NULL) != FM_OK || root->kind != FM_JSON_OBJECT) {
        return damaged(err, "its second line is not a JSON object");
    }
    const fm_json *watermark = fm_json_get(root, "batchWatermarkMs");
    const fm_json *time = fm_json_get(root, "batchTimestampMs");
    const fm_json *conf = fm_json_get(root, "conf");
    if (watermark && !fm_log_ms(watermark, &out->watermark_ms)) {
        return damaged(err, "batchWatermarkMs is not a time in milliseconds");
    }
    if (time && !fm_log_ms(time, &out->batch_time_ms)) {
        return damaged(err, "batchTimestampMs is not a time in milliseconds");
    }
    if (conf && conf->kind != FM_JSON_OBJECT) return damaged(err, "conf is not a JSON object");
    for (int32_t i = 0; conf && i < conf->n; i++) {
        if (fm_str_eq(conf->keys[i], FM_STR(FM_SEAL_KEY))) return damaged(err, "conf holds a checksum");
        if (conf->items[i].kind != FM_JSON_STRING) return damaged(err, "a value of conf is not text");
        if (!fm_options_set(arena, &out->conf, conf->keys[i], conf->items[i].text)) {
            return fm_no_memory(arena, err);
        }
    }
    return FM_OK;
}

fm_status fm_offsets_parse(fm_str text, fm_arena *arena, fm_offsets *out, fm_error *err)
{
    fm_str rest = text, line;

    *out = (fm_offsets){0};
    if (!take_line(&rest, &line) || !fm_str_eq(line, FM_STR("v1"))) {
        if (fm_str_starts(text, FM_STR("v2"))) {
            return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_OFFSET_LOG_VERSION",
                           "The offset log has version 2 (spark.sql.streaming.offsetLog.formatVersion=2); only "
                           "version 1 can be taken over.");
        }
        return damaged(err, "it does not begin with the version line 'v1'");
    }
    if (!take_line(&rest, &line)) return damaged(err, "its second line is missing");
    if (!fm_seal_holds(text)) return damaged(err, "its checksum does not fit");
    FM_TRY(parse_metadata(line, arena, out, err));
    int32_t lines = 0;
    for (fm_str counted = rest; take_line(&counted, &line);) lines++;
    out->ends = fm_arena_array(arena, fm_str, lines + 1);
    if (!out->ends) return fm_no_memory(arena, err);
    while (take_line(&rest, &line)) {
        if (line.len == 0 && !rest.ptr) break; /* a newline at the very end, as an editor leaves it */
        out->ends[out->n_sources++] = fm_str_eq(line, FM_STR("-")) ? FM_STR("") : line;
    }
    return FM_OK;
}

/* out: empty. */
void fm_offsets_print(const fm_offsets *offsets, fm_strbuf *out)
{
    fm_strbuf_printf(out, "v1\n{\"batchWatermarkMs\":%" PRId64 ",\"batchTimestampMs\":%" PRId64 ",\"conf\":{",
                     offsets->watermark_ms, offsets->batch_time_ms);
    for (int32_t i = 0; i < offsets->conf.n; i++) {
        if (i) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, offsets->conf.items[i].key);
        fm_strbuf_add_char(out, ':');
        fm_strbuf_add_json(out, offsets->conf.items[i].value);
    }
    fm_strbuf_add_c(out, "}" FM_SEAL_FIELD "}");
    for (int32_t i = 0; i < offsets->n_sources; i++) {
        fm_strbuf_add_char(out, '\n');
        fm_strbuf_add(out, offsets->ends[i].len ? offsets->ends[i] : FM_STR("-"));
    }
    if (fm_strbuf_ok(out)) fm_seal(out->ptr, out->len);
}

fm_status fm_offset_log_read(fm_batch_log *log, int64_t batch_id, fm_arena *arena, fm_offsets *out,
                             fm_error *err)
{
    fm_str text;

    FM_TRY(fm_batch_log_read(log, batch_id, arena, &text, err));
    fm_status st = fm_offsets_parse(text, arena, out, err);
    return fm_context(err, st, "reading '%s/%" PRId64 "'", log->dir, batch_id);
}

fm_status fm_offset_log_add(fm_batch_log *log, int64_t batch_id, const fm_offsets *offsets, fm_error *err)
{
    fm_strbuf text = {0};

    fm_offsets_print(offsets, &text);
    fm_status st = fm_strbuf_ok(&text) ? fm_batch_log_add(log, batch_id, fm_strbuf_str(&text), err)
                                       : fm_no_memory(NULL, err);
    fm_strbuf_fini(&text);
    return st;
}
