/* source/decompress.c: reads plain, gzip and zstd files alike. */
#include "source/decompress.h"

#include "source/transcode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

enum { PACKED_SIZE = 256 * 1024 }; /* bytes of the packed file read at once */

typedef enum packing { PLAIN, GZIP, ZSTD } packing;

struct fm_byte_stream {
    fm_file *file;
    packing packing;
    int64_t offset;    /* of the next byte of the file to read */
    char *packed;      /* [PACKED_SIZE], of which */
    size_t have, used; /* used .. have are not unpacked yet */
    bool file_ended, mid_frame;
    z_stream z;
    ZSTD_DStream *zstd;
    /* with an encoding: */
    fm_transcoder *transcoder;
    char *raw;                   /* [PACKED_SIZE], of which */
    size_t raw_len, raw_used;    /* raw_used .. raw_len are not converted yet */
    bool raw_ended;
    char path[];
};

static bool known_packing(fm_str name, packing *out)
{
    *out = fm_str_ends(name, FM_STR(".gz")) || fm_str_ends(name, FM_STR(".deflate")) ? GZIP
           : fm_str_ends(name, FM_STR(".zst")) || fm_str_ends(name, FM_STR(".zstd")) ? ZSTD
                                                                                     : PLAIN;
    return *out != PLAIN;
}

bool fm_is_packed(fm_str name)
{
    packing p;
    static const char *const others[] = {".bz2", ".lz4", ".xz", ".snappy", ".zip", ".Z"};

    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (fm_str_ends(name, fm_str_c(others[i]))) return true;
    return known_packing(name, &p);
}

static fm_status start_unpacking(fm_byte_stream *s, fm_error *err)
{
    bool ok = false;

    s->packed = malloc(PACKED_SIZE);
    if (s->packed && s->packing == GZIP)
        ok = inflateInit2(&s->z, 15 + 32) == Z_OK; /* gzip or zlib, by header */
    if (s->packed && s->packing == ZSTD) {
        s->zstd = ZSTD_createDStream();
        ok = s->zstd != NULL;
    }
    return ok ? FM_OK
              : fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory unpacking '%s'.", s->path);
}

fm_status fm_byte_stream_open(fm_fs *fs, const char *path, fm_byte_stream **out, fm_error *err)
{
    size_t len = strlen(path);
    fm_byte_stream *s = calloc(1, sizeof *s + len + 1);

    if (!s) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory.");
    memcpy(s->path, path, len + 1);
    if (!known_packing(fm_str_c(path), &s->packing) && fm_is_packed(fm_str_c(path))) {
        free(s);
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_COMPRESSION",
                       "File '%s': of packed files only .gz, .deflate and .zst are read. Unpack "
                       "it, or leave it out "
                       "with option pathGlobFilter.",
                       path);
    }
    fm_status st = fm_file_open(fs, path, FM_OPEN_READ, &s->file, err);
    if (st == FM_OK && s->packing != PLAIN) st = start_unpacking(s, err);
    if (st != FM_OK) {
        fm_byte_stream_close(s);
        return st;
    }
    *out = s;
    return FM_OK;
}

void fm_byte_stream_seek(fm_byte_stream *s, int64_t offset)
{
    s->offset = offset;
}

void fm_byte_stream_close(fm_byte_stream *s)
{
    if (!s) return;
    fm_file_close(s->file, NULL);
    if (s->packing == GZIP && s->packed) inflateEnd(&s->z);
    if (s->zstd) ZSTD_freeDStream(s->zstd);
    fm_transcoder_free(s->transcoder);
    free(s->raw);
    free(s->packed);
    free(s);
}

static fm_status damaged(const fm_byte_stream *s, const char *what, fm_error *err)
{
    return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT",
                   "File '%s' is damaged near byte %" PRId64
                   ": %s. Replace it, or set option ignoreCorruptFiles to 'true' "
                   "to use what can be read.",
                   s->path, s->offset - (int64_t)(s->have - s->used), what);
}

static fm_status refill(fm_byte_stream *s, fm_error *err)
{
    if (s->used < s->have || s->file_ended) return FM_OK;
    FM_TRY(fm_file_read_at(s->file, s->offset, s->packed, PACKED_SIZE, &s->have, err));
    s->offset += (int64_t)s->have;
    s->used = 0;
    s->file_ended = s->have < PACKED_SIZE;
    return FM_OK;
}

