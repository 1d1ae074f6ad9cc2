/* format/parquet_decode.c: values of a page by their encoding.
 *
 *     PLAIN                    the values, little-endian; strings behind their u32 length; booleans as bits
 *     DELTA_BINARY_PACKED      block size, miniblocks, count, first value; then blocks: least delta, a width for each miniblock,
 *                              deltas above the least, in bits
 *     DELTA_LENGTH_BYTE_ARRAY  lengths as above, then all bytes
 *     DELTA_BYTE_ARRAY         lengths shared with the value before as above, then the rest as DELTA_LENGTH_BYTE_ARRAY
 *     BYTE_STREAM_SPLIT        all first bytes, all second bytes, ...
 *     RLE                      booleans: u32 size, runs */
#include "format/parquet_decode.h"

#include <stdlib.h>

enum {
    DELTA_BLOCK_MAX = 1 << 20,     /* values of a block: hostile headers */
    DELTA_TEXT_SIZE_MAX = 1 << 28, /* bytes that one page of DELTA_BYTE_ARRAY may unfold to */
    DELTA_VALUES_MAX = 1 << 26     /* strings of such a page */
};

/* ---- DELTA_BINARY_PACKED ------------------------------------------------------------------------------------ */

static bool take_varint(fm_pq_delta *d, uint64_t *out)
{
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (d->at == d->end) return false;
        uint8_t b = *d->at++;
        *out |= (uint64_t)(b & 0x7F) << shift;
        if (b < 0x80) return true;
    }
    return false;
}

static bool take_zigzag(fm_pq_delta *d, uint64_t *out)
{
    uint64_t x;

    if (!take_varint(d, &x)) return false;
    *out = x >> 1 ^ (0 - (x & 1));
    return true;
}

bool fm_pq_delta_init(fm_pq_delta *d, const uint8_t *bytes, size_t size)
{
    uint64_t block, minis, total;

    *d = (fm_pq_delta){.at = bytes, .end = bytes + size, .first = true};
    if (!take_varint(d, &block) || !take_varint(d, &minis) || !take_varint(d, &total) || !take_zigzag(d, &d->last)) return false;
    if (block == 0 || block > DELTA_BLOCK_MAX || minis == 0 || minis > block || block % minis || total > INT32_MAX) return false;
    d->block = (int32_t)block;
    d->minis = d->mini = (int32_t)minis;
    d->per_mini = (int32_t)(block / minis);
    d->total = d->left = (int64_t)total;
    return true;
}

/* Begins the next miniblock. */
static bool next_mini(fm_pq_delta *d)
{
    if (d->mini >= d->minis) {
        if (!take_zigzag(d, &d->min_delta) || d->end - d->at < d->minis) return false;
        d->widths = d->at;
        d->at += d->minis;
        d->mini = 0;
    }
    int32_t width = d->widths[d->mini++];
    uint64_t size = ((uint64_t)width * (uint64_t)d->per_mini + 7) / 8;
    /* The last miniblock need not be whole. */
    if (width > 64 || (((uint64_t)width * (uint64_t)(d->left < d->per_mini ? d->left : d->per_mini) + 7) / 8) > (uint64_t)(d->end - d->at))
        return false;
    d->mini_at = d->at;
    d->at += size < (uint64_t)(d->end - d->at) ? size : (uint64_t)(d->end - d->at);
    d->mini_left = d->per_mini;
    d->bit = 0;
    return true;
}

static uint64_t sum_up(uint64_t *restrict out, int64_t n, uint64_t last, uint64_t min_delta)
{
    for (int64_t i = 0; i < n; i++) out[i] = last += out[i] + min_delta;
    return last;
}

