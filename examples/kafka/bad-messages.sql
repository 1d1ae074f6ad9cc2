-- Messages that are no JSON, or whose fields have other types than they should, go to files of their own, with where they came from
-- and what is wrong with them; the others are used. Both are exactly once. Spark does not know the hint: there, bad messages are rows
-- of nulls.

CREATE TABLE clicks USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW parsed AS
SELECT c.user, c.n FROM (SELECT from_json(CAST(value AS STRING), 'user STRING, n INT') AS c FROM STREAM clicks);

CREATE STREAMING TABLE good USING json
OPTIONS (path '${env:OUTPUT}/good', checkpointLocation '${env:CHECKPOINT}', outputMode 'append')
AS SELECT /*+ BAD_ROWS('json', '${env:OUTPUT}/bad') */ user, n FROM parsed;
