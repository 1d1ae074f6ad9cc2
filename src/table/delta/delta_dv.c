/* table/delta/delta_dv.c: where deletion vectors lie. */
#include "table/delta/delta_dv.h"

#include <inttypes.h>

#include "base/bits.h"
#include "os/random.h"
#include "table/delta/delta_path.h"

enum { UUID_CHARS = 20, DV_SIZE_MAX = 1 << 30, FILE_FORMAT = 1 };

static fm_status damaged(const char *what, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "DELTA_DELETION_VECTOR_INVALID", "A deletion vector is damaged: %s.", what);
}

/* ---- Z85 ------------------------------------------------------------------------------------------------------ */

static const char z85[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

bool fm_z85_decode(fm_str text, fm_strbuf *out)
{
    if (text.len % 5) return false;
    for (size_t i = 0; i < text.len; i += 5) {
        uint64_t x = 0;
        for (size_t k = 0; k < 5; k++) {
            const char *at = text.ptr[i + k] ? strchr(z85, text.ptr[i + k]) : NULL;
            if (!at) return false;
            x = x * 85 + (uint64_t)(at - z85);
        }
        if (x > UINT32_MAX) return false;
        for (int shift = 24; shift >= 0; shift -= 8) fm_strbuf_add_char(out, (char)(unsigned char)(x >> shift));
    }
    return true;
}

void fm_z85_encode(fm_str bytes, fm_strbuf *out)
{
    fm_assert(bytes.len % 4 == 0);
    for (size_t i = 0; i < bytes.len; i += 4) {
        uint32_t x = 0, power = 85 * 85 * 85 * 85;
        for (size_t k = 0; k < 4; k++) x = x << 8 | (unsigned char)bytes.ptr[i + k];
        for (; power; power /= 85) fm_strbuf_add_char(out, z85[x / power % 85]);
    }
}

/* ---- CRC-32 of zip and of vectors ---------------------------------------------------------------------------- */

static uint32_t crc32_of(fm_str bytes)
{
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= (unsigned char)bytes.ptr[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
    }
    return ~crc;
}

static uint32_t big_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void put_big_u32(fm_strbuf *out, uint32_t x)
{
    for (int shift = 24; shift >= 0; shift -= 8) fm_strbuf_add_char(out, (char)(unsigned char)(x >> shift));
}

/* ---- Files ---------------------------------------------------------------------------------------------------- */

/* <root>/<prefix>/deletion_vector_<uuid>.bin */
fm_status fm_delta_dv_path(const fm_delta_log *log, const fm_delta_dv *dv, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_strbuf uuid = {0};
    unsigned char b[16];

    if (dv->storage == 'p') return fm_delta_path_resolve(arena, log->root, dv->path, out, err);
    if (dv->path.len < UUID_CHARS) return damaged("its name is too short", err);
    fm_str prefix = {dv->path.ptr, dv->path.len - UUID_CHARS};
    bool ok = fm_z85_decode((fm_str){dv->path.ptr + prefix.len, UUID_CHARS}, &uuid) && fm_strbuf_ok(&uuid) && uuid.len == 16;
    if (ok) memcpy(b, uuid.ptr, 16);
    fm_strbuf_fini(&uuid);
    if (!ok) return damaged("its name is no UUID", err);
    for (size_t i = 0; i < prefix.len; i++) {
        if (prefix.ptr[i] == '/' || prefix.ptr[i] == '.' || prefix.ptr[i] == 0) return damaged("its folder leaves the table", err);
    }
    *out = fm_arena_printf(arena, "%s/%.*s%sdeletion_vector_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x.bin", log->root.ptr,
                           FM_STR_ARG(prefix), prefix.len ? "/" : "", b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
                           b[12], b[13], b[14], b[15]);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

static fm_status read_bytes(fm_file *file, const fm_delta_dv *dv, fm_arena *arena, fm_str *out, fm_error *err)
{
    size_t size = (size_t)dv->size, got;
    char *bytes = fm_arena_alloc(arena, size + 8, 1);

    if (!bytes) return fm_no_memory(arena, err);
    FM_TRY(fm_file_read_at(file, dv->offset > 0 ? dv->offset : 0, bytes, size + 8, &got, err));
    if (got < size + 8 || big_u32(bytes) != size) return damaged("its length is not the one that the log says", err);
    *out = (fm_str){bytes + 4, size};
    if (crc32_of(*out) != big_u32(bytes + 4 + size)) return damaged("its checksum is wrong", err);
    return FM_OK;
}

static fm_status load_bytes(const fm_delta_log *log, const fm_delta_dv *dv, fm_arena *arena, fm_str *out, fm_error *err)
{
    fm_file *file = NULL;
    fm_str path;

    if (dv->size <= 0 || dv->size > DV_SIZE_MAX) return damaged("its size is out of bounds", err);
    if (dv->storage == 'i') {
        fm_strbuf text = {0};
        bool ok = fm_z85_decode(dv->path, &text) && text.len >= (size_t)dv->size;
        if (ok) *out = fm_arena_str(arena, (fm_str){text.ptr, (size_t)dv->size});
        fm_strbuf_fini(&text);
        if (!ok) return damaged("it is not Z85 of its size", err);
        return out->ptr ? FM_OK : fm_no_memory(arena, err);
    }
    FM_TRY(fm_delta_dv_path(log, dv, arena, &path, err));
    FM_TRY(fm_file_open(log->fs, path.ptr, FM_OPEN_READ, &file, err));
    fm_status st = read_bytes(file, dv, arena, out, err);
    fm_file_close(file, NULL);
    return fm_context(err, st, "reading '%s'", path.ptr);
}

fm_status fm_delta_dv_read(const fm_delta_log *log, const fm_delta_dv *dv, int64_t rows, fm_arena *arena, fm_delta_rows *out, fm_error *err)
{
    fm_str bytes;

    *out = (fm_delta_rows){.rows = rows};
    out->bits = fm_arena_array(arena, uint64_t, fm_bit_words(rows) + 1);
    if (!out->bits) return fm_no_memory(arena, err);
    FM_TRY(load_bytes(log, dv, arena, &bytes, err));
    FM_TRY(fm_delta_rows_decode(bytes, out, err));
    return out->gone == dv->cardinality ? FM_OK : damaged("it has another number of rows than the log says", err);
}

fm_status fm_delta_dv_write(const fm_delta_log *log, const fm_delta_rows *sets, int32_t n, fm_arena *arena, fm_delta_dv *dvs, fm_error *err)
{
    unsigned char uuid[16];
    fm_strbuf text = {0}, name = {0}, one = {0};

    fm_random_bytes(uuid, sizeof uuid);
    uuid[6] = (unsigned char)((uuid[6] & 0x0F) | 0x40);
    uuid[8] = (unsigned char)((uuid[8] & 0x3F) | 0x80);
    fm_z85_encode((fm_str){(const char *)uuid, sizeof uuid}, &name);
    fm_str id = fm_strbuf_ok(&name) ? fm_arena_str(arena, fm_strbuf_str(&name)) : (fm_str){0};
    fm_strbuf_add_char(&text, FILE_FORMAT);
    for (int32_t i = 0; i < n; i++) {
        fm_strbuf_clear(&one);
        fm_delta_rows_encode(&sets[i], &one);
        dvs[i] = (fm_delta_dv){.storage = 'u', .path = id, .offset = (int64_t)text.len, .size = (int64_t)one.len, .cardinality = sets[i].gone};
        put_big_u32(&text, (uint32_t)one.len);
        fm_strbuf_add(&text, fm_strbuf_str(&one));
        put_big_u32(&text, crc32_of(fm_strbuf_str(&one)));
    }
    fm_status st = id.ptr && fm_strbuf_ok(&text) && fm_strbuf_ok(&one) ? FM_OK : fm_no_memory(NULL, err);
    fm_str path;
    if (st == FM_OK && text.len > DV_SIZE_MAX) st = fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "A file of deletion vectors larger than %d bytes.", DV_SIZE_MAX);
    if (st == FM_OK) st = fm_delta_dv_path(log, &(fm_delta_dv){.storage = 'u', .path = id}, arena, &path, err);
    if (st == FM_OK) st = fm_fs_write_atomic(log->fs, path.ptr, fm_strbuf_str(&text), false, err);
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&name);
    fm_strbuf_fini(&one);
    return st;
}
