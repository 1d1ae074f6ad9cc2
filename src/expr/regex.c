/* expr/regex.c: Java's regular expressions, matched by PCRE2. */
#include "expr/regex.h"

#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/limits.h"
#include "expr/java_regex.h"
#include "expr/text.h"

enum { JIT_STACK_SIZE_FIRST = 32 << 10, JIT_STACK_SIZE_MAX = 8 << 20 /* bytes; made only when the small one is too small */ };

struct fm_regex {
    pcre2_code *code;
    int32_t groups;
    fm_strbuf names; /* see fm_java_regex */
};

struct fm_regex_run {
    const fm_regex *regex;
    pcre2_match_data *data;
    pcre2_match_context *context;
    pcre2_jit_stack *stack; /* NULL until the thread's own is too small */
    fm_str text;
    fm_strbuf repaired;     /* the text, when it was malformed */
};

/* PCRE2's own complaint about a pattern that Java takes. */
static fm_status refuse(int code, size_t offset, fm_error *err)
{
    char text[128];
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAP_FAILED) return fm_no_memory(NULL, err);
    pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof text);
    if (code == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY || code == PCRE2_ERROR_UNKNOWN_UNICODE_PROPERTY + 1)
        return fm_fail(err, FM_INVALID, "INVALID_PARAMETER_VALUE.PATTERN", "a script that is not known");
    (void)offset;
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_PATTERN_NOT_SUPPORTED", "%s", text);
}

fm_status fm_regex_compile(fm_str pattern, fm_regex **out, fm_error *err)
{
    fm_java_regex java = {0};
    fm_regex *regex = NULL;
    int code = 0;
    size_t offset = 0;
    fm_status st = fm_java_regex_translate(pattern, &java, err);

    if (st == FM_OK) {
        regex = calloc(1, sizeof *regex);
        if (!regex) st = fm_no_memory(NULL, err);
    }
    if (st == FM_OK) {
        regex->code = pcre2_compile((PCRE2_SPTR)(java.text.ptr ? java.text.ptr : ""), java.text.len,
                                    PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &offset, NULL);
        regex->groups = java.groups;
        regex->names = java.names;
        java.names = (fm_strbuf){0};
        if (!regex->code) st = refuse(code, offset, err);
    }
    /* Where there is no compiler for this machine, or no memory it may run in, the interpreter matches. */
    if (st == FM_OK) pcre2_jit_compile(regex->code, PCRE2_JIT_COMPLETE);
    fm_java_regex_fini(&java);
    if (st != FM_OK) {
        fm_regex_free(regex);
        return st;
    }
    *out = regex;
    return FM_OK;
}

void fm_regex_free(fm_regex *regex)
{
    if (!regex) return;
    pcre2_code_free(regex->code);
    fm_strbuf_fini(&regex->names);
    free(regex);
}

int32_t fm_regex_groups(const fm_regex *regex) { return regex->groups; }

int32_t fm_regex_group_named(const fm_regex *regex, fm_str name)
{
    return fm_java_regex_group_named(fm_strbuf_str(&regex->names), name);
}

fm_status fm_regex_run_new(const fm_regex *regex, fm_regex_run **out, fm_error *err)
{
    fm_regex_run *run = calloc(1, sizeof *run);
    if (!run) return fm_no_memory(NULL, err);
    run->regex = regex;
    run->data = pcre2_match_data_create_from_pattern(regex->code, NULL);
    run->context = pcre2_match_context_create(NULL);
    if (!run->data || !run->context) {
        fm_regex_run_free(run);
        return fm_no_memory(NULL, err);
    }
    pcre2_set_match_limit(run->context, FM_REGEX_STEPS_MAX);
    pcre2_set_heap_limit(run->context, FM_REGEX_HEAP_KIB_MAX);
    *out = run;
    return FM_OK;
}

void fm_regex_run_free(fm_regex_run *run)
{
    if (!run) return;
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->context);
    pcre2_jit_stack_free(run->stack);
    fm_strbuf_fini(&run->repaired);
    free(run);
}

fm_status fm_regex_begin(fm_regex_run *run, fm_str text, fm_str *ready, fm_error *err)
{
    if (!text.ptr) text.ptr = "";
    if (!fm_text_is_valid(text)) {
        fm_strbuf_clear(&run->repaired);
        fm_text_repair(text, &run->repaired);
        if (!fm_strbuf_ok(&run->repaired)) return fm_no_memory(NULL, err);
        text = fm_strbuf_str(&run->repaired);
    }
    run->text = text;
    *ready = text;
    return FM_OK;
}

static int match(fm_regex_run *run, size_t from)
{
    return pcre2_match(run->regex->code, (PCRE2_SPTR)run->text.ptr, run->text.len, from, PCRE2_NO_UTF_CHECK, run->data,
                       run->context);
}

fm_status fm_regex_find(fm_regex_run *run, size_t from, bool *found, fm_error *err)
{
    int n = match(run, from);
    if (n == PCRE2_ERROR_JIT_STACKLIMIT && !run->stack) {
        run->stack = pcre2_jit_stack_create(JIT_STACK_SIZE_FIRST, JIT_STACK_SIZE_MAX, NULL);
        if (!run->stack) return fm_no_memory(NULL, err);
        pcre2_jit_stack_assign(run->context, NULL, run->stack);
        n = match(run, from);
    }
    *found = n >= 0;
    if (n >= 0 || n == PCRE2_ERROR_NOMATCH) return FM_OK;
    if (n == PCRE2_ERROR_NOMEMORY) return fm_no_memory(NULL, err);
    return fm_fail(err, FM_LIMIT, "FLOODMARK_PATTERN_TOO_COSTLY",
                   "The pattern was given up on a text of %zu bytes, of which it tried too many ways to match. Nested repetitions "
                   "such as (a+)+ do that: write them possessive, (a++)+, or once.",
                   run->text.len);
}

bool fm_regex_group(const fm_regex_run *run, int32_t i, size_t *start, size_t *end)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(run->data);
    if (i < 0 || i > run->regex->groups || at[2 * i] == PCRE2_UNSET) return false;
    *start = at[2 * i];
    *end = at[2 * i + 1];
    return true;
}

size_t fm_regex_next(const fm_regex_run *run)
{
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(run->data);
    if (at[1] > at[0]) return at[1];
    return at[1] < run->text.len ? at[1] + fm_char_at(run->text, at[1]) : run->text.len + 1;
}
