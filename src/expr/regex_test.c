/* expr/regex_test.c: Java's patterns on PCRE2: what matches where, what is refused, and that a match ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "expr/java_regex.h"
#include "expr/regex.h"

/* All matches of a pattern as "start-end" of bytes, with blanks between; "none". */
static void matches_of(fm_str pattern, fm_str text, fm_strbuf *out)
{
    fm_regex *regex;
    fm_regex_run *run;
    fm_error err = FM_ERROR_INIT;
    fm_str ready;
    if (fm_regex_compile(pattern, &regex, &err) != FM_OK) {
        fm_strbuf_printf(out, "%s", err.condition);
        return;
    }
    assert_int_equal(fm_regex_run_new(regex, &run, &err), FM_OK);
    assert_int_equal(fm_regex_begin(run, text, &ready, &err), FM_OK);
    for (size_t at = 0; at <= ready.len; at = fm_regex_next(run)) {
        bool found;
        size_t start, end;
        assert_int_equal(fm_regex_find(run, at, &found, &err), FM_OK);
        if (!found) break;
        assert_true(fm_regex_group(run, 0, &start, &end));
        fm_strbuf_printf(out, "%s%zu-%zu", out->len ? " " : "", start, end);
    }
    if (!out->len) fm_strbuf_add_c(out, "none");
    fm_regex_run_free(run);
    fm_regex_free(regex);
}

