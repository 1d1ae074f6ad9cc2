/* expr/fn_distance.c: levenshtein, jaro_winkler_similarity, soundex, luhn_check: how near texts are.
 *
 * Rule   Spark: distances count characters. levenshtein with a threshold gives -1 beyond it. soundex: American, on ASCII letters;
 *        what does not begin with one stays as it is.
 * Cases  tests/golden/functions/distance.test */
#include <stdlib.h>

#include "expr/kernel.h"
#include "expr/text.h"

/* Code points of two texts, side by side on the heap; malformed bytes count one each, as themselves. */
typedef struct points {
    uint32_t *at;   /* [cap] */
    size_t cap;
    uint32_t *a, *b;
    size_t n_a, n_b;
} points;

static size_t read_points(fm_str text, uint32_t *out)
{
    size_t n = 0;
    for (size_t at = 0, size; at < text.len; at += size) {
        uint32_t c = fm_char_decode(text, at, &size);
        out[n++] = c == 0xFFFD && size == 1 ? 0x80000000u | (unsigned char)text.ptr[at] : c;
    }
    return n;
}

static fm_status points_read(points *p, fm_call *call, fm_str a, fm_str b, size_t extra)
{
    size_t need = a.len + b.len + extra + 1;
    if (need > p->cap) {
        uint32_t *grown = realloc(p->at, need * 2 * sizeof *grown);
        if (!grown) return fm_no_memory(NULL, call->err);
        p->at = grown;
        p->cap = need * 2;
    }
    p->a = p->at;
    p->n_a = read_points(a, p->a);
    p->b = p->at + p->n_a;
    p->n_b = read_points(b, p->b);
    return FM_OK;
}

/* ---- levenshtein ------------------------------------------------------------------------------------------- */

/* One row of the table of distances at a time: row[j] is that of the first i characters of a and the first j of b. `room` has
 * n_b + 1 places. Stops when a whole row is beyond `most`, as no later one is nearer. */
static int64_t edit_distance(const points *p, uint32_t *room, int64_t most)
{
    for (size_t j = 0; j <= p->n_b; j++) room[j] = (uint32_t)j;
    for (size_t i = 1; i <= p->n_a; i++) {
        uint32_t diagonal = room[0], least = (uint32_t)i;
        room[0] = (uint32_t)i;
        for (size_t j = 1; j <= p->n_b; j++) {
            uint32_t change = diagonal + (p->a[i - 1] != p->b[j - 1]), best = room[j] + 1;
            diagonal = room[j];
            if (room[j - 1] + 1 < best) best = room[j - 1] + 1;
            if (change < best) best = change;
            room[j] = best;
            if (best < least) least = best;
        }
        if (least > most) return least;
    }
    return room[p->n_b];
}

static fm_status levenshtein(fm_call *call, const fm_vec *args, fm_vec *out)
{
    points p = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        int64_t most = call->expr->n_args > 2 ? fm_vec_i32(&args[2])[i] : INT32_MAX, distance;
        fm_str a = fm_vec_str(&args[0], i), b = fm_vec_str(&args[1], i);
        if (fm_call_lane_null(out, i)) continue;
        st = points_read(&p, call, a, b, b.len + 1);
        if (st != FM_OK) break;
        distance = edit_distance(&p, p.b + p.n_b, most);
        fm_vec_i32_out(out)[i] = distance > most ? -1 : (int32_t)distance;
    }
    free(p.at);
    return st;
}

/* ---- jaro_winkler_similarity ------------------------------------------------------------------------------- */

/* Characters of a that stand in b no further off than half the longer text; `taken` [n_b] marks those of b, `matched` [n_a]
 * those of a. */
static size_t matching(const points *p, uint32_t *matched, uint32_t *taken)
{
    size_t longer = p->n_a > p->n_b ? p->n_a : p->n_b, window = longer / 2 > 0 ? longer / 2 - 1 : 0, count = 0;
    memset(matched, 0, (p->n_a + p->n_b) * sizeof *matched);
    for (size_t i = 0; i < p->n_a; i++) {
        size_t from = i > window ? i - window : 0, to = i + window + 1 < p->n_b ? i + window + 1 : p->n_b;
        for (size_t j = from; j < to; j++) {
            if (taken[j] || p->a[i] != p->b[j]) continue;
            taken[j] = matched[i] = 1;
            count++;
            break;
        }
    }
    return count;
}

