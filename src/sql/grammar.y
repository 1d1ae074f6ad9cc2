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
%stack_size 4000
%stack_overflow { fm_parse_too_deep(p, p->last); }
%syntax_error { p->status = FM_INVALID; p->unexpected = true; } /* the driver says what was wrong */

/* No word is reserved: these are names wherever the grammar has no use for them. */
%fallback ID ALL ANTI ANY AS ASC BETWEEN BOTH BY CASE CAST CODEGEN COLUMNS COMMENT COST CREATE CROSS CUBE CURRENT DEFAULT DELAY DESC
    DESCRIBE DISTINCT DIV DROP ELSE END ESCAPE EXCEPT EXISTS EXPLAIN EXTENDED EXTRACT FALSE FILTER FIRST FOLLOWING FOR FORMATTED
    FROM FULL FUNCTION FUNCTIONS GLOBAL GROUP GROUPING HAVING IF IGNORE ILIKE IN INNER INTERSECT IS JOIN LAST LATERAL LEADING LEFT
    LIKE LIMIT LOCATION MINUS NATURAL NOT NULL NULLS OF OFFSET ON OPTIONS ORDER OUTER OVER OVERLAY PARTITION PARTITIONED
    PERCENT_WORD PLACING POSITION PRECEDING QUERY RANGE REFRESH REPEATABLE REPLACE RESPECT RIGHT RLIKE ROLLUP ROW ROWS SELECT SEMI
    SETS SHOW SOME STREAM STREAMING STREAMS SUBSTRING TABLE TABLES TABLESAMPLE TBLPROPERTIES TEMPORARY THEN TRAILING TRIM TRUE
    TRY_CAST TYPED UNBOUNDED UNION UNKNOWN USING VALUES VIEW VIEWS WATERMARK WHEN WHERE WINDOW WITH WITHIN AND OR.

%nonassoc NAME_ALONE.
%nonassoc LPAREN.
%nonassoc VALUES_LIST.
%nonassoc VALUES_QUERY.
%nonassoc COMMA.
%nonassoc NO_NULLS.
%nonassoc IGNORE RESPECT.
%nonassoc SUBQUERY.
%nonassoc QUERY_IN_BRACKETS.
%left EQ NE LT LE GT GE NSEQ.
%left BITOR.
%left BITXOR.
%left BITAND.
%left SHIFT.
%left PLUS MINUS_SIGN CONCAT.
%left STAR SLASH PERCENT DIV.
%right UNARY TILDE.
%nonassoc NUMBER_ALONE.
%nonassoc NUMBER_WITH_SIGN.

/* Of the lexer, never of the grammar. */
%token COLON QUESTION PIPE ILLEGAL.
%start_symbol input
%type statement { fm_plan * }
input ::= statement(S). { p->result = S; }
input ::= JUST_EXPR expr(E). { p->result_expr = E; }

/* ---- Statements ---- */
statement(S) ::= query(Q). { S = Q; }
statement(S) ::= EXPLAIN(T) explain_mode(M) statement(X). { S = fm_build_explain(p, &T, M, X); }
%type explain_mode { fm_explain_mode }
explain_mode(M) ::= . { M = FM_EXPLAIN_SIMPLE; }
explain_mode(M) ::= EXTENDED. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= CODEGEN. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= COST. { M = FM_EXPLAIN_EXTENDED; }
explain_mode(M) ::= FORMATTED. { M = FM_EXPLAIN_FORMATTED; }

%type create { fm_create }
create(C) ::= CREATE(T). { C = (fm_create){.at = T}; }
create(C) ::= CREATE(T) OR REPLACE. { C = (fm_create){.at = T, .or_replace = true}; }
create(C) ::= REPLACE_TABLE(T). { C = (fm_create){.at = T, .or_replace = true, .must_exist = true}; }
create(C) ::= CREATE(T) OR REFRESH. { C = (fm_create){.at = T, .or_replace = true, .refresh = true}; }
%type if_not_exists { int }
if_not_exists(X) ::= . { X = 0; }
if_not_exists(X) ::= IF NOT EXISTS. { X = 1; }
%type if_exists { int }
if_exists(X) ::= . { X = 0; }
if_exists(X) ::= IF EXISTS. { X = 1; }

statement(S) ::= create(C) TABLE if_not_exists(X) name(N) columns(L) clauses(D) as_query(Q). {
    S = fm_build_create_table(p, C, false, X, N, L, D, Q);
}
statement(S) ::= create(C) TEMPORARY TABLE if_not_exists(X) name(N) columns(L) clauses(D) as_query(Q). {
    S = fm_build_create_table(p, C, true, X, N, L, D, Q);
}
statement(S) ::= create(C) view_scope(M) VIEW if_not_exists(X) name(N) columns(L) USING name(F) clauses(D). {
    S = fm_build_create_table(p, C, M, X, N, L, fm_build_provider(p, D, F), NULL);
}
statement(S) ::= create(C) STREAMING TABLE if_not_exists(X) name(N) columns(L) clauses(D) as_query(Q). {
    S = fm_build_create_streaming_table(p, C, X, N, L, D, Q);
}
statement(S) ::= create(C) view_scope(M) VIEW if_not_exists(X) name(N) view_columns(L) view_clauses AS query(Q). {
    S = fm_build_create_view(p, C, M, X, N, L, Q);
}
view_clauses ::= .
view_clauses ::= view_clauses COMMENT STRING.
view_clauses ::= view_clauses TBLPROPERTIES LPAREN options RPAREN.
%type view_scope { int }
view_scope(M) ::= . { M = 0; }
view_scope(M) ::= TEMPORARY. { M = 1; }
view_scope(M) ::= GLOBAL(T) TEMPORARY. { M = 1; fm_build_refuse(p, &T, "Global temporary views are not available: write CREATE TEMPORARY VIEW."); }
%type as_query { fm_plan * }
as_query(Q) ::= . { Q = NULL; }
as_query(Q) ::= AS query(X). { Q = X; }
%type view_columns { fm_names }
%type view_column_list { fm_names }
view_columns(L) ::= . { L = (fm_names){0}; }
view_columns(L) ::= LPAREN view_column_list(M) RPAREN. { L = M; }
view_column_list(L) ::= id(T) view_column_comment. { L = fm_build_name(p, (fm_names){0}, &T); }
view_column_list(L) ::= view_column_list(M) COMMA id(T) view_column_comment. { L = fm_build_name(p, M, &T); }
view_column_comment ::= .
view_column_comment ::= COMMENT STRING.