static void java_patterns(void **state)
{
    static const struct { const char *pattern, *text, *matches; } cases[] = {
        {"", "ab", "0-0 1-1 2-2"},
        {"a*", "aab", "0-2 2-2 3-3"},
        {"x*", "\xC3\xA9", "0-0 2-2"},
        {".", "a\n\xC2\x85\xE2\x80\xA8" "b", "0-1 7-8"},
        {"(?s).", "a\n", "0-1 1-2"},
        {"$", "a\n", "1-1 2-2"},
        {"$", "a\r\n", "1-1 3-3"},
        {"a$", "a\nb", "none"},
        {"(?m)^", "a\r\nb\n", "0-0 3-3"},
        {"(?m)$", "a\r\nb", "1-1 4-4"},
        {"a\\Z", "a\n", "0-1"},
        {"a\\z", "a\n", "none"},
        {"[a-z&&[^b]]", "abc", "0-1 2-3"},
        {"[a-c&&b-d]", "abcd", "1-2 2-3"},
        {"[a-d[m-p]&&[^cn]]+", "abcdmnop", "0-2 3-5 6-8"},
        {"[^a-c[x]]", "abxz", "3-4"},
        {"[]]", "]", "0-1"},
        {"[a&]", "&", "0-1"},
        {"[\\]^-]+", "]^-", "0-3"},
        {"(?i)k", "kK\xE2\x84\xAA", "0-1 1-2"},
        {"(?iu)k", "kK\xE2\x84\xAA", "0-1 1-2 2-5"},
        {"(?i)[a-c]+", "aBcD", "0-3"},
        {"a(?i)b|c", "aBC", "0-2 2-3"},
        {"(a(?i)b)c", "aBC", "none"},
        {"(?x) a  # b\n c", "ac", "0-2"},
        {"\\Qa.b\\E+", "a.bb", "0-4"},
        {"\\p{Lower}\\p{IsGreek}\\pN", "a\xCE\xB1" "1", "0-4"},
        {"[\\p{Punct}\\P{ASCII}]+", "a!\xC3\xA9z", "1-4"},
        {"\\bb", "ab b \xC3\xA9" "b", "3-4"},
        {"\\0101\\x42\\u0043\\cM\\t", "ABC\r\t", "0-5"},
        {"\\uD83D\\uDE00", "\xF0\x9F\x98\x80", "0-4"},
        {"(?<n>a)\\k<n>\\1", "aaa", "0-3"},
        {"(a)\\2?b", "ab", "0-2"},
        {"(a)\\10", "aa0", "0-3"},
        {"a++b|a", "aab", "0-3"},
        {"(?>a|ab)c", "abc", "none"},
        {"a{2,3}?", "aaaa", "0-2 2-4"},
        {"[^\\n]", "\n", "none"},
        {"\xFF", "\xEF\xBF\xBD", "0-3"},
        {"(?<=a{1,3})b", "baab", "3-4"},
        {"(?<=^a?)b", "ab", "1-2"},
        {"(?<!x(?:a|bc))d", "xad xbcd yad", "11-12"},
        {"(?<=(?:ab|c){1,2}e)f", "abef abcef ef", "3-4 9-10"},
        {"(?<=\\d{2}[a-c&&[^b]])z", "12az 12bz", "3-4"},
        {"(?<=)a", "a", "0-1"},
        {"(?<=(x)|(y))a\\2?", "xa yay", "1-2 4-6"},
        /* what Java refuses */
        {"(?<=a+)b", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"(?<=a{2,})b", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"(", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {")", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"[", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"[a", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"[]", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"[b-a]", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"*", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"a**", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"a{", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"a{,2}", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"a{3,2}", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\y", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\x{110000}", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\p{Nope}", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\p{IsNope}", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"\\k<n>(?<n>a)", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"(?<n>a)(?<n>b)", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        {"(?y)a", "", "INVALID_PARAMETER_VALUE.PATTERN"},
        /* what Java takes and PCRE2 cannot */
        {"a{65536}", "", "FLOODMARK_PATTERN_NOT_SUPPORTED"},
        {"(?<=(?:a|b){1,20})c", "", "FLOODMARK_PATTERN_NOT_SUPPORTED"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_strbuf got = {0};
        matches_of(fm_str_c(cases[i].pattern), fm_str_c(cases[i].text), &got);
        if (strcmp(got.ptr, cases[i].matches) != 0)
            fail_msg("%s on '%s': %s, expected %s", cases[i].pattern, cases[i].text, got.ptr, cases[i].matches);
        fm_strbuf_fini(&got);
    }
}

/* A pattern that would try for years ends, by name. */
static void a_bomb_ends(void **state)
{
    fm_regex *regex;
    fm_regex_run *run;
    fm_error err = FM_ERROR_INIT;
    fm_str ready;
    bool found;
    (void)state;
    assert_int_equal(fm_regex_compile(FM_STR("^(a|a)*$"), &regex, &err), FM_OK);
    assert_int_equal(fm_regex_run_new(regex, &run, &err), FM_OK);
    assert_int_equal(fm_regex_begin(run, FM_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"),
                                    &ready, &err), FM_OK);
    assert_int_equal(fm_regex_find(run, 0, &found, &err), FM_LIMIT);
    assert_string_equal(err.condition, "FLOODMARK_PATTERN_TOO_COSTLY");
    assert_int_equal(fm_regex_begin(run, FM_STR("aaaa"), &ready, &err), FM_OK); /* and the next text is looked at */
    assert_int_equal(fm_regex_find(run, 0, &found, &err), FM_OK);
    assert_true(found);
    fm_regex_run_free(run);
    fm_regex_free(regex);
}

/* Long texts need more stack than the compiled code has at first. */
static void long_texts(void **state)
{
    fm_regex *regex;
    fm_regex_run *run;
    fm_error err = FM_ERROR_INIT;
    fm_strbuf text = {0};
    fm_str ready;
    bool found;
    (void)state;
    for (int i = 0; i < 20000; i++) fm_strbuf_add_c(&text, "ab");
    assert_int_equal(fm_regex_compile(FM_STR("^((a)|(b))*$"), &regex, &err), FM_OK);
    assert_int_equal(fm_regex_run_new(regex, &run, &err), FM_OK);
    assert_int_equal(fm_regex_begin(run, fm_strbuf_str(&text), &ready, &err), FM_OK);
    assert_int_equal(fm_regex_find(run, 0, &found, &err), FM_OK);
    assert_true(found);
    fm_regex_run_free(run);
    fm_regex_free(regex);
    fm_strbuf_fini(&text);
}

static void depth_is_bounded(void **state)
{
    static const char *const openings[] = {"(", "[a", "(?:"};
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        fm_strbuf pattern = {0}, got = {0};
        for (int i = 0; i < 100000; i++) fm_strbuf_add_c(&pattern, openings[k]);
        matches_of(fm_strbuf_str(&pattern), FM_STR("a"), &got);
        assert_string_equal(got.ptr, "FLOODMARK_PATTERN_NOT_SUPPORTED");
        fm_strbuf_fini(&pattern);
        fm_strbuf_fini(&got);
    }
}

static void names(void **state)
{
    fm_regex *regex;
    fm_error err = FM_ERROR_INIT;
    (void)state;
    assert_int_equal(fm_regex_compile(FM_STR("(a)(?<year>b)(?:c)(?<d2>d)"), &regex, &err), FM_OK);
    assert_int_equal(fm_regex_groups(regex), 3);
    assert_int_equal(fm_regex_group_named(regex, FM_STR("year")), 2);
    assert_int_equal(fm_regex_group_named(regex, FM_STR("d2")), 3);
    assert_int_equal(fm_regex_group_named(regex, FM_STR("d")), 0);
    fm_regex_free(regex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(java_patterns), cmocka_unit_test(a_bomb_ends), cmocka_unit_test(long_texts),
        cmocka_unit_test(depth_is_bounded), cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
