"""What DuckDB is asked for in the benches, and the check of our rows against its.

    duckdb_work.py WORK THREADS EVENTS [ROWS]

Prints the seconds that the query took, from files to a table in memory. With ROWS, a folder of our rows, these are then
compared, each of them: the same windows and users, the same counts, sums equal but for the order in which doubles are added.
Our windows are those that the watermark has closed, ten minutes behind the latest event; the same are taken of DuckDB's.
"""
import json
import sys
import time

import duckdb

WINDOW_MS = {"W1": 300_000, "W2": 600_000, "W3": 300_000}
PATIENCE_MS = 600_000

EVENTS = """read_json('{events}/*.json', format = 'newline_delimited',
    columns = {{user_id: 'VARCHAR', amount: 'DOUBLE', event_time: 'TIMESTAMP'}})"""

TUMBLING = """CREATE TABLE totals AS
SELECT epoch_ms(event_time) // 300000 * 300000 AS start_ms, user_id, sum(amount) AS total, count(*) AS events
FROM {events} GROUP BY 1, 2"""

# Windows of ten minutes every five seconds: summed up by panes of five seconds, each pane then joined to its 120 windows.
SLIDING = """CREATE TABLE totals AS
WITH panes AS (SELECT epoch_ms(event_time) // 5000 AS pane, user_id, sum(amount) AS total, count(*) AS events
               FROM {events} GROUP BY 1, 2)
SELECT (pane - o) * 5000 AS start_ms, user_id, sum(total) AS total, sum(events) AS events
FROM panes, (SELECT range AS o FROM range(120)) GROUP BY 1, 2"""

CHECK = """
WITH latest AS (SELECT max(epoch_ms(event_time)) AS ms FROM {events}),
theirs AS (SELECT start_ms, user_id, total, events FROM totals, latest WHERE start_ms + {window} <= ms - {patience}),
ours AS (SELECT epoch_ms(window_start) AS start_ms, user_id, total, events
         FROM read_json('{rows}/*.json', format = 'newline_delimited',
                        columns = {{window_start: 'TIMESTAMP', user_id: 'VARCHAR', total: 'DOUBLE', events: 'BIGINT'}}))
SELECT count(*) AS n, count(*) FILTER (t.events IS NULL) AS more, count(*) FILTER (o.events IS NULL) AS fewer,
       count(*) FILTER (o.events <> t.events OR abs(o.total - t.total) > 1e-9 * abs(t.total)) AS other,
       (SELECT count(*) FROM ours) AS n_ours
FROM ours o FULL JOIN theirs t ON o.start_ms = t.start_ms AND o.user_id = t.user_id"""


def main():
    work, threads, events = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    db = duckdb.connect(":memory:", config={"threads": threads})
    db.execute("SET preserve_insertion_order = false")
    db.execute("SET enable_progress_bar = false")
    source = EVENTS.format(events=events)
    query = (SLIDING if work == "W2" else TUMBLING).format(events=source)
    begun = time.perf_counter()
    db.execute(query)
    answer = {"seconds": time.perf_counter() - begun}
    if len(sys.argv) > 4:
        check = CHECK.format(events=source, window=WINDOW_MS[work], patience=PATIENCE_MS, rows=sys.argv[4])
        names = ("n", "more", "fewer", "other", "ours")
        answer["check"] = dict(zip(names, db.execute(check).fetchone()))
    print(json.dumps(answer))


main()
