/* expr/java_regex.h: Java's regular expressions, written anew in the syntax of PCRE2.
 *
 * Spark's patterns are java.util.regex.Pattern's. The two syntaxes look alike and differ in what '.', '$', '^', \b, \w,
 * classes with && and nested brackets, \p{...}, flags and escapes mean. So a pattern is parsed by Java's rules and printed
 * such that PCRE2, with no option but UTF, gives what Java gives:
 *
 *     .            [^\n\r\x{85}\x{2028}\x{2029}]
 *     $            (?:\z|(?=(?:\r\n|[\r\x{85}\x{2028}\x{2029}]|(?<!\r)\n)\z))
 *     (?i)ab       [aA][bB]                       Java folds ASCII only, unless (?u) stands there
 *     [a-z&&[^b]]  (?:(?=[^b])[a-z])              a class is always something that takes one character
 *     (?<year>..)  (..)                           names are kept beside the pattern
 *
 * Rule  java.util.regex.Pattern of JDK 17. */
#ifndef FM_EXPR_JAVA_REGEX_H
#define FM_EXPR_JAVA_REGEX_H

#include "base/status.h"
#include "base/str.h"

enum {
    FM_JAVA_REGEX_GROUPS_MAX = 1000,  /* capturing groups of a pattern */
    FM_JAVA_REGEX_DEPTH_MAX = 200,    /* nested groups or classes; PCRE2 takes 250 */
    FM_JAVA_REGEX_REPEAT_MAX = 65535  /* {n}: PCRE2's bound */
};

/* What a translation gives; fini frees it. */
typedef struct fm_java_regex {
    fm_strbuf text;       /* for PCRE2 */
    int32_t groups;       /* capturing groups, group 0 not counted */
    fm_strbuf names;      /* of named groups: the number as two bytes, low first, the name, a zero byte */
} fm_java_regex;

/* Translates a pattern (UTF-8; malformed bytes count as U+FFFD). *out must be zeroed; the caller frees it, also after a
 * failure.
 * errors  FM_INVALID: Java would refuse it; FM_UNSUPPORTED: Java takes it, we cannot; FM_LIMIT. The condition is left to the
 *         caller; the message says what is wrong and where, in words that complete "the pattern: ...". */
fm_status fm_java_regex_translate(fm_str pattern, fm_java_regex *out, fm_error *err);
void fm_java_regex_fini(fm_java_regex *regex);
/* The number of a named group; 0: there is none. */
int32_t fm_java_regex_group_named(fm_str names, fm_str name);

#endif