%type columns { fm_columns * }
%type column_list { fm_columns * }
columns(C) ::= . { C = NULL; }
columns(C) ::= COLUMNS_LPAREN RPAREN. { C = NULL; }
columns(C) ::= COLUMNS_LPAREN column_list(L) RPAREN. { C = L; }
column_list(L) ::= column(C). { L = fm_build_column(p, NULL, C); }
column_list(L) ::= column_list(M) COMMA column(C). { L = fm_build_column(p, M, C); }
%type column { fm_column }
column(C) ::= id(N) TYPE(T). { C = (fm_column){.name = N, .type = T}; }
column(C) ::= column(D) NOT_NULL. { C = D; C.not_null = true; }
column(C) ::= column(D) COMMENT STRING(T). { C = D; C.def.comment = T.text; }
column(C) ::= column(D) DEFAULT expr(E). { C = D; C.def.default_sql = fm_build_text_of(p, E); }
column(C) ::= column(D) GENERATED_AS LPAREN expr(E) RPAREN. { C = D; C.def.generated_sql = fm_build_text_of(p, E); }
column(C) ::= column(D) FIRST_COLUMN. { C = D; C.def.first = true; }
column(C) ::= column(D) AFTER id(N). { C = D; C.def.after = N.text; }

%type clauses { fm_clauses * }
clauses(D) ::= . { D = fm_build_clauses(p); }
clauses(D) ::= clauses(E) USING(T) name(F). { D = fm_build_clause(p, E, FM_CLAUSE_USING, &T); fm_build_provider(p, D, F); }
clauses(D) ::= clauses(E) OPTIONS(T) LPAREN options(O) RPAREN. { D = fm_build_clause(p, E, FM_CLAUSE_OPTIONS, &T); fm_build_add_options(p, D, O); }
clauses(D) ::= clauses(E) TBLPROPERTIES(T) LPAREN options(O) RPAREN. { D = fm_build_clause(p, E, FM_CLAUSE_TBLPROPERTIES, &T); fm_build_add_properties(p, D, O); }
clauses(D) ::= clauses(E) PARTITIONED(T) BY LPAREN name_list(N) RPAREN. { D = fm_build_clause(p, E, FM_CLAUSE_PARTITIONED, &T); D->partition_by = N; }
clauses(D) ::= clauses(E) COMMENT(T) STRING(C). { D = fm_build_clause(p, E, FM_CLAUSE_COMMENT, &T); D->comment = C.text; }
clauses(D) ::= clauses(E) LOCATION(T) STRING(L). { D = fm_build_clause(p, E, FM_CLAUSE_LOCATION, &T); fm_build_add_location(p, D, &L); }
%type options { fm_options * }
options(O) ::= option_key(K) option_value(V). { O = fm_build_option(p, NULL, &K, &V); }
options(O) ::= options(L) COMMA option_key(K) option_value(V). { O = fm_build_option(p, L, &K, &V); }
%type option_key { fm_token }
%type option_words { fm_token }
option_key(K) ::= option_words(I). { K = I; }
option_key(K) ::= STRING(S). { K = S; }
option_words(K) ::= id(I). { K = I; }
option_words(K) ::= option_words(A) DOT id(B). { K = fm_build_join_key(p, &A, &B); }
%type option_value { fm_token }
option_value(V) ::= EQ scalar(S). { V = S; }
option_value(V) ::= scalar(S). { V = S; }
%type scalar { fm_token }
scalar(V) ::= STRING(S). { V = S; }
scalar(V) ::= INTEGER(S). { V = S; }
scalar(V) ::= NUMBER(S). { V = S; }
scalar(V) ::= MINUS_SIGN INTEGER(S). { V = fm_build_negated(p, &S); }
scalar(V) ::= MINUS_SIGN NUMBER(S). { V = fm_build_negated(p, &S); }
scalar(V) ::= TRUE(S). { V = S; }
scalar(V) ::= FALSE(S). { V = S; }

statement(S) ::= DROP(T) TABLE if_exists(X) name(N). { S = fm_build_drop(p, &T, "TABLE", X, N); }
statement(S) ::= DROP(T) VIEW if_exists(X) name(N). { S = fm_build_drop(p, &T, "VIEW", X, N); }
statement(S) ::= SHOW(T) show_what(W) show_like(L). { S = fm_build_show(p, &T, W, &L); }
statement(S) ::= SHOW(T) COLUMNS show_from name(N). { S = fm_build_show_columns(p, &T, N); }
show_from ::= FROM.
show_from ::= IN.
%type show_what { const char * }
show_what(W) ::= TABLES. { W = "TABLES"; }
show_what(W) ::= VIEWS. { W = "VIEWS"; }
show_what(W) ::= FUNCTIONS. { W = "FUNCTIONS"; }
show_what(W) ::= STREAMS. { W = "STREAMS"; }
%type show_like { fm_token }
show_like(L) ::= . { L = (fm_token){0}; }
show_like(L) ::= LIKE STRING(S). { L = S; }
show_like(L) ::= STRING(S). { L = S; }
show_like(L) ::= LIKE id(N). { L = N; }
%type describe { fm_token }
describe(D) ::= DESCRIBE(T). { D = T; }
describe(D) ::= DESC(T). { D = T; }
statement(S) ::= describe(T) FUNCTION any_extended name(N). { S = fm_build_describe(p, &T, "FUNCTION", N, NULL); }
statement(S) ::= describe(T) FUNCTION any_extended STRING(N). { S = fm_build_describe(p, &T, "FUNCTION", fm_build_name(p, (fm_names){0}, &N), NULL); }
statement(S) ::= describe(T) TABLE any_extended(X) name(N). { S = fm_build_describe(p, &T, X, N, NULL); }
statement(S) ::= describe(T) any_extended(X) name(N). { S = fm_build_describe(p, &T, X, N, NULL); }
statement(S) ::= describe(T) QUERY query(Q). { S = fm_build_describe(p, &T, "QUERY", (fm_names){0}, Q); }
statement(S) ::= DESCRIBE_QUERY(T) query(Q). { S = fm_build_describe(p, &T, "QUERY", (fm_names){0}, Q); }
%type any_extended { const char * }
any_extended(X) ::= . { X = "TABLE"; }
any_extended(X) ::= EXTENDED. { X = "EXTENDED"; }
any_extended(X) ::= FORMATTED. { X = "EXTENDED"; }

