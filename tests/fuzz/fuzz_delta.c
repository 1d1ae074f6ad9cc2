/* tests/fuzz/fuzz_delta.c: bytes as parts of the log of a Delta table, the first of them says which:
 *
 *     c   a commit: replayed, its statistics held against conditions, its changes listed; a checkpoint made of it must give the same files
 *     k   a checkpoint in Parquet, before a commit
 *     j   a checkpoint by the v2 spec, in JSON
 *     b   the bytes of a deletion vector: what is decoded is encoded to the same rows
 *     f   a file of deletion vectors, read at the offset that the next byte gives
 *     i   a deletion vector in the log, in Z85
 *
 * What is read must be well-formed; anything else must be refused. */
#include "base/bits.h"
#include "fuzz.h"
#include "table/delta/delta_changes.h"
#include "table/delta/delta_checkpoint.h"
#include "table/delta/delta_prune.h"

enum { ROWS = 5000 };

typedef struct world {
    fm_arena *arena;
    fm_fs *fs;
    fm_clock *clock;
    fm_delta_log log;
} world;

static void put(world *w, const char *path, fm_str text)
{
    fm_assert(fm_fs_mkdirs(w->fs, "/t/_delta_log", NULL) == FM_OK);
    fm_assert(fm_fs_write_atomic(w->fs, path, text, true, NULL) == FM_OK);
}

/* Whether a file may hold a value of the first column that is like none: asked for what it reads on the way. */
static void prune(world *w, const fm_delta_snapshot *s)
{
    const fm_delta_schema *schema = s->schema;
    fm_condition c = {.op = FM_COND_NOT_NULL, .n_path = 1};
    const fm_condition *all = &c;
    fm_delta_pruner p = {.schema = schema, .conditions = &all, .n_conditions = 1, .zone = fm_zone_utc()};
    fm_error err = FM_ERROR_INIT;
    bool may;

    for (int32_t i = 0; i < s->n_entries && i < 64; i++) {
        for (int32_t k = 0; k < schema->type->n_fields && k < 16; k++) {
            c.path[0] = k;
            c.type = schema->type->fields[k].type;
            (void)fm_delta_file_may_hold(&p, &s->entries[i].file, w->arena, &may, &err);
        }
    }
}

static void replay(world *w, bool again)
{
    fm_error err = FM_ERROR_INIT;
    fm_delta_snapshot *s, *other;
    fm_delta_changes changes;

    (void)fm_delta_changes_read(&w->log, 0, w->arena, &changes, &err);
    if (fm_delta_snapshot_load(&w->log, -1, &s, &err) != FM_OK) return;
    prune(w, s);
    if (again && fm_delta_checkpoint_write(s, &err) == FM_OK && fm_delta_snapshot_load(&w->log, -1, &other, &err) == FM_OK) {
        fm_assert(other->version == s->version && other->n_live == s->n_live);
        fm_delta_snapshot_free(other);
    }
    fm_delta_snapshot_free(s);
}

static void decode_rows(world *w, fm_str bytes)
{
    size_t words = (size_t)fm_bit_words(ROWS) + 1;
    fm_delta_rows a = {.rows = ROWS, .bits = fm_arena_array(w->arena, uint64_t, words)};
    fm_delta_rows b = {.rows = ROWS, .bits = fm_arena_array(w->arena, uint64_t, words)};
    fm_strbuf text = {0};

    fm_assert(a.bits && b.bits);
    if (fm_delta_rows_decode(bytes, &a, NULL) != FM_OK) return;
    fm_assert(fm_bits_count(a.bits, ROWS) == a.gone);
    fm_delta_rows_encode(&a, &text);
    fm_assert(fm_strbuf_ok(&text) && fm_delta_rows_decode(fm_strbuf_str(&text), &b, NULL) == FM_OK);
    fm_assert(a.gone == b.gone && memcmp(a.bits, b.bits, (size_t)fm_bit_words(ROWS) * sizeof(uint64_t)) == 0);
    fm_strbuf_fini(&text);
}

static void read_vector(world *w, fm_delta_dv dv)
{
    fm_delta_rows rows;
    fm_error err = FM_ERROR_INIT;

    for (dv.cardinality = 0; dv.cardinality < 8; dv.cardinality++) {
        if (fm_delta_dv_read(&w->log, &dv, ROWS, w->arena, &rows, &err) != FM_OK) continue;
        fm_assert(rows.rows == ROWS && fm_bits_count(rows.bits, ROWS) == rows.gone);
    }
}

static void read_vector_file(world *w, fm_str bytes)
{
    fm_delta_dv dv = {.storage = 'p', .path = FM_STR("/t/dv.bin"), .offset = 1};

    if (bytes.len == 0) return;
    dv.offset = (unsigned char)bytes.ptr[0] % 8;
    put(w, "/t/dv.bin", (fm_str){bytes.ptr + 1, bytes.len - 1});
    for (dv.size = 30; dv.size < 60; dv.size += 2) read_vector(w, dv);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char first[] =
        "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
        "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":"
        "\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{}}}\n";
    world w = {.arena = fm_arena_new((size_t)256 << 20), .fs = fm_fs_sim_new(-1), .clock = fm_clock_sim_new(0)};
    fm_str text = {(const char *)bytes + (size > 0), size - (size > 0)};

    if (size > 0 && w.arena && w.fs && w.clock && fm_delta_log_init(&w.log, w.fs, w.clock, FM_STR("/t"), w.arena, NULL) == FM_OK) {
        switch (bytes[0]) {
        case 'c':
            put(&w, "/t/_delta_log/00000000000000000000.json", text);
            replay(&w, true);
            break;
        case 'k':
            put(&w, "/t/_delta_log/00000000000000000001.checkpoint.parquet", text);
            put(&w, "/t/_delta_log/00000000000000000001.json", fm_str_c(first));
            replay(&w, false);
            break;
        case 'j':
            put(&w, "/t/_delta_log/00000000000000000001.checkpoint.80a083e8-7026-4e79-81be-64bd76c43a11.json", text);
            replay(&w, false);
            break;
        case 'b': decode_rows(&w, text); break;
        case 'f': read_vector_file(&w, text); break;
        case 'i': read_vector(&w, (fm_delta_dv){.storage = 'i', .path = text, .offset = -1, .size = (int64_t)(text.len / 5 * 4)}); break;
        default: break;
        }
    }
    fm_clock_free(w.clock);
    fm_fs_free(w.fs);
    fm_arena_free(w.arena);
    return 0;
}
