/* sql/substitute.c: ${env:NAME} and ${key} in job files. */
#include "sql/sql.h"

#include "sql/lexer.h"
#include "sql/source_text.h"

/* What one run replaces with, and the first failure. */
typedef struct substitution {
    fm_str text;
    bool (*lookup)(void *ctx, fm_str name, fm_str *value);
    void *ctx;
    fm_strbuf made;
    fm_error *err;
} substitution;

static fm_status fail_unknown(substitution *s, size_t at, size_t end, fm_str name)
{
    fm_pos pos = fm_text_pos(s->text, at, end);

    if (fm_str_starts(name, FM_STR("env:"))) {
        return fm_sql_fail(s->text, pos, s->err, FM_INVALID, "FLOODMARK_UNKNOWN_VARIABLE", "The environment has no variable %.*s.",
                           FM_STR_ARG(((fm_str){name.ptr + 4, name.len - 4})));
    }
    return fm_sql_fail(s->text, pos, s->err, FM_INVALID, "FLOODMARK_UNKNOWN_VARIABLE",
                       "There is no value for ${%.*s}. Give one with -c %.*s=value or SET; variables of the environment are written ${env:NAME}.",
                       FM_STR_ARG(name), FM_STR_ARG(name));
}

/* Copies text[from, to), variables replaced. */
static fm_status copy(substitution *s, size_t from, size_t to)
{
    size_t copied = from;

    for (size_t i = from; i + 1 < to; i++) {
        if (s->text.ptr[i] != '$' || s->text.ptr[i + 1] != '{') continue;
        const char *close = memchr(s->text.ptr + i, '}', s->text.len - i);
        const char *line_end = memchr(s->text.ptr + i, '\n', s->text.len - i);
        if (!close || (line_end && line_end < close)) {
            return fm_sql_fail(s->text, fm_text_pos(s->text, i, i + 2), s->err, FM_INVALID, "FLOODMARK_UNKNOWN_VARIABLE", "This ${ has no } in its line.");
        }
        fm_str name = fm_str_trim((fm_str){s->text.ptr + i + 2, (size_t)(close - s->text.ptr) - i - 2}), value;
        size_t end = (size_t)(close - s->text.ptr) + 1;
        if (!s->lookup(s->ctx, name, &value)) return fail_unknown(s, i, end, name);
        fm_strbuf_add(&s->made, (fm_str){s->text.ptr + copied, i - copied});
        fm_strbuf_add(&s->made, value);
        copied = end;
        i = end - 1;
    }
    if (copied < to) fm_strbuf_add(&s->made, (fm_str){s->text.ptr + copied, to - copied});
    return FM_OK;
}

/* Words are looked through, quoted ones too; what stands between them are blanks and comments, which are kept. A '$' is a word
 * of its own to the lexer, and the text behind it is settled by the braces. */
static fm_status substitute(substitution *s)
{
    size_t at = 0, begin, done = 0;

    for (;;) {
        fm_lex lex = fm_lex_next(s->text.ptr, s->text.len, &at, &begin);
        if (begin > done) fm_strbuf_add(&s->made, (fm_str){s->text.ptr + done, begin - done});
        if (lex == FM_LEX_END) return FM_OK;
        bool variable = s->text.ptr[begin] == '$' && begin + 1 < s->text.len && s->text.ptr[begin + 1] == '{';
        if (variable) { /* to the '}' of this line, found again by copy */
            const char *close = memchr(s->text.ptr + begin, '}', s->text.len - begin);
            at = close ? (size_t)(close - s->text.ptr) + 1 : s->text.len;
        }
        FM_TRY(copy(s, begin, at));
        done = at;
    }
}

fm_status fm_sql_substitute(fm_arena *arena, fm_str text, bool (*lookup)(void *ctx, fm_str name, fm_str *value), void *ctx, fm_str *out, fm_error *err)
{
    substitution s = {.lookup = lookup, .ctx = ctx, .err = err};

    FM_TRY(fm_text_check_utf8(text, err));
    s.text = fm_arena_str(arena, text.ptr ? text : FM_STR(""));
    if (!s.text.ptr) return fm_no_memory(arena, err);
    fm_status st = substitute(&s);
    if (st == FM_OK && !fm_strbuf_ok(&s.made)) st = fm_no_memory(arena, err);
    if (st == FM_OK) {
        *out = fm_arena_str(arena, s.made.ptr ? fm_strbuf_str(&s.made) : FM_STR(""));
        if (!out->ptr) st = fm_no_memory(arena, err);
    }
    fm_strbuf_fini(&s.made);
    return st;
}