/* ---- Tables that are written: the words of these statements are settled in settle_write.c ---- */
%type table_ref { fm_names }
table_ref(N) ::= name(M). { N = M; }
table_ref(N) ::= STRING(T). { N = fm_build_folder(p, &T); }
statement(S) ::= insert(I). { S = I; }
statement(S) ::= WITH(T) ctes(C) insert(I). { S = fm_build_insert_with(p, &T, C, I); }
%type insert { fm_plan * }
insert(S) ::= INSERT(T) into(W) insert_table name(N) insert_how(H) query(Q). { H.overwrite = W; S = fm_build_insert(p, &T, N, H, Q); }
%type into { int }
into(W) ::= INTO. { W = 0; }
into(W) ::= OVERWRITE. { W = 1; }
insert_table ::= .
insert_table ::= TABLE.
%type insert_how { fm_insert }
insert_how(H) ::= insert_partition(X). { H = (fm_insert){.partition = X}; }
insert_how(H) ::= insert_partition(X) COLUMNS_LPAREN name_list(N) RPAREN. { H = (fm_insert){.partition = X, .columns = N}; }
insert_how(H) ::= insert_partition(X) BY_NAME. { H = (fm_insert){.partition = X, .by_name = true}; }
insert_how(H) ::= REPLACE_WHERE expr(E). { H = (fm_insert){.replace = E}; }
insert_how(H) ::= BY_NAME_REPLACE_WHERE expr(E). { H = (fm_insert){.by_name = true, .replace = E}; }
%type insert_partition { fm_assignments }
insert_partition(X) ::= . { X = (fm_assignments){0}; }
insert_partition(X) ::= INSERT_PARTITION LPAREN partition_items(L) RPAREN. { X = L; }
%type partition_items { fm_assignments }
partition_items(L) ::= partition_item(I). { L = fm_build_assignment(p, (fm_assignments){0}, I.name, I.value); }
partition_items(L) ::= partition_items(M) COMMA partition_item(I). { L = fm_build_assignment(p, M, I.name, I.value); }
%type partition_item { fm_partition_item }
partition_item(I) ::= id(N). { I = (fm_partition_item){fm_build_name(p, (fm_names){0}, &N), NULL}; }
partition_item(I) ::= id(N) EQ expr(E). [NUMBER_ALONE] { I = (fm_partition_item){fm_build_name(p, (fm_names){0}, &N), E}; }
%type target { fm_plan * }
target(R) ::= name(N) alias(A). { R = fm_build_target(p, N, A); }
statement(S) ::= UPDATE(T) target(R) SET_WORD assignments(L) where(W). { S = fm_build_update(p, &T, R, L, W); }
statement(S) ::= DELETE(T) FROM target(R) where(W). { S = fm_build_delete(p, &T, R, W); }
statement(S) ::= MERGE(T) evolution(E) INTO target(R) USING relation_primary(Q) ON expr(C) merge_clauses(L). { S = fm_build_merge(p, &T, E, R, Q, C, L); }
%type evolution { int }
evolution(E) ::= . { E = 0; }
evolution(E) ::= SCHEMA_EVOLUTION. { E = 1; }
%type assignments { fm_assignments }
assignments(L) ::= name(N) EQ expr(E). [NUMBER_ALONE] { L = fm_build_assignment(p, (fm_assignments){0}, N, E); }
assignments(L) ::= assignments(M) COMMA name(N) EQ expr(E). [NUMBER_ALONE] { L = fm_build_assignment(p, M, N, E); }
%type merge_clauses { fm_merge_clauses * }
%type merge_clause { fm_merge_clause }
merge_clauses(L) ::= merge_clause(C). { L = fm_build_merge_clause(p, NULL, C); }
merge_clauses(L) ::= merge_clauses(M) merge_clause(C). { L = fm_build_merge_clause(p, M, C); }
merge_clause(C) ::= WHEN(T) MATCHED and_condition(E) THEN UPDATE SET_WORD update_set(S). { C = fm_build_clause_of(&T, FM_WHEN_MATCHED, E, FM_MERGE_UPDATE, S); }
merge_clause(C) ::= WHEN(T) MATCHED and_condition(E) THEN DELETE. { C = fm_build_clause_of(&T, FM_WHEN_MATCHED, E, FM_MERGE_DELETE, (fm_assignments){0}); }
merge_clause(C) ::= WHEN(T) NOT_MATCHED and_condition(E) THEN INSERT insert_set(S). { C = fm_build_clause_of(&T, FM_WHEN_NOT_MATCHED, E, FM_MERGE_INSERT, S); }
merge_clause(C) ::= WHEN(T) NOT_MATCHED_BY_SOURCE and_condition(E) THEN UPDATE SET_WORD assignments(S). {
    C = fm_build_clause_of(&T, FM_WHEN_NOT_MATCHED_BY_SOURCE, E, FM_MERGE_UPDATE, S);
}
merge_clause(C) ::= WHEN(T) NOT_MATCHED_BY_SOURCE and_condition(E) THEN DELETE. {
    C = fm_build_clause_of(&T, FM_WHEN_NOT_MATCHED_BY_SOURCE, E, FM_MERGE_DELETE, (fm_assignments){0});
}
and_condition(E) ::= . { E = NULL; }
and_condition(E) ::= AND expr(X). { E = X; }
%type update_set { fm_assignments }
update_set(S) ::= assignments(L). { S = L; }
update_set(S) ::= STAR. { S = (fm_assignments){.star = true}; }
%type insert_set { fm_assignments }
insert_set(S) ::= STAR. { S = (fm_assignments){.star = true}; }
insert_set(S) ::= COLUMNS_LPAREN(T) name_path_list(N) RPAREN VALUES LPAREN expr_list(L) RPAREN. { S = fm_build_insert_list(p, N, L, &T); }
%type name_path_list { fm_paths }
name_path_list(L) ::= name(N). { L = fm_build_path(p, (fm_paths){0}, N); }
name_path_list(L) ::= name_path_list(M) COMMA name(N). { L = fm_build_path(p, M, N); }
statement(S) ::= OPTIMIZE(T) table_ref(N) where(W) zorder(Z). {
    S = fm_build_maintain(p, &T, "OPTIMIZE", N, NULL, W);
    if (S) S->column_names = Z.items;
    if (S) S->n_column_names = Z.n;
}
%type zorder { fm_names }
zorder(Z) ::= . { Z = (fm_names){0}; }
zorder(Z) ::= ZORDER_BY LPAREN name_list(L) RPAREN. { Z = L; }
zorder(Z) ::= ZORDER_BY name_list(L). { Z = L; }
statement(S) ::= VACUUM(T) table_ref(N) retain(R) dry_run(D). {
    S = fm_build_maintain(p, &T, "VACUUM", N, D.kind ? fm_build_maintain_option(p, R, "dryRun", &D) : R, NULL);
}
%type retain { fm_options * }
retain(R) ::= . { R = NULL; }
retain(R) ::= RETAIN scalar(V) HOURS. { R = fm_build_maintain_option(p, NULL, "retain", &V); }
%type dry_run { fm_token }
dry_run(D) ::= . { D = (fm_token){0}; }
dry_run(D) ::= DRY_RUN(T). { D = T; }
statement(S) ::= RESTORE(T) insert_table table_ref(N) restore_to travel(V). { S = fm_build_maintain(p, &T, "RESTORE", N, V, NULL); }
restore_to ::= .
restore_to ::= TO_WORD.
%type travel { fm_options * }
travel(O) ::= VERSION_AS_OF scalar(V). { O = fm_build_maintain_option(p, NULL, "versionAsOf", &V); }
travel(O) ::= TIMESTAMP_AS_OF travel_time(V). { O = fm_build_maintain_option(p, NULL, "timestampAsOf", &V); }
%type travel_time { fm_token }
travel_time(V) ::= STRING(S). { V = S; }
travel_time(V) ::= TYPED STRING(S). { V = S; }
statement(S) ::= describe(T) HISTORY table_ref(N). { S = fm_build_maintain(p, &T, "HISTORY", N, NULL, NULL); }
statement(S) ::= describe(T) HISTORY table_ref(N) LIMIT INTEGER(L). { S = fm_build_maintain(p, &T, "HISTORY", N, fm_build_maintain_option(p, NULL, "limit", &L), NULL); }
statement(S) ::= describe(T) DETAIL table_ref(N). { S = fm_build_maintain(p, &T, "DETAIL", N, NULL, NULL); }
statement(S) ::= SHOW(T) TBLPROPERTIES name(N). { S = fm_build_maintain(p, &T, "PROPERTIES", N, NULL, NULL); }
statement(S) ::= SHOW(T) TBLPROPERTIES name(N) LPAREN option_key(K) RPAREN. { S = fm_build_maintain(p, &T, "PROPERTIES", N, fm_build_maintain_option(p, NULL, "key", &K), NULL); }

