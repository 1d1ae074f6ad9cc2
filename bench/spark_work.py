"""The job of the benches on Spark itself: bench/totals.sql, as its Python API says it.

    spark_work.py THREADS EVENTS OUT FILES_PER_BATCH

Prints the seconds from the start of the stream to its end, once the session is up.
"""
import json
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as f


def session(threads, **more):
    builder = (SparkSession.builder.master(f"local[{threads}]")
               .config("spark.sql.shuffle.partitions", threads)
               .config("spark.sql.session.timeZone", "UTC")
               .config("spark.driver.memory", "4g")
               .config("spark.ui.enabled", "false")
               .config("spark.driver.bindAddress", "127.0.0.1")
               .config("spark.driver.host", "127.0.0.1"))
    for key, value in more.items():
        builder = builder.config(key.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def main():
    threads, events, out, files = sys.argv[1:5]
    spark = session(threads)
    begun = time.perf_counter()
    rows = (spark.readStream.schema("user_id STRING, amount DOUBLE, event_time TIMESTAMP")
            .option("maxFilesPerTrigger", files).json(events)
            .withWatermark("event_time", "10 minutes")
            .groupBy(f.window("event_time", "5 minutes"), "user_id")
            .agg(f.sum("amount").alias("total"), f.count("*").alias("events"))
            .select(f.col("window.start").alias("window_start"), "user_id", "total", "events"))
    query = (rows.writeStream.format("json").outputMode("append").trigger(availableNow=True)
             .option("path", f"{out}/rows").option("checkpointLocation", f"{out}/checkpoint").start())
    query.awaitTermination()
    print(json.dumps({"seconds": time.perf_counter() - begun}))
    spark.stop()


if __name__ == "__main__":
    main()