bool fm_pq_delta_read(fm_pq_delta *d, uint64_t *out, int64_t n)
{
    if (n > d->left) return false;
    if (d->first && n > 0) {
        *out++ = d->last;
        d->first = false;
        d->left--;
        n--;
    }
    while (n > 0) {
        if (d->mini_left == 0 && !next_mini(d)) return false;
        int32_t width = d->widths[d->mini - 1];
        int64_t k = n < d->mini_left ? n : d->mini_left;
        if (width == 0) memset(out, 0, (size_t)k * sizeof *out);
        else fm_pq_unpack_u64(d->mini_at, d->bit, width, out, k);
        d->last = sum_up(out, k, d->last, d->min_delta);
        d->bit += (uint64_t)k * (uint64_t)width;
        out += k;
        n -= k;
        d->left -= k;
        d->mini_left -= (int32_t)k;
    }
    return true;
}

const uint8_t *fm_pq_delta_end(const fm_pq_delta *d) { return d->at; }

/* ---- Strings of delta encodings: a page at once -------------------------------------------------------------- */

/* Lengths, all of a stream: *out [*n], to be freed. */
static bool read_lengths(const uint8_t **at, const uint8_t *end, int64_t values, uint64_t **out, int64_t *n)
{
    fm_pq_delta d;

    *out = NULL;
    if (!fm_pq_delta_init(&d, *at, (size_t)(end - *at)) || d.total > values || d.total > DELTA_VALUES_MAX) return false;
    *n = d.total;
    *out = malloc((size_t)(d.total + 1) * sizeof **out);
    if (!*out || !fm_pq_delta_read(&d, *out, d.total)) return false;
    *at = fm_pq_delta_end(&d);
    return true;
}

static bool make_views(fm_pq_values *v, int64_t n)
{
    free(v->views);
    v->n_views = n;
    v->views = malloc((size_t)(n + 1) * sizeof *v->views);
    return v->views != NULL;
}

static bool start_delta_length(fm_pq_values *v, int64_t values)
{
    uint64_t *lengths = NULL;
    int64_t n = 0;
    bool ok = read_lengths(&v->at, v->end, values, &lengths, &n) && make_views(v, n);

    for (int64_t i = 0; ok && i < n; i++) {
        ok = lengths[i] <= (uint64_t)(v->end - v->at);
        if (!ok) break;
        v->views[i] = fm_view_of((const char *)v->at, (size_t)lengths[i]);
        v->at += lengths[i];
    }
    free(lengths);
    return ok;
}

static bool unfold(fm_pq_values *v, const uint64_t *prefixes, const uint64_t *lengths, int64_t n)
{
    uint64_t size = 0, before = 0;

    for (int64_t i = 0; i < n; i++) {
        if (prefixes[i] > before || lengths[i] > (uint64_t)(v->end - v->at)) return false;
        before = prefixes[i] + lengths[i];
        size += before;
        if (size > DELTA_TEXT_SIZE_MAX) return false;
    }
    char *text = malloc(size + 1), *last = text;
    if (!text || !make_views(v, n)) {
        free(text);
        return false;
    }
    v->text = text;
    for (int64_t i = 0; i < n; i++) {
        if (lengths[i] > (uint64_t)(v->end - v->at)) return false;
        memmove(text, last, prefixes[i]); /* never overlaps; the first has none */
        memcpy(text + prefixes[i], v->at, lengths[i]);
        v->at += lengths[i];
        v->views[i] = fm_view_of(text, prefixes[i] + lengths[i]);
        last = text;
        text += prefixes[i] + lengths[i];
    }
    return true;
}

static bool start_delta_bytes(fm_pq_values *v, int64_t values)
{
    uint64_t *prefixes = NULL, *lengths = NULL;
    int64_t n_prefixes = 0, n = 0;
    bool ok = read_lengths(&v->at, v->end, values, &prefixes, &n_prefixes) && read_lengths(&v->at, v->end, values, &lengths, &n) &&
              n == n_prefixes && unfold(v, prefixes, lengths, n);

    free(prefixes);
    free(lengths);
    return ok;
}

/* ---- A page ------------------------------------------------------------------------------------------------- */

void fm_pq_values_fini(fm_pq_values *v)
{
    free(v->views);
    free(v->text);
    free(v->scratch);
    *v = (fm_pq_values){0};
}