/* ---- ALTER TABLE ---- */
statement(S) ::= ALTER(T) TABLE name(N) ADD_COLUMNS COLUMNS_LPAREN column_list(L) RPAREN. { S = fm_build_add_columns(p, &T, N, L); }
statement(S) ::= ALTER(T) TABLE name(N) ADD_COLUMNS column_list(L). { S = fm_build_add_columns(p, &T, N, L); }
statement(S) ::= ALTER(T) TABLE name(N) SET_PROPERTIES LPAREN options(O) RPAREN. { S = fm_build_alter(p, &T, "SET PROPERTIES", N, (fm_names){0}, false, O); }
statement(S) ::= ALTER(T) TABLE name(N) UNSET_PROPERTIES if_exists(X) LPAREN unset_keys(O) RPAREN. { S = fm_build_alter(p, &T, "UNSET PROPERTIES", N, (fm_names){0}, X, O); }
%type unset_keys { fm_options * }
unset_keys(O) ::= option_key(K). { O = fm_build_unset(p, NULL, &K); }
unset_keys(O) ::= unset_keys(L) COMMA option_key(K). { O = fm_build_unset(p, L, &K); }
statement(S) ::= ALTER(T) TABLE name(N) ADD_CONSTRAINT id(C) CHECK LPAREN expr(E) RPAREN. {
    S = fm_build_alter(p, &T, "ADD CONSTRAINT", N, (fm_names){0}, false, fm_build_constraint(p, &C, E));
}
statement(S) ::= ALTER(T) TABLE name(N) DROP_CONSTRAINT if_exists(X) id(C). { S = fm_build_alter(p, &T, "DROP CONSTRAINT", N, fm_build_name(p, (fm_names){0}, &C), X, NULL); }
statement(S) ::= ALTER(T) TABLE name(N) RENAME_COLUMN id(A) TO_WORD id(B). {
    S = fm_build_alter(p, &T, "RENAME COLUMN", N, fm_build_name(p, fm_build_name(p, (fm_names){0}, &A), &B), false, NULL);
}
statement(S) ::= ALTER(T) TABLE name(N) DROP_COLUMNS if_exists(X) LPAREN name_list(L) RPAREN. { S = fm_build_alter(p, &T, "DROP COLUMNS", N, L, X, NULL); }
statement(S) ::= ALTER(T) TABLE name(N) DROP_COLUMNS if_exists(X) name_list(L). { S = fm_build_alter(p, &T, "DROP COLUMNS", N, L, X, NULL); }

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
%type cte { fm_cte }
cte(C) ::= id(N) column_names(L) AS LPAREN query(Q) RPAREN. { C = fm_build_cte(&N, L, Q); }
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
query_body(Q) ::= query_body(A) UNION(O) quantifier(D) query_term(B). { Q = fm_build_union(p, &O, A, B, D == FM_ALL); }
query_body(Q) ::= query_body(A) EXCEPT(O) quantifier(D) query_term(B). { Q = fm_build_set_op(p, &O, A, B, "EXCEPT", D == FM_ALL); }
query_body(Q) ::= query_body(A) MINUS(O) quantifier(D) query_term(B). { Q = fm_build_set_op(p, &O, A, B, "EXCEPT", D == FM_ALL); }
query_term(Q) ::= query_primary(P). { Q = P; }
query_term(Q) ::= query_term(A) INTERSECT(O) quantifier(D) query_primary(B). { Q = fm_build_set_op(p, &O, A, B, "INTERSECT", D == FM_ALL); }
%type quantifier { int }
quantifier(D) ::= . { D = 0; }
quantifier(D) ::= ALL. { D = FM_ALL; }
quantifier(D) ::= DISTINCT. { D = FM_DISTINCT; }

query_primary(Q) ::= LPAREN query(X) RPAREN. [QUERY_IN_BRACKETS] { Q = X; }
query_primary(Q) ::= VALUES(T) expr_list(L). [VALUES_QUERY] { Q = fm_build_values(p, &T, L); }
query_primary(Q) ::= TABLE(T) name(N). { Q = fm_build_table_query(p, &T, N); }
query_primary(Q) ::= select(S) from(F) laterals(V) where(W) group_by(G) having(X) windows. {
    Q = fm_build_select(p, S, F, V, W, G, X);
}
query_primary(Q) ::= FROM relations(F) laterals(U) select(S) laterals(V) where(W) group_by(G) having(X) windows. {
    Q = fm_build_select(p, S, F, fm_build_all_laterals(p, U, V), W, G, X);
}
%type select { fm_select }
select(S) ::= SELECT(T) hints(H) quantifier(D) select_list(L). { S = (fm_select){T, H, L, D == FM_DISTINCT}; }
%type hints { fm_exprs }
hints(H) ::= . { H = (fm_exprs){0}; }
hints(H) ::= hints(L) HINT_BEGIN hint_list(M) HINT_END. { H = fm_build_concat(p, L, M); }
%type hint_list { fm_exprs }
hint_list(H) ::= hint(X). { H = fm_build_list(p, (fm_exprs){0}, X); }
hint_list(H) ::= hint_list(L) hint(X). { H = fm_build_list(p, L, X); }
hint_list(H) ::= hint_list(L) COMMA hint(X). { H = fm_build_list(p, L, X); }
hint(H) ::= id(N). { H = fm_build_hint(p, &N, (fm_exprs){0}); }
hint(H) ::= id(N) LPAREN RPAREN. { H = fm_build_hint(p, &N, (fm_exprs){0}); }
hint(H) ::= id(N) LPAREN expr_list(L) RPAREN. { H = fm_build_hint(p, &N, L); }

