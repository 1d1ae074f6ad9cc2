-- The job of the benches: sum and count per user, in windows of event time, with ten minutes of patience. What DuckDB is
-- asked for is in duckdb_work.py, what Spark is in spark_work.py.

CREATE TABLE events (user_id STRING, amount DOUBLE, event_time TIMESTAMP)
USING json OPTIONS (path '${in}', maxFilesPerTrigger '${files}');

CREATE STREAMING TABLE totals USING json
OPTIONS (path '${out}/rows', checkpointLocation '${out}/checkpoint', outputMode 'append')
AS SELECT window.start AS window_start, user_id, sum(amount) AS total, count(*) AS events
   FROM STREAM events WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '${window}', '${slide}'), user_id;
