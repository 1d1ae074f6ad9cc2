/* sql/grammar.y: Spark SQL, by Lemon. Actions only call builders (sql/build.h); the tree's shape is there. */
%name fm_grammar
%token_prefix FM_TK_
%token_type { fm_token }
%default_type { fm_expr * }
%extra_argument { fm_parse *p }
%include {
#include <stdlib.h>
#include "sql/build.h"
#include "sql/grammar_driver.h"
#define YYNOERRORRECOVERY 1
#define YYMALLOCARGTYPE size_t
}
%stack_size 2000
%stack_overflow { fm_parse_too_deep(p); }
%syntax_error { fm_parse_syntax_error(p, &TOKEN); }

/* Words that are names wherever the grammar has no use for them as keywords. */
%fallback ID ALL ANY ANTI AS ASC BETWEEN BOTH BY CASE CAST COMMENT CREATE CROSS CUBE DELAY DESC DESCRIBE DISTINCT DIV DROP ELSE
    END ESCAPE EXCEPT EXISTS EXPLAIN EXTENDED EXTRACT FALSE FILTER FIRST FOLLOWING FOR FORMATTED FROM FULL FUNCTION FUNCTIONS GROUP
    GROUPING HAVING IF IGNORE ILIKE IN INNER INTERSECT IS JOIN LAST LATERAL LEADING LEFT LIKE LIMIT LOCATION MINUS NATURAL NOT NULL
    NULLS OF OFFSET ON OPTIONS OR ORDER OUTER OVER OVERLAY PARTITION PARTITIONED PLACING POSITION PRECEDING QUERY RANGE REFRESH REPLACE
    RESPECT RIGHT RLIKE ROLLUP ROWS SELECT SEMI SETS SHOW SOME STREAMING STREAMS SUBSTRING TABLE TABLES TABLESAMPLE TBLPROPERTIES
    TEMPORARY THEN TO TRAILING TRIM TRUE TRY_CAST UNBOUNDED UNION UNKNOWN USING VALUES VIEW VIEWS WATERMARK WHEN WHERE WITH WITHIN AND
    CURRENT ROW CODEGEN COST INTERVAL_WORD.

%nonassoc VALUES_LIST.
%nonassoc COMMA.
%left OR.
%left AND.
%right NOT.
%left EQ NE LT LE GT GE NSEQ.
%left BITOR.
%left BITXOR.
%left BITAND.
%left SHIFT.
%left PLUS MINUS_SIGN CONCAT.
%left STAR SLASH PERCENT DIV.
%right UNARY TILDE BANG.
%left DOUBLE_COLON.
%left LBRACKET DOT.

%token COLON.
%start_symbol input
%type statement { fm_plan * }
input ::= statement(S). { p->result = S; }
input ::= JUST_EXPR expr(E). { p->result_expr = E; }

/* ---- Statements ---- */
statement(S) ::= query(Q). { S = Q; }
statement(S) ::= EXPLAIN explain_mode(M) statement(X). { S = fm_build_explain(p, M, X); }
%type explain_mode { int }
explain_mode(M) ::= . { M = FM_EXPLAIN_SIMPLE; }
explain_mode(M) ::= EXTENDED. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= CODEGEN. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= COST. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= FORMATTED. { M = FM_EXPLAIN_FORMATTED; }

%type or_replace { int }
or_replace(R) ::= . { R = 0; }
or_replace(R) ::= OR REPLACE. { R = 1; }
or_replace(R) ::= OR REFRESH. { R = 1; }
%type temporary { int }
temporary(T) ::= . { T = 0; }
temporary(T) ::= TEMPORARY. { T = 1; }
%type if_not_exists { int }
if_not_exists(X) ::= . { X = 0; }
if_not_exists(X) ::= IF NOT EXISTS. { X = 1; }
%type if_exists { int }
if_exists(X) ::= . { X = 0; }
if_exists(X) ::= IF EXISTS. { X = 1; }

