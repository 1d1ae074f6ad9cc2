"""The job of the Kafka bench on Spark itself: bench/kafka.sql, as its Python API says it.

    kafka_spark.py THREADS BROKER TOPIC CHECKPOINT

Run by the Python that tests/spark/setup.sh makes. Prints the seconds from the start of the stream to its end, once the session is up,
and the messages that it read.
"""
import glob
import json
import os
import sys
import time

from pyspark.sql import functions as f

from spark_work import session


def main():
    threads, broker, topic, checkpoint = sys.argv[1:5]
    spark = session(threads, spark_jars=",".join(sorted(glob.glob(os.path.join(sys.prefix, "jars", "*.jar")))))
    begun = time.perf_counter()
    schema = "user_id STRING, amount DOUBLE, event_time TIMESTAMP, status STRING"
    totals = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", broker).option("subscribe", topic)
              .option("startingOffsets", "earliest").load()
              .select(f.from_json(f.col("value").cast("string"), schema).alias("data")).select("data.user_id", "data.amount", "data.event_time")
              .withWatermark("event_time", "10 seconds")
              .groupBy(f.window("event_time", "1 minute"), "user_id").agg(f.sum("amount").alias("total"), f.count("*").alias("n"))
              .select(f.col("window.start").alias("minute"), "user_id", "total", "n"))
    query = totals.writeStream.format("noop").outputMode("append").trigger(availableNow=True).option("checkpointLocation", checkpoint).start()
    query.awaitTermination()
    took = time.perf_counter() - begun
    print(json.dumps({"seconds": took, "messages": sum(p["numInputRows"] for p in query.recentProgress)}))
    spark.stop()


main()
