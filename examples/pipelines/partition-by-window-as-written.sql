-- A window is a struct, and no folder can be named by one: refused. Partition by window.start, as category-counts.sql does.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW events AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'category STRING, event_time TIMESTAMP') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE category_counts USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'append', trigger 'availableNow', checkpointLocation '${env:CHECKPOINT}')
PARTITIONED BY (window)
AS SELECT window, category, count(*) AS count
   FROM events WATERMARK event_time DELAY OF INTERVAL 0 SECONDS
   GROUP BY window(event_time, '10 minutes'), category;
