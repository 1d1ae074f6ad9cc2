-- Kafka -> how often each user was active, in hours that begin every quarter -> console: the counts that changed, with two
-- hours of patience.

CREATE TABLE activity USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW events AS
SELECT data.userId, data.eventTime, data.action
FROM (SELECT from_json(CAST(value AS STRING), 'userId STRING, eventTime TIMESTAMP, action STRING') AS data FROM STREAM activity);

CREATE STREAMING TABLE user_activity USING console
OPTIONS (outputMode 'update', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, userId, count(*) AS eventCount
   FROM events WATERMARK eventTime DELAY OF INTERVAL 2 HOURS
   GROUP BY window(eventTime, '1 hour', '15 minutes'), userId;
