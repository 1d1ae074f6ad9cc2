/* expr/java_regex_property.c: \p{name} of Java's regular expressions as sets of PCRE2.
 *
 * Rule  java.util.regex.Pattern: the POSIX names are ASCII, unless (?U); "Is" is a binary property, a general category or a
 *       script, "In" a block; key=value with script, sc, block, blk, general_category, gc. */
#include "expr/java_regex_internal.h"

typedef struct property {
    const char *name, *set;
} property;

/* PCRE2 names these as Java does, so only that they exist is kept here. */
static const char *const categories[] = {
    "C",  "Cc", "Cf", "Cn", "Co", "L",  "Ll", "Lm", "Lo", "Lt", "Lu", "M",  "Mc", "Me", "Mn", "N",  "Nd", "Nl",
    "No", "P",  "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "S",  "Sc", "Sk", "Sm", "So", "Z",  "Zl", "Zp", "Zs",
};

static const property ascii[] = {
    {"ASCII", "\\x{0}-\\x{7f}"}, {"Alnum", "a-zA-Z0-9"}, {"Alpha", "a-zA-Z"}, {"Blank", " \\t"},
    {"Cntrl", "\\x{0}-\\x{1f}\\x{7f}"}, {"Digit", "0-9"}, {"Graph", "!-~"}, {"Lower", "a-z"}, {"Print", " -~"},
    {"Punct", "!-\\/:-@\\[-`\\{-~"}, {"Space", " \\t\\n\\x{b}\\f\\r"}, {"Upper", "A-Z"}, {"XDigit", "0-9a-fA-F"},
};

static const property others[] = {
    {"L1", "\\x{0}-\\x{ff}"}, {"LC", "\\p{L&}"}, {"LD", "\\p{L}\\p{Nd}"}, {"all", "\\s\\S"},
    {"javaAlphabetic", "\\p{Alphabetic}"}, {"javaDefined", "\\P{Cn}"}, {"javaDigit", "\\p{Nd}"},
    {"javaISOControl", "\\x{0}-\\x{1f}\\x{7f}-\\x{9f}"}, {"javaIdeographic", "\\p{Ideographic}"},
    {"javaIdentifierIgnorable", "\\x{0}-\\x{8}\\x{e}-\\x{1b}\\x{7f}-\\x{9f}\\p{Cf}"},
    {"javaJavaIdentifierPart", "\\p{L}\\p{Nl}\\p{Sc}\\p{Pc}\\p{Nd}\\p{Mc}\\p{Mn}\\x{0}-\\x{8}\\x{e}-\\x{1b}\\x{7f}-\\x{9f}\\p{Cf}"},
    {"javaJavaIdentifierStart", "\\p{L}\\p{Nl}\\p{Sc}\\p{Pc}"}, {"javaLetter", "\\p{L}"},
    {"javaLetterOrDigit", "\\p{L}\\p{Nd}"}, {"javaLowerCase", "\\p{Lowercase}"}, {"javaMirrored", "\\p{Bidi_Mirrored}"},
    {"javaSpaceChar", "\\p{Z}"}, {"javaTitleCase", "\\p{Lt}"}, {"javaUpperCase", "\\p{Uppercase}"},
    {"javaWhitespace", "\\p{Zl}\\p{Zp} \\x{1680}\\x{2000}-\\x{2006}\\x{2008}-\\x{200a}\\x{205f}\\x{3000}\\x{9}-\\x{d}\\x{1c}-\\x{1f}"},
};

/* Behind "Is", any case, and under (?U) the POSIX names. */
static const property binary[] = {
    {"ALNUM", "\\p{Alphabetic}\\p{Nd}"}, {"ALPHA", "\\p{Alphabetic}"}, {"ALPHABETIC", "\\p{Alphabetic}"},
    {"ASSIGNED", "\\P{Cn}"}, {"BLANK", "\\p{Zs}\\t"}, {"CNTRL", "\\p{Cc}"}, {"CONTROL", "\\p{Cc}"}, {"DIGIT", "\\p{Nd}"},
    {"HEXDIGIT", "\\p{Nd}\\p{Hex_Digit}"}, {"HEX_DIGIT", "\\p{Nd}\\p{Hex_Digit}"}, {"IDEOGRAPHIC", "\\p{Ideographic}"},
    {"JOINCONTROL", "\\x{200c}\\x{200d}"}, {"JOIN_CONTROL", "\\x{200c}\\x{200d}"}, {"LETTER", "\\p{L}"},
    {"LOWER", "\\p{Lowercase}"}, {"LOWERCASE", "\\p{Lowercase}"}, {"PUNCT", "\\p{P}"}, {"PUNCTUATION", "\\p{P}"},
    {"SPACE", "\\p{White_Space}"}, {"TITLECASE", "\\p{Lt}"}, {"UPPER", "\\p{Uppercase}"}, {"UPPERCASE", "\\p{Uppercase}"},
    {"WHITESPACE", "\\p{White_Space}"}, {"WHITE_SPACE", "\\p{White_Space}"},
    {"WORD", "\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\x{200c}\\x{200d}"}, {"XDIGIT", "\\p{Nd}\\p{Hex_Digit}"},
};

