/* format/csv_parse.h: cuts CSV text into records and fields, as the parser that Spark uses does.
 *
 * The rule is univocity-parsers 2.9 with Spark's settings, down to what it makes of quotes that should not be where they are: a
 * record's text says little about what a reader meant, so the only right answer is that of the reader one wants to be equal to.
 * It follows that one's states by name: `ch` is the character at hand, `prev` the one that mattered before it. */
#ifndef FM_FORMAT_CSV_PARSE_H
#define FM_FORMAT_CSV_PARSE_H

#include "format/csv_format.h"

typedef enum fm_csv_kind {
    FM_CSV_NULL,  /* nothing stood between the separators: option nullValue */
    FM_CSV_EMPTY, /* quotes with nothing between them: option emptyValue */
    FM_CSV_TEXT,  /* a piece of the text */
    FM_CSV_MADE   /* bytes of the parser, until the next record */
} fm_csv_kind;

typedef struct fm_csv_field {
    const char *ptr;
    size_t len;
    fm_csv_kind kind;
} fm_csv_field;

typedef struct fm_csv_parser {
    const fm_csv_options *options;
    /* the record: */
    fm_csv_field *fields; /* [n] */
    int32_t n, cap;
    fm_str record;        /* its text, without its end */
    const char *fault;    /* why there is none */
    /* the text: */
    const char *at, *end;
    int newline;          /* what ends a record, as one character; -1: the text is one record */
    int sep1, sep2;       /* bytes that make a newline; sep2 -1: one */
    bool normalize;       /* within quotes as well */
    /* the walk: */
    int ch, prev;
    bool unescaped, trim;
    int depth;
    fm_strbuf made;
    size_t made_from; /* of the field being made */
} fm_csv_parser;

/* options are borrowed for the parser's life; zeroed before. */
void fm_csv_parser_init(fm_csv_parser *p, const fm_csv_options *options);
void fm_csv_parser_fini(fm_csv_parser *p);
/* Puts a text before the parser, borrowed until the next. whole: it has many records, and line ends (option lineSep, or what is
 * found first); else it is one record without its end. */
void fm_csv_parser_start(fm_csv_parser *p, fm_str text, bool whole);
/* The next record: 1; 0 when there is none (blank lines and comments are none); -1: p->fault says why the text is refused. */
int fm_csv_parser_next(fm_csv_parser *p);
/* Where the record before last ends, that is how many bytes are surely whole records if more text follows. */
size_t fm_csv_parser_whole(fm_csv_parser *p, const char *bytes, size_t len);

/* What stands for a field: option nullValue and emptyValue put in. */
static inline fm_str fm_csv_text(const fm_csv_options *o, const fm_csv_field *f)
{
    return f->kind == FM_CSV_NULL ? o->null_value : f->kind == FM_CSV_EMPTY ? o->empty_value : (fm_str){f->ptr, f->len};
}

/* A line that is no record: blanks only, or a comment. */
bool fm_csv_line_is_blank(const fm_csv_options *options, fm_str line);
/* The error for a text that p->fault refuses, naming file, line (if > 0) and byte. */
fm_status fm_csv_refused(const fm_csv_parser *p, const fm_block *block, int64_t line, fm_error *err);
/* A DOUBLE as Java reads it, and the options' names of NaN and the infinities. */
bool fm_csv_double(fm_str text, const fm_csv_options *options, double *out);

#endif
