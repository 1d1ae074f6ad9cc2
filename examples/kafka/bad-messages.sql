-- Messages that are no JSON, or whose fields have other types than they should, go to files of their own with where they came
-- from; the others are used. Both streams are exactly once; each reads the topic by itself.

CREATE TABLE clicks USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW parsed AS
SELECT topic, partition, offset, value,
       from_json(CAST(value AS STRING), 'user STRING, n INT, _corrupt_record STRING') AS c
FROM STREAM clicks;

CREATE STREAMING TABLE good USING json
OPTIONS (path '${env:OUTPUT}/good', checkpointLocation '${env:CHECKPOINT}/good', outputMode 'append')
AS SELECT c.user AS user, c.n AS n FROM parsed WHERE c._corrupt_record IS NULL;

CREATE STREAMING TABLE bad USING json
OPTIONS (path '${env:OUTPUT}/bad', checkpointLocation '${env:CHECKPOINT}/bad', outputMode 'append')
AS SELECT topic, partition, offset, CAST(value AS STRING) AS message FROM parsed WHERE c._corrupt_record IS NOT NULL;