static fm_status start_runs(fm_pq_values *v, fm_error *err)
{
    if (v->encoding == FM_PQ_RLE) {
        uint32_t size;
        if (v->end - v->at < 4) return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT", "runs of booleans are cut off");
        memcpy(&size, v->at, 4);
        v->at += 4;
        if (size > (uint64_t)(v->end - v->at)) return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT", "runs of booleans are cut off");
        fm_pq_runs_init(&v->runs, v->at, size, 1);
        return FM_OK;
    }
    /* A page of nulls only may have no byte at all. */
    int32_t width = v->at < v->end ? *v->at++ : 0;
    if (width > 32) return fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT", "dictionary indexes of %d bits", width);
    fm_pq_runs_init(&v->runs, v->at, (size_t)(v->end - v->at), width);
    return FM_OK;
}

static bool goes_with(int32_t encoding, int32_t type)
{
    bool is_int = type == FM_PQ_INT32 || type == FM_PQ_INT64;

    switch (encoding) {
    case FM_PQ_PLAIN:
    case FM_PQ_PLAIN_DICTIONARY:
    case FM_PQ_RLE_DICTIONARY: return true;
    case FM_PQ_RLE: return type == FM_PQ_BOOLEAN;
    case FM_PQ_DELTA_BINARY_PACKED: return is_int;
    case FM_PQ_DELTA_LENGTH_BYTE_ARRAY: return type == FM_PQ_BYTE_ARRAY;
    case FM_PQ_DELTA_BYTE_ARRAY: return type == FM_PQ_BYTE_ARRAY || type == FM_PQ_FIXED;
    case FM_PQ_BYTE_STREAM_SPLIT: return is_int || type == FM_PQ_FLOAT || type == FM_PQ_DOUBLE || type == FM_PQ_FIXED;
    default: return false;
    }
}

fm_status fm_pq_values_start(fm_pq_values *v, const fm_pq_element *e, int32_t encoding, const uint8_t *bytes, size_t size,
                             int64_t values, char **old_text, fm_error *err)
{
    static const uint8_t sizes[FM_PQ_TYPES] = {1, 4, 8, 12, 4, 8, sizeof(fm_view), 0};
    bool ok = true;

    *old_text = v->text;
    v->text = NULL;
    v->encoding = encoding;
    v->type = e->type;
    v->raw_size = e->type == FM_PQ_FIXED ? e->type_length : sizes[e->type];
    v->at = bytes;
    v->end = bytes + size;
    v->pos = v->n_views = 0;
    if (!goes_with(encoding, e->type))
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_PARQUET_ENCODING", "values of physical type %d in encoding %d", e->type, encoding);
    switch (encoding) {
    case FM_PQ_RLE:
    case FM_PQ_PLAIN_DICTIONARY:
    case FM_PQ_RLE_DICTIONARY: return start_runs(v, err);
    case FM_PQ_DELTA_BINARY_PACKED: /* a page of nulls only may be empty */
        v->delta = (fm_pq_delta){0};
        ok = size == 0 || fm_pq_delta_init(&v->delta, bytes, size);
        break;
    case FM_PQ_DELTA_LENGTH_BYTE_ARRAY: ok = size == 0 || start_delta_length(v, values); break;
    case FM_PQ_DELTA_BYTE_ARRAY: ok = size == 0 || start_delta_bytes(v, values); break;
    default: break;
    }
    return ok ? FM_OK : fm_fail(err, FM_CORRUPT, "FAILED_READ_FILE.NO_HINT", "values of encoding %d that cannot be decoded", encoding);
}

static bool need_scratch(fm_pq_values *v, size_t size)
{
    if (size <= v->scratch_size) return true;
    void *more = realloc(v->scratch, size);
    if (!more) return false;
    v->scratch = more;
    v->scratch_size = size;
    return true;
}

static bool plain_bools(fm_pq_values *v, int64_t n)
{
    uint8_t *out = v->scratch;

    if ((uint64_t)(v->pos + n) > (uint64_t)(v->end - v->at) * 8) return false;
    for (int64_t i = 0; i < n; i++) out[i] = v->at[(v->pos + i) >> 3] >> ((v->pos + i) & 7) & 1;
    v->pos += n;
    return true;
}

