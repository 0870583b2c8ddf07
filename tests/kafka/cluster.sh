#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A Kafka cluster (KRaft, broker and controller in one) on the loopback, for tests. Needs java, and maven once.
#   cluster.sh DIR fetch        the jars of pom.xml into DIR/libs (about 50 MB)
#   cluster.sh DIR format [N]   empty data for node N, or all of them
#   cluster.sh DIR start [N]    pids in DIR/nN.pid, logs in DIR/nN.log
#   cluster.sh DIR stop [N]     ends them with SIGTERM
# LIBS: where the jars are, if not DIR/libs. BROKERS: how many (3). PORT: of the first broker (19091); the next ones and,
# 100 further, the controllers' follow. NETWORK: brokers are in network namespaces instead, node N in that of the process
# whose number is in DIR/hN, at the address NETWORK.N. DIR/extra.properties: further settings, which count more.
# HEAP: of a broker (192m). SCRAM: a password "[name=...,password=...]" to begin with.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
brokers=${BROKERS:-3}
dir=$1 what=$2 which=${3:-$(seq "$brokers")} port=${PORT:-19091}
mkdir -p "$dir"
cd "$dir"
libs=${LIBS:-$PWD/libs}

host() {
    if [ -n "${NETWORK:-}" ]; then echo "$NETWORK.$1"; else echo 127.0.0.1; fi
}

write_config() {
    local voters replicas=$((brokers < 3 ? brokers : 3))
    voters=$(for i in $(seq "$brokers"); do echo "$i@$(host "$i"):$((port + 99 + i))"; done | paste -sd,)
    cat >"n$1.properties" <<P
process.roles=broker,controller
node.id=$1
controller.quorum.voters=$voters
listeners=PLAINTEXT://$(host "$1"):$((port + $1 - 1)),CONTROLLER://$(host "$1"):$((port + $1 + 99))
advertised.listeners=PLAINTEXT://$(host "$1"):$((port + $1 - 1))
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
inter.broker.listener.name=PLAINTEXT
log.dirs=$PWD/data$1
default.replication.factor=$replicas
min.insync.replicas=$((replicas - replicas / 2))
unclean.leader.election.enable=false
auto.create.topics.enable=false
offsets.topic.replication.factor=$replicas
transaction.state.log.replication.factor=$replicas
transaction.state.log.min.isr=$((replicas - replicas / 2))
broker.session.timeout.ms=2000
broker.heartbeat.interval.ms=500
replica.lag.time.max.ms=3000
replica.socket.timeout.ms=4000
request.timeout.ms=4000
num.network.threads=2
num.io.threads=2
log.cleaner.dedupe.buffer.size=4194304
P
    [ ! -e extra.properties ] || cat extra.properties >>"n$1.properties"
}

case $what in
fetch) mvn -q -f "$here/pom.xml" dependency:copy-dependencies -DoutputDirectory="$libs" ;;
format)
    for i in $which; do
        rm -rf "data$i"
        write_config "$i"
        java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$libs/*" kafka.tools.StorageTool format \
            -t MkU3OEVBNTcwNTJENDM2Qk -c "n$i.properties" ${SCRAM:+--add-scram "SCRAM-SHA-256=$SCRAM"} >"format$i.log" 2>&1 || {
            cat "format$i.log"
            exit 1
        }
    done
    ;;
start)
    for i in $which; do
        inside=()
        [ -z "${NETWORK:-}" ] || inside=(nsenter -t "$(cat "h$i")" -n)
        setsid "${inside[@]}" java "-Xmx${HEAP:-192m}" -Xms96m -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$libs/*" \
            kafka.Kafka "n$i.properties" >>"n$i.log" 2>&1 </dev/null &
        echo $! >"n$i.pid"
    done
    ;;
stop) for i in $which; do kill "$(cat "n$i.pid")" 2>/dev/null || true; done ;;
esac