%type select_list { fm_exprs }
select_list(L) ::= select_item(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
select_list(L) ::= select_list(M) COMMA select_item(E). { L = fm_build_list(p, M, E); }
select_item(S) ::= expr(E). { S = E; }
select_item(S) ::= expr(E) AS id(N). { S = fm_build_alias(p, E, &N); }
select_item(S) ::= expr(E) id(N). { S = fm_build_alias(p, E, &N); }
select_item(S) ::= expr(E) AS LPAREN name_list(N) RPAREN. { S = fm_build_multi_alias(p, E, N); }
select_item(S) ::= star(X). { S = X; }
star(S) ::= STAR(T) star_except(X). { S = fm_build_star(p, NULL, &T, X); }
star(S) ::= primary(N) DOT STAR(T) star_except(X). { S = fm_build_star(p, N, &T, X); }
%type star_except { fm_names }
star_except(X) ::= . { X = (fm_names){0}; }
star_except(X) ::= EXCEPT_COLUMNS LPAREN name_list(L) RPAREN. { X = L; }

%type from { fm_plan * }
from(F) ::= . { F = NULL; }
from(F) ::= FROM relations(R). { F = R; }
%type relations { fm_plan * }
relations(R) ::= relation(X). { R = X; }
relations(R) ::= relations(A) COMMA(T) relation(B). { R = fm_build_join(p, &T, A, FM_JOIN_INNER, false, B, (fm_join_cond){0}); }
%type relation { fm_plan * }
relation(R) ::= relation_primary(X). { R = X; }
relation(R) ::= relation(A) join_type(J) JOIN(T) relation_primary(B) join_condition(C). { R = fm_build_join(p, &T, A, J, false, B, C); }
relation(R) ::= relation(A) NATURAL(T) join_type(J) JOIN relation_primary(B). { R = fm_build_join(p, &T, A, J, true, B, (fm_join_cond){0}); }
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
join_condition(C) ::= ON expr(E). { C = (fm_join_cond){.on = E}; }
join_condition(C) ::= USING LPAREN name_list(N) RPAREN. { C = (fm_join_cond){.using_names = N}; }

%type relation_primary { fm_plan * }
%type relation_base { fm_plan * }
relation_primary(R) ::= relation_base(B) sample(S) watermark(W) alias(A). { R = fm_build_relation(p, B, S, W, A); }
relation_base(R) ::= name(N) with_options(O). { R = fm_build_table(p, N, false, O); }
relation_base(R) ::= name(N) travel(V). { R = fm_build_table(p, N, false, V); }
relation_base(R) ::= STREAM name(N) with_options(O). { R = fm_build_table(p, N, true, O); }
relation_base(R) ::= STREAM LPAREN name(N) RPAREN with_options(O). { R = fm_build_table(p, N, true, O); }
relation_base(R) ::= name(N) LPAREN arguments(L) RPAREN. { R = fm_build_table_function(p, N, L, false); }
relation_base(R) ::= STREAM name(N) LPAREN arguments(L) RPAREN. { R = fm_build_table_function(p, N, L, true); }
relation_base(R) ::= STREAM LPAREN name(N) LPAREN arguments(L) RPAREN RPAREN. { R = fm_build_table_function(p, N, L, true); }
relation_base(R) ::= LPAREN query(Q) RPAREN. [SUBQUERY] { R = fm_build_query_relation(p, Q); }
relation_base(R) ::= LPAREN relation(Q) RPAREN. { R = Q; }
relation_base(R) ::= VALUES(T) expr_list(L). [VALUES_LIST] { R = fm_build_values(p, &T, L); }
%type with_options { fm_options * }
with_options(O) ::= . { O = NULL; }
with_options(O) ::= WITH LPAREN options(L) RPAREN. { O = L; }
%type sample { fm_sample }
sample(S) ::= . { S = (fm_sample){0}; }
sample(S) ::= TABLESAMPLE(T) LPAREN expr(E) PERCENT_WORD RPAREN repeatable(R). { S = fm_build_sample(p, &T, E, NULL, "PERCENT", &R); }
sample(S) ::= TABLESAMPLE(T) LPAREN expr(E) ROWS RPAREN repeatable(R). { S = fm_build_sample(p, &T, E, NULL, "ROWS", &R); }
sample(S) ::= TABLESAMPLE(T) LPAREN id(B) INTEGER(X) id(O) OF INTEGER(Y) RPAREN repeatable(R). {
    fm_build_expect_word(p, &B, "BUCKET");
    fm_build_expect_word(p, &O, "OUT");
    S = fm_build_sample(p, &T, fm_build_number(p, NULL, &X), fm_build_number(p, NULL, &Y), "BUCKET", &R);
}
%type repeatable { fm_token }
repeatable(R) ::= . { R = (fm_token){0}; }
repeatable(R) ::= REPEATABLE LPAREN INTEGER(N) RPAREN. { R = N; }
%type watermark { fm_watermark_clause }
watermark(W) ::= . { W = (fm_watermark_clause){0}; }
watermark(W) ::= WATERMARK(T) expr(E) delay(I). { W = (fm_watermark_clause){T, E, I}; }
watermark(W) ::= WATERMARK(T) expr(E) id(N) delay(I). { W = (fm_watermark_clause){T, fm_build_alias(p, E, &N), I}; }
watermark(W) ::= WATERMARK(T) expr(E) AS id(N) delay(I). { W = (fm_watermark_clause){T, fm_build_alias(p, E, &N), I}; }
watermark(W) ::= WATERMARK(T) expr(E) AS LPAREN name_list(N) RPAREN delay(I). { W = (fm_watermark_clause){T, fm_build_multi_alias(p, E, N), I}; }
%type delay { fm_token }
delay(I) ::= DELAY OF INTERVAL(T). { I = T; }
%type alias { fm_alias_clause }
alias(A) ::= . { A = (fm_alias_clause){0}; }
alias(A) ::= AS id(N) column_names(C). { A = fm_build_table_alias(p, &N, C); }
alias(A) ::= id(N) column_names(C). { A = fm_build_table_alias(p, &N, C); }
%type laterals { fm_laterals * }
laterals(L) ::= . { L = NULL; }
laterals(L) ::= laterals(M) LATERAL(T) VIEW outer(O) name(F) LPAREN arguments(X) RPAREN lateral_alias(A). {
    L = fm_build_lateral(p, M, &T, O, fm_build_function(p, F, (fm_call_parts){.args = X}), A);
}
%type lateral_alias { fm_alias_clause }
lateral_alias(A) ::= . { A = (fm_alias_clause){0}; }
lateral_alias(A) ::= id(N). { A = (fm_alias_clause){.name = N.text}; }
lateral_alias(A) ::= id(N) AS name_list(C). { A = (fm_alias_clause){.name = N.text, .column_names = C}; }
lateral_alias(A) ::= AS name_list(C). { A = (fm_alias_clause){.column_names = C}; }
%type outer { int }
outer(O) ::= . { O = 0; }
outer(O) ::= OUTER. { O = 1; }
where(W) ::= . { W = NULL; }
where(W) ::= WHERE expr(E). { W = E; }
having(X) ::= . { X = NULL; }
having(X) ::= HAVING expr(E). { X = E; }

%type group_by { fm_group }
group_by(G) ::= . { G = (fm_group){0}; }
group_by(G) ::= GROUP BY ALL. { G = (fm_group){.all = true, .given = true}; }
group_by(G) ::= GROUP BY group_items(L). { G = (fm_group){.exprs = L, .given = true}; }
group_by(G) ::= GROUP BY group_items(L) WITH(T) ROLLUP. { G = (fm_group){.exprs = fm_build_one(p, fm_build_sets(p, &T, "rollup", L)), .given = true}; }
group_by(G) ::= GROUP BY group_items(L) WITH(T) CUBE. { G = (fm_group){.exprs = fm_build_one(p, fm_build_sets(p, &T, "cube", L)), .given = true}; }
group_by(G) ::= GROUP BY group_items(L) GROUPING(T) SETS LPAREN grouping_sets(S) RPAREN. {
    G = (fm_group){.exprs = fm_build_one(p, fm_build_sets_of(p, &T, L, S)), .given = true};
}
%type group_items { fm_exprs }
group_items(L) ::= group_item(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
group_items(L) ::= group_items(M) COMMA group_item(E). { L = fm_build_list(p, M, E); }
group_item(E) ::= expr(X). { E = X; }
group_item(E) ::= grouping_analytics(X). { E = X; }
grouping_analytics(E) ::= ROLLUP(T) LPAREN grouping_sets(L) RPAREN. { E = fm_build_sets(p, &T, "rollup", L); }
grouping_analytics(E) ::= CUBE(T) LPAREN grouping_sets(L) RPAREN. { E = fm_build_sets(p, &T, "cube", L); }
grouping_analytics(E) ::= GROUPING(T) SETS LPAREN grouping_sets(L) RPAREN. { E = fm_build_sets(p, &T, "grouping sets", L); }
%type grouping_sets { fm_exprs }
grouping_sets(L) ::= grouping_set(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
grouping_sets(L) ::= grouping_sets(M) COMMA grouping_set(E). { L = fm_build_list(p, M, E); }
grouping_set(E) ::= LPAREN(T) RPAREN. { E = fm_build_sets(p, &T, "struct", (fm_exprs){0}); }
grouping_set(E) ::= expr(X). { E = X; }
grouping_set(E) ::= grouping_analytics(X). { E = X; }

/* ---- OVER (...): read, and refused on streams by the analyzer ---- */
windows ::= .
windows ::= WINDOW named_windows.
named_windows ::= named_window.
named_windows ::= named_windows COMMA named_window.
named_window ::= id AS window_spec.
window_spec ::= LPAREN partition_by order_by frame RPAREN.
window_spec ::= LPAREN id RPAREN.
partition_by ::= .
partition_by ::= PARTITION BY expr_list.
frame ::= .
frame ::= frame_unit frame_bound.
frame ::= frame_unit BETWEEN frame_bound AND frame_bound.
frame_unit ::= ROWS.
frame_unit ::= RANGE.
frame_bound ::= UNBOUNDED frame_side.
frame_bound ::= CURRENT ROW.
frame_bound ::= vexpr frame_side.
frame_side ::= PRECEDING.
frame_side ::= FOLLOWING.

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

/* ---- Expressions: OR and AND over NOT over predicates over values ---- */
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
argument(A) ::= expr(E) id(N). { A = fm_build_alias(p, E, &N); }
argument(A) ::= id(N) FAT_ARROW expr(E). { A = fm_build_named_argument(p, &N, E); }
argument(A) ::= star(S). { A = S; }
argument(A) ::= id(N) ARROW expr(E). { A = fm_build_lambda(p, N.pos, fm_build_name(p, (fm_names){0}, &N), E); }
argument(A) ::= LAMBDA_LPAREN(T) name_list(N) RPAREN ARROW expr(E). { A = fm_build_lambda(p, T.pos, N, E); }

%type or_list { fm_exprs }
%type and_list { fm_exprs }
expr(E) ::= or_list(L). { E = fm_build_balanced(p, FM_EXPR_OR, L); }
or_list(L) ::= and_list(M). { L = fm_build_list(p, (fm_exprs){0}, fm_build_balanced(p, FM_EXPR_AND, M)); }
or_list(L) ::= or_list(A) OR and_list(M). { L = fm_build_list(p, A, fm_build_balanced(p, FM_EXPR_AND, M)); }
and_list(L) ::= not_expr(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
and_list(L) ::= and_list(M) AND not_expr(E). { L = fm_build_list(p, M, E); }
not_expr(E) ::= NOT(T) not_expr(A). { E = fm_build_not(p, &T, true, A); }
not_expr(E) ::= BANG(T) not_expr(A). { E = fm_build_not(p, &T, true, A); }
not_expr(E) ::= predicate(P). { E = P; }

%type not { int }
not(N) ::= . { N = 0; }
not(N) ::= NOT. { N = 1; }
not(N) ::= BANG. { N = 1; }
predicate(P) ::= vexpr(V). { P = V; }
predicate(P) ::= EXISTS(T) LPAREN query(Q) RPAREN(R). { P = fm_build_subquery(p, FM_EXPR_EXISTS_SUBQUERY, &T, &R, NULL, Q); }
predicate(P) ::= vexpr(V) not(N) BETWEEN(T) vexpr(A) AND vexpr(B). { P = fm_build_not(p, &T, N, fm_build_between(p, &T, V, A, B)); }
predicate(P) ::= vexpr(V) not(N) IN(T) LPAREN expr_list(L) RPAREN(R). { P = fm_build_not(p, &T, N, fm_build_in(p, &T, &R, V, L)); }
predicate(P) ::= vexpr(V) not(N) IN(T) LPAREN query(Q) RPAREN(R). {
    P = fm_build_not(p, &T, N, fm_build_subquery(p, FM_EXPR_IN_SUBQUERY, &T, &R, V, Q));
}
predicate(P) ::= vexpr(V) not(N) LIKE(T) vexpr(A) escape(X). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "like", V, A, X)); }
predicate(P) ::= vexpr(V) not(N) ILIKE(T) vexpr(A) escape(X). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "ilike", V, A, X)); }
predicate(P) ::= vexpr(V) not(N) RLIKE(T) vexpr(A). { P = fm_build_not(p, &T, N, fm_build_like(p, &T, "rlike", V, A, NULL)); }
predicate(P) ::= vexpr(V) not(N) LIKE(T) some(S) LPAREN expr_list(L) RPAREN. { P = fm_build_like_many(p, &T, "like", V, N, S, L); }
predicate(P) ::= vexpr(V) not(N) ILIKE(T) some(S) LPAREN expr_list(L) RPAREN. { P = fm_build_like_many(p, &T, "ilike", V, N, S, L); }
%type some { int }
some(S) ::= ANY. { S = 1; }
some(S) ::= SOME. { S = 1; }
some(S) ::= ALL. { S = 0; }
predicate(P) ::= vexpr(V) IS not(N) NULL(T). { P = fm_build_unary(p, &T, N ? "isnotnull" : "isnull", V); }
predicate(P) ::= vexpr(V) IS not(N) UNKNOWN(T). { P = fm_build_unary(p, &T, N ? "isnotnull" : "isnull", V); }
predicate(P) ::= vexpr(V) IS not(N) TRUE(T). { P = fm_build_is_bool(p, &T, N, V, true); }
predicate(P) ::= vexpr(V) IS not(N) FALSE(T). { P = fm_build_is_bool(p, &T, N, V, false); }
predicate(P) ::= vexpr(V) IS(T) not(N) DISTINCT FROM vexpr(A). { P = fm_build_not(p, &T, !N, fm_build_binary(p, &T, "<=>", V, A)); }
%type escape { const fm_token * }
escape(X) ::= . { X = NULL; }
escape(X) ::= ESCAPE STRING(S). { X = fm_build_keep(p, &S); }

