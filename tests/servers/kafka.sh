#!/usr/bin/env bash
# A Kafka broker for tests: one node on loopback, with its data in a folder of its own.
#
#   kafka.sh fetch           brings the broker's jars into the cache (Maven Central, by this machine's Maven settings)
#   kafka.sh start FOLDER    makes FOLDER and its storage when new, starts the broker, waits until it answers
#   kafka.sh stop FOLDER     ends it in order; its storage stays, start goes on with it
#   kafka.sh kill FOLDER     ends it at once
#
# After start FOLDER has: broker (HOST:PORT, plain), broker-tls (HOST:PORT, TLS and SASL: SCRAM-SHA-256 or PLAIN, user alice,
# password secret), ca.pem (who signed the broker's certificate), pid, log. FLOODMARK_KAFKA: the broker's version.
set -euo pipefail
version=${FLOODMARK_KAFKA:-4.1.1}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/floodmark/kafka-$version

fetch() {
    [ ! -f "$cache/complete" ] || return 0
    echo "fetching Kafka $version into $cache" >&2
    mkdir -p "$cache"
    cat >"$cache/pom.xml" <<EOF
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>floodmark.test</groupId><artifactId>kafka-broker</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
EOF
    if ! (cd "$cache" && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$cache/jars") >"$cache/log" 2>&1
    then
        tail -n 20 "$cache/log" >&2
        echo "Maven could not fetch org.apache.kafka:kafka_2.13:$version" >&2
        return 1
    fi
    touch "$cache/complete"
}

# Takes the place of the shell that calls it, so that $! is the JVM's: call it in one of its own.
java_main() {
    exec java -Xmx512m -Xms256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.level=WARN -cp "$cache/jars/*" "$@"
}

# Below the ports that clients are given: a client that tries to reach a broker which is down must not be given the broker's port.
free_port() {
    python3 -c '
import random, socket
while True:
    s, port = socket.socket(), random.randrange(15000, 32000)
    try:
        s.bind(("127.0.0.1", port))
    except OSError:
        continue
    print(port)
    break'
}

make_certificates() {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=floodmark-test-ca -keyout "$1/ca.key" -out "$1/ca.pem"
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout "$1/broker.key" -out "$1/broker.csr"
    openssl x509 -req -in "$1/broker.csr" -CA "$1/ca.pem" -CAkey "$1/ca.key" -CAcreateserial -days 2 -out "$1/broker.crt" \
        -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1)
    openssl pkcs8 -topk8 -nocrypt -in "$1/broker.key" -out "$1/broker.pk8"
    cat "$1/broker.pk8" "$1/broker.crt" "$1/ca.pem" >"$1/broker.pem"
}

make_storage() {
    local plain tls controller id
    plain=$(free_port) tls=$(free_port) controller=$(free_port)
    make_certificates "$1" >"$1/openssl.log" 2>&1 || { cat "$1/openssl.log" >&2; return 1; }
    cat >"$1/server.properties" <<EOF
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=127.0.0.1:$controller
controller.quorum.voters=1@127.0.0.1:$controller
listeners=PLAIN://127.0.0.1:$plain,TLS://127.0.0.1:$tls,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAIN://127.0.0.1:$plain,TLS://127.0.0.1:$tls
listener.security.protocol.map=PLAIN:PLAINTEXT,TLS:SASL_SSL,CONTROLLER:PLAINTEXT
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAIN
ssl.keystore.type=PEM
ssl.keystore.location=$1/broker.pem
sasl.enabled.mechanisms=SCRAM-SHA-256,PLAIN
listener.name.tls.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.tls.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_alice="secret";
log.dirs=$1/data
num.partitions=1
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
log.retention.check.interval.ms=1000
log.cleaner.enable=false
log.cleaner.dedupe.buffer.size=4194304
EOF
    id=$(python3 -c 'import base64, uuid; print(base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))')
    while [[ $id == -* ]]; do id=x${id#-}; done
    (java_main kafka.tools.StorageTool format -t "$id" -c "$1/server.properties" \
        --add-scram 'SCRAM-SHA-256=[name=alice,password=secret]') >"$1/format.log" 2>&1 || { cat "$1/format.log" >&2; return 1; }
    echo "127.0.0.1:$plain" >"$1/broker"
    echo "127.0.0.1:$tls" >"$1/broker-tls"
}

answers() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}") 2>/dev/null; }

end() { # SIGNAL FOLDER
    local pid
    pid=$(cat "$2/pid" 2>/dev/null) || return 0
    kill "-$1" "$pid" 2>/dev/null || true
    while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
    rm -f "$2/pid"
}

# start_once FOLDER: whether the broker answers within two minutes.
start_once() {
    local deadline=$((SECONDS + 120))
    (java_main kafka.Kafka "$1/server.properties") >>"$1/log" 2>&1 &
    echo $! >"$1/pid"
    while [ $SECONDS -lt $deadline ]; do
        if answers "$(cat "$1/broker")" && answers "$(cat "$1/broker-tls")"; then return 0; fi
        kill -0 "$(cat "$1/pid")" 2>/dev/null || return 1
        sleep 0.1
    done
    return 1
}

start() {
    mkdir -p "$1"
    fetch
    [ -f "$1/broker-tls" ] || make_storage "$1"
    start_once "$1" && return 0
    end KILL "$1"
    start_once "$1" && return 0
    tail -n 20 "$1/log" >&2
    echo "the broker did not start" >&2
    return 1
}

case "${1:-}" in
fetch) fetch ;;
start) start "$(realpath -m "$2")" ;;
stop) end TERM "$2" ;;
kill) end KILL "$2" ;;
*) sed -n '2,/^set/p' "$0" | sed '$d' >&2; exit 2 ;;
esac
