-- Kafka -> five-minute sums per device -> Delta, always up to date: a sum that changes takes the place of the old one.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW readings AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'device_id STRING, event_time TIMESTAMP, value INT') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE device_sums USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'update', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window.start AS window_start, device_id, sum(value) AS sum_value
   FROM readings WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '5 minutes'), device_id;
