/* state/state_block.c: entries as bytes: the payload of a block in a state file.
 *
 * A block holds entries of one bucket, column by column, since the columns are more alike than the rows: the bytes that
 * are zero in all rows are not written.
 *
 *     column 0       lengths of keys: 0..15, or 0xFF for a long one
 *     columns 1, 2   the two words of an inline key; of a long one its length and 0
 *     columns 3..    the words of the value (of plain values)
 *     u64            length of what follows
 *     long keys      their bytes, one after the other
 *     values         u32 length and bytes each (of values that a codec saves)
 *
 *     a column       u8 width 0..8, then that many low bytes of each row's word; or u8 0x80 and one word that all have
 *
 * Numbers are little-endian. */
#include "base/hash.h"
#include "state/state_impl.h"

enum { ALL_SAME = 0x80, KEY_COLUMNS = 3, LENGTH_SHIFT = 56 };

/* ---- Encoding ---------------------------------------------------------------------------------------------- */

static void put(fm_strbuf *out, const void *bytes, size_t size) { fm_strbuf_add(out, (fm_str){bytes, size}); }

static int width_of(uint64_t bits) { return bits ? (64 - __builtin_clzll(bits) + 7) / 8 : 0; }

static void put_column(const uint64_t *words, uint32_t n, fm_strbuf *out)
{
    uint64_t any = 0, differ = 0;

    for (uint32_t i = 0; i < n; i++) {
        any |= words[i];
        differ |= words[i] ^ words[0];
    }
    int width = width_of(any);
    if (!differ && width) {
        fm_strbuf_add_char(out, (char)ALL_SAME);
        put(out, words, sizeof *words);
        return;
    }
    fm_strbuf_add_char(out, (char)width);
    if (width == 8) {
        put(out, words, (size_t)n * 8);
        return;
    }
    /* Each store writes eight bytes, and the next one begins where the bytes that count end. */
    if (!fm_strbuf_reserve(out, (size_t)n * (size_t)width + 8)) return;
    char *to = out->ptr + out->len;
    for (uint32_t i = 0; i < n; i++, to += width) memcpy(to, &words[i], 8);
    out->len += (size_t)n * (size_t)width;
    out->ptr[out->len] = 0;
}

static void put_keys(char *const *entries, uint32_t n, uint64_t *words, fm_strbuf *out)
{
    for (int column = 0; column < KEY_COLUMNS; column++) {
        for (uint32_t i = 0; i < n; i++) {
            fm_key k;
            memcpy(&k.u, entries[i], FM_ENTRY_KEY_SIZE);
            bool is_inline = fm_key_is_inline(&k);
            if (column == 0) words[i] = k.u.in.tag;
            else if (column == 1) words[i] = is_inline ? k.u.w.lo : k.u.out.len;
            else words[i] = is_inline ? k.u.w.hi & (((uint64_t)1 << LENGTH_SHIFT) - 1) : 0;
        }
        put_column(words, n, out);
    }
}

static void put_long_keys(char *const *entries, uint32_t n, fm_strbuf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        fm_key k;
        memcpy(&k.u, entries[i], FM_ENTRY_KEY_SIZE);
        if (!fm_key_is_inline(&k)) put(out, k.u.out.ptr, k.u.out.len);
    }
}

static fm_status put_saved_values(const fm_state_codec *codec, char *const *entries, uint32_t n, fm_strbuf *out, fm_error *err)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t len = 0;
        size_t at = out->len;
        put(out, &len, sizeof len);
        FM_TRY(codec->save(codec->ctx, fm_state_value(entries[i]), out, err));
        size_t size = out->len - at - sizeof len;
        if (!fm_strbuf_ok(out) || size > UINT32_MAX) return fm_no_memory(NULL, err);
        len = (uint32_t)size;
        memcpy(out->ptr + at, &len, sizeof len);
    }
    return FM_OK;
}

fm_status fm_state_block_encode(const fm_state_part *p, const fm_state_bucket *b, const uint32_t *numbers, uint32_t first,
                                uint32_t n, fm_strbuf *out, fm_error *err)
{
    const fm_state_codec *codec = &p->state->spec.codec;
    char *entries[FM_STATE_BLOCK_ROWS];
    uint64_t words[FM_STATE_BLOCK_ROWS], heap_size = 0;

    fm_assert(n <= FM_STATE_BLOCK_ROWS);
    for (uint32_t i = 0; i < n; i++) entries[i] = fm_state_entry(p, b, numbers ? numbers[i] : first + i);
    put_keys(entries, n, words, out);
    for (uint32_t w = 0; !codec->save && w < p->state->spec.value_size / 8; w++) {
        for (uint32_t i = 0; i < n; i++) memcpy(&words[i], fm_state_value(entries[i]) + (size_t)w * 8, 8);
        put_column(words, n, out);
    }
    size_t at = out->len;
    put(out, &heap_size, sizeof heap_size);
    put_long_keys(entries, n, out);
    if (codec->save) FM_TRY(put_saved_values(codec, entries, n, out, err));
    if (!fm_strbuf_ok(out)) return fm_no_memory(NULL, err);
    heap_size = out->len - at - sizeof heap_size;
    memcpy(out->ptr + at, &heap_size, sizeof heap_size);
    return FM_OK;
}

