-- Kafka -> what was paid, by status, over days that begin every hour -> console: the sums that changed. A sum is closed half an
-- hour after its day.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'earliest');

CREATE VIEW payments AS
SELECT data.transactionId, data.eventTime, data.amount, data.status
FROM (SELECT from_json(CAST(value AS STRING), 'transactionId STRING, eventTime TIMESTAMP, amount DOUBLE, status STRING') AS data
      FROM STREAM incoming);

CREATE STREAMING TABLE daily_summary USING console
OPTIONS (outputMode 'update', numRows '1000', trigger '${env:TRIGGER}', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, status, sum(amount) AS totalAmount
   FROM payments WATERMARK eventTime DELAY OF INTERVAL 30 MINUTES
   GROUP BY window(eventTime, '1 day', '1 hour'), status;
