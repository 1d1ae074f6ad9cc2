-- Kafka, from what comes now on -> five-minute sums per sensor -> Delta, at every tick of the trigger.

CREATE TABLE incoming USING kafka
OPTIONS (`kafka.bootstrap.servers` '${env:BROKER}', subscribe '${env:TOPIC}', startingOffsets 'latest');

CREATE VIEW sensors AS
SELECT data.* FROM (SELECT from_json(CAST(value AS STRING), 'sensor_id STRING, temperature DOUBLE, event_time TIMESTAMP') AS data
                    FROM STREAM incoming);

CREATE STREAMING TABLE temperatures USING delta
OPTIONS (path '${env:OUTPUT}', outputMode 'append', trigger '${env:TRIGGER}', checkpointLocation '${env:CHECKPOINT}')
AS SELECT window, sensor_id, sum(temperature) AS temp_sum, count(*) AS readings
   FROM sensors WATERMARK event_time DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(event_time, '5 minutes'), sensor_id;