/* Blocks of the Unicode standard, named without blanks, '-' and '_'. */
static const property blocks[] = {
    {"Arabic", "\\x{600}-\\x{6ff}"}, {"Armenian", "\\x{530}-\\x{58f}"}, {"Arrows", "\\x{2190}-\\x{21ff}"},
    {"BasicLatin", "\\x{0}-\\x{7f}"}, {"Bengali", "\\x{980}-\\x{9ff}"}, {"BlockElements", "\\x{2580}-\\x{259f}"},
    {"Bopomofo", "\\x{3100}-\\x{312f}"}, {"BoxDrawing", "\\x{2500}-\\x{257f}"}, {"BraillePatterns", "\\x{2800}-\\x{28ff}"},
    {"CJKCompatibilityIdeographs", "\\x{f900}-\\x{faff}"}, {"CJKSymbolsandPunctuation", "\\x{3000}-\\x{303f}"},
    {"CJKUnifiedIdeographs", "\\x{4e00}-\\x{9fff}"}, {"CJKUnifiedIdeographsExtensionA", "\\x{3400}-\\x{4dbf}"},
    {"CombiningDiacriticalMarks", "\\x{300}-\\x{36f}"}, {"ControlPictures", "\\x{2400}-\\x{243f}"},
    {"CurrencySymbols", "\\x{20a0}-\\x{20cf}"}, {"Cyrillic", "\\x{400}-\\x{4ff}"}, {"Devanagari", "\\x{900}-\\x{97f}"},
    {"Dingbats", "\\x{2700}-\\x{27bf}"}, {"Emoticons", "\\x{1f600}-\\x{1f64f}"},
    {"EnclosedAlphanumerics", "\\x{2460}-\\x{24ff}"}, {"Ethiopic", "\\x{1200}-\\x{137f}"},
    {"GeneralPunctuation", "\\x{2000}-\\x{206f}"}, {"GeometricShapes", "\\x{25a0}-\\x{25ff}"},
    {"Georgian", "\\x{10a0}-\\x{10ff}"}, {"Greek", "\\x{370}-\\x{3ff}"}, {"GreekandCoptic", "\\x{370}-\\x{3ff}"},
    {"GreekExtended", "\\x{1f00}-\\x{1fff}"}, {"Gujarati", "\\x{a80}-\\x{aff}"}, {"Gurmukhi", "\\x{a00}-\\x{a7f}"},
    {"HalfwidthandFullwidthForms", "\\x{ff00}-\\x{ffef}"}, {"HangulCompatibilityJamo", "\\x{3130}-\\x{318f}"},
    {"HangulJamo", "\\x{1100}-\\x{11ff}"}, {"HangulSyllables", "\\x{ac00}-\\x{d7af}"}, {"Hebrew", "\\x{590}-\\x{5ff}"},
    {"Hiragana", "\\x{3040}-\\x{309f}"}, {"IPAExtensions", "\\x{250}-\\x{2af}"}, {"Kannada", "\\x{c80}-\\x{cff}"},
    {"Katakana", "\\x{30a0}-\\x{30ff}"}, {"Khmer", "\\x{1780}-\\x{17ff}"}, {"Lao", "\\x{e80}-\\x{eff}"},
    {"Latin1Supplement", "\\x{80}-\\x{ff}"}, {"LatinExtendedA", "\\x{100}-\\x{17f}"},
    {"LatinExtendedAdditional", "\\x{1e00}-\\x{1eff}"}, {"LatinExtendedB", "\\x{180}-\\x{24f}"},
    {"LetterlikeSymbols", "\\x{2100}-\\x{214f}"}, {"Malayalam", "\\x{d00}-\\x{d7f}"},
    {"MathematicalOperators", "\\x{2200}-\\x{22ff}"}, {"MiscellaneousSymbols", "\\x{2600}-\\x{26ff}"},
    {"MiscellaneousSymbolsandPictographs", "\\x{1f300}-\\x{1f5ff}"}, {"MiscellaneousTechnical", "\\x{2300}-\\x{23ff}"},
    {"Mongolian", "\\x{1800}-\\x{18af}"}, {"Myanmar", "\\x{1000}-\\x{109f}"}, {"NumberForms", "\\x{2150}-\\x{218f}"},
    {"PrivateUseArea", "\\x{e000}-\\x{f8ff}"}, {"Sinhala", "\\x{d80}-\\x{dff}"},
    {"SpacingModifierLetters", "\\x{2b0}-\\x{2ff}"}, {"SuperscriptsandSubscripts", "\\x{2070}-\\x{209f}"},
    {"Tamil", "\\x{b80}-\\x{bff}"}, {"Telugu", "\\x{c00}-\\x{c7f}"}, {"Thai", "\\x{e00}-\\x{e7f}"},
    {"Tibetan", "\\x{f00}-\\x{fff}"}, {"TransportandMapSymbols", "\\x{1f680}-\\x{1f6ff}"},
};

#define COUNT(table) (int)(sizeof table / sizeof table[0])