statement(S) ::= CREATE(T) or_replace(R) temporary TABLE if_not_exists(X) name(N) schema(C) clauses(D). {
    S = fm_build_create_table(p, FM_PLAN_CREATE_TABLE, &T, R, X, N, C, D, NULL);
}
statement(S) ::= CREATE(T) or_replace(R) STREAMING TABLE if_not_exists(X) name(N) schema(C) clauses(D) AS query(Q). {
    S = fm_build_create_table(p, FM_PLAN_CREATE_STREAMING_TABLE, &T, R, X, N, C, D, Q);
}
statement(S) ::= CREATE(T) or_replace(R) temporary(M) VIEW if_not_exists(X) name(N) column_names(C) view_comment AS query(Q). {
    S = fm_build_create_view(p, &T, R, M, X, N, C, Q);
}
view_comment ::= .
view_comment ::= COMMENT STRING.
statement(S) ::= DROP(T) TABLE if_exists(X) name(N). { S = fm_build_drop(p, &T, "TABLE", X, N); }
statement(S) ::= DROP(T) VIEW if_exists(X) name(N). { S = fm_build_drop(p, &T, "VIEW", X, N); }
%type show_what { const char * }
statement(S) ::= SHOW(T) show_what(W) show_like(L). { S = fm_build_show(p, &T, W, &L); }
show_what(W) ::= TABLES. { W = "TABLES"; }
show_what(W) ::= VIEWS. { W = "VIEWS"; }
show_what(W) ::= FUNCTIONS. { W = "FUNCTIONS"; }
show_what(W) ::= STREAMS. { W = "STREAMS"; }
%type show_like { fm_token }
show_like(L) ::= . { L = (fm_token){0}; }
show_like(L) ::= LIKE STRING(S). { L = S; }
show_like(L) ::= STRING(S). { L = S; }
describe ::= DESCRIBE.
describe ::= DESC.
statement(S) ::= describe FUNCTION any_extended name(N). { S = fm_build_describe(p, "FUNCTION", N, NULL); }
statement(S) ::= describe TABLE any_extended name(N). { S = fm_build_describe(p, "TABLE", N, NULL); }
statement(S) ::= describe any_extended name(N). { S = fm_build_describe(p, "TABLE", N, NULL); }
statement(S) ::= describe QUERY query(Q). { S = fm_build_describe(p, "QUERY", (fm_names){0}, Q); }
any_extended ::= .
any_extended ::= EXTENDED.

%type schema { fm_token }
schema(C) ::= . { C = (fm_token){0}; }
schema(C) ::= SCHEMA(S). { C = S; }
%type clauses { fm_clauses * }
clauses(D) ::= . { D = fm_build_clauses(p); }
clauses(D) ::= clauses(E) USING id(F). { D = E; D->format = F.text; }
clauses(D) ::= clauses(E) OPTIONS LPAREN options(O) RPAREN. { D = fm_build_add_options(p, E, O); }
clauses(D) ::= clauses(E) TBLPROPERTIES LPAREN options RPAREN. { D = E; }
clauses(D) ::= clauses(E) PARTITIONED BY LPAREN name_list(N) RPAREN. { D = E; D->partition_by = N; }
clauses(D) ::= clauses(E) COMMENT STRING(C). { D = E; D->comment = C.text; }
clauses(D) ::= clauses(E) LOCATION STRING(L). { D = fm_build_add_location(p, E, &L); }
%type options { fm_options * }
options(O) ::= option_key(K) option_value(V). { O = fm_build_option(p, NULL, &K, &V); }
options(O) ::= options(L) COMMA option_key(K) option_value(V). { O = fm_build_option(p, L, &K, &V); }
%type option_key { fm_token }
option_key(K) ::= id(I). { K = I; }
option_key(K) ::= STRING(S). { K = S; }
option_key(K) ::= option_key(A) DOT id(B). { K = fm_build_join_key(p, &A, &B); }
%type option_value { fm_token }
option_value(V) ::= EQ scalar(S). { V = S; }
option_value(V) ::= scalar(S). { V = S; }
%type scalar { fm_token }
scalar(V) ::= STRING(S). { V = S; }
scalar(V) ::= INTEGER(S). { V = S; }
scalar(V) ::= DECIMAL(S). { V = S; }
scalar(V) ::= MINUS_SIGN INTEGER(S). { V = fm_build_negated(p, &S); }
scalar(V) ::= TRUE(S). { V = S; }
scalar(V) ::= FALSE(S). { V = S; }

