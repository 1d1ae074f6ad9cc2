-- The main job: how much energy each device used, in windows of five minutes.
--
-- Events come out of order, so the job waits: the watermark is the latest event time seen, minus ten minutes. When it
-- passes the end of a window, the window is closed: its sums come out, once, and its state is freed. A row that comes
-- later than that has missed its window; LATE_ROWS keeps it, with how late it was.
--
-- Run it:  floodmark run energy.sql -c in=in -c out=out --available-now

CREATE TABLE readings (device STRING, at TIMESTAMP, kwh DOUBLE)
USING json OPTIONS (path '${in}', maxFilesPerTrigger '1');

CREATE STREAMING TABLE energy_per_device USING console
OPTIONS (outputMode 'append', truncate 'false', numRows '100', checkpointLocation '${out}/checkpoint')
AS SELECT /*+ LATE_ROWS('memory', 'late') */
          window.start AS window_start, window.end AS window_end, device, sum(kwh) AS kwh, count(*) AS readings
   FROM STREAM readings WATERMARK at DELAY OF INTERVAL 10 MINUTES
   GROUP BY window(at, '5 minutes'), device;
