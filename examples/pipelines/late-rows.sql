-- Kafka -> actions per hour -> Delta; what came more than two hours behind the latest goes, as it came and with what is known of
-- it, into a JSON folder.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW actions AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'userId STRING, eventTime TIMESTAMP, action STRING') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE actions_per_hour USING delta
OPTIONS (path '${env:OUTPUT}/actions', outputMode 'append', checkpointLocation '${env:CHECKPOINT}')
AS SELECT /*+ LATE_POLICY('event'), LATE_ROWS('json', '${env:OUTPUT}/late') */ window, action, count(*) AS actions
   FROM actions WATERMARK eventTime DELAY OF INTERVAL 2 HOURS
   GROUP BY window(eventTime, '1 hour'), action;