/* ---- Queries ---- */
%type query { fm_plan * }
%type query_body { fm_plan * }
%type query_term { fm_plan * }
%type query_primary { fm_plan * }
%type ctes { fm_ctes * }
query(Q) ::= query_body(B) order_by(O) limit(L) offset(F). { Q = fm_build_order_limit(p, B, O, L, F); }
query(Q) ::= WITH(T) ctes(C) query_body(B) order_by(O) limit(L) offset(F). {
    Q = fm_build_with(p, &T, C, fm_build_order_limit(p, B, O, L, F));
}
ctes(C) ::= cte(X). { C = fm_build_cte_list(p, NULL, X); }
ctes(C) ::= ctes(L) COMMA cte(X). { C = fm_build_cte_list(p, L, X); }
%type cte { fm_cte_clause }
cte(C) ::= id(N) column_names(L) AS LPAREN query(Q) RPAREN. { C = (fm_cte_clause){N.text, Q, L}; }
%type order_by { fm_exprs }
order_by(O) ::= . { O = (fm_exprs){0}; }
order_by(O) ::= ORDER BY sort_items(L). { O = L; }
%type sort_items { fm_exprs }
sort_items(L) ::= sort_item(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
sort_items(L) ::= sort_items(M) COMMA sort_item(E). { L = fm_build_list(p, M, E); }
sort_item(S) ::= expr(E) direction(D) nulls(N). { S = fm_build_sort_key(p, E, D, N); }
%type direction { int }
direction(D) ::= . { D = 0; }
direction(D) ::= ASC. { D = 0; }
direction(D) ::= DESC. { D = 1; }
%type nulls { int }
nulls(N) ::= . { N = -1; }
nulls(N) ::= NULLS FIRST. { N = 1; }
nulls(N) ::= NULLS LAST. { N = 0; }
limit(L) ::= . { L = NULL; }
limit(L) ::= LIMIT expr(E). { L = E; }
limit(L) ::= LIMIT ALL. { L = NULL; }
offset(L) ::= . { L = NULL; }
offset(L) ::= OFFSET expr(E). { L = E; }

query_body(Q) ::= query_term(T). { Q = T; }
query_body(Q) ::= query_body(A) UNION(O) quantifier(D) query_term(B). { Q = fm_build_set_op(p, &O, A, B, "UNION", D == 1); }
query_body(Q) ::= query_body(A) EXCEPT(O) quantifier(D) query_term(B). { Q = fm_build_set_op(p, &O, A, B, "EXCEPT", D == 1); }
query_body(Q) ::= query_body(A) MINUS(O) quantifier(D) query_term(B). { Q = fm_build_set_op(p, &O, A, B, "EXCEPT", D == 1); }
query_term(Q) ::= query_primary(P). { Q = P; }
query_term(Q) ::= query_term(A) INTERSECT(O) quantifier(D) query_primary(B). { Q = fm_build_set_op(p, &O, A, B, "INTERSECT", D == 1); }
%type quantifier { int }
quantifier(D) ::= . { D = 0; }
quantifier(D) ::= ALL. { D = 1; }
quantifier(D) ::= DISTINCT. { D = 2; }

query_primary(Q) ::= LPAREN query(X) RPAREN. [LBRACKET] { Q = X; }
query_primary(Q) ::= VALUES(T) expr_list(L). { Q = fm_build_values(p, &T, L); }
query_primary(Q) ::= SELECT(T) hints(H) quantifier(D) select_list(S) from(F) laterals(V) where(W) group_by(G) having(X). {
    Q = fm_build_select(p, &T, H, D == 2, S, F, V, W, G, X);
}
%type hints { fm_exprs }
hints(H) ::= . { H = (fm_exprs){0}; }
hints(H) ::= hints(L) HINT_BEGIN hint_list(M) HINT_END. { H = fm_build_concat(p, L, M); }
%type hint_list { fm_exprs }
hint_list(H) ::= hint(X). { H = fm_build_list(p, (fm_exprs){0}, X); }
hint_list(H) ::= hint_list(L) hint(X). { H = fm_build_list(p, L, X); }
hint_list(H) ::= hint_list(L) COMMA hint(X). { H = fm_build_list(p, L, X); }
hint(H) ::= id(N). { H = fm_build_call(p, &N, (fm_exprs){0}, 0); }
hint(H) ::= id(N) LPAREN RPAREN. { H = fm_build_call(p, &N, (fm_exprs){0}, 0); }
hint(H) ::= id(N) LPAREN expr_list(L) RPAREN. { H = fm_build_call(p, &N, L, 0); }

%type select_list { fm_exprs }
select_list(L) ::= select_item(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
select_list(L) ::= select_list(M) COMMA select_item(E). { L = fm_build_list(p, M, E); }
select_item(S) ::= expr(E). { S = E; }
select_item(S) ::= expr(E) AS id(N). { S = fm_build_alias(p, E, &N); }
select_item(S) ::= expr(E) id(N). { S = fm_build_alias(p, E, &N); }
select_item(S) ::= expr(E) AS LPAREN name_list(N) RPAREN. { S = fm_build_multi_alias(p, E, N); }
select_item(S) ::= STAR(T) star_except(X). { S = fm_build_star(p, &T, (fm_names){0}, X); }
select_item(S) ::= primary(N) DOT STAR(T) star_except(X). { S = fm_build_star(p, &T, fm_build_names_of(p, N), X); }
%type star_except { fm_names }
star_except(X) ::= . { X = (fm_names){0}; }
star_except(X) ::= EXCEPT_COLUMNS LPAREN name_list(L) RPAREN. { X = L; }

%type from { fm_plan * }
from(F) ::= . { F = NULL; }
from(F) ::= FROM relations(R). { F = R; }
%type relations { fm_plan * }
relations(R) ::= relation(X). { R = X; }
relations(R) ::= relations(A) COMMA(T) relation(B). { R = fm_build_join(p, &T, A, FM_JOIN_INNER, 0, B, (fm_join_cond){0}); }
%type relation { fm_plan * }
relation(R) ::= relation_primary(X). { R = X; }
relation(R) ::= relation(A) join_type(J) JOIN(T) relation_primary(B) join_condition(C). { R = fm_build_join(p, &T, A, J, 0, B, C); }
relation(R) ::= relation(A) NATURAL(T) join_type(J) JOIN relation_primary(B). { R = fm_build_join(p, &T, A, J, 1, B, (fm_join_cond){0}); }
%type join_type { fm_join_type }
join_type(J) ::= . { J = FM_JOIN_INNER; }
join_type(J) ::= INNER. { J = FM_JOIN_INNER; }
join_type(J) ::= CROSS. { J = FM_JOIN_CROSS; }
join_type(J) ::= LEFT. { J = FM_JOIN_LEFT; }
join_type(J) ::= LEFT OUTER. { J = FM_JOIN_LEFT; }
join_type(J) ::= RIGHT. { J = FM_JOIN_RIGHT; }
join_type(J) ::= RIGHT OUTER. { J = FM_JOIN_RIGHT; }
join_type(J) ::= FULL. { J = FM_JOIN_FULL; }
join_type(J) ::= FULL OUTER. { J = FM_JOIN_FULL; }
join_type(J) ::= LEFT SEMI. { J = FM_JOIN_LEFT_SEMI; }
join_type(J) ::= SEMI. { J = FM_JOIN_LEFT_SEMI; }
join_type(J) ::= LEFT ANTI. { J = FM_JOIN_LEFT_ANTI; }
join_type(J) ::= ANTI. { J = FM_JOIN_LEFT_ANTI; }
%type join_condition { fm_join_cond }
join_condition(C) ::= . { C = (fm_join_cond){0}; }
join_condition(C) ::= ON expr(E). { C = (fm_join_cond){E, (fm_names){0}}; }
join_condition(C) ::= USING LPAREN name_list(N) RPAREN. { C = (fm_join_cond){NULL, N}; }

%type relation_primary { fm_plan * }
%type relation_base { fm_plan * }
relation_primary(R) ::= relation_base(B) sample(S) watermark(W) alias(A). { R = fm_build_relation(p, B, S, W, A); }
relation_base(R) ::= name(N) with_options(O). { R = fm_build_table(p, N, 0, O); }
relation_base(R) ::= STREAM name(N) with_options(O). { R = fm_build_table(p, N, 1, O); }
relation_base(R) ::= STREAM LPAREN name(N) RPAREN with_options(O). { R = fm_build_table(p, N, 1, O); }
relation_base(R) ::= id(N) LPAREN arguments(L) RPAREN. { R = fm_build_table_function(p, &N, L, 0); }
relation_base(R) ::= STREAM id(N) LPAREN arguments(L) RPAREN. { R = fm_build_table_function(p, &N, L, 1); }
relation_base(R) ::= STREAM LPAREN id(N) LPAREN arguments(L) RPAREN RPAREN. { R = fm_build_table_function(p, &N, L, 1); }
relation_base(R) ::= LPAREN query(Q) RPAREN. { R = Q; }
relation_base(R) ::= SUBRELATION_LPAREN relations(Q) RPAREN. { R = Q; }
relation_base(R) ::= VALUES(T) expr_list(L). [VALUES_LIST] { R = fm_build_values(p, &T, L); }
%type with_options { fm_options * }
with_options(O) ::= . { O = NULL; }
with_options(O) ::= WITH LPAREN options(L) RPAREN. { O = L; }
%type sample { int }
sample(S) ::= . { S = 0; }
sample(S) ::= TABLESAMPLE LPAREN sample_size RPAREN. { S = 1; }
sample_size ::= expr PERCENT_WORD.
sample_size ::= expr ROWS.
%type watermark { fm_watermark_clause }
watermark(W) ::= . { W = (fm_watermark_clause){0}; }
watermark(W) ::= WATERMARK(T) expr(E) DELAY OF INTERVAL(I). { W = (fm_watermark_clause){E, I.text, T.pos}; }
watermark(W) ::= WATERMARK(T) expr(E) AS id(N) DELAY OF INTERVAL(I). { W = (fm_watermark_clause){fm_build_alias(p, E, &N), I.text, T.pos}; }
watermark(W) ::= WATERMARK(T) expr(E) AS LPAREN name_list(N) RPAREN DELAY OF INTERVAL(I). {
    W = (fm_watermark_clause){fm_build_multi_alias(p, E, N), I.text, T.pos};
}
%type alias { fm_alias_clause }
alias(A) ::= . { A = (fm_alias_clause){0}; }
alias(A) ::= AS id(N) column_names(C). { A = (fm_alias_clause){N.text, C}; }
alias(A) ::= id(N) column_names(C). { A = (fm_alias_clause){N.text, C}; }
%type laterals { fm_laterals * }
laterals(L) ::= . { L = NULL; }
laterals(L) ::= laterals(M) LATERAL(T) VIEW outer(O) id(F) LPAREN arguments(X) RPAREN lateral_alias(A). {
    L = fm_build_lateral(p, M, &T, O, fm_build_call(p, &F, X, 0), A);
}
%type lateral_alias { fm_alias_clause }
lateral_alias(A) ::= . { A = (fm_alias_clause){0}; }
lateral_alias(A) ::= id(N). { A = (fm_alias_clause){N.text, (fm_names){0}}; }
lateral_alias(A) ::= id(N) AS name_list(C). { A = (fm_alias_clause){N.text, C}; }
lateral_alias(A) ::= AS name_list(C). { A = (fm_alias_clause){(fm_str){0}, C}; }
%type outer { int }
outer(O) ::= . { O = 0; }
outer(O) ::= OUTER. { O = 1; }
where(W) ::= . { W = NULL; }
where(W) ::= WHERE expr(E). { W = E; }
%type group_by { fm_group }
group_by(G) ::= . { G = (fm_group){0}; }
group_by(G) ::= GROUP BY expr_list(L). { G = (fm_group){.exprs = L, .given = true}; }
group_by(G) ::= GROUP BY ALL. { G = (fm_group){.all = true, .given = true}; }
group_by(G) ::= GROUP BY expr_list(L) WITH ROLLUP. { G = (fm_group){.exprs = L, .given = true, .sets = "ROLLUP"}; }
group_by(G) ::= GROUP BY expr_list(L) WITH CUBE. { G = (fm_group){.exprs = L, .given = true, .sets = "CUBE"}; }
group_by(G) ::= GROUP BY GROUPING SETS LPAREN expr_list(L) RPAREN. { G = (fm_group){.exprs = L, .given = true, .sets = "GROUPING SETS"}; }
group_by(G) ::= GROUP BY CUBE LPAREN expr_list(L) RPAREN. { G = (fm_group){.exprs = L, .given = true, .sets = "CUBE"}; }
group_by(G) ::= GROUP BY ROLLUP LPAREN expr_list(L) RPAREN. { G = (fm_group){.exprs = L, .given = true, .sets = "ROLLUP"}; }
having(X) ::= . { X = NULL; }
having(X) ::= HAVING expr(E). { X = E; }

/* ---- Names ---- */
%type id { fm_token }
id(I) ::= ID(T). { I = T; }
%type name { fm_names }
name(N) ::= id(T). { N = fm_build_name(p, (fm_names){0}, &T); }
name(N) ::= name(M) DOT id(T). { N = fm_build_name(p, M, &T); }
%type name_list { fm_names }
name_list(L) ::= id(T). { L = fm_build_name(p, (fm_names){0}, &T); }
name_list(L) ::= name_list(M) COMMA id(T). { L = fm_build_name(p, M, &T); }
%type column_names { fm_names }
column_names(L) ::= . { L = (fm_names){0}; }
column_names(L) ::= LPAREN name_list(M) RPAREN. { L = M; }

/* ---- Expressions: boolean over predicates over values ---- */
%type expr_list { fm_exprs }
expr_list(L) ::= expr(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
expr_list(L) ::= expr_list(M) COMMA expr(E). { L = fm_build_list(p, M, E); }
%type arguments { fm_exprs }
arguments(L) ::= . { L = (fm_exprs){0}; }
arguments(L) ::= argument_list(M). { L = M; }
%type argument_list { fm_exprs }
argument_list(L) ::= argument(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
argument_list(L) ::= argument_list(M) COMMA argument(E). { L = fm_build_list(p, M, E); }
argument(A) ::= expr(E). { A = E; }
argument(A) ::= expr(E) AS id(N). { A = fm_build_alias(p, E, &N); }
argument(A) ::= id(N) FAT_ARROW expr(E). { A = fm_build_alias(p, E, &N); }
argument(A) ::= STAR(T). { A = fm_build_star(p, &T, (fm_names){0}, (fm_names){0}); }
argument(A) ::= primary(N) DOT STAR(T). { A = fm_build_star(p, &T, fm_build_names_of(p, N), (fm_names){0}); }
argument(A) ::= id(N) ARROW expr(E). { A = fm_build_lambda(p, fm_build_name(p, (fm_names){0}, &N), E, N.pos); }
argument(A) ::= LAMBDA_LPAREN(T) name_list(N) RPAREN ARROW expr(E). { A = fm_build_lambda(p, N, E, T.pos); }

expr(E) ::= bexpr(B). { E = B; }
bexpr(E) ::= NOT(T) bexpr(A). { E = fm_build_logic(p, FM_EXPR_NOT, &T, A, NULL); }
bexpr(E) ::= bexpr(A) AND(T) bexpr(B). { E = fm_build_logic(p, FM_EXPR_AND, &T, A, B); }
bexpr(E) ::= bexpr(A) OR(T) bexpr(B). { E = fm_build_logic(p, FM_EXPR_OR, &T, A, B); }
bexpr(E) ::= predicate(P). { E = P; }
predicate(P) ::= vexpr(V). { P = V; }
predicate(P) ::= EXISTS(T) LPAREN query(Q) RPAREN. { P = fm_build_subquery(p, &T, FM_EXPR_EXISTS_SUBQUERY, NULL, Q); }
%type not { int }
not(N) ::= . { N = 0; }
not(N) ::= NOT. { N = 1; }
predicate(P) ::= vexpr(V) not(N) BETWEEN(T) vexpr(A) AND vexpr(B). { P = fm_build_between(p, &T, V, N, A, B); }
predicate(P) ::= vexpr(V) not(N) IN(T) LPAREN expr_list(L) RPAREN. { P = fm_build_not(p, &T, N, fm_build_in(p, &T, V, L)); }
predicate(P) ::= vexpr(V) not(N) IN(T) LPAREN query(Q) RPAREN. { P = fm_build_not(p, &T, N, fm_build_subquery(p, &T, FM_EXPR_IN_SUBQUERY, V, Q)); }
predicate(P) ::= vexpr(V) not(N) LIKE(T) vexpr(A) escape(X). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "like", V, A, X)); }
predicate(P) ::= vexpr(V) not(N) ILIKE(T) vexpr(A) escape(X). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "ilike", V, A, X)); }
predicate(P) ::= vexpr(V) not(N) RLIKE(T) vexpr(A). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "rlike", V, A, NULL)); }
predicate(P) ::= vexpr(V) not(N) LIKE(T) some(S) LPAREN expr_list(L) RPAREN. { P = fm_build_not(p, &T, N, fm_build_like_many(p, &T, V, S, L)); }
%type some { int }
some(S) ::= ANY. { S = 1; }
some(S) ::= SOME. { S = 1; }
some(S) ::= ALL. { S = 0; }
predicate(P) ::= vexpr(V) IS(T) not(N) NULL. { P = fm_build_call_c(p, &T, N ? "isnotnull" : "isnull", V, NULL); }
predicate(P) ::= vexpr(V) IS(T) not(N) UNKNOWN. { P = fm_build_call_c(p, &T, N ? "isnotnull" : "isnull", V, NULL); }
predicate(P) ::= vexpr(V) IS(T) not(N) TRUE. { P = fm_build_is_bool(p, &T, V, N, true); }
predicate(P) ::= vexpr(V) IS(T) not(N) FALSE. { P = fm_build_is_bool(p, &T, V, N, false); }
predicate(P) ::= vexpr(V) IS(T) not(N) DISTINCT FROM vexpr(A). { P = fm_build_not(p, &T, !N, fm_build_call_c(p, &T, "<=>", V, A)); }
escape(X) ::= . { X = NULL; }
escape(X) ::= ESCAPE STRING(S). { X = fm_build_string(p, &S); }

