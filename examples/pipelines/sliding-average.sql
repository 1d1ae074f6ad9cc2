-- JSON files -> the average per device over ten minutes, every five -> console: the averages that changed.

CREATE TABLE sensors (device_id STRING, event_time TIMESTAMP, reading DOUBLE)
USING json OPTIONS (path '${env:INPUT}');

CREATE STREAMING TABLE averages USING console
OPTIONS (outputMode 'update', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, device_id, avg(reading) AS avg_reading
   FROM STREAM sensors WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '10 minutes', '5 minutes'), device_id;
