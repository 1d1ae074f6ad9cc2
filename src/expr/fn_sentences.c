/* expr/fn_sentences.c: sentences(str[, lang[, country]]): the only file that includes ICU's break iterators.
 *
 * Rule   Spark: java.text.BreakIterator; a word begins with a letter or a digit. To Java the end of a line is a blank, and ends
 *        no sentence.
 * Cases  tests/golden/functions/text.test */
#include <unicode/ubrk.h>
#include <unicode/utext.h>

#include "column/builder.h"
#include "expr/kernel.h"
#include "expr/text.h"

/* Both iterators, for one locale. */
typedef struct breakers {
    UBreakIterator *sentence, *word;
    char locale[64];
} breakers;

static void breakers_fini(breakers *b)
{
    if (b->sentence) ubrk_close(b->sentence);
    if (b->word) ubrk_close(b->word);
    *b = (breakers){0};
}

static fm_status fail_icu(fm_call *call, UErrorCode code)
{
    if (code == U_MEMORY_ALLOCATION_ERROR) return fm_no_memory(NULL, call->err);
    return fm_fail(call->err, FM_UNSUPPORTED, "FLOODMARK_ICU", "ICU cannot break text into sentences: %s.", u_errorName(code));
}

/* A name ICU can look up: letters and digits of both, '_' between. What is none is the root locale. */
static void locale_name(fm_str lang, fm_str country, char out[64])
{
    size_t n = 0;
    fm_str parts[2] = {lang, country};
    for (int p = 0; p < 2; p++) {
        if (p == 1 && parts[1].len) out[n++] = '_';
        for (size_t i = 0; i < parts[p].len && i < 24; i++) {
            char c = parts[p].ptr[i];
            if (((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9')) out[n++] = c;
        }
    }
    out[n] = 0;
}

static fm_status use_locale(breakers *b, fm_call *call, const char *locale)
{
    UErrorCode code = U_ZERO_ERROR;
    if (b->word && strcmp(b->locale, locale) == 0) return FM_OK;
    breakers_fini(b);
    b->sentence = ubrk_open(UBRK_SENTENCE, locale, NULL, 0, &code);
    b->word = ubrk_open(UBRK_WORD, locale, NULL, 0, &code);
    if (U_FAILURE(code)) return fail_icu(call, code);
    memcpy(b->locale, locale, strlen(locale) + 1);
    return FM_OK;
}

static bool begins_a_word(fm_str text)
{
    size_t size;
    return text.len && fm_char_is_alnum(fm_char_decode(text, 0, &size));
}

/* What ICU takes for a word: some releases see one in a@b, Java two. */
static void add_word(fm_builder *element, fm_str piece)
{
    size_t start = 0;
    for (size_t at = 0; at <= piece.len; at++) {
        fm_str word = {piece.ptr + start, at - start};
        if (at < piece.len && piece.ptr[at] != '@') continue;
        if (begins_a_word(word)) fm_builder_str(element, word);
        start = at + 1;
    }
}

/* The words of a sentence [from, to) of `text`, whose iterator `word` is over the whole. */
static void add_words(UBreakIterator *word, fm_str text, int32_t from, int32_t to, fm_builder *list)
{
    fm_builder *element = fm_builder_child(list, 0);
    int32_t start = from, end;
    while (start < to) {
        end = ubrk_following(word, start);
        if (end == UBRK_DONE || end > to) end = to;
        add_word(element, (fm_str){text.ptr + start, (size_t)(end - start)});
        start = end;
    }
    fm_builder_end(list);
}

/* text is well-formed and without ends of lines. */
static fm_status add_sentences(breakers *b, fm_call *call, fm_str text, fm_builder *sentences)
{
    UErrorCode code = U_ZERO_ERROR;
    UText *sentence_text = utext_openUTF8(NULL, text.ptr ? text.ptr : "", (int64_t)text.len, &code);
    UText *word_text = utext_openUTF8(NULL, text.ptr ? text.ptr : "", (int64_t)text.len, &code);
    if (U_SUCCESS(code)) ubrk_setUText(b->sentence, sentence_text, &code);
    if (U_SUCCESS(code)) ubrk_setUText(b->word, word_text, &code);
    if (U_SUCCESS(code))
        for (int32_t from = ubrk_first(b->sentence), to; (to = ubrk_next(b->sentence)) != UBRK_DONE; from = to)
            add_words(b->word, text, from, to, sentences);
    if (sentence_text) utext_close(sentence_text);
    if (word_text) utext_close(word_text);
    return U_FAILURE(code) ? fail_icu(call, code) : FM_OK;
}

static fm_str text_at(const fm_call *call, const fm_vec *args, int a, int32_t i)
{
    if (a >= call->expr->n_args || fm_vec_is_null(&args[a], i)) return (fm_str){NULL, 0};
    return fm_vec_str(&args[a], i);
}

static fm_status sentences(fm_call *call, const fm_vec *args, fm_vec *out)
{
    fm_builder *list = fm_builder_new(call->arena, out->type, out->len);
    breakers b = {0};
    fm_strbuf text = {0};
    fm_status st = FM_OK;
    if (!list) return fm_no_memory(call->arena, call->err);
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        char locale[64];
        if (fm_vec_is_null(&args[0], i)) {
            fm_builder_null(list);
            continue;
        }
        fm_strbuf_clear(&text);
        fm_text_repair(fm_vec_str(&args[0], i), &text);
        for (size_t k = 0; k < text.len; k++)
            if (text.ptr[k] == '\n' || text.ptr[k] == '\r') text.ptr[k] = ' ';
        locale_name(text_at(call, args, 1, i), text_at(call, args, 2, i), locale);
        st = fm_strbuf_ok(&text) && text.len <= INT32_MAX ? use_locale(&b, call, locale) : fm_no_memory(NULL, call->err);
        if (st == FM_OK) st = add_sentences(&b, call, fm_strbuf_str(&text), fm_builder_child(list, 0));
        fm_builder_end(list);
    }
    breakers_fini(&b);
    fm_strbuf_fini(&text);
    return st == FM_OK ? fm_builder_finish(list, out, call->err) : st;
}

static fm_status bind_sentences(fm_bind *b, fm_error *err)
{
    const fm_type *words = fm_type_list(b->arena, fm_type_string(), false);
    b->returns = words ? fm_type_list(b->arena, words, false) : NULL;
    b->nullable = true;
    return b->returns ? FM_OK : fm_no_memory(b->arena, err);
}

const fm_function fm_fn_sentences = {
    .name = "sentences", .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 3,
    .bind = bind_sentences, .kernel = sentences, .nulls = FM_NULLS_CUSTOM, .usage = "sentences(str[, lang[, country]])",
    .shown = {NULL, "", ""}, .since = "2.0.0", .doc = "Splits a text into sentences, and those into words.",
};