vexpr(V) ::= primary(P). { V = P; }
vexpr(V) ::= MINUS_SIGN(T) vexpr(A). [UNARY] { V = fm_build_negative(p, &T, A); }
vexpr(V) ::= PLUS(T) vexpr(A). [UNARY] { V = fm_build_call_c(p, &T, "positive", A, NULL); }
vexpr(V) ::= TILDE(T) vexpr(A). { V = fm_build_call_c(p, &T, "~", A, NULL); }
vexpr(V) ::= BANG(T) vexpr(A). { V = fm_build_logic(p, FM_EXPR_NOT, &T, A, NULL); }
vexpr(V) ::= vexpr(A) STAR(T) vexpr(B). { V = fm_build_call_c(p, &T, "*", A, B); }
vexpr(V) ::= vexpr(A) SLASH(T) vexpr(B). { V = fm_build_call_c(p, &T, "/", A, B); }
vexpr(V) ::= vexpr(A) PERCENT(T) vexpr(B). { V = fm_build_call_c(p, &T, "%", A, B); }
vexpr(V) ::= vexpr(A) DIV(T) vexpr(B). { V = fm_build_call_c(p, &T, "div", A, B); }
vexpr(V) ::= vexpr(A) PLUS(T) vexpr(B). { V = fm_build_call_c(p, &T, "+", A, B); }
vexpr(V) ::= vexpr(A) MINUS_SIGN(T) vexpr(B). { V = fm_build_call_c(p, &T, "-", A, B); }
vexpr(V) ::= vexpr(A) CONCAT(T) vexpr(B). { V = fm_build_call_c(p, &T, "||", A, B); }
vexpr(V) ::= vexpr(A) SHIFT(T) vexpr(B). { V = fm_build_shift(p, &T, A, B); }
vexpr(V) ::= vexpr(A) BITAND(T) vexpr(B). { V = fm_build_call_c(p, &T, "&", A, B); }
vexpr(V) ::= vexpr(A) BITXOR(T) vexpr(B). { V = fm_build_call_c(p, &T, "^", A, B); }
vexpr(V) ::= vexpr(A) BITOR(T) vexpr(B). { V = fm_build_call_c(p, &T, "|", A, B); }
vexpr(V) ::= vexpr(A) EQ(T) vexpr(B). { V = fm_build_call_c(p, &T, "=", A, B); }
vexpr(V) ::= vexpr(A) NE(T) vexpr(B). { V = fm_build_call_c(p, &T, "!=", A, B); }
vexpr(V) ::= vexpr(A) LT(T) vexpr(B). { V = fm_build_call_c(p, &T, "<", A, B); }
vexpr(V) ::= vexpr(A) LE(T) vexpr(B). { V = fm_build_call_c(p, &T, "<=", A, B); }
vexpr(V) ::= vexpr(A) GT(T) vexpr(B). { V = fm_build_call_c(p, &T, ">", A, B); }
vexpr(V) ::= vexpr(A) GE(T) vexpr(B). { V = fm_build_call_c(p, &T, ">=", A, B); }
vexpr(V) ::= vexpr(A) NSEQ(T) vexpr(B). { V = fm_build_call_c(p, &T, "<=>", A, B); }

