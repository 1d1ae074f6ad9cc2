/* sql/sql_test.c: texts into plans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include "sql/sql.h"
#include "sql/sql_dump.h"

static const struct {
    const char *sql, *plan;
} cases[] = {
    {"SELECT 1",
     "project[1:int](one)"},
    {"select a, b AS c, d e, t.*, * except (x, y), t.* except (z) from t;",
     "project[a, b AS c, d AS e, t.*, * except('x', 'y'), t.* except('z')](relation[t])"},
    {"SELECT ALL a FROM t",
     "project[a](relation[t])"},
    {"SELECT DISTINCT a FROM t",
     "distinct(project[a](relation[t]))"},
    {"SELECT a FROM t WHERE b GROUP BY c, 1 HAVING count(*) > 1 ORDER BY a, b DESC, c ASC NULLS LAST, d DESC "
     "NULLS FIRST LIMIT 10 OFFSET 2",
     "limit[10:int offset 2:int](sort[a asc nulls first, b desc nulls last, c asc nulls last, d desc nulls first]("
     "having[>(count(*), 1:int)](aggregate[a by c, 1:int](filter[b](relation[t])))))"},
    {"SELECT a FROM t LIMIT ALL",
     "project[a](relation[t])"},
    {"SELECT a FROM t OFFSET 1",
     "limit[offset 1:int](project[a](relation[t]))"},
    {"SELECT sum(a) FROM t GROUP BY ALL",
     "aggregate[sum(a) by all](relation[t])"},
    {"SELECT max(a) FROM t HAVING max(a) > 1",
     "having[>(max(a), 1:int)](project[max(a)](relation[t]))"},
    {"SELECT count(*), count(DISTINCT a, b), count(ALL a), sum(b) FILTER (WHERE b > 1), first(a) IGNORE NULLS,"
     " last(a IGNORE NULLS), first(a RESPECT NULLS) FROM t",
     "project[count(*), count(distinct a, b), count(a), sum(b) filter >(b, 1:int), first(a) ignore nulls, last("
     "a) ignore nulls, first(a)](relation[t])"},
    {"SELECT row_number() OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),"
     " sum(a) OVER w, sum(a) OVER () FROM t WINDOW w AS (PARTITION BY b ORDER BY c RANGE 1 PRECEDING)",
     "project[row_number() over, sum(a) over, sum(a) over](relation[t])"},
    {"SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v), percentile_cont(0.25) WITHIN GROUP (ORDER BY v DESC) "
     "FROM t",
     "project[percentile_cont(0.5:decimal(1,1), v asc nulls first), percentile_cont(0.25:decimal(2,2), v desc nulls last)]"
     "(relation[t])"},
    {"SELECT a FROM t GROUP BY a, b WITH ROLLUP",
     "aggregate[a by rollup(a, b)](relation[t])"},
    {"SELECT a FROM t GROUP BY a, CUBE (a, (b, c)), GROUPING SETS (ROLLUP (a), (), a)",
     "aggregate[a by a, cube(a, struct(b, c)), grouping sets(rollup(a), struct(), a)](relation[t])"},
    {"SELECT a FROM t GROUP BY a, b GROUPING SETS ((a, b), ())",
     "aggregate[a by grouping sets of(struct(a, b), struct(a, b), struct())](relation[t])"},
    {"FROM t SELECT a WHERE b",
     "project[a](filter[b](relation[t]))"},
    {"TABLE t",
     "project[*](relation[t])"},
    {"VALUES (1, 'a'), (2, 'b')",
     "values[1:int, 'a', 2:int, 'b' /2]"},
    {"VALUES 1, 2",
     "values[1:int, 2:int /1]"},
    {"SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(x, y), u",
     "project[*](join(as[t(x, y)](values[1:int, 'a', 2:int, 'b' /2]), relation[u]))"},
    {"SELECT * FROM (VALUES (1), (2)) v(x)",
     "project[*](as[v(x)](as[__auto_generated_subquery_name](values[1:int, 2:int /1])))"},
    {"SELECT a FROM t UNION ALL SELECT b FROM u UNION ALL SELECT c FROM v",
     "union(project[a](relation[t]), project[b](relation[u]), project[c](relation[v]))"},
    {"SELECT a FROM t UNION SELECT b FROM u",
     "distinct(union(project[a](relation[t]), project[b](relation[u])))"},
    {"SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 EXCEPT ALL SELECT 4 MINUS SELECT 5",
     "except(except[all](union(project[1:int](one), intersect(project[2:int](one), project[3:int](one))), project[4:int]("
     "one)), project[5:int](one))"},
    {"(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT b FROM u) ORDER BY 1",
     "sort[1:int asc nulls first](union(limit[1:int](sort[a asc nulls first](project[a](relation[t]))), project[b]("
     "relation[u])))"},
    {"WITH a AS (SELECT 1 AS x), b(y) AS (SELECT x FROM a) SELECT * FROM b ORDER BY y",
     "with(a=project[1:int AS x](one); b(y)=project[x](relation[a]); sort[y asc nulls first](project[*](relation[b])))"},
    {"SELECT * FROM (WITH a AS (SELECT 1) SELECT * FROM a) q",
     "project[*](as[q](as[__auto_generated_subquery_name](with(a=project[1:int](one); project[*](relation[a])))))"},
    {"SELECT * FROM a, b c JOIN d ON c.x = d.x, e",
     "project[*](join(join(relation[a], join[=(c.x, d.x)](as[c](relation[b]), relation[d])), relation[e]))"},
    {"SELECT * FROM a INNER JOIN b USING (x, y) LEFT JOIN c ON 1 = 1 LEFT OUTER JOIN d RIGHT JOIN e ON p FULL "
     "OUTER JOIN f ON q CROSS JOIN g",
     "project[*](cross(full[q](right[p](left(left[=(1:int, 1:int)](join[(x, y)](relation[a], relation[b]), relation[c]),"
     " relation[d]), relation[e]), relation[f]), relation[g]))"},
    {"SELECT * FROM a LEFT SEMI JOIN b ON x SEMI JOIN c ON x LEFT ANTI JOIN d ON x ANTI JOIN e ON x NATURAL JOIN "
     "f NATURAL LEFT JOIN g",
     "project[*](left[natural](join[natural](anti[x](anti[x](semi[x](semi[x](relation[a], relation[b]), relation[c]),"
     " relation[d]), relation[e]), relation[f]), relation[g]))"},
    {"SELECT * FROM (a JOIN b ON a.x = b.x) JOIN ((c JOIN d) JOIN e) ON y",
     "project[*](join[y](join[=(a.x, b.x)](relation[a], relation[b]), join(join(relation[c], relation[d]), relation[e])))"},
    {"SELECT * FROM ((SELECT 1) UNION ALL (SELECT 2)) t",
     "project[*](as[t](as[__auto_generated_subquery_name](union(project[1:int](one), project[2:int](one)))))"},
    {"SELECT * FROM ((SELECT 1))",
     "project[*](as[__auto_generated_subquery_name](project[1:int](one)))"},
    {"SELECT * FROM range(10) AS r(n), cat.fun(1)",
     "project[*](join(as[r(n)](function[range 10:int]), function[fun 1:int]))"},
    {"SELECT * FROM STREAM read_files('in/', format => 'json', schema => 'a INT')",
     "project[*](function[read_files 'in/', 'json' AS format, 'a INT' AS schema stream])"},
    {"SELECT * FROM STREAM(read_files('in/')) q",
     "project[*](as[q](function[read_files 'in/' stream]))"},
    {"SELECT * FROM STREAM t WITH (maxFilesPerTrigger = 1, 'a.b' 'c') WATERMARK ts DELAY OF INTERVAL 10 MINUTES "
     "AS e WHERE e.v > 1",
     "project[*](filter[>(e.v, 1:int)](as[e](watermark[ts 600000000](relation[t maxFilesPerTrigger=1 a.b=c stream]))))"},
    {"SELECT * FROM STREAM(db.t) WATERMARK to_timestamp(x) AS ts DELAY OF INTERVAL '1:30' HOUR TO MINUTE",
     "project[*](watermark[to_timestamp(x) AS ts 5400000000](relation[db.t stream]))"},
    {"SELECT * FROM STREAM t WATERMARK a + b c DELAY OF INTERVAL 1 MONTH 2 DAYS, STREAM stream s, stream WHERE "
     "stream.a",
     "project[*](filter[stream.a](join(join(watermark[+(a, b) AS c 2851200000000](relation[t stream]), as[s]("
     "relation[stream stream])), relation[stream])))"},
    {"SELECT * FROM (SELECT 1) WATERMARK x DELAY OF INTERVAL 0 SECONDS q",
     "project[*](as[q](watermark[x 0](as[__auto_generated_subquery_name](project[1:int](one)))))"},
    {"SELECT * FROM STREAM t WATERMARK explode(m) AS (a, b) DELAY OF INTERVAL 5 SECONDS",
     "project[*](watermark[explode(m) AS (a, b) 5000000](relation[t stream]))"},
    {"SHOW COLUMNS FROM db.t",
     "show[db.tt COLUMNS]"},
    {"SELECT * FROM t TABLESAMPLE (BUCKET 1 OUT OF 10)",
     "project[*](sample[1:int, 10:int BUCKET](relation[t]))"},
    {"SELECT * FROM t TABLESAMPLE (10 PERCENT) REPEATABLE (3) s JOIN u TABLESAMPLE (5 ROWS)",
     "project[*](join(as[s](sample[10:int PERCENT](relation[t])), sample[5:int ROWS](relation[u])))"},
    {"SELECT k, t FROM e LATERAL VIEW OUTER explode(tags) x AS t LATERAL VIEW posexplode(b) AS p, q LATERAL VIEW "
     "inline(c) y",
     "project[k, t](lateral[y inline(c)](lateral[(p, q) posexplode(b)](lateral[x(t) explode(tags) outer](relation[e]))))"},
    {"SELECT /*+ ALLOWED_LATENESS('6 hours'), LATE_ROWS('json', 'late/') BROADCAST(t) */ /*+ NOTHING */ a FROM "
     "t",
     "hint[NOTHING](hint[BROADCAST t](hint[LATE_ROWS 'json', 'late/'](hint[ALLOWED_LATENESS '6 hours'](project[a]("
     "relation[t])))))"},
    {"SELECT a.from, from, where.end, date, timestamp, interval, stream, first, last, left, offset, partition,"
     " window.start, window, order, group, values, table, current, watermark, filter, over FROM t AS select",
     "project[a.from, from, where.end, date, timestamp, interval, stream, first, last, left, offset, partition,"
     " window.start, window, order, group, values, table, current, watermark, filter, over](as[select](relation[t]))"},
    {"SELECT a end, b first, c window FROM t",
     "project[a AS end, b AS first, c AS window](relation[t])"},
    {"SELECT left(s, 2), right(s, 2), replace(s, 'a', 'b'), if(a, b, c), filter(a, x -> x), first(a), date(b),"
     " timestamp(c), exists(a, x -> x IS NULL), substring(s, 1, 2), trim(s), locate('a', s), extract('year',"
     " d), current_date, current_timestamp(), char(65) FROM t",
     "project[left(s, 2:int), right(s, 2:int), replace(s, 'a', 'b'), if(a, b, c), filter(a, (x) -> x), first("
     "a), date(b), timestamp(c), exists(a, (x) -> isnull(x)), substring(s, 1:int, 2:int), trim(s), locate('a',"
     " s), extract('year', d), current_date, current_timestamp(), char(65:int)](relation[t])"},
    {"SELECT a FROM `my table` `a``b`",
     "project[a](as[a`b](relation[my table]))"},
    {"SELECT äö, 名前 FROM t",
     "project[äö, 名前](relation[t])"},
    {"SELECT NOT a AND b OR c AND NOT d, !a = b, NOT NOT a",
     "project[or(and(not(a), b), and(c, not(d))), not(=(a, b)), not(not(a))](one)"},
    {"SELECT a AND b AND c AND d AND e, a OR b OR c",
     "project[and(and(and(a, b), c), and(d, e)), or(or(a, b), c)](one)"},
    {"SELECT a BETWEEN 1 AND 2 AND b, a NOT BETWEEN b + 1 AND c, a NOT IN (1, 2), a IN (SELECT b FROM u), (a,"
     " b) IN ((1, 2))",
     "project[and(and between(>=(a, 1:int), <=(a, 2:int)), b), not(and between(>=(a, +(b, 1:int)), <=(a, c))),"
     " not(in(a, 1:int, 2:int)), in(a, project[b](relation[u])), in(struct(a, b), struct(1:int, 2:int))](one)"},
    {"SELECT a LIKE 'x%' ESCAPE '!', a NOT LIKE b, a ILIKE b, a RLIKE 'x', a REGEXP 'y', NOT a RLIKE b",
     "project[like(a, 'x%', '!'), not(like(a, b)), ilike(a, b), rlike(a, 'x'), rlike(a, 'y'), not(rlike(a, b))]("
     "one)"},
    {"SELECT a LIKE ANY ('x', 'y', 'z'), a NOT LIKE ALL ('x', 'y'), a NOT LIKE SOME ('x', 'y'), a ILIKE ALL ("
     "'x')",
     "project[or(or(like(a, 'x'), like(a, 'y')), like(a, 'z')), and(not(like(a, 'x')), not(like(a, 'y'))), or("
     "not(like(a, 'x')), not(like(a, 'y'))), ilike(a, 'x')](one)"},
    {"SELECT a IS NULL, a IS NOT NULL, a IS TRUE, a IS NOT FALSE, a IS UNKNOWN, a IS DISTINCT FROM b, a IS NOT "
     "DISTINCT FROM b, a = b IS NULL",
     "project[isnull(a), isnotnull(a), <=>(a, true:boolean), not(<=>(a, false:boolean)), isnull(a), not(<=>(a,"
     " b)), <=>(a, b), isnull(=(a, b))](one)"},
    {"SELECT a = b, a == b, a <> b, a != b, a < b, a <= b, a > b, a >= b, a <=> b",
     "project[=(a, b), =(a, b), !=(a, b), !=(a, b), <(a, b), <=(a, b), >(a, b), >=(a, b), <=>(a, b)](one)"},
    {"SELECT 1 + 2 * 3 - 4 / 5 % 6 DIV 7, a || b || c, a | b ^ c & d << 1 + 2, a >> 1 >>> 2, -a * b, - - a, +a,"
     " ~a, -a.b[0], a - -1, 2-1",
     "project[-(+(1:int, *(2:int, 3:int)), div(%(/(4:int, 5:int), 6:int), 7:int)), ||(||(a, b), c), |(a, ^(b,"
     " &(c, <<(d, +(1:int, 2:int))))), >>>(>>(a, 1:int), 2:int), *(-(a), b), -(-(a)), +(a), ~(a), -(get(a.b, "
     "0:int)), -(a, -1:int), -(2:int, 1:int)](one)"},
    {"SELECT a[0], a.b.c, m['k'].x, f(a).b, (a).b, (a.b).c, t.a[1][2], a::int, -1::string, a::array<array<int>>[0],"
     " a::decimal(10, 2) + 1, a::interval day to second, a::struct<x: int>",
     "project[get(a, 0:int), a.b.c, get(get(m, 'k'), 'x'), get(f(a), 'b'), get(a, 'b'), get(a.b, 'c'), get(get("
     "t.a, 1:int), 2:int), cast(a as int), cast(-1:int as string), get(cast(a as array<array<int>>), 0:int), "
     "+(cast(a as decimal(10,2)), 1:int), cast(a as interval day to second), cast(a as struct<x:int>)](one)"},
    {"SELECT CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END, CASE x WHEN 1 THEN 'a' END, CASE WHEN a THEN end END "
     "FROM t",
     "project[case(a, 1:int, b, 2:int, 3:int), case(=(x, 1:int), 'a'), case(a, end)](relation[t])"},
    {"SELECT CAST(a AS ARRAY<STRUCT<x: INT, y: MAP<STRING, INT>>>), TRY_CAST(c AS DECIMAL(10, 2)), CAST(CAST("
     "a AS INT) + 1 AS STRING)",
     "project[cast(a as array<struct<x:int,y:map<string,int>>>), try_cast(c as decimal(10,2)), cast(+(cast(a "
     "as int), 1:int) as string)](one)"},
    {"SELECT EXTRACT(YEAR FROM d), EXTRACT('day' FROM d), TRIM(BOTH 'x' FROM s), TRIM(LEADING FROM s), TRIM(TRAILING "
     "'x' FROM s), TRIM('x' FROM s)",
     "project[extract('YEAR', d), extract('day', d), trim('x', s), ltrim(s), rtrim('x', s), trim('x', s)](one)"},
    {"SELECT SUBSTRING(s FROM 2), SUBSTR(s FROM 2 FOR 3), POSITION('a' IN s), OVERLAY(s PLACING 'x' FROM 2), "
     "OVERLAY(s PLACING 'x' FROM 2 FOR 3)",
     "project[substring(s, 2:int), substring(s, 2:int, 3:int), locate('a', s), overlay(s, 'x', 2:int), overlay("
     "s, 'x', 2:int, 3:int)](one)"},
    {"SELECT timestampadd(HOUR, 1, ts), TIMESTAMPDIFF(minute, a, b), dateadd(DAY, 1, d), dateadd(d, 1), datediff("
     "a, b), date_add(d, day)",
     "project[timestampadd('HOUR', 1:int, ts), TIMESTAMPDIFF('minute', a, b), dateadd('DAY', 1:int, d), dateadd("
     "d, 1:int), datediff(a, b), date_add(d, day)](one)"},
    {"SELECT transform(a, x -> x + 1), aggregate(a, 0, (acc, x) -> acc + x, acc -> acc * 2), zip_with(a, b, ("
     "x, y) -> struct(x, y AS z))",
     "project[transform(a, (x) -> +(x, 1:int)), aggregate(a, 0:int, (acc, x) -> +(acc, x), (acc) -> *(acc, 2:int)),"
     " zip_with(a, b, (x, y) -> struct(x, y AS z))](one)"},
    {"SELECT struct(*), struct(a, b AS c), (1, 2), (1 AS x, b), named_struct('a', 1), builtin.abs(1), system.builtin.abs("
     "2), a.b.f(x)",
     "project[struct(*), struct(a, b AS c), struct(1:int, 2:int), struct(1:int AS x, b), named_struct('a', 1:int),"
     " abs(1:int), abs(2:int), a.b.f(x)](one)"},
    {"SELECT EXISTS (SELECT 1 FROM u), NOT EXISTS (SELECT 1), (SELECT max(b) FROM u) + 1, ((SELECT 1)), EXISTS "
     "((SELECT 1))",
     "project[exists(project[1:int](relation[u])), not(exists(project[1:int](one))), +(subquery(project[max(b)]("
     "relation[u])), 1:int), subquery(project[1:int](one)), exists(project[1:int](one))](one)"},
    {"SELECT 1, 1L, 1S, 1Y, 2147483647, 2147483648, -2147483648, -2147483649, 9223372036854775807, 9223372036854775808,"
     " -9223372036854775808, 1.5, 0.05, 10., .5, -1.50, 1e3, 1.5E-2, 1D, 1.5d, 2F, 1BD, 1.50bd, 1e2BD, 00012",
     "project[1:int, 1:bigint, 1:smallint, 1:tinyint, 2147483647:int, 2147483648:bigint, -2147483648:int, -2147483649:bigint,"
     " 9223372036854775807:bigint, 9223372036854775808:decimal(19,0), -9223372036854775808:bigint, 1.5:decimal("
     "2,1), 0.05:decimal(2,2), 10:decimal(2,0), 0.5:decimal(1,1), -1.50:decimal(3,2), 1000.0:double, 0.015:double,"
     " 1.0:double, 1.5:double, 2.0:float, 1:decimal(1,0), 1.50:decimal(3,2), 100:decimal(3,0), 12:int](one)"},
    {"SELECT NULL, TRUE, false, DATE '2026-01-31', DATE'2026-1-1', TIMESTAMP '2026-01-01 10:00:00', TIMESTAMP_NTZ "
     "'2026-01-01T10:00:00.5', TIMESTAMP_LTZ'2026-01-01'",
     "project[null, true:boolean, false:boolean, 2026-01-31:date, 2026-01-01:date, literal('2026-01-01 10:00:00' "
     "as timestamp), 2026-01-01 10:00:00.5:timestamp_ntz, literal('2026-01-01' as timestamp)](one)"},
    {"SELECT INTERVAL 1 DAY, INTERVAL 10 MINUTES, INTERVAL '10' MINUTE, INTERVAL -3 SECONDS, INTERVAL '-3' SECONDS,"
     " INTERVAL - '-3' SECONDS, INTERVAL 1.5 SECONDS, INTERVAL 2 WEEKS, INTERVAL 5 MILLISECONDS, INTERVAL 1 HOUR "
     "30 MINUTES, INTERVAL 1 YEAR 2 MONTHS, INTERVAL '3' months",
     "project[INTERVAL '1' DAY:interval day, INTERVAL '10' MINUTE:interval minute, INTERVAL '10' MINUTE:interval "
     "minute, INTERVAL '-03' SECOND:interval second, INTERVAL '-03' SECOND:interval second, INTERVAL '03' SECOND:interval "
     "second, INTERVAL '01.5' SECOND:interval second, INTERVAL '14' DAY:interval day, INTERVAL '00.005' SECOND:interval "
     "second, INTERVAL '01:30' HOUR TO MINUTE:interval hour to minute, INTERVAL '1-2' YEAR TO MONTH:interval "
     "year to month, INTERVAL '3' MONTH:interval month](one)"},
    {"SELECT INTERVAL '1:30' HOUR TO MINUTE, INTERVAL -'1:30' HOUR TO MINUTE, INTERVAL '1-2' YEAR TO MONTH, INTERVAL "
     "'1 02:03:04.005' DAY TO SECOND, INTERVAL '1 2' DAY TO HOUR, INTERVAL '5:06.7' MINUTE TO SECOND",
     "project[INTERVAL '01:30' HOUR TO MINUTE:interval hour to minute, INTERVAL '-01:30' HOUR TO MINUTE:interval "
     "hour to minute, INTERVAL '1-2' YEAR TO MONTH:interval year to month, INTERVAL '1 02:03:04.005' DAY TO SECOND:interval "
     "day to second, INTERVAL '1 02' DAY TO HOUR:interval day to hour, INTERVAL '05:06.7' MINUTE TO SECOND:interval "
     "minute to second](one)"},
    {"SELECT INTERVAL '1 day 2 hours', INTERVAL '3 years', INTERVAL 'interval 1 week', interval * 2, a - INTERVAL "
     "1 DAY, - INTERVAL 1 DAY",
     "project[INTERVAL '1 02' DAY TO HOUR:interval day to hour, INTERVAL '3' YEAR:interval year, INTERVAL '7' "
     "DAY:interval day, *(interval, 2:int), -(a, INTERVAL '1' DAY:interval day), -(INTERVAL '1' DAY:interval "
     "day)](one)"},
    {"SELECT /* c /* nested */ */ 1 -- to the end \\",
     "project[1:int](one)"},
    {"CREATE TABLE t (a INT NOT NULL COMMENT 'it''s', b ARRAY<STRUCT<x: INT, y: DECIMAL(10, 2)>> DEFAULT array("
     "1), c: STRING DEFAULT 'x' NOT NULL, date DATE, `my col` BIGINT) USING json OPTIONS (path 'in/', maxFilesPerTrigger "
     "10, 'x.y' = true, a.b.c -1.5, date 'd') PARTITIONED BY (a, b) COMMENT 'c' LOCATION 'there' TBLPROPERTIES "
     "('k' 'v')",
     "create table[t using json struct<a:int,b:array<struct<x:int,y:decimal(10,2)>>,c:string,date:date,my col:bigint> "
     "a! c! a:comment(it's) b:default(array(1)) c:default('x') path=there maxFilesPerTrigger=10 x.y=true a.b.c=-1.5 date=d "
     "properties k=v by a,b -- c]"},
    {"CREATE OR REPLACE TEMP TABLE t USING org.apache.spark.JSON",
     "create table[t using org.apache.spark.json or replace temporary]"},
    {"INSERT INTO t (a, b) VALUES (1, DEFAULT)", "insert[t(a, b)](values[1:int, DEFAULT /2])"},
    {"INSERT OVERWRITE TABLE a.t PARTITION (p = 'x', q) SELECT 1", "overwrite[a.t {matched: insert p='x' q}](project[1:int](one))"},
    {"INSERT INTO t BY NAME SELECT 1", "insert[t by name](project[1:int](one))"},
    {"INSERT INTO t REPLACE WHERE a > 1 SELECT 2", "insert[t>(a, 1:int) replaceWhere=a > 1](project[2:int](one))"},
    {"WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c", "insert[t](with(c=project[1:int](one); project[*](relation[c])))"},
    {"UPDATE t AS u SET u.a = a + 1, s.x = 'y' WHERE b = 2", "update[{matched and =(b, 2:int): update u.a=+(a, 1:int) s.x='y'}](as[u](relation[t]))"},
    {"DELETE FROM delta.`a/b` WHERE c IS NULL", "delete[{matched and isnull(c): delete}](relation[delta.a/b])"},
    {"MERGE WITH SCHEMA EVOLUTION INTO t USING (SELECT 1 AS a) s ON t.a = s.a WHEN MATCHED AND b > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET * "
     "WHEN NOT MATCHED BY TARGET THEN INSERT (a, b) VALUES (s.a, 2) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET b = 3",
     "merge[=(t.a, s.a) outer {matched and >(b, 1:int): delete} {matched: update *} {not matched: insert a=s.a b=2:int} {not matched by source: update b=3:int}](relation[t], as[s](as[__auto_generated_subquery_name](project[1:int AS a](one))))"},
    {"OPTIMIZE t WHERE p = 1 ZORDER BY (a, b)", "maintain[t(a, b)=(p, 1:int) where=p = 1 OPTIMIZE]"},
    {"VACUUM 'a/b' RETAIN 168 HOURS DRY RUN", "maintain[delta.a/b retain=168 dryRun=DRY RUN VACUUM]"},
    {"RESTORE TABLE t TO TIMESTAMP AS OF '2026-01-01'", "maintain[t timestampAsOf=2026-01-01 RESTORE]"},
    {"DESC HISTORY t LIMIT 3", "maintain[t limit=3 HISTORY]"},
    {"SHOW TBLPROPERTIES t ('a.b')", "maintain[t key=a.b PROPERTIES]"},
    {"SELECT a FROM t VERSION AS OF 3 AS u", "project[a](as[u](relation[t versionAsOf=3]))"},
    {"ALTER TABLE t ADD COLUMNS (a INT COMMENT 'c' FIRST, b ARRAY<INT> AFTER x)", "alter table[t using  struct<a:int,b:array<int>> a:comment(c) a:first b:after(x) ADD COLUMNS]"},
    {"ALTER TABLE t ADD COLUMN after STRING", "alter table[t using  struct<after:string> ADD COLUMNS]"},
    {"ALTER TABLE t SET TBLPROPERTIES (a.b = 'c', d = true)", "alter table[t a.b=c d=true SET PROPERTIES]"},
    {"ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a')", "alter table[t a= if exists UNSET PROPERTIES]"},
    {"ALTER TABLE t ADD CONSTRAINT c CHECK (a > 1 AND b IN (1, 2))", "alter table[t c=a > 1 AND b IN (1, 2) ADD CONSTRAINT]"},
    {"ALTER TABLE t DROP CONSTRAINT IF EXISTS c", "alter table[t(c) if exists DROP CONSTRAINT]"},
    {"ALTER TABLE t RENAME COLUMN a TO b", "alter table[t(a, b) RENAME COLUMN]"},
    {"ALTER TABLE t DROP COLUMN a", "alter table[t(a) DROP COLUMNS]"},
    {"REPLACE TABLE t USING delta TBLPROPERTIES ('k' = 'v') AS SELECT 1", "create table[t using delta properties k=v or replace must exist](project[1:int](one))"},
    {"CREATE TABLE t (a INT DEFAULT 1 + 2, b INT GENERATED ALWAYS AS (a * 2)) USING delta", "create table[t using delta struct<a:int,b:int> a:default(1 + 2) b:generated(a * 2)]"},
    {"SELECT update, delete, merge, optimize, insert, matched FROM vacuum", "project[update, delete, merge, optimize, insert, matched](relation[vacuum])"},
    {"CREATE TABLE IF NOT EXISTS a.b.t () USING rate",
     "create table[a.b.t using rate if not exists]"},
    {"CREATE TEMPORARY VIEW v (a INT, b STRING) USING csv OPTIONS (path 'x')",
     "create table[v using csv struct<a:int,b:string> path=x temporary]"},
    {"CREATE STREAMING TABLE s USING json OPTIONS (path 'out/', checkpointLocation 'ck', trigger '30 seconds') "
     "AS SELECT * FROM STREAM t",
     "create streaming table[s using json path=out/ checkpointLocation=ck trigger=30 seconds](project[*](relation[t "
     "stream]))"},
    {"CREATE OR REFRESH STREAMING TABLE s AS WITH q AS (SELECT 1) SELECT * FROM q",
     "create streaming table[s using  or replace](with(q=project[1:int](one); project[*](relation[q])))"},
    {"CREATE OR REPLACE STREAMING TABLE s PARTITIONED BY (d) USING parquet AS SELECT 1",
     "create streaming table[s using parquet by d or replace](project[1:int](one))"},
    {"CREATE OR REPLACE VIEW v (x COMMENT 'one', y) COMMENT 'c' AS SELECT 1, 2",
     "create view[v or replace](as[v(x, y)](project[1:int, 2:int](one)))"},
    {"CREATE TEMP VIEW IF NOT EXISTS v AS SELECT 1",
     "create view[v if not exists temporary](project[1:int](one))"},
    {"DROP TABLE IF EXISTS a.t",
     "drop[a.t if exists TABLE]"},
    {"DROP VIEW v",
     "drop[v VIEW]"},
    {"EXPLAIN SELECT 1",
     "explain(project[1:int](one))"},
    {"EXPLAIN EXTENDED SELECT 1",
     "explain[extended](project[1:int](one))"},
    {"EXPLAIN FORMATTED CREATE STREAMING TABLE s AS SELECT 1",
     "explain[formatted](create streaming table[s using](project[1:int](one)))"},
    {"EXPLAIN CODEGEN SELECT 1",
     "explain[extended](project[1:int](one))"},
    {"SHOW TABLES",
     "show[TABLES]"},
    {"SHOW VIEWS LIKE 'v*'",
     "show[v* VIEWS]"},
    {"SHOW FUNCTIONS 'a*'",
     "show[a* FUNCTIONS]"},
    {"SHOW STREAMS",
     "show[STREAMS]"},
    {"DESCRIBE a.t",
     "describe[a.t TABLE]"},
    {"DESC EXTENDED t",
     "describe[t EXTENDED]"},
    {"DESCRIBE TABLE FORMATTED t",
     "describe[t EXTENDED]"},
    {"DESCRIBE TABLE t",
     "describe[t TABLE]"},
    {"DESCRIBE FUNCTION EXTENDED substring",
     "describe[substring FUNCTION]"},
    {"DESC FUNCTION '+'",
     "describe[+ FUNCTION]"},
    {"DESCRIBE QUERY SELECT 1",
     "describe[QUERY](project[1:int](one))"},
    {"DESC SELECT a FROM t",
     "describe[QUERY](project[a](relation[t]))"},
    {"SET",
     "set"},
    {"SET a.b",
     "set[a.b=?]"},
    {"SET spark.sql.session.timeZone = Europe/Berlin",
     "set[spark.sql.session.timeZone=Europe/Berlin]"},
    {"set x='a b'",
     "set[x=a b]"},
    {"SET `a b`=`c;d`",
     "set[a b=c;d]"},
    {"SET x =",
     "set[x=]"},
    {"SET TIME ZONE 'Europe/Berlin'",
     "set[spark.sql.session.timeZone=Europe/Berlin]"},
    {"RESET",
     "reset"},
    {"RESET a.b",
     "reset[a.b=?]"},
};