static fm_status unpack_gzip(fm_byte_stream *s, char *out, size_t size, size_t *got, fm_error *err)
{
    s->z.next_in = (Bytef *)s->packed + s->used;
    s->z.avail_in = (uInt)(s->have - s->used);
    s->z.next_out = (Bytef *)out;
    s->z.avail_out = (uInt)size;
    int code = inflate(&s->z, Z_NO_FLUSH);
    s->used = s->have - s->z.avail_in;
    *got = size - s->z.avail_out;
    s->mid_frame = code != Z_STREAM_END;
    if (code == Z_STREAM_END && inflateReset(&s->z) != Z_OK)
        return damaged(s, "it cannot be unpacked", err);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
        return damaged(s, s->z.msg ? s->z.msg : "it cannot be unpacked", err);
    return FM_OK;
}

static fm_status unpack_zstd(fm_byte_stream *s, char *out, size_t size, size_t *got, fm_error *err)
{
    ZSTD_inBuffer from = {s->packed, s->have, s->used};
    ZSTD_outBuffer to = {out, size, 0};
    size_t code = ZSTD_decompressStream(s->zstd, &to, &from);

    s->used = from.pos;
    *got = to.pos;
    if (ZSTD_isError(code)) return damaged(s, ZSTD_getErrorName(code), err);
    s->mid_frame = code != 0;
    return FM_OK;
}

static fm_status read_raw(fm_byte_stream *s, void *out, size_t size, size_t *got, fm_error *err)
{
    enum { CALL_SIZE_MAX = 1 << 30 }; /* zlib counts in 32 bits */

    *got = 0;
    if (s->packing == PLAIN) {
        FM_TRY(fm_file_read_at(s->file, s->offset, out, size, got, err));
        s->offset += (int64_t)*got;
        return FM_OK;
    }
    while (*got < size) {
        FM_TRY(refill(s, err));
        bool dry = s->used == s->have;
        if (dry && !s->mid_frame) return FM_OK;
        size_t n, room = size - *got < CALL_SIZE_MAX ? size - *got : CALL_SIZE_MAX;
        FM_TRY(s->packing == GZIP ? unpack_gzip(s, (char *)out + *got, room, &n, err)
                                  : unpack_zstd(s, (char *)out + *got, room, &n, err));
        *got += n;
        if (dry && n == 0) return damaged(s, "it ends too early", err);
    }
    return FM_OK;
}

/* ---- encodings ---- */

/* Rule: RFC 4627, 3: the first two characters of JSON are ASCII. */
static const char *detect(const unsigned char *b, size_t n)
{
    if (n >= 4 && !b[0] && !b[1] && (b[2] == 0xFE ? b[3] == 0xFF : !b[2])) return "UTF-32";
    if (n >= 4 && b[0] == 0xFF && b[1] == 0xFE && !b[2] && !b[3]) return "UTF-32";
    if (n >= 2 && ((b[0] == 0xFF && b[1] == 0xFE) || (b[0] == 0xFE && b[1] == 0xFF))) return "UTF-16";
    if (n >= 4 && b[0] && !b[1] && !b[2] && !b[3]) return "UTF-32LE";
    if (n >= 2 && !b[0] && b[1]) return "UTF-16BE";
    if (n >= 2 && b[0] && !b[1]) return "UTF-16LE";
    return NULL;
}

fm_status fm_byte_stream_decode(fm_byte_stream *s, fm_str encoding, fm_error *err)
{
    if (encoding.len == 0) {
        unsigned char start[4];
        size_t n = 0;
        if (s->packing != PLAIN) return FM_OK;
        FM_TRY(fm_file_read_at(s->file, 0, start, sizeof start, &n, err));
        const char *found = detect(start, n);
        if (!found) return FM_OK;
        encoding = fm_str_c(found);
    }
    s->raw = malloc(PACKED_SIZE);
    if (!s->raw) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "Out of memory reading '%s'.", s->path);
    return fm_transcoder_new(encoding, &s->transcoder, err);
}

fm_status fm_byte_stream_read(fm_byte_stream *s, void *out, size_t size, size_t *got, fm_error *err)
{
    if (!s->transcoder) return read_raw(s, out, size, got, err);
    *got = 0;
    for (;;) {
        fm_status st = fm_transcoder_run(s->transcoder, s->raw, s->raw_len, &s->raw_used, out, size, got, s->raw_ended, err);
        if (st != FM_OK) return fm_context(err, st, "reading '%s'", s->path);
        if (*got == size || (s->raw_ended && s->raw_used == s->raw_len)) return FM_OK;
        if (s->raw_ended) continue;
        FM_TRY(read_raw(s, s->raw, PACKED_SIZE, &s->raw_len, err));
        s->raw_used = 0;
        s->raw_ended = s->raw_len < PACKED_SIZE;
    }
}
