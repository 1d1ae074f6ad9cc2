"""A Spark session with Delta and Kafka, small enough to run beside the rest."""
import glob
import os
import sys


def start(folder, app="floodmark-check"):
    """folder: where warehouse, derby and what Spark spills lie."""
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    jars = ",".join(sorted(glob.glob(os.path.join(sys.prefix, "jars", "*.jar"))))
    return (
        SparkSession.builder.appName(app)
        .master("local[2]")
        .config("spark.jars", jars)
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dderby.system.home=" + folder)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "1")
        .config("spark.sql.warehouse.dir", os.path.join(folder, "warehouse"))
        .config("spark.local.dir", os.path.join(folder, "spark-local"))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.streaming.forceDeleteTempCheckpointLocation", "true")
        .getOrCreate()
    )
