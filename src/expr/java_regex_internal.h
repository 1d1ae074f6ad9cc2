/* expr/java_regex_internal.h: what the files of the translator of Java's regular expressions share. */
#ifndef FM_EXPR_JAVA_REGEX_INTERNAL_H
#define FM_EXPR_JAVA_REGEX_INTERNAL_H

#include "expr/java_regex.h"

/* Flags of Pattern, by their letters. U brings u. */
enum { JRE_I = 1, JRE_D = 2, JRE_M = 4, JRE_S = 8, JRE_U = 16, JRE_X = 32, JRE_UCLASS = 64 };

enum {
    JRE_END = -1,              /* what peek gives behind the last character */
    JRE_QUOTED = 1 << 24       /* set in a character that stood between \Q and \E: always itself */
};

typedef struct jre_parser {
    const int32_t *chars; /* code points, JRE_QUOTED added */
    int32_t n, at;
    int32_t depth;
    unsigned flags;
    int32_t groups_seen;  /* opened so far */
    int32_t groups_total; /* of the whole pattern */
    fm_java_regex *out;
    fm_error *err;
} jre_parser;

/* The character at `at`, blanks and comments skipped under (?x); JRE_END. Never JRE_QUOTED|c for c == 0. */
int32_t jre_peek(jre_parser *p);
/* The character at `at` as it is, then one further. */
int32_t jre_take(jre_parser *p);
bool jre_take_if(jre_parser *p, int32_t c); /* after jre_peek's skipping */

fm_status jre_invalid(jre_parser *p, const char *why);
fm_status jre_unsupported(jre_parser *p, const char *what);

/* A set of characters: `flat`, what stands between brackets in PCRE2, and `others`, patterns of one character each
 * with '|' between. Either may be empty. */
typedef struct jre_set {
    fm_strbuf flat, others;
} jre_set;
void jre_set_fini(jre_set *set);
/* Appends the pattern that takes one character of the set; nothing in it: one that takes none. */
void jre_set_print(const jre_set *set, bool negated, fm_strbuf *out);
void jre_set_add_char(jre_set *set, int32_t c, unsigned flags);

/* One character, escaped as inside and outside of brackets alike. */
void jre_add_char(fm_strbuf *out, int32_t c);
/* c as a pattern by itself, folded as the flags say. */
void jre_add_literal(fm_strbuf *out, int32_t c, unsigned flags);
/* The code point of c, whether quoted or not. */
static inline int32_t jre_plain(int32_t c) { return c & ~JRE_QUOTED; }

/* Behind '\': an escape that stands for one character. *c is that, or JRE_END: it is none of these, and nothing was
 * taken. */
fm_status jre_char_escape(jre_parser *p, int32_t *c);
/* Behind '\': \d \D \h \H \s \S \v \V \w \W \p{..} \P{..}, added to the set. *found false: none of these, and nothing was taken. */
fm_status jre_class_escape(jre_parser *p, jre_set *set, bool *found);
/* Behind '[': up to and with ']'. Prints the pattern of one character. */
fm_status jre_class(jre_parser *p, fm_strbuf *out);
/* The set of a property by its name in \p{name}, or by `\p{key=value}`; *known false: Java has none of that name. */
fm_status jre_property(jre_parser *p, fm_str name, jre_set *set, bool negated, bool *known);

#endif