static void test_plans(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan = NULL;
        fm_strbuf dump = {0};
        fm_status st = fm_sql_parse(arena, fm_str_c(cases[i].sql), &plan, &err);
        if (st != FM_OK) fail_msg("%s\n%s", cases[i].sql, err.message);
        fm_plan_dump(plan, &dump);
        if (strcmp(dump.ptr, cases[i].plan) != 0) fail_msg("%s\n is       %s\n expected %s", cases[i].sql, dump.ptr, cases[i].plan);
        fm_strbuf_fini(&dump);
        fm_arena_free(arena);
    }
}

static fm_expr *parse_expr(fm_arena *arena, const char *text)
{
    fm_error err = FM_ERROR_INIT;
    fm_expr *e = NULL;

    if (fm_sql_parse_expr(arena, fm_str_c(text), &e, &err) != FM_OK) fail_msg("%s\n%s", text, err.message);
    return e;
}

static void test_texts(void **state)
{
    static const struct {
        const char *sql, *text;
        size_t len;
    } texts[] = {
        {"'a\\'b'", "a'b", 3},
        {"'\\n\\t\\r\\b\\Z'", "\n\t\r\b\x1A", 5},
        {"'\\0'", "\0", 1},
        {"'\\\\'", "\\", 1},
        {"'\\q\\%\\_'", "q\\%\\_", 5},
        {"'\\u00e4\\u20AC'", "\u00e4\u20AC", 5},
        {"'\\U0001F600'", "\U0001F600", 4},
        {"'\\ud83d\\ude00'", "\U0001F600", 4},
        {"'\\ud83d'", "\uFFFD", 3},
        {"'\\u12'", "u12", 3},
        {"'\\101'", "A", 1},
        {"'it''s'", "it's", 4},
        {"\"say \"\"x\"\"\"", "say \"x\"", 7},
        {"r'\\d''x'", "\\dx", 3},
        {"R\"a'b\"", "a'b", 3},
        {"'a' \"b\" 'c'", "abc", 3},
        {"''", "", 0},
        {"X'0aFF'", "\x0A\xFF", 2},
        {"x'F'", "\x0F", 1},
        {"X''", "", 0},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_expr *e = parse_expr(arena, texts[i].sql);
        fm_str is = fm_vec_str(&e->value, 0);
        if (!fm_str_eq(is, (fm_str){texts[i].text, texts[i].len})) fail_msg("%s is '%.*s'", texts[i].sql, FM_STR_ARG(is));
        fm_arena_free(arena);
    }
}

