#!/usr/bin/env bash
# Spark with Delta Lake and Kafka for the larger check: a virtual environment with PySpark and a folder `jars` in it.
#
#   setup.sh [FOLDER]    makes FOLDER (default: ~/.cache/floodmark/spark-VERSION) when it is not there or not whole, prints it
set -euo pipefail
spark=4.2.0
delta=4.4.0
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/floodmark/spark-$spark}

stamp="spark $spark, delta $delta, 1"
if [ "$(cat "$folder/complete" 2>/dev/null)" = "$stamp" ]; then
    echo "$folder"
    exit 0
fi
mkdir -p "$folder"
exec 9>"$folder.lock"
flock 9
echo "fetching Spark $spark and Delta $delta into $folder" >&2
log=$folder/log
python3 -m venv "$folder" >"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
"$folder/bin/pip" install -q --disable-pip-version-check "pyspark==$spark" >>"$log" 2>&1 || { tail -n 20 "$log" >&2; exit 1; }
"$folder/bin/pip" install -q --disable-pip-version-check -r "$(dirname "${BASH_SOURCE[0]}")/../requirements.txt" >>"$log" 2>&1 ||
    { tail -n 20 "$log" >&2; exit 1; }
# Spark itself and its Scala come with PySpark: what they bring is left out.
cat >"$folder/pom.xml" <<XML
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>floodmark.test</groupId><artifactId>spark-jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>io.delta</groupId><artifactId>delta-spark_4.2_2.13</artifactId><version>$delta</version></dependency>
    <dependency><groupId>io.delta</groupId><artifactId>delta-storage</artifactId><version>$delta</version></dependency>
    <dependency>
      <groupId>org.apache.spark</groupId><artifactId>spark-sql-kafka-0-10_2.13</artifactId><version>$spark</version>
      <exclusions><exclusion><groupId>org.apache.hadoop</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
  </dependencies>
</project>
XML
rm -rf "$folder/jars" "$folder/fetched"
if ! (cd "$folder" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$folder/fetched") >>"$log" 2>&1; then
    tail -n 20 "$log" >&2
    echo "Maven could not fetch the jars of Delta $delta and Spark's Kafka source $spark" >&2
    exit 1
fi
mkdir "$folder/jars"
shipped=$("$folder/bin/python" -c 'import os, pyspark; print(os.path.join(os.path.dirname(pyspark.__file__), "jars"))')
for jar in "$folder"/fetched/*.jar; do
    name=$(basename "$jar" | sed -E 's/-[0-9][^-]*(-[a-z0-9]+)*\.jar$//')
    compgen -G "$shipped/$name-[0-9]*.jar" >/dev/null || cp "$jar" "$folder/jars/"
done
rm -rf "$folder/fetched"
echo "$stamp" >"$folder/complete"
echo "$folder"
