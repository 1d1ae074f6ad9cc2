/* sql/keyword.c: the words that mean something to the grammar. */
#include "sql/keyword.h"

#include "sql/grammar_driver.h"

static const fm_keyword keywords[] = { /* sorted by word */
    {"ALL", FM_TK_ALL}, {"AND", FM_TK_AND}, {"ANTI", FM_TK_ANTI}, {"ANY", FM_TK_ANY}, {"AS", FM_TK_AS},
    {"ASC", FM_TK_ASC}, {"BETWEEN", FM_TK_BETWEEN}, {"BOTH", FM_TK_BOTH}, {"BY", FM_TK_BY}, {"CASE", FM_TK_CASE},
    {"CAST", FM_TK_CAST}, {"CODEGEN", FM_TK_CODEGEN}, {"COLUMNS", FM_TK_COLUMNS}, {"COMMENT", FM_TK_COMMENT}, {"COST", FM_TK_COST},
    {"CREATE", FM_TK_CREATE}, {"CROSS", FM_TK_CROSS}, {"CUBE", FM_TK_CUBE}, {"CURRENT", FM_TK_CURRENT},
    {"DEFAULT", FM_TK_DEFAULT}, {"DELAY", FM_TK_DELAY}, {"DESC", FM_TK_DESC}, {"DESCRIBE", FM_TK_DESCRIBE},
    {"DISTINCT", FM_TK_DISTINCT}, {"DIV", FM_TK_DIV}, {"DROP", FM_TK_DROP}, {"ELSE", FM_TK_ELSE}, {"END", FM_TK_END},
    {"ESCAPE", FM_TK_ESCAPE}, {"EXCEPT", FM_TK_EXCEPT}, {"EXISTS", FM_TK_EXISTS}, {"EXPLAIN", FM_TK_EXPLAIN},
    {"EXTENDED", FM_TK_EXTENDED}, {"EXTRACT", FM_TK_EXTRACT}, {"FALSE", FM_TK_FALSE}, {"FILTER", FM_TK_FILTER},
    {"FIRST", FM_TK_FIRST}, {"FOLLOWING", FM_TK_FOLLOWING}, {"FOR", FM_TK_FOR}, {"FORMATTED", FM_TK_FORMATTED},
    {"FROM", FM_TK_FROM}, {"FULL", FM_TK_FULL}, {"FUNCTION", FM_TK_FUNCTION}, {"FUNCTIONS", FM_TK_FUNCTIONS},
    {"GLOBAL", FM_TK_GLOBAL}, {"GROUP", FM_TK_GROUP}, {"GROUPING", FM_TK_GROUPING}, {"HAVING", FM_TK_HAVING},
    {"IF", FM_TK_IF}, {"IGNORE", FM_TK_IGNORE}, {"ILIKE", FM_TK_ILIKE}, {"IN", FM_TK_IN}, {"INNER", FM_TK_INNER},
    {"INTERSECT", FM_TK_INTERSECT}, {"INTERVAL", FM_TK_INTERVAL}, {"IS", FM_TK_IS}, {"JOIN", FM_TK_JOIN},
    {"LAST", FM_TK_LAST}, {"LATERAL", FM_TK_LATERAL}, {"LEADING", FM_TK_LEADING}, {"LEFT", FM_TK_LEFT},
    {"LIKE", FM_TK_LIKE}, {"LIMIT", FM_TK_LIMIT}, {"LOCATION", FM_TK_LOCATION}, {"MINUS", FM_TK_MINUS},
    {"NATURAL", FM_TK_NATURAL}, {"NOT", FM_TK_NOT}, {"NULL", FM_TK_NULL}, {"NULLS", FM_TK_NULLS}, {"OF", FM_TK_OF},
    {"OFFSET", FM_TK_OFFSET}, {"ON", FM_TK_ON}, {"OPTIONS", FM_TK_OPTIONS}, {"OR", FM_TK_OR}, {"ORDER", FM_TK_ORDER},
    {"OUTER", FM_TK_OUTER}, {"OVER", FM_TK_OVER}, {"OVERLAY", FM_TK_OVERLAY}, {"PARTITION", FM_TK_PARTITION},
    {"PARTITIONED", FM_TK_PARTITIONED}, {"PERCENT", FM_TK_PERCENT_WORD}, {"PLACING", FM_TK_PLACING},
    {"POSITION", FM_TK_POSITION}, {"PRECEDING", FM_TK_PRECEDING}, {"QUERY", FM_TK_QUERY}, {"RANGE", FM_TK_RANGE},
    {"REFRESH", FM_TK_REFRESH}, {"REGEXP", FM_TK_RLIKE}, {"REPEATABLE", FM_TK_REPEATABLE}, {"REPLACE", FM_TK_REPLACE},
    {"RESPECT", FM_TK_RESPECT}, {"RIGHT", FM_TK_RIGHT}, {"RLIKE", FM_TK_RLIKE}, {"ROLLUP", FM_TK_ROLLUP},
    {"ROW", FM_TK_ROW}, {"ROWS", FM_TK_ROWS}, {"SELECT", FM_TK_SELECT}, {"SEMI", FM_TK_SEMI}, {"SETS", FM_TK_SETS},
    {"SHOW", FM_TK_SHOW}, {"SOME", FM_TK_SOME}, {"STREAM", FM_TK_STREAM}, {"STREAMING", FM_TK_STREAMING},
    {"STREAMS", FM_TK_STREAMS}, {"SUBSTR", FM_TK_SUBSTRING}, {"SUBSTRING", FM_TK_SUBSTRING}, {"TABLE", FM_TK_TABLE},
    {"TABLES", FM_TK_TABLES}, {"TABLESAMPLE", FM_TK_TABLESAMPLE}, {"TBLPROPERTIES", FM_TK_TBLPROPERTIES},
    {"TEMP", FM_TK_TEMPORARY}, {"TEMPORARY", FM_TK_TEMPORARY}, {"THEN", FM_TK_THEN}, {"TRAILING", FM_TK_TRAILING},
    {"TRIM", FM_TK_TRIM}, {"TRUE", FM_TK_TRUE}, {"TRY_CAST", FM_TK_TRY_CAST}, {"UNBOUNDED", FM_TK_UNBOUNDED},
    {"UNION", FM_TK_UNION}, {"UNKNOWN", FM_TK_UNKNOWN}, {"USING", FM_TK_USING}, {"VALUES", FM_TK_VALUES},
    {"VIEW", FM_TK_VIEW}, {"VIEWS", FM_TK_VIEWS}, {"WATERMARK", FM_TK_WATERMARK}, {"WHEN", FM_TK_WHEN},
    {"WHERE", FM_TK_WHERE}, {"WINDOW", FM_TK_WINDOW}, {"WITH", FM_TK_WITH}, {"WITHIN", FM_TK_WITHIN},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0], WORD_LEN_MAX = 16 };

int fm_keyword_kind(fm_str word)
{
    char upper[WORD_LEN_MAX];
    int low = 0, high = KEYWORDS - 1;

    if (word.len > WORD_LEN_MAX) return FM_TK_ID;
    for (size_t i = 0; i < word.len; i++) upper[i] = (char)(word.ptr[i] >= 'a' && word.ptr[i] <= 'z' ? word.ptr[i] - 32 : word.ptr[i]);
    while (low <= high) {
        int middle = (low + high) / 2;
        int order = fm_str_cmp((fm_str){upper, word.len}, fm_str_c(keywords[middle].word));
        if (order == 0) return keywords[middle].kind;
        if (order < 0) high = middle - 1;
        else low = middle + 1;
    }
    return FM_TK_ID;
}

const fm_keyword *fm_keywords(int *n)
{
    *n = KEYWORDS;
    return keywords;
}
