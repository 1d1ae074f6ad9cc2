"""What floodmark's jobs must deliver where they go further than Spark, computed from the events that are fed, row by row, by the rules
as they stand in tests/conformance/README.md, "Beyond Spark". Nothing here knows of the program.

A step is fed when all batches of the one before are through, those without data, too: the watermark in force is that of all steps before."""
from datetime import datetime, timedelta, timezone

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def at(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def shown(t):
    return t.strftime("%Y-%m-%dT%H:%M:%S.") + f"{t.microsecond // 1000:03}Z"


def steps(pipeline, delay):
    """(watermark in force or None, events) of each step; what is no event has no time."""
    newest = None
    for rows in [*pipeline.get("before", []), *pipeline["steps"]]:
        yield (newest - delay if newest else None), rows
        times = [at(r["eventTime"]) for r in rows if isinstance(r, dict) and r.get("eventTime")]
        newest = max([t for t in [newest, *times] if t], default=None)


def windows(t, duration, slide):
    """Starts of the windows that hold a time, the earliest first."""
    start = EPOCH + (t - EPOCH) // slide * slide
    starts = []
    while start + duration > t:
        starts.append(start)
        start -= slide
    return starts[::-1]


def late_rows(pipeline):
    """Rows older than the watermark, with their windows: LATE_POLICY('event'), windows of an hour, two hours of patience."""
    late, offset, hour = [], 0, timedelta(hours=1)
    for watermark, rows in steps(pipeline, timedelta(hours=2)):
        for row in rows:
            t = at(row["eventTime"])
            if watermark and t < watermark:
                behind = watermark - t
                late.append({**row, "eventTime": shown(t), "late": {
                    "operator": "aggregate", "windows": [{"start": shown(s), "end": shown(s + hour)} for s in windows(t, hour, hour)], "watermark": shown(watermark),
                    "lateness": f"INTERVAL '{behind.days} {behind.seconds // 3600:02}:{behind.seconds // 60 % 60:02}:{behind.seconds % 60:02}' DAY TO SECOND",
                    "source": f"0@{offset}"}})
            offset += 1
    return late


def without_run(rows):
    """Rows that were kept, without what differs from run to run: the topic's name, the number of the batch."""
    for row in rows:
        row["late"].pop("batch_id")
        row["late"]["source"] = row["late"]["source"].rsplit("-", 1)[1]
    return rows


def payments(pipeline):
    """Sums of days that begin every hour, as the table has them in the end: a payment counts for each of its windows that was not closed
    when it came, six hours after the watermark passed its end."""
    sums, day, hour = {}, timedelta(days=1), timedelta(hours=1)
    for watermark, rows in steps(pipeline, timedelta(minutes=30)):
        for row in rows:
            for start in windows(at(row["eventTime"]), day, hour):
                if watermark and start + day + timedelta(hours=6) <= watermark:
                    continue
                key = (start, row["status"])
                sums[key] = sums.get(key, 0) + row["amount"]
    iso = lambda t: t.strftime("%Y-%m-%dT%H:%M:%S+00:00")
    return [{"window": {"start": iso(s), "end": iso(s + day)}, "status": status, "totalAmount": total} for (s, status), total in sums.items()]


def sorted_rows(rows):
    import json
    return sorted(rows, key=lambda r: json.dumps(r, sort_keys=True))


# name -> (pipeline of pipelines.json whose events are fed, what is collected, what it should be, what of it is compared)
BEYOND = {
    "late-rows": ("late-rows", "json", late_rows, without_run),
    "payments": ("payments-console", "delta", payments, lambda got: got["rows"]),
}


def pipelines(recorded):
    """The pipelines with those that go further."""
    known = dict(recorded)
    for name, (fed, collect, expected, compared) in BEYOND.items():
        known[name] = {**recorded[fed], "collect": collect, "expect": sorted_rows(expected(recorded[fed])), "compared": compared}
    return known
