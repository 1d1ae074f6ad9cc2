/* sql/source_text.c: places in SQL text, and errors that show them. */
#include "sql/source_text.h"

#include <stdio.h>

/* Of the line that is quoted: code points shown, and how many of them before the place. */
enum { SHOWN_MAX = 100, SHOWN_BEFORE_MAX = 60 };

static bool begins_character(char c) { return ((unsigned char)c & 0xC0) != 0x80; }

fm_pos fm_place(fm_place_counter *counter, size_t from, size_t to)
{
    if (counter->line == 0) counter->line = counter->column = 1;
    for (; counter->at < from && counter->at < counter->text.len; counter->at++) {
        char c = counter->text.ptr[counter->at];
        if (c == '\n') {
            counter->line++;
            counter->column = 1;
        } else if (begins_character(c)) {
            counter->column++;
        }
    }
    return (fm_pos){.line = counter->line, .column = counter->column, .from = (int32_t)from, .to = (int32_t)to};
}

fm_pos fm_text_pos(fm_str text, size_t from, size_t to)
{
    return fm_place(&(fm_place_counter){.text = text}, from, to);
}

/* The part of the line around `pos` that is shown: at most SHOWN_MAX characters. */
static fm_str shown_line(fm_str text, fm_pos pos)
{
    size_t begin = (size_t)pos.from < text.len ? (size_t)pos.from : text.len, end = begin;
    int n = 0;

    while (begin > 0 && text.ptr[begin - 1] != '\n' && (n < SHOWN_BEFORE_MAX || !begins_character(text.ptr[begin]))) {
        n += begins_character(text.ptr[--begin]);
    }
    while (end < text.len && text.ptr[end] != '\n' && text.ptr[end] != '\r' && (n < SHOWN_MAX || !begins_character(text.ptr[end]))) {
        n += begins_character(text.ptr[end++]);
    }
    return (fm_str){text.ptr + begin, end - begin};
}

/* Blanks up to the place, then a mark under each of its characters. Tabs stay, so that the marks stand right. */
static void write_marks(fm_str line, size_t from, size_t to, char out[SHOWN_MAX * 2])
{
    size_t n = 0, i;

    for (i = 0; i < from && i < line.len && n < SHOWN_MAX; i++) {
        if (begins_character(line.ptr[i])) out[n++] = line.ptr[i] == '\t' ? '\t' : ' ';
    }
    out[n++] = '^';
    for (i = from + 1; i < to && i < line.len && n < SHOWN_MAX; i++) {
        if (begins_character(line.ptr[i])) out[n++] = '^';
    }
    out[n] = 0;
}

/* A message that was too long ends with a whole character. */
static void cut_at_character(char *text)
{
    size_t n = strlen(text), last = n;

    while (last > 0 && !begins_character(text[last - 1])) last--;
    if (last == 0) return;
    unsigned char c = (unsigned char)text[last - 1];
    size_t size = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (last - 1 + size > n) text[last - 1] = 0;
}

fm_status fm_sql_fail(fm_str text, fm_pos pos, fm_error *err, fm_status st, const char *condition, const char *format, ...)
{
    char what[1200], marks[SHOWN_MAX * 2];
    fm_str line = shown_line(text, pos);
    size_t begin = (size_t)(line.ptr - text.ptr);
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    cut_at_character(what);
    write_marks(line, (size_t)pos.from - begin, (size_t)pos.to > begin ? (size_t)pos.to - begin : 0, marks);
    return fm_fail_at(err, st, condition, pos.line, pos.column, "%s (line %d, column %d)\n\n  %.*s\n  %s", what, pos.line, pos.column,
                      (int)line.len, line.ptr, marks);
}

/* Bytes of the character at s[0], or 0 when it is none. */
static size_t character_size(const unsigned char *s, size_t left)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;

    if (n == 0 || n > left) return 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80) return 0;
    }
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool surrogate = s[0] == 0xED && s[1] > 0x9F, beyond = s[0] == 0xF4 && s[1] > 0x8F;
    return overlong || surrogate || beyond ? 0 : n;
}

fm_status fm_text_check_utf8(fm_str text, fm_error *err)
{
    for (size_t i = 0; i < text.len;) {
        size_t n = character_size((const unsigned char *)text.ptr + i, text.len - i);
        if (n == 0) {
            fm_pos pos = fm_text_pos(text, i, i + 1);
            return fm_fail_at(err, FM_INVALID, "FLOODMARK_SQL_NOT_UTF8", pos.line, pos.column,
                              "The SQL text is not UTF-8: byte %zu (0x%02X), in line %d, begins no character. Save the file as UTF-8.", i + 1,
                              (unsigned)(unsigned char)text.ptr[i], pos.line);
        }
        i += n;
    }
    return FM_OK;
}