vexpr(V) ::= primary(P). { V = P; }
vexpr(V) ::= MINUS_SIGN(T) vexpr(A). [UNARY] { V = fm_build_unary(p, &T, "-", A); }
vexpr(V) ::= PLUS(T) vexpr(A). [UNARY] { V = fm_build_unary(p, &T, "+", A); }
vexpr(V) ::= TILDE(T) vexpr(A). { V = fm_build_unary(p, &T, "~", A); }
vexpr(V) ::= vexpr(A) STAR(T) vexpr(B). { V = fm_build_binary(p, &T, "*", A, B); }
vexpr(V) ::= vexpr(A) SLASH(T) vexpr(B). { V = fm_build_binary(p, &T, "/", A, B); }
vexpr(V) ::= vexpr(A) PERCENT(T) vexpr(B). { V = fm_build_binary(p, &T, "%", A, B); }
vexpr(V) ::= vexpr(A) DIV(T) vexpr(B). { V = fm_build_binary(p, &T, "div", A, B); }
vexpr(V) ::= vexpr(A) PLUS(T) vexpr(B). { V = fm_build_binary(p, &T, "+", A, B); }
vexpr(V) ::= vexpr(A) MINUS_SIGN(T) vexpr(B). { V = fm_build_binary(p, &T, "-", A, B); }
vexpr(V) ::= vexpr(A) CONCAT(T) vexpr(B). { V = fm_build_binary(p, &T, "||", A, B); }
vexpr(V) ::= vexpr(A) SHIFT(T) vexpr(B). { V = fm_build_shift(p, &T, A, B); }
vexpr(V) ::= vexpr(A) BITAND(T) vexpr(B). { V = fm_build_binary(p, &T, "&", A, B); }
vexpr(V) ::= vexpr(A) BITXOR(T) vexpr(B). { V = fm_build_binary(p, &T, "^", A, B); }
vexpr(V) ::= vexpr(A) BITOR(T) vexpr(B). { V = fm_build_binary(p, &T, "|", A, B); }
vexpr(V) ::= vexpr(A) EQ(T) vexpr(B). { V = fm_build_binary(p, &T, "=", A, B); }
vexpr(V) ::= vexpr(A) NE(T) vexpr(B). { V = fm_build_binary(p, &T, "!=", A, B); }
vexpr(V) ::= vexpr(A) LT(T) vexpr(B). { V = fm_build_binary(p, &T, "<", A, B); }
vexpr(V) ::= vexpr(A) LE(T) vexpr(B). { V = fm_build_binary(p, &T, "<=", A, B); }
vexpr(V) ::= vexpr(A) GT(T) vexpr(B). { V = fm_build_binary(p, &T, ">", A, B); }
vexpr(V) ::= vexpr(A) GE(T) vexpr(B). { V = fm_build_binary(p, &T, ">=", A, B); }
vexpr(V) ::= vexpr(A) NSEQ(T) vexpr(B). { V = fm_build_binary(p, &T, "<=>", A, B); }