static double jaro_winkler(const points *p, uint32_t *room)
{
    uint32_t *matched = room, *taken = room + p->n_a;
    size_t common, swapped = 0, prefix = 0;
    double jaro, m;
    if (!p->n_a && !p->n_b) return 1;
    common = matching(p, matched, taken);
    if (!common) return 0;
    for (size_t i = 0, j = 0; i < p->n_a; i++) {
        if (!matched[i]) continue;
        while (!taken[j]) j++;
        swapped += p->a[i] != p->b[j++];
    }
    while (prefix < 4 && prefix < p->n_a && prefix < p->n_b && p->a[prefix] == p->b[prefix]) prefix++;
    m = (double)common;
    jaro = (m / (double)p->n_a + m / (double)p->n_b + (m - (double)swapped / 2) / m) / 3;
    return jaro + (double)prefix * 0.1 * (1 - jaro);
}

static fm_status jaro_winkler_similarity(fm_call *call, const fm_vec *args, fm_vec *out)
{
    points p = {0};
    fm_status st = FM_OK;
    for (int32_t i = 0; i < out->len && st == FM_OK; i++) {
        fm_str a = fm_vec_str(&args[0], i), b = fm_vec_str(&args[1], i);
        if (fm_call_lane_null(out, i)) continue;
        st = points_read(&p, call, a, b, a.len + b.len);
        if (st == FM_OK) fm_vec_f64_out(out)[i] = jaro_winkler(&p, p.b + p.n_b);
    }
    free(p.at);
    return st;
}

/* ---- soundex, luhn_check ----------------------------------------------------------------------------------- */

/* A letter in upper case; 0: it is none. */
static char ascii_letter(char c)
{
    if (c >= 'a' && c <= 'z') return (char)(c - 32);
    return c >= 'A' && c <= 'Z' ? c : 0;
}

static void code_of(fm_str text, char code[4])
{
    /* The classes of letters; '7', H and W, keep the class before them. */
    static const char classes[] = "01230127022455012623017202";
    char last = classes[ascii_letter(text.ptr[0]) - 'A'];
    size_t n = 1;
    memcpy(code, "0000", 4);
    code[0] = ascii_letter(text.ptr[0]);
    for (size_t i = 1; i < text.len && n < 4; i++) {
        char letter = ascii_letter(text.ptr[i]), class = letter ? classes[letter - 'A'] : '0';
        if (class == '7') continue;
        if (class != '0' && class != last) code[n++] = class;
        last = class;
    }
}

static fm_status soundex(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) {
        fm_str text = fm_vec_str(&args[0], i);
        char code[4];
        if (text.len && ascii_letter(text.ptr[0])) {
            code_of(text, code);
            text = (fm_str){code, 4};
        }
        fm_out_slice(out, i, text);
    }
    return FM_OK;
}

static bool is_luhn(fm_str text)
{
    int sum = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[text.len - 1 - i];
        int digit = c - '0';
        if (c < '0' || c > '9') return false;
        if (i % 2) digit = digit > 4 ? 2 * digit - 9 : 2 * digit;
        sum = (sum + digit) % 10;
    }
    return text.len && sum == 0;
}

static fm_status luhn_check(fm_call *call, const fm_vec *args, fm_vec *out)
{
    (void)call;
    for (int32_t i = 0; i < out->len; i++) fm_vec_bool_out(out)[i] = is_luhn(fm_vec_str(&args[0], i));
    return FM_OK;
}

#define ENTRY(ident, ...) \
    const fm_function fm_fn_##ident = {.name = #ident, .nulls = FM_NULLS_STRICT, .kernel = ident, __VA_ARGS__}

ENTRY(levenshtein, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_I32, FM_ARG_END}, .args_min = 2, .args_max = 3,
      .returns = fm_type_i32, .usage = "levenshtein(str1, str2[, threshold])", .since = "1.5.0",
      .doc = "Returns how many characters must be put in, left out or changed; -1 when that is more than threshold.");
ENTRY(jaro_winkler_similarity, .args = {FM_ARG_STRING, FM_ARG_STRING, FM_ARG_END}, .args_min = 2, .args_max = 2,
      .returns = fm_type_f64, .usage = "jaro_winkler_similarity(str1, str2)", .since = "4.3.0",
      .doc = "Returns how alike two texts are, from 0 to 1.");
ENTRY(soundex, .exact = true, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_string,
      .usage = "soundex(str)", .since = "1.5.0", .doc = "Returns how an English word sounds: a letter and three digits.");
ENTRY(luhn_check, .args = {FM_ARG_STRING, FM_ARG_END}, .args_min = 1, .args_max = 1, .returns = fm_type_bool,
      .usage = "luhn_check(str)", .since = "3.5.0", .doc = "Whether digits fit the check digit at their end.");
