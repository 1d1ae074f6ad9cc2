/* sink/part_file.c: buffering, packing and syncing of one data file. */
#include "sink/part_file.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum {
    PACKED_SIZE = 256 << 10, /* bytes of packed output written at once */
    GZIP_WINDOW_BITS = 15 + 16, /* zlib: the largest window, with gzip's header */
    PACK_AT_ONCE_MAX = 1 << 30  /* zlib counts in 32 bits */
};

struct fm_part_file {
    fm_file *file;
    fm_strbuf text;
    fm_pack pack;
    z_stream gzip;
    ZSTD_CStream *zstd;
    unsigned char *packed; /* [PACKED_SIZE], when packing */
    char path[];           /* for messages */
};

fm_status fm_pack_parse(fm_str name, fm_pack *out, fm_error *err)
{
    static const char *const others[] = {"bzip2", "deflate", "lz4", "snappy", "xz"};

    *out = FM_PACK_NONE;
    if (name.len == 0 || fm_str_eq_ci(name, FM_STR("none")) || fm_str_eq_ci(name, FM_STR("uncompressed"))) return FM_OK;
    *out = FM_PACK_GZIP;
    if (fm_str_eq_ci(name, FM_STR("gzip"))) return FM_OK;
    *out = FM_PACK_ZSTD;
    if (fm_str_eq_ci(name, FM_STR("zstd"))) return FM_OK;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (!fm_str_eq_ci(name, fm_str_c(others[i]))) continue;
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_COMPRESSION",
                       "The compression '%.*s' is not built in; write 'none', 'gzip' or 'zstd'.", FM_STR_ARG(name));
    }
    return fm_fail(err, FM_INVALID, "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION",
                   "The codec %.*s is not available. Available codecs are none, uncompressed, gzip, zstd.", FM_STR_ARG(name));
}

const char *fm_pack_extension(fm_pack pack) { return pack == FM_PACK_GZIP ? ".gz" : pack == FM_PACK_ZSTD ? ".zst" : ""; }

static bool start_packing(fm_part_file *p)
{
    p->packed = malloc(PACKED_SIZE);
    if (!p->packed) return false;
    if (p->pack == FM_PACK_ZSTD) {
        p->zstd = ZSTD_createCStream();
        return p->zstd && !ZSTD_isError(ZSTD_initCStream(p->zstd, ZSTD_CLEVEL_DEFAULT));
    }
    /* Level 1 packs JSON nearly as small as 6, three times as fast. */
    return deflateInit2(&p->gzip, 1, Z_DEFLATED, GZIP_WINDOW_BITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
}

fm_status fm_part_file_open(fm_fs *fs, const char *path, fm_pack pack, fm_part_file **out, fm_error *err)
{
    size_t len = strlen(path);
    fm_part_file *p = calloc(1, sizeof *p + len + 1);

    *out = NULL;
    if (!p) return fm_no_memory(NULL, err);
    memcpy(p->path, path, len + 1);
    p->pack = pack;
    if (pack != FM_PACK_NONE && !start_packing(p)) { /* nothing to end yet */
        ZSTD_freeCStream(p->zstd);
        free(p->packed);
        free(p);
        return fm_no_memory(NULL, err);
    }
    fm_status st = fm_file_open(fs, path, FM_OPEN_CREATE_NEW, &p->file, err);
    if (st == FM_OK) *out = p;
    else fm_part_file_abandon(p);
    return st;
}

fm_strbuf *fm_part_file_text(fm_part_file *p) { return &p->text; }

static fm_status write_zstd(fm_part_file *p, const char *bytes, size_t size, bool finish, fm_error *err)
{
    ZSTD_inBuffer from = {bytes, size, 0};
    size_t left;

    do {
        ZSTD_outBuffer to = {p->packed, PACKED_SIZE, 0};
        left = ZSTD_compressStream2(p->zstd, &to, &from, finish ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Packing failed: %s.", ZSTD_getErrorName(left));
        FM_TRY(fm_file_write(p->file, p->packed, to.pos, err));
    } while (finish ? left > 0 : from.pos < from.size);
    return FM_OK;
}

/* Packs `size` bytes and writes what comes out; finish: everything that is left, and the trailer. */
static fm_status write_packed(fm_part_file *p, const char *bytes, size_t size, bool finish, fm_error *err)
{
    int flush = finish ? Z_FINISH : Z_NO_FLUSH, more;

    if (p->pack == FM_PACK_ZSTD) return write_zstd(p, bytes, size, finish, err);
    fm_assert(size <= PACK_AT_ONCE_MAX);
    p->gzip.next_in = (unsigned char *)(uintptr_t)bytes;
    p->gzip.avail_in = (unsigned)size;
    do {
        p->gzip.next_out = p->packed;
        p->gzip.avail_out = PACKED_SIZE;
        more = deflate(&p->gzip, flush);
        fm_assert(more != Z_STREAM_ERROR);
        FM_TRY(fm_file_write(p->file, p->packed, PACKED_SIZE - p->gzip.avail_out, err));
    } while (finish ? more != Z_STREAM_END : p->gzip.avail_out == 0);
    return FM_OK;
}

static fm_status write_text(fm_part_file *p, bool finish, fm_error *err)
{
    fm_str left = fm_strbuf_str(&p->text);

    if (!fm_strbuf_ok(&p->text)) return fm_no_memory(NULL, err);
    if (p->pack == FM_PACK_NONE) {
        FM_TRY(fm_file_write(p->file, left.ptr, left.len, err));
    } else {
        for (; left.len > PACK_AT_ONCE_MAX; left = (fm_str){left.ptr + PACK_AT_ONCE_MAX, left.len - PACK_AT_ONCE_MAX}) {
            FM_TRY(write_packed(p, left.ptr, PACK_AT_ONCE_MAX, false, err));
        }
        FM_TRY(write_packed(p, left.ptr, left.len, finish, err));
    }
    fm_strbuf_clear(&p->text);
    return FM_OK;
}

fm_status fm_part_file_flush(fm_part_file *p, size_t size_min, fm_error *err)
{
    if (p->text.len < size_min && fm_strbuf_ok(&p->text)) return FM_OK;
    return fm_context(err, write_text(p, false, err), "writing '%s'", p->path);
}

fm_status fm_part_file_finish(fm_part_file *p, fm_file_stat *stat, fm_error *err)
{
    fm_status st = write_text(p, true, err);

    if (st == FM_OK) st = fm_file_sync(p->file, err);
    if (st == FM_OK) st = fm_file_stat_of(p->file, stat, err);
    fm_status closed = fm_file_close(p->file, st == FM_OK ? err : NULL);
    p->file = NULL;
    if (st == FM_OK) st = closed;
    st = fm_context(err, st, "writing '%s'", p->path);
    fm_part_file_abandon(p);
    return st;
}

void fm_part_file_abandon(fm_part_file *p)
{
    if (!p) return;
    fm_file_close(p->file, NULL);
    if (p->pack == FM_PACK_GZIP) deflateEnd(&p->gzip);
    ZSTD_freeCStream(p->zstd);
    free(p->packed);
    fm_strbuf_fini(&p->text);
    free(p);
}