static const char *find(const property *table, int n, fm_str name, bool any_case)
{
    for (int i = 0; i < n; i++) {
        fm_str one = fm_str_c(table[i].name);
        if (any_case ? fm_str_eq_ci(one, name) : fm_str_eq(one, name)) return table[i].set;
    }
    return NULL;
}

static bool is_category(fm_str name)
{
    for (int i = 0; i < COUNT(categories); i++)
        if (fm_str_eq(name, fm_str_c(categories[i]))) return true;
    return false;
}

/* Any case, blanks, '-' and '_' left out. */
static const char *find_block(fm_str name)
{
    char plain[64];
    size_t n = 0;
    for (size_t i = 0; i < name.len && n < sizeof plain; i++)
        if (!strchr(" -_", name.ptr[i])) plain[n++] = name.ptr[i];
    return find(blocks, COUNT(blocks), (fm_str){plain, n}, true);
}

/* `inner`, what stands between brackets, or its complement, joins the set. */
static void add(jre_set *set, fm_str inner, bool negated)
{
    if (!negated) {
        fm_strbuf_add(&set->flat, inner);
        return;
    }
    fm_strbuf_add_c(&set->others, set->others.len ? "|[^" : "[^");
    fm_strbuf_add(&set->others, inner);
    fm_strbuf_add_char(&set->others, ']');
}

/* Names of letters only, so that nothing else gets into the pattern. PCRE2 says whether there is such a script. */
static bool add_script(jre_set *set, fm_str name, bool negated)
{
    char inner[64];
    if (name.len == 0 || name.len > 40) return false;
    for (size_t i = 0; i < name.len; i++)
        if (!((name.ptr[i] | 32) >= 'a' && (name.ptr[i] | 32) <= 'z') && name.ptr[i] != '_') return false;
    memcpy(inner, "\\p{sc:", 6);
    memcpy(inner + 6, name.ptr, name.len);
    inner[6 + name.len] = '}';
    add(set, (fm_str){inner, name.len + 7}, negated);
    return true;
}

/* The set of a general category or of a name without "Is", or NULL. */
static const char *find_plain(const jre_parser *p, fm_str name, char category[8])
{
    const char *found = NULL;
    /* Without regard to case, one case of letters is all of them. */
    static const char *const cased[] = {"Ll", "Lt", "Lu", "Lower", "Upper", "javaLowerCase", "javaUpperCase", "javaTitleCase"};
    if (p->flags & JRE_I)
        for (int i = 0; i < COUNT(cased); i++)
            if (fm_str_eq(name, fm_str_c(cased[i]))) return i == 3 || i == 4 ? "a-zA-Z" : "\\p{L&}";
    if (p->flags & JRE_UCLASS) found = find(binary, COUNT(binary), name, true);
    if (found) return found;
    if (is_category(name)) {
        memcpy(category, "\\p{", 3);
        memcpy(category + 3, name.ptr, name.len);
        memcpy(category + 3 + name.len, "}", 2);
        return category;
    }
    found = find(ascii, COUNT(ascii), name, false);
    return found ? found : find(others, COUNT(others), name, false);
}

static bool is_surrogates(fm_str name) { return fm_str_eq(name, FM_STR("Cs")); }

fm_status jre_property(jre_parser *p, fm_str name, jre_set *set, bool negated, bool *known)
{
    const char *found = NULL, *equals = name.len ? memchr(name.ptr, '=', name.len) : NULL;
    char category[8];
    *known = true;
    if (is_surrogates(name)) { /* none in any text */
        if (negated) fm_strbuf_add_c(&set->flat, "\\s\\S");
        else fm_strbuf_add_c(&set->others, set->others.len ? "|(?!)" : "(?!)");
        return FM_OK;
    }
    if (equals) {
        fm_str key = {name.ptr, (size_t)(equals - name.ptr)}, value = {equals + 1, name.len - key.len - 1};
        if (fm_str_eq_ci(key, FM_STR("sc")) || fm_str_eq_ci(key, FM_STR("script"))) {
            *known = add_script(set, value, negated);
            return FM_OK;
        }
        if (fm_str_eq_ci(key, FM_STR("gc")) || fm_str_eq_ci(key, FM_STR("general_category")))
            found = find_plain(p, value, category);
        else if (fm_str_eq_ci(key, FM_STR("blk")) || fm_str_eq_ci(key, FM_STR("block")))
            found = find_block(value);
    } else if (fm_str_starts(name, FM_STR("In"))) {
        found = find_block((fm_str){name.ptr + 2, name.len - 2});
    } else if (fm_str_starts(name, FM_STR("Is"))) {
        fm_str rest = {name.ptr + 2, name.len - 2};
        found = find(binary, COUNT(binary), rest, true);
        if (!found) found = find_plain(p, rest, category);
        if (!found) {
            *known = add_script(set, rest, negated);
            return FM_OK;
        }
    } else {
        found = find_plain(p, name, category);
    }
    if (found) add(set, fm_str_c(found), negated);
    *known = found != NULL;
    return FM_OK;
}