primary(P) ::= strings(L). { P = fm_build_strings(p, L); }
%type strings { fm_names }
strings(L) ::= STRING(S). { L = fm_build_name(p, (fm_names){0}, &S); }
strings(L) ::= strings(M) STRING(S). { L = fm_build_name(p, M, &S); }
primary(P) ::= INTEGER(S). [NUMBER_ALONE] { P = fm_build_number(p, NULL, &S); }
primary(P) ::= NUMBER(S). [NUMBER_ALONE] { P = fm_build_number(p, NULL, &S); }
primary(P) ::= MINUS_SIGN(T) INTEGER(S). [NUMBER_WITH_SIGN] { P = fm_build_number(p, &T, &S); }
primary(P) ::= MINUS_SIGN(T) NUMBER(S). [NUMBER_WITH_SIGN] { P = fm_build_number(p, &T, &S); }
primary(P) ::= NULL(T). { P = fm_build_null(p, &T); }
primary(P) ::= TRUE(T). { P = fm_build_bool(p, &T, true); }
primary(P) ::= FALSE(T). { P = fm_build_bool(p, &T, false); }
primary(P) ::= TYPED(T) STRING(S). { P = fm_build_typed(p, &T, &S); }
primary(P) ::= INTERVAL(T). { P = fm_build_interval(p, &T); }
primary(P) ::= INTERVAL_TEXT(T). { P = fm_build_interval(p, &T); }
primary(P) ::= LPAREN(T) expr(E) RPAREN(R). { P = fm_build_bracketed(p, &T, &R, E); }
primary(P) ::= LPAREN(T) row_item(E) COMMA row_items(L) RPAREN(R). { P = fm_build_row(p, &T, &R, E, L); }
row_item(E) ::= expr(X). { E = X; }
row_item(E) ::= expr(X) AS id(N). { E = fm_build_alias(p, X, &N); }
%type row_items { fm_exprs }
row_items(L) ::= row_item(E). { L = fm_build_list(p, (fm_exprs){0}, E); }
row_items(L) ::= row_items(M) COMMA row_item(E). { L = fm_build_list(p, M, E); }
primary(P) ::= LPAREN(T) query(Q) RPAREN(R). [SUBQUERY] { P = fm_build_subquery(p, FM_EXPR_SUBQUERY, &T, &R, NULL, Q); }
primary(P) ::= id(T). [NAME_ALONE] { P = fm_build_column_name(p, &T); }
primary(P) ::= primary(A) DOT id(T). [NAME_ALONE] { P = fm_build_dot(p, A, &T); }
primary(P) ::= primary(A) LBRACKET expr(E) RBRACKET(R). { P = fm_build_index(p, &R, A, E); }
primary(P) ::= primary(A) DOUBLE_COLON TYPE(T). { P = fm_build_cast(p, NULL, &T, A, &T, false); }
primary(P) ::= CAST(C) LPAREN expr(E) AS TYPE(T) RPAREN(R). { P = fm_build_cast(p, &C, &R, E, &T, false); }
primary(P) ::= TRY_CAST(C) LPAREN expr(E) AS TYPE(T) RPAREN(R). { P = fm_build_cast(p, &C, &R, E, &T, true); }
primary(P) ::= CASE(T) whens(W) else(E) END(R). { P = fm_build_case(p, &T, &R, NULL, W, E); }
primary(P) ::= CASE(T) expr(X) whens(W) else(E) END(R). { P = fm_build_case(p, &T, &R, X, W, E); }
%type whens { fm_exprs }
whens(L) ::= WHEN expr(A) THEN expr(B). { L = fm_build_list(p, fm_build_list(p, (fm_exprs){0}, A), B); }
whens(L) ::= whens(M) WHEN expr(A) THEN expr(B). { L = fm_build_list(p, fm_build_list(p, M, A), B); }
else(E) ::= . { E = NULL; }
else(E) ::= ELSE expr(X). { E = X; }

