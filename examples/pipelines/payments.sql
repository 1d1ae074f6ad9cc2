-- Kafka -> what was paid, by status, over days that begin every hour -> Delta, always up to date. A payment that is late by up to six
-- hours still counts: its sums are written again.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW payments AS
SELECT data.transactionId, data.eventTime, data.amount, data.status
FROM (SELECT from_json(CAST(value AS STRING), 'transactionId STRING, eventTime TIMESTAMP, amount DOUBLE, status STRING') AS data
      FROM STREAM incoming);

CREATE STREAMING TABLE daily_summary USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'update', trigger '${env:TRIGGER}', checkpointLocation '${env:CHECKPOINT}')
AS SELECT /*+ ALLOWED_LATENESS('6 hours') */ window, status, sum(amount) AS totalAmount
   FROM payments WATERMARK eventTime DELAY OF INTERVAL 30 MINUTES
   GROUP BY window(eventTime, '1 day', '1 hour'), status;