static void test_places(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;

    assert_int_equal(fm_sql_parse(arena, FM_STR("SELECT 'ä', (a + b) * c AS x,\n  f(d) FROM t"), &plan, &err), FM_OK);
    const fm_expr *product = plan->exprs[1]->args[0], *call = plan->exprs[2];
    assert_true(fm_str_eq(product->sql, FM_STR("(a + b) * c")));
    assert_int_equal(product->pos.line, 1);
    assert_int_equal(product->pos.column, 14);
    assert_true(fm_str_eq(call->sql, FM_STR("f(d)")));
    assert_int_equal(call->pos.line, 2);
    assert_int_equal(call->pos.column, 3);
    fm_arena_free(arena);
}

static void test_scripts(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan **plans;
    int32_t n;

    assert_int_equal(fm_sql_parse_script(arena, FM_STR("SELECT ';', \"a;\", `b;`; -- no; end\n /* ; */ SET a = b c;\n;; SELECT 2"), &plans, &n, &err), FM_OK);
    assert_int_equal(n, 3);
    assert_int_equal(plans[1]->kind, FM_PLAN_SET);
    assert_true(fm_str_eq(plans[1]->options.items[0].value, FM_STR("b c")));
    assert_true(fm_str_eq(plans[1]->sql, FM_STR("SET a = b c")));
    assert_int_equal(plans[2]->pos.line, 3);
    assert_int_equal(plans[2]->pos.column, 4);
    assert_int_equal(fm_sql_parse_script(arena, FM_STR(" -- nothing\n;"), &plans, &n, &err), FM_OK);
    assert_int_equal(n, 0);
    assert_int_equal(fm_sql_parse_script(arena, FM_STR("SELECT 1;\n SELEC 2"), &plans, &n, &err), FM_INVALID);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 2);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