/* ---- Decoding ---------------------------------------------------------------------------------------------- */

typedef struct cursor {
    const char *p, *end;
} cursor;

static bool take(cursor *c, void *out, size_t n)
{
    if ((size_t)(c->end - c->p) < n) return false;
    memcpy(out, c->p, n);
    c->p += n;
    return true;
}

static fm_status damaged(fm_error *err, const char *what)
{
    return fm_fail(err, FM_CORRUPT, "FLOODMARK_STATE_DAMAGED", "%s", what);
}

static bool take_column(cursor *c, uint64_t *words, uint32_t n)
{
    uint8_t width;
    uint64_t same;

    if (!take(c, &width, 1)) return false;
    if (width == ALL_SAME) {
        if (!take(c, &same, sizeof same)) return false;
        for (uint32_t i = 0; i < n; i++) words[i] = same;
        return true;
    }
    if (width > 8 || (size_t)(c->end - c->p) < (size_t)n * width) return false;
    for (uint32_t i = 0; i < n; i++, c->p += width) {
        words[i] = 0;
        memcpy(&words[i], c->p, width);
    }
    return true;
}

/* The key of a row. Inline bytes beyond the length must be zero: keys are compared as words. */
static bool make_key(uint64_t tag, uint64_t lo, uint64_t hi, cursor *heap, fm_key *out)
{
    fm_key k = {0};

    if (tag <= FM_KEY_INLINE) {
        k.u.w.lo = lo;
        k.u.w.hi = hi;
        if (hi >> LENGTH_SHIFT) return false;
        for (uint64_t i = tag; i < FM_KEY_INLINE; i++) {
            if (k.u.in.bytes[i]) return false;
        }
        k.u.in.tag = (uint8_t)tag;
        k.hash = fm_hash_u128(k.u.w.lo, k.u.w.hi);
        *out = k;
        return true;
    }
    if (tag != FM_KEY_TAG_OUT || lo <= FM_KEY_INLINE || lo > UINT32_MAX || hi || (size_t)(heap->end - heap->p) < lo) return false;
    *out = fm_key_of_bytes((fm_str){heap->p, (size_t)lo});
    heap->p += lo;
    return true;
}

static fm_status load_value(const fm_state_codec *codec, cursor *heap, char *value, uint32_t value_size, fm_error *err)
{
    uint32_t len;

    if (!take(heap, &len, sizeof len) || (size_t)(heap->end - heap->p) < len) return damaged(err, "a value is cut short");
    fm_str bytes = {heap->p, len};
    heap->p += len;
    if (codec->fini) codec->fini(codec->ctx, value);
    memset(value, 0, value_size);
    if (codec->init) codec->init(codec->ctx, value);
    return codec->load(codec->ctx, bytes, value, err);
}

/* The entry of a key, in the part that owns it. */
static fm_status put_entry(fm_state *s, int64_t time_us, const fm_key *key, char **value, fm_error *err)
{
    fm_state_part *p = fm_state_part_at(s, fm_state_owner(s, key->hash));
    fm_state_bucket *b;

    FM_TRY(fm_state_bucket_at(p, time_us, &b, err));
    return fm_state_upsert_in(p, b, key, 1, value, NULL, err);
}

fm_status fm_state_block_decode(fm_state *s, int64_t time_us, uint32_t n, fm_str bytes, fm_error *err)
{
    const fm_state_codec *codec = &s->spec.codec;
    uint64_t keys[KEY_COLUMNS][FM_STATE_BLOCK_ROWS], words[FM_STATE_BLOCK_ROWS], heap_size;
    char *values[FM_STATE_BLOCK_ROWS];
    cursor c = {bytes.ptr, bytes.ptr + bytes.len}, heap;

    if (n > FM_STATE_BLOCK_ROWS) return damaged(err, "a block is too long");
    for (int k = 0; k < KEY_COLUMNS; k++) {
        if (!take_column(&c, keys[k], n)) return damaged(err, "its keys are cut short");
    }
    /* Values stand before the heap that long keys need, so the heap is found first. */
    cursor values_at = c;
    for (uint32_t w = 0; !codec->load && w < s->spec.value_size / 8; w++) {
        if (!take_column(&c, words, n)) return damaged(err, "its values are cut short");
    }
    if (!take(&c, &heap_size, sizeof heap_size) || heap_size != (uint64_t)(c.end - c.p)) return damaged(err, "its long keys are cut short");
    heap = c;
    for (uint32_t i = 0; i < n; i++) {
        fm_key key;
        if (!make_key(keys[0][i], keys[1][i], keys[2][i], &heap, &key)) return damaged(err, "a key is malformed");
        FM_TRY(put_entry(s, time_us, &key, &values[i], err));
    }
    for (uint32_t w = 0; !codec->load && w < s->spec.value_size / 8; w++) {
        take_column(&values_at, words, n);
        for (uint32_t i = 0; i < n; i++) memcpy(values[i] + (size_t)w * 8, &words[i], 8);
    }
    for (uint32_t i = 0; codec->load && i < n; i++) FM_TRY(load_value(codec, &heap, values[i], s->spec.value_size, err));
    return heap.p == heap.end ? FM_OK : damaged(err, "a block has bytes to spare");
}