primary(P) ::= STRING(S). { P = fm_build_string(p, &S); }
primary(P) ::= HEX(S). { P = fm_build_hex(p, &S); }
primary(P) ::= INTEGER(S). { P = fm_build_number(p, &S); }
primary(P) ::= DECIMAL(S). { P = fm_build_number(p, &S); }
primary(P) ::= NULL(T). { P = fm_build_null(p, &T); }
primary(P) ::= TRUE(T). { P = fm_build_bool(p, &T, true); }
primary(P) ::= FALSE(T). { P = fm_build_bool(p, &T, false); }
primary(P) ::= TYPED_LITERAL(T). { P = fm_build_typed(p, &T); }
primary(P) ::= INTERVAL(T). { P = fm_build_interval(p, &T); }
primary(P) ::= LPAREN expr(E) RPAREN. { P = E; }
primary(P) ::= LPAREN(T) expr(E) COMMA expr_list(L) RPAREN. { P = fm_build_row(p, &T, E, L); }
primary(P) ::= LPAREN(T) query(Q) RPAREN. [OR] { P = fm_build_subquery(p, &T, FM_EXPR_SUBQUERY, NULL, Q); }
primary(P) ::= id(T). { P = fm_build_column(p, &T); }
primary(P) ::= primary(A) DOT id(T). { P = fm_build_dot(p, A, &T); }
primary(P) ::= primary(A) LBRACKET(T) expr(E) RBRACKET. { P = fm_build_index(p, &T, A, E); }
primary(P) ::= primary(A) DOUBLE_COLON TYPE(T). { P = fm_build_cast(p, &T, A, &T, false); }
primary(P) ::= CAST(C) LPAREN expr(E) AS TYPE(T) RPAREN. { P = fm_build_cast(p, &C, E, &T, false); }
primary(P) ::= TRY_CAST(C) LPAREN expr(E) AS TYPE(T) RPAREN. { P = fm_build_cast(p, &C, E, &T, true); }
primary(P) ::= CASE(T) whens(W) else(E) END. { P = fm_build_case(p, &T, NULL, W, E); }
primary(P) ::= CASE(T) expr(X) whens(W) else(E) END. { P = fm_build_case(p, &T, X, W, E); }
%type whens { fm_exprs }
whens(L) ::= WHEN expr(A) THEN expr(B). { L = fm_build_list(p, fm_build_list(p, (fm_exprs){0}, A), B); }
whens(L) ::= whens(M) WHEN expr(A) THEN expr(B). { L = fm_build_list(p, fm_build_list(p, M, A), B); }
else(E) ::= . { E = NULL; }
else(E) ::= ELSE expr(X). { E = X; }
primary(P) ::= EXTRACT(T) LPAREN id(U) FROM expr(E) RPAREN. { P = fm_build_call_c(p, &T, "extract", fm_build_string(p, &U), E); }
primary(P) ::= TRIM(T) LPAREN trim_side(S) FROM expr(E) RPAREN. { P = fm_build_trim(p, &T, S, NULL, E); }
primary(P) ::= TRIM(T) LPAREN trim_side(S) expr(C) FROM expr(E) RPAREN. { P = fm_build_trim(p, &T, S, C, E); }
primary(P) ::= TRIM(T) LPAREN expr(C) FROM expr(E) RPAREN. { P = fm_build_trim(p, &T, "trim", C, E); }
%type trim_side { const char * }
trim_side(S) ::= BOTH. { S = "trim"; }
trim_side(S) ::= LEADING. { S = "ltrim"; }
trim_side(S) ::= TRAILING. { S = "rtrim"; }
primary(P) ::= SUBSTRING(T) LPAREN expr(E) FROM expr(A) RPAREN. { P = fm_build_call_c(p, &T, "substring", E, A); }
primary(P) ::= SUBSTRING(T) LPAREN expr(E) FROM expr(A) FOR expr(B) RPAREN. { P = fm_build_call3(p, &T, "substring", E, A, B); }
primary(P) ::= POSITION(T) LPAREN vexpr(A) IN vexpr(B) RPAREN. { P = fm_build_call_c(p, &T, "position", A, B); }
primary(P) ::= OVERLAY(T) LPAREN expr(E) PLACING expr(A) FROM expr(B) RPAREN. { P = fm_build_call3(p, &T, "overlay", E, A, B); }
primary(P) ::= OVERLAY(T) LPAREN expr(E) PLACING expr(A) FROM expr(B) FOR expr(C) RPAREN. {
    P = fm_build_call(p, &T, fm_build_list(p, fm_build_list(p, fm_build_list(p, fm_build_list(p, (fm_exprs){0}, E), A), B), C), 0);
}
primary(P) ::= function_name(N) LPAREN distinct(D) arguments(L) RPAREN within(I) nulls_treatment(X) filter(F) over(O). {
    P = fm_build_function(p, N, D, L, I, X, F, O);
}
%type function_name { fm_names }
function_name(N) ::= id(T). { N = fm_build_name(p, (fm_names){0}, &T); }
%type distinct { int }
distinct(D) ::= . { D = 0; }
distinct(D) ::= DISTINCT. { D = 1; }
%type within { fm_exprs }
within(I) ::= . { I = (fm_exprs){0}; }
within(I) ::= WITHIN GROUP LPAREN ORDER BY sort_items(L) RPAREN. { I = L; }
%type nulls_treatment { int }
nulls_treatment(X) ::= . { X = 0; }
nulls_treatment(X) ::= IGNORE NULLS. { X = 1; }
nulls_treatment(X) ::= RESPECT NULLS. { X = 0; }
filter(F) ::= . { F = NULL; }
filter(F) ::= FILTER LPAREN WHERE expr(E) RPAREN. { F = E; }
%type over { int }
over(O) ::= . { O = 0; }
over(O) ::= OVER LPAREN over_partition order_by over_frame RPAREN. { O = 1; }
over_partition ::= .
over_partition ::= PARTITION BY expr_list.
over_frame ::= .
over_frame ::= frame_unit frame_bound.
over_frame ::= frame_unit BETWEEN frame_bound AND frame_bound.
frame_unit ::= ROWS.
frame_unit ::= RANGE.
frame_bound ::= UNBOUNDED frame_side.
frame_bound ::= CURRENT ROW.
frame_bound ::= vexpr frame_side.
frame_side ::= PRECEDING.
frame_side ::= FOLLOWING.

%code {
static bool grammar_expects(void *ctx, int kind)
{
    const yyParser *parser = ctx;

    if (kind <= 0 || kind >= YYNTOKEN || parser->yytos->stateno > YY_MAX_SHIFT) return false;
    return yy_find_shift_action((YYCODETYPE)kind, parser->yytos->stateno) != YY_ERROR_ACTION &&
           yy_find_shift_action((YYCODETYPE)kind, parser->yytos->stateno) <= YY_MAX_SHIFTREDUCE;
}

fm_status fm_grammar_run(fm_parse *p, bool just_expr)
{
    void *parser = fm_grammarAlloc(malloc);
    fm_token first = {.kind = FM_TK_JUST_EXPR};

    if (!parser) return fm_no_memory(NULL, p->err);
    p->expects = grammar_expects;
    p->expects_ctx = parser;
    if (just_expr) fm_grammar(parser, first.kind, first, p);
    for (int32_t i = 0; i < p->tokens->n && p->status == FM_OK; i++) {
        fm_grammar(parser, p->tokens->items[i].kind, p->tokens->items[i], p);
    }
    fm_grammarFree(parser, free);
    return p->status;
}
}
