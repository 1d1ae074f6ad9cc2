/* expr/like_pattern.c: the patterns of LIKE, without a regular expression.
 *
 * A pattern is cut at each '%' into pieces. The first has to stand at the begin of the text, the last at its end, and those
 * between, from left to right, anywhere: the first place that fits is right, as it leaves most for the rest. So there is no
 * backtracking, 'a%' compares a prefix, and '%a%' is one memmem.
 *
 * Rule  Spark, StringUtils.escapeLikeRegex: (?s), '_' is one code point, '%' is ".*". */
#include "expr/like_pattern.h"

#include "expr/text.h"

/* Stands for '_' in a piece: a byte that no UTF-8 holds. */
#define ANY_ONE ((char)0xFF)

typedef struct piece {
    fm_str text;
    int64_t chars;   /* '_' counted */
    bool has_any;    /* ANY_ONE is in it */
} piece;

struct fm_like {
    int32_t n;       /* pieces: one more than there are '%' */
    piece pieces[];
};

static fm_status fail_escape(fm_str pattern, fm_str next, fm_error *err)
{
    if (!next.len)
        return fm_fail(err, FM_INVALID, "INVALID_FORMAT.ESC_AT_THE_END",
                       "The format is invalid: '%.*s'. The escape character is not allowed to end with.",
                       FM_STR_ARG(pattern));
    return fm_fail(err, FM_INVALID, "INVALID_FORMAT.ESC_IN_THE_MIDDLE",
                   "The format is invalid: '%.*s'. The escape character is not allowed to precede '%.*s'.",
                   FM_STR_ARG(pattern), FM_STR_ARG(next));
}

static void end_piece(piece *p, const char *start, const char *end)
{
    p->text = (fm_str){start, (size_t)(end - start)};
    for (const char *c = start; c < end; c++) {
        p->has_any |= *c == ANY_ONE;
        p->chars += ((unsigned char)*c & 0xC0) != 0x80;
    }
}

fm_status fm_like_compile(fm_arena *arena, fm_str pattern, uint32_t escape, const fm_like **out, fm_error *err)
{
    size_t percents = 0;
    char *bytes = fm_arena_alloc(arena, pattern.len, 1), *start = bytes, *to = bytes;
    fm_like *like;
    for (size_t i = 0; i < pattern.len; i++) percents += pattern.ptr[i] == '%';
    like = fm_arena_zalloc(arena, sizeof *like + (percents + 1) * sizeof(piece), _Alignof(fm_like));
    if (!bytes || !like) return fm_no_memory(arena, err);

    for (size_t at = 0, size; at < pattern.len; at += size) {
        uint32_t c = fm_char_decode(pattern, at, &size);
        if (c == escape) {
            size_t next_size = 0;
            uint32_t next = at + size < pattern.len ? fm_char_decode(pattern, at + size, &next_size) : 0;
            if (!next_size || (next != '%' && next != '_' && next != escape))
                return fail_escape(pattern, (fm_str){pattern.ptr + at + size, next_size}, err);
            at += size;
            size = next_size;
        } else if (c == '%') {
            end_piece(&like->pieces[like->n++], start, to);
            start = to;
            continue;
        } else if (c == '_') {
            *to++ = ANY_ONE;
            continue;
        }
        memcpy(to, pattern.ptr + at, size);
        to += size;
    }
    end_piece(&like->pieces[like->n++], start, to);
    *out = like;
    return FM_OK;
}

/* Where the piece ends when it begins at `at`; -1: it does not stand there. */
static ptrdiff_t match_at(const piece *p, fm_str text, size_t at)
{
    if (!p->has_any) {
        if (text.len - at < p->text.len || (p->text.len && memcmp(text.ptr + at, p->text.ptr, p->text.len) != 0)) return -1;
        return (ptrdiff_t)(at + p->text.len);
    }
    for (size_t i = 0; i < p->text.len; i++) {
        if (at >= text.len) return -1;
        if (p->text.ptr[i] == ANY_ONE)
            at += fm_char_at(text, at);
        else if (text.ptr[at++] != p->text.ptr[i])
            return -1;
    }
    return (ptrdiff_t)at;
}

/* Where the first place of the piece at or behind `from` ends, or -1. */
static ptrdiff_t match_from(const piece *p, fm_str text, size_t from)
{
    ptrdiff_t end;
    if (!p->has_any) {
        ptrdiff_t at = fm_text_find(text, p->text, from);
        return at < 0 ? -1 : at + (ptrdiff_t)p->text.len;
    }
    for (; from <= text.len; from += from < text.len ? fm_char_at(text, from) : 1)
        if ((end = match_at(p, text, from)) >= 0) return end;
    return -1;
}

/* Whether the piece stands at the end of the text, not before `from`. */
static bool match_end(const piece *p, fm_str text, size_t from)
{
    size_t at = text.len;
    if (!p->has_any)
        return text.len - from >= p->text.len && match_at(p, text, text.len - p->text.len) >= 0;
    for (int64_t n = 0; n < p->chars; n++) {
        if (at <= from) return false;
        at--;
        while (at > from && ((unsigned char)text.ptr[at] & 0xC0) == 0x80) at--;
    }
    return match_at(p, text, at) == (ptrdiff_t)text.len;
}

bool fm_like_matches(const fm_like *like, fm_str text)
{
    ptrdiff_t at = match_at(&like->pieces[0], text, 0);
    if (at < 0) return false;
    if (like->n == 1) return (size_t)at == text.len;
    for (int32_t i = 1; i + 1 < like->n; i++)
        if ((at = match_from(&like->pieces[i], text, (size_t)at)) < 0) return false;
    return match_end(&like->pieces[like->n - 1], text, (size_t)at);
}
