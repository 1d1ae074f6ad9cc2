/* format/parquet_codec.c: pages packed and unpacked by the libraries for it.
 *
 * LZ4 is two formats: LZ4_RAW is a bare block. The older LZ4 should be Hadoop's framing, blocks behind their two sizes,
 * but some writers put a bare block there; who reads it tries one, then the other. */
#include "format/parquet_codec.h"

#ifdef FM_HAVE_BROTLI
#include <brotli/decode.h>
#endif
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

enum {
    ZSTD_LEVEL = 3,         /* zstd's own default, and Spark's */
    WINDOW_ANY = 15 + 32,   /* zlib: the largest window; gzip's or zlib's header */
    WINDOW_GZIP = 15 + 16
};

void fm_pq_packer_fini(fm_pq_packer *p)
{
    ZSTD_freeDCtx(p->zstd_in);
    ZSTD_freeCCtx(p->zstd_out);
    *p = (fm_pq_packer){0};
}

const char *fm_pq_codec_name(int32_t codec)
{
    static const char *const names[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"};

    return codec >= 0 && codec < (int32_t)(sizeof names / sizeof names[0]) ? names[codec] : NULL;
}

bool fm_pq_codec_known(int32_t codec)
{
#ifndef FM_HAVE_BROTLI
    if (codec == FM_PQ_BROTLI) return false;
#endif
    return fm_pq_codec_name(codec) && codec != FM_PQ_LZO;
}

/* One gzip member behind the other, or a zlib stream. */
static bool unpack_gzip(fm_str in, char *out, size_t size)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in.ptr, .avail_in = (unsigned)in.len, .next_out = (unsigned char *)out,
                  .avail_out = (unsigned)size};
    int st = Z_STREAM_END;

    if (in.len > UINT32_MAX || size > UINT32_MAX || inflateInit2(&z, WINDOW_ANY) != Z_OK) return false;
    while (st == Z_STREAM_END && z.avail_in > 0) {
        st = inflate(&z, Z_FINISH);
        if (st == Z_STREAM_END && z.avail_in > 0 && inflateReset(&z) != Z_OK) st = Z_DATA_ERROR;
    }
    inflateEnd(&z);
    return st == Z_STREAM_END && z.avail_out == 0;
}

static bool unpack_lz4_block(const char *in, size_t n, char *out, size_t size)
{
    if (n > INT32_MAX || size > INT32_MAX) return false;
    return LZ4_decompress_safe(in, out, (int)n, (int)size) == (int)size;
}

static uint32_t big_endian(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool unpack_lz4_hadoop(fm_str in, char *out, size_t size)
{
    while (in.len >= 8) {
        uint32_t unpacked = big_endian(in.ptr), packed = big_endian(in.ptr + 4);
        if (packed > in.len - 8 || unpacked > size || !unpack_lz4_block(in.ptr + 8, packed, out, unpacked)) return false;
        in = (fm_str){in.ptr + 8 + packed, in.len - 8 - packed};
        out += unpacked;
        size -= unpacked;
    }
    return in.len == 0 && size == 0;
}

static bool unpack_zstd(fm_pq_packer *p, fm_str in, void *out, size_t size)
{
    if (!p->zstd_in) p->zstd_in = ZSTD_createDCtx();
    return p->zstd_in && ZSTD_decompressDCtx(p->zstd_in, out, size, in.ptr, in.len) == size;
}

static bool unpack_snappy(fm_str in, char *out, size_t size)
{
    size_t len = size;

    if (snappy_uncompressed_length(in.ptr, in.len, &len) != SNAPPY_OK || len != size) return false;
    return snappy_uncompress(in.ptr, in.len, out, &len) == SNAPPY_OK && len == size;
}

bool fm_pq_unpack(fm_pq_packer *p, int32_t codec, fm_str in, void *out, size_t size)
{
    switch (codec) {
    case FM_PQ_UNCOMPRESSED:
        if (in.len != size) return false;
        if (size) memcpy(out, in.ptr, size);
        return true;
    case FM_PQ_SNAPPY: return unpack_snappy(in, out, size);
    case FM_PQ_GZIP: return unpack_gzip(in, out, size);
    case FM_PQ_ZSTD: return unpack_zstd(p, in, out, size);
    case FM_PQ_LZ4_RAW: return unpack_lz4_block(in.ptr, in.len, out, size);
    case FM_PQ_LZ4: return unpack_lz4_hadoop(in, out, size) || unpack_lz4_block(in.ptr, in.len, out, size);
#ifdef FM_HAVE_BROTLI
    case FM_PQ_BROTLI: {
        size_t got = size;
        return BrotliDecoderDecompress(in.len, (const uint8_t *)in.ptr, &got, out) == BROTLI_DECODER_RESULT_SUCCESS && got == size;
    }
#endif
    default: return false;
    }
}

static bool pack_gzip(int32_t level, fm_str in, fm_strbuf *out)
{
    z_stream z = {0};

    if (in.len > INT32_MAX) return false;
    if (deflateInit2(&z, level ? level : Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    size_t bound = deflateBound(&z, in.len);
    bool ok = bound <= INT32_MAX && fm_strbuf_reserve(out, bound);
    if (ok) {
        z.next_in = (unsigned char *)(uintptr_t)in.ptr;
        z.avail_in = (unsigned)in.len;
        z.next_out = (unsigned char *)out->ptr + out->len;
        z.avail_out = (unsigned)bound;
        ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
        out->len += bound - z.avail_out;
    }
    deflateEnd(&z);
    return ok;
}

static bool pack_zstd(fm_pq_packer *p, int32_t level, fm_str in, fm_strbuf *out)
{
    size_t bound = ZSTD_compressBound(in.len);

    if (!p->zstd_out) p->zstd_out = ZSTD_createCCtx();
    if (!p->zstd_out || !fm_strbuf_reserve(out, bound)) return false;
    size_t n = ZSTD_compressCCtx(p->zstd_out, out->ptr + out->len, bound, in.ptr, in.len, level ? level : ZSTD_LEVEL);
    if (ZSTD_isError(n)) return false;
    out->len += n;
    return true;
}

static bool pack_lz4(fm_str in, fm_strbuf *out)
{
    if (in.len > LZ4_MAX_INPUT_SIZE) return false;
    int bound = LZ4_compressBound((int)in.len);
    if (!fm_strbuf_reserve(out, (size_t)bound)) return false;
    int n = LZ4_compress_default(in.ptr, out->ptr + out->len, (int)in.len, bound);
    out->len += n > 0 ? (size_t)n : 0;
    return n > 0;
}

static bool pack_snappy(fm_str in, fm_strbuf *out)
{
    size_t n = snappy_max_compressed_length(in.len);

    if (!fm_strbuf_reserve(out, n) || snappy_compress(in.ptr, in.len, out->ptr + out->len, &n) != SNAPPY_OK) return false;
    out->len += n;
    return true;
}

bool fm_pq_pack(fm_pq_packer *p, int32_t codec, int32_t level, fm_str in, fm_strbuf *out)
{
    if (!in.ptr) in.ptr = "";
    switch (codec) {
    case FM_PQ_SNAPPY: return pack_snappy(in, out);
    case FM_PQ_GZIP: return pack_gzip(level, in, out);
    case FM_PQ_ZSTD: return pack_zstd(p, level, in, out);
    case FM_PQ_LZ4_RAW: return pack_lz4(in, out);
    default: fm_strbuf_add(out, in); return fm_strbuf_ok(out);
    }
}
