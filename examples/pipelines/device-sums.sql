-- Kafka -> five-minute sums per device -> console: each window once, when the watermark has passed it.

CREATE TABLE readings USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW events AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'device_id STRING, event_time TIMESTAMP, value INT') AS data
                    FROM STREAM readings);

CREATE STREAMING TABLE device_sums USING console
OPTIONS (outputMode 'append', truncate 'false', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, device_id, sum(value) AS sum_value
   FROM events WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '5 minutes'), device_id;
