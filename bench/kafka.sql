-- Kafka to windows: sums and counts per user and minute of event time, as an unbroken backlog is read. The rows go nowhere: what is
-- measured is the way from the broker to the windows.
CREATE TABLE events USING kafka
OPTIONS (`kafka.bootstrap.servers` '${broker}', subscribe '${topic}', startingOffsets 'earliest');
CREATE VIEW amounts AS
SELECT data.user_id, data.amount, data.event_time
FROM (SELECT from_json(CAST(value AS STRING), 'user_id STRING, amount DOUBLE, event_time TIMESTAMP, status STRING') AS data FROM STREAM events);
CREATE STREAMING TABLE totals USING ${sink}
OPTIONS (outputMode 'append', ${sink_options} checkpointLocation '${checkpoint}')
AS SELECT window.start AS minute, user_id, sum(amount) AS total, count(*) AS n
   FROM amounts WATERMARK event_time DELAY OF INTERVAL 10 SECONDS
   GROUP BY window(event_time, '1 minute'), user_id;
