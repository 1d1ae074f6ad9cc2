-- Kafka -> counts per category in ten-minute windows, a quarter of an hour of patience -> Delta, a folder for each window.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW events AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'category STRING, event_time TIMESTAMP') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE category_counts USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'append', checkpointLocation '${env:CHECKPOINT}')
PARTITIONED BY (window_start)
AS SELECT window.start AS window_start, window.end AS window_end, category, count(*) AS count
   FROM events WATERMARK event_time DELAY OF INTERVAL 15 MINUTES
   GROUP BY window(event_time, '10 minutes'), category;