static bool rle_bools(fm_pq_values *v, int64_t n)
{
    uint8_t *out = v->scratch;

    if (!fm_pq_runs_u8(&v->runs, out, n)) return false;
    for (int64_t i = 0; i < n; i++) out[i] &= 1; /* a run of one value has a whole byte for it */
    return true;
}

static bool plain_strings(fm_pq_values *v, int64_t n)
{
    fm_view *out = v->scratch;
    const uint8_t *at = v->at, *end = v->end;

    for (int64_t i = 0; i < n; i++) {
        uint32_t len;
        if (end - at < 4) return false;
        memcpy(&len, at, 4);
        at += 4;
        if (len > (uint64_t)(end - at)) return false;
        out[i] = fm_view_of((const char *)at, len);
        at += len;
    }
    v->at = at;
    return true;
}

static bool deltas(fm_pq_values *v, int64_t n)
{
    uint64_t *wide = v->scratch;

    if (!fm_pq_delta_read(&v->delta, wide, n)) return false;
    if (v->type == FM_PQ_INT32) {
        int32_t *narrow = v->scratch;
        for (int64_t i = 0; i < n; i++) narrow[i] = (int32_t)(uint32_t)wide[i]; /* behind what is still to be read */
    }
    return true;
}

static bool split_streams(fm_pq_values *v, int64_t n)
{
    int64_t size = v->raw_size, total = (v->end - v->at) / size;
    uint8_t *out = v->scratch;

    if (v->pos + n > total) return false;
    for (int64_t b = 0; b < size; b++) {
        const uint8_t *in = v->at + b * total + v->pos;
        for (int64_t i = 0; i < n; i++) out[i * size + b] = in[i];
    }
    v->pos += n;
    return true;
}

static bool next_views(fm_pq_values *v, int64_t n, const void **raw)
{
    if (n > v->n_views - v->pos) return false;
    const fm_view *views = v->views + v->pos;
    v->pos += n;
    if (v->type != FM_PQ_FIXED) {
        *raw = views;
        return true;
    }
    if (!need_scratch(v, (size_t)n * (size_t)v->raw_size + 1)) return false;
    *raw = v->scratch;
    for (int64_t i = 0; i < n; i++) {
        if (views[i].len != (uint32_t)v->raw_size) return false;
        memcpy((char *)v->scratch + i * v->raw_size, fm_view_ptr(&views[i]), (size_t)v->raw_size);
    }
    return true;
}

bool fm_pq_values_next(fm_pq_values *v, int64_t n, const void **raw)
{
    size_t size = (size_t)n * (size_t)v->raw_size;

    if (v->encoding == FM_PQ_DELTA_LENGTH_BYTE_ARRAY || v->encoding == FM_PQ_DELTA_BYTE_ARRAY) return next_views(v, n, raw);
    if (v->encoding == FM_PQ_PLAIN && v->type != FM_PQ_BOOLEAN && v->type != FM_PQ_BYTE_ARRAY) {
        if (size > (size_t)(v->end - v->at)) return false;
        *raw = v->at;
        v->at += size;
        return true;
    }
    if (v->encoding == FM_PQ_BYTE_STREAM_SPLIT && size > (size_t)(v->end - v->at)) return false;
    if (!need_scratch(v, v->encoding == FM_PQ_DELTA_BINARY_PACKED ? (size_t)n * 8 + 8 : size + 8)) return false;
    *raw = v->scratch;
    if (v->encoding == FM_PQ_DELTA_BINARY_PACKED) return deltas(v, n);
    if (v->encoding == FM_PQ_BYTE_STREAM_SPLIT) return split_streams(v, n);
    if (v->encoding == FM_PQ_RLE) return rle_bools(v, n);
    return v->type == FM_PQ_BOOLEAN ? plain_bools(v, n) : plain_strings(v, n);
}