primary(P) ::= EXTRACT(T) LPAREN id(U) FROM expr(E) RPAREN(R). { P = fm_build_special(p, &T, &R, "extract", fm_build_word(p, &U), E, NULL, NULL); }
primary(P) ::= EXTRACT(T) LPAREN STRING(U) FROM expr(E) RPAREN(R). { P = fm_build_special(p, &T, &R, "extract", fm_build_word(p, &U), E, NULL, NULL); }
primary(P) ::= TRIM(T) LPAREN trim_side(S) FROM expr(E) RPAREN(R). { P = fm_build_special(p, &T, &R, S, E, NULL, NULL, NULL); }
primary(P) ::= TRIM(T) LPAREN trim_side(S) expr(C) FROM expr(E) RPAREN(R). { P = fm_build_special(p, &T, &R, S, C, E, NULL, NULL); }
primary(P) ::= TRIM(T) LPAREN expr(C) FROM expr(E) RPAREN(R). { P = fm_build_special(p, &T, &R, "trim", C, E, NULL, NULL); }
%type trim_side { const char * }
trim_side(S) ::= BOTH. { S = "trim"; }
trim_side(S) ::= LEADING. { S = "ltrim"; }
trim_side(S) ::= TRAILING. { S = "rtrim"; }
primary(P) ::= SUBSTRING(T) LPAREN expr(E) FROM expr(A) RPAREN(R). { P = fm_build_special(p, &T, &R, "substring", E, A, NULL, NULL); }
primary(P) ::= SUBSTRING(T) LPAREN expr(E) FROM expr(A) FOR expr(B) RPAREN(R). { P = fm_build_special(p, &T, &R, "substring", E, A, B, NULL); }
primary(P) ::= POSITION(T) LPAREN vexpr(A) IN vexpr(B) RPAREN(R). { P = fm_build_special(p, &T, &R, "locate", A, B, NULL, NULL); }
primary(P) ::= OVERLAY(T) LPAREN expr(E) PLACING expr(A) FROM expr(B) RPAREN(R). { P = fm_build_special(p, &T, &R, "overlay", E, A, B, NULL); }
primary(P) ::= OVERLAY(T) LPAREN expr(E) PLACING expr(A) FROM expr(B) FOR expr(C) RPAREN(R). {
    P = fm_build_special(p, &T, &R, "overlay", E, A, B, C);
}

primary(P) ::= id(N) call(C). { P = fm_build_function(p, fm_build_name(p, (fm_names){0}, &N), C); }
primary(P) ::= primary(A) DOT id(N) call(C). { P = fm_build_qualified_function(p, A, &N, C); }
%type call { fm_call_parts }
call(C) ::= LPAREN quantifier(D) arguments(L) nulls_inside(I) RPAREN(R) within(W) filter(F) nulls_treatment(X) over(O). {
    C = (fm_call_parts){.close = R, .args = L, .within = W, .filter = F, .distinct = D == FM_DISTINCT, .ignore_nulls = I || X, .over = O};
}
%type nulls_inside { int }
nulls_inside(X) ::= . { X = 0; }
nulls_inside(X) ::= IGNORE NULLS. { X = 1; }
nulls_inside(X) ::= RESPECT NULLS. { X = 0; }
%type within { fm_exprs }
within(I) ::= . { I = (fm_exprs){0}; }
within(I) ::= WITHIN GROUP LPAREN ORDER BY sort_items(L) RPAREN. { I = L; }
%type nulls_treatment { int }
nulls_treatment(X) ::= . [NO_NULLS] { X = 0; }
nulls_treatment(X) ::= IGNORE NULLS. { X = 1; }
nulls_treatment(X) ::= RESPECT NULLS. { X = 0; }
filter(F) ::= . { F = NULL; }
filter(F) ::= FILTER LPAREN WHERE expr(E) RPAREN. { F = E; }
%type over { int }
over(O) ::= . { O = 0; }
over(O) ::= OVER id. { O = 1; }
over(O) ::= OVER window_spec. { O = 1; }

%code {
/* The driver below and syntax_hint.c look into the parser: which tokens it would take now. */

/* As yy_find_shift_action, without the fallback from keywords to names. */
static YYACTIONTYPE exact_action(YYACTIONTYPE state, YYCODETYPE kind)
{
    if (state > YY_MAX_SHIFT) return state; /* a rule waits to be reduced */
    int i = yy_shift_ofst[state] + kind;
    if (i >= 0 && i < YY_NLOOKAHEAD && yy_lookahead[i] == kind) return yy_action[i];
    return yy_default[state];
}

/* Runs the states alone: reduces until the token is shifted or refused. */
static bool takes(const yyParser *parser, int kind)
{
    YYACTIONTYPE states[YYSTACKDEPTH + 1];
    int n = (int)(parser->yytos - parser->yystack) + 1;

    if (kind < 0 || kind >= YYNTOKEN) return false;
    for (int i = 0; i < n; i++) states[i] = parser->yystack[i].stateno;
    for (;;) {
        YYACTIONTYPE act = exact_action(states[n - 1], (YYCODETYPE)kind);
        if (act <= YY_MAX_SHIFTREDUCE || act == YY_ACCEPT_ACTION) return true;
        if (act < YY_MIN_REDUCE) return false;
        int rule = act - YY_MIN_REDUCE;
        n += yyRuleInfoNRhs[rule];
        if (n < 1 || n > YYSTACKDEPTH) return false;
        states[n] = yy_find_reduce_action(states[n - 1], yyRuleInfoLhs[rule]);
        n++;
    }
}

struct fm_grammar_run {
    yyParser parser;
};

fm_grammar_run *fm_grammar_run_new(void)
{
    fm_grammar_run *run = malloc(sizeof *run);

    if (run) fm_grammarInit(&run->parser);
    return run;
}

void fm_grammar_run_free(fm_grammar_run *run)
{
    if (run) fm_grammarFinalize(&run->parser);
    free(run);
}

bool fm_grammar_push(fm_grammar_run *run, fm_parse *p, const fm_token *token)
{
    p->last = token;
    fm_grammar(&run->parser, token->kind, *token, p);
    return p->status == FM_OK;
}

bool fm_grammar_takes(const fm_grammar_run *run, int kind) { return takes(&run->parser, kind); }
}
