-- Kafka -> five-minute sums per user -> Delta: each window once, when the watermark has passed it.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW transactions AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'user_id STRING, amount DOUBLE, event_time TIMESTAMP') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE user_totals USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'append', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, user_id, sum(amount) AS total, count(*) AS txn_count
   FROM transactions WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '5 minutes'), user_id;
