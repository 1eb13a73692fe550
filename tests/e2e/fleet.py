#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Reads what gotrace convert --format parquet writes.

    random DIR                 random tables of parquet_random, with all readers
    tables GOTRACE LAKE TRACE  raw tables and sums are those of gotrace sql
    questions LAKE DOCUMENT    the document's questions find the planted faults, in DuckDB and ClickHouse
    throttled LAKE DOCUMENT    the question about throttled services
    spark LAKE DOCUMENT        the questions have the same answers in Spark as in DuckDB: a master, two workers
"""
import glob
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile

import duckdb

sys.path.append(os.path.join(os.path.dirname(__file__), "../../tools/fleet"))
from questions import questions_of

SUMS = ["trace", "wait", "latency", "request", "request_wait", "label", "offcpu", "finding", "stack"]
RAW = ["state", "goroutine", "wakeup", "gc", "sample", "region", "log", "metric"]


def fail(text):
    sys.exit(str(text)[:2000])


def order(row):
    return tuple((x is not None, str(type(x)), x if x is not None else 0) for x in row)


# --- random tables ---

def same(one, other):
    """Doubles are compared by their bits, but for NaN."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def random_tables(directory):
    import chdb
    import polars
    import pyarrow.parquet

    for number, path in enumerate(sorted(glob.glob(directory + "/random-*.parquet"))):
        with open(path[:-8] + ".jsonl", encoding="utf-8") as file:
            want = [json.loads(line) for line in file]
        for row in want: # written as the bits
            if row[7] is not None:
                row[7] = struct.unpack("<d", struct.pack("<q", row[7]))[0]
        table = pyarrow.parquet.read_table(path)
        got = {
            "pyarrow": [list(row.values()) for row in table.to_pylist()],
            "DuckDB": [list(row) for row in duckdb.sql(f"SELECT * FROM read_parquet('{path}')").fetchall()],
            "polars": [list(row) for row in polars.read_parquet(path).rows()],
        }
        if number % 6 == 0:
            text = str(chdb.query(f"SELECT * FROM file('{path}', Parquet) SETTINGS output_format_json_quote_64bit_integers = 0,"
                                  " output_format_json_quote_denormals = 1", "JSONCompactEachRow"))
            got["ClickHouse"] = [json.loads(line) for line in text.splitlines()]
            for row in got["ClickHouse"]:
                row[7] = float(row[7]) if row[7] is not None else None
        for reader, rows in got.items():
            if len(rows) != len(want):
                fail(f"{path}: {len(rows)} of {len(want)} rows in {reader}")
            for i, (one, other) in enumerate(zip(rows, want)):
                if not all(map(same, one, other)):
                    fail(f"{path}: row {i} is {one} in {reader}, not {other}")
    print("tables", number + 1)


# --- one trace ---

class Lake:
    def __init__(self, path):
        self.db = duckdb.connect()
        self.tables = [table for table in SUMS + RAW if os.path.isdir(f"{path}/{table}")]
        for table in self.tables:
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{path}/{table}/*/*/*.parquet',"
                            " hive_partitioning = true, union_by_name = true)")

    def rows(self, query):
        return self.db.execute(query).fetchall()


def sql(gotrace, trace, query):
    done = subprocess.run([gotrace, "sql", trace, query, "--json"], capture_output=True, text=True, check=True)
    return [tuple(json.loads(line).values()) for line in done.stdout.splitlines()]


def frame(line):
    """The function and the line of a frame. A function whose file is not known stands there twice, and may have spaces."""
    found = re.fullmatch(r"(?P<func>.+) (?P=func):(?P<line>\d+)|(?P<named>.*) \S+:(?P<number>\d+)", line)
    return (found["func"], found["line"]) if found["func"] else (found["named"], found["number"])


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def check_stacks(lake, where):
    for stack, names, frames, depth in lake.rows(f"SELECT stack, stack_names, frames, depth FROM stack {where}"):
        lines = [frame(line) for line in frames.split("\n")]
        funcs = [re.sub(r"\(\d.*", "", func) for func, _ in lines]
        if fnv("\n".join(funcs)) != names or len(lines) != depth:
            fail(f"stack_names of {frames!r}")
        if fnv("\n".join(f"{func}:{line[1]}" for func, line in zip(funcs, lines))) != stack:
            fail(f"stack of {frames!r}")
    for table in ["wait", "request_wait", "state", "wakeup"]:
        if table in lake.tables:
            lost = lake.rows(f"SELECT count(*) FROM {table} t {where} AND stack IS NOT NULL AND NOT EXISTS"
                             " (SELECT 1 FROM stack s WHERE s.stack = t.stack AND s.trace_id = t.trace_id)")
            if lost[0][0]:
                fail(f"{lost[0][0]} stacks of {table} are not in the table stack")


def tables(gotrace, path, trace):
    lake = Lake(path)
    name = os.path.basename(trace)
    (trace_id, start, end, clock, how), = lake.rows(
        f"SELECT trace_id, start_ts, end_ts, clock_start, clock FROM trace WHERE file = '{name}'")
    info = dict(sql(gotrace, trace, "SELECT key, value FROM info"))
    if end - start != info["end"] - info["start"] or clock != info["start"]:
        fail(f"{start} to {end}, not {info}")
    if (how == "trace") != ("start_wall" in info) or start != info.get("start_wall", start):
        fail(f"clock {how}: {start}, {info}")
    where, offset = f"WHERE trace_id = '{trace_id}'", start - clock
    pairs = {
        "state": ("ts - {o}, dur, g, state, reason, thread, p, begins::INT, \"ends\"::INT, lock",
                  "ts, dur, g, state, reason, thread, p, begins, ends, lock"),
        "goroutine": ("g, goid, name, parent, created - {o}, ended - {o}, thread",
                      "id, goid, name, parent, created, ended, thread"),
        "wakeup": ("ts - {o}, waker, g, thread, p", "ts, waker, g, thread, p"),
        "gc": ("ts - {o}, dur, kind, name, g, p, swept, reclaimed, \"ends\"::INT",
               "ts, dur, kind, name, g, p, swept, reclaimed, ends"),
        "sample": ("ts - {o}, g, thread, p", "ts, g, thread, p"),
        "region": ("ts - {o}, dur, name, g, task, \"ends\"::INT", "ts, dur, name, g, task, ends"),
        "log": ("ts - {o}, g, task, category, message", "ts, g, task, category, message"),
        "metric": ("ts - {o}, name, value", "ts, name, value"),
        "request": ("ts - {o}, dur, task, parent, name, ended::INT", "ts, dur, id, parent, name, ends"),
    }
    for table, (ours, theirs) in pairs.items():
        want = sql(gotrace, trace, f"SELECT {theirs} FROM {'task' if table == 'request' else table}")
        got = lake.rows(f"SELECT {ours.format(o=offset)} FROM {table} {where}") if table in lake.tables else []
        if sorted(got, key=order) != sorted(want, key=order):
            fail(f"{table}: {len(got)} rows, not the {len(want)} of gotrace sql; {sorted(set(got) ^ set(want), key=order)[:4]}")
    want = sql(gotrace, trace, "SELECT state, reason, coalesce(leaf, ''), sum(begins AND ends), sum(iif(begins AND ends, dur, 0)),"
               " max(iif(begins AND ends, dur, NULL)), sum(iif(begins AND ends, 0, dur)) FROM state LEFT JOIN"
               " stack ON stack.id = state.stack WHERE state IN ('waiting', 'syscall', 'runnable') GROUP BY 1, 2, 3")
    sums = {}
    for state, reason, frames, *row in lake.rows("SELECT state, reason, frames, n, sum_ns, max_ns, cut_ns FROM wait LEFT JOIN"
                                                 f" stack USING (trace_id, stack) {where}"):
        key = state, reason, frame(frames.split("\n")[0])[0] if frames else ""
        sums.setdefault(key, []).append(row)
    got = [(*key, sum(row[0] for row in rows), sum(row[1] for row in rows),
            max((row[2] for row in rows if row[2] is not None), default=None), sum(row[3] for row in rows))
           for key, rows in sums.items()]
    if sorted(got, key=order) != sorted(want, key=order):
        fail(f"wait: {sorted(set(got) ^ set(want), key=order)[:4]}")
    check_stacks(lake, where)
    print("equal", len(lake.tables))


# --- questions ---

def in_clickhouse(path, queries):
    from chdb.session import Session

    session = Session()
    session.query("CREATE DATABASE lake ENGINE = Atomic; USE lake; SET use_hive_partitioning = 1")
    for table in SUMS:
        if os.path.isdir(f"{path}/{table}"):
            session.query(f"CREATE VIEW {table} AS SELECT * FROM file('{os.path.abspath(path)}/{table}/date=*/service=*/*.parquet', Parquet)"
                          " SETTINGS use_hive_partitioning = 1")
    for query in queries:
        text = str(session.query(query.rstrip().rstrip(";") + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSONCompactEachRow"))
        yield [tuple(json.loads(line)) for line in text.splitlines()]


def near(one, other):
    if isinstance(one, str) or isinstance(other, str) or one is None or other is None:
        return one == other
    return abs(float(one) - float(other)) <= 1e-9 * abs(float(other))


def ask(path, document, engine=in_clickhouse):
    """The answers of DuckDB, which the other engine must give, too."""
    lake, questions, answers = Lake(path), questions_of(document), {}
    # A table without rows has no files, and engines refuse its name.
    empty = set(SUMS + RAW) - set(lake.tables)
    names = [name for name, query in questions.items() if not empty & set(re.findall(r"(?:FROM|JOIN) (\w+)", query))]
    for name, other in zip(names, engine(path, [questions[name] for name in names])):
        rows = answers[name] = lake.rows(questions[name])
        key = lambda row: [x if isinstance(x, str) else "%.6g" % float(x) for x in row if x is not None]
        if len(rows) != len(other) or not all(len(a) == len(b) and all(map(near, a, b)) for a, b in
                                              zip(sorted(rows, key=key), sorted(other, key=key))):
            fail(f"{name}: DuckDB {rows[:3]}, {engine.__name__} {other[:3]}")
    return lake, answers


def expect(name, answers, holds):
    if not holds:
        fail(f"question {name}: {answers[name][:5]}")


def questions(path, document):
    lake, answers = ask(path, document)
    top = answers["a"][0]
    expect("a", answers, top[0] == "main.(*cache).getLocked" and top[1] == "sync.(*Mutex).Lock" and top[5] == 2)
    exact = {(v, h): us for v, h, us in lake.rows(
        "SELECT service_version, host_name, quantile_disc(dur, 0.99) / 1e3 FROM state WHERE service = 'shop' AND"
        " state = 'runnable' AND begins AND \"ends\" GROUP BY 1, 2")}
    expect("b", answers, len(answers["b"]) == 4 and
           all(us <= exact[v, h] * 1.01 and exact[v, h] <= us * 1.14 + 0.1 for v, h, us in answers["b"]))
    expect("c", answers, any(row[0] == "main.(*cache).getLocked" and "Lock" in row[1] for row in answers["c"]))
    expect("d", answers, len(answers["d"]) == 2 and
           all("outlier.v2" in row[0] and row[2] == "request" and row[4] >= 100 for row in answers["d"]))
    expect("f", answers, sorted(row[:3] for row in answers["f"]) == [("h1", "v2", 1), ("h2", "v2", 1)])
    raw = lake.rows("SELECT sum(dur)::BIGINT FROM state JOIN stack USING (trace_id, stack) WHERE site = 'main.(*cache).getLocked'"
                    " AND op = 'sync.(*Mutex).Lock' AND state = 'waiting' AND reason LIKE 'sync%' AND begins AND \"ends\"")
    if abs(raw[0][0] / 1e9 - top[3]) > 1e-9:
        fail(f"a: {top[3]} s, {raw[0][0]} ns in the raw intervals")
    for name, rows in answers.items():
        print(name, rows[:3])


def spark_daemon(home, name, *args):
    return subprocess.Popen([f"{home}/bin/spark-class", f"org.apache.spark.deploy.{name}", "--host", "127.0.0.1",
                             "--webui-port", "0", *args], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            start_new_session=True)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def in_spark(path, queries):
    import pyspark
    from pyspark.sql import SparkSession
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_DAEMON_MEMORY="256m", PYSPARK_PYTHON=sys.executable)
    home, port = os.path.dirname(pyspark.__file__), free_port()
    master = f"spark://127.0.0.1:{port}"
    daemons = [spark_daemon(home, "master.Master", "--port", str(port))]
    with tempfile.TemporaryDirectory() as work:
        try:
            daemons += [spark_daemon(home, "worker.Worker", "-c", "1", "-m", "1g", "-d", f"{work}/{i}", master) for i in (1, 2)]
            session = (SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
                       .config("spark.driver.bindAddress", "127.0.0.1").config("spark.ui.enabled", "false")
                       .config("spark.executor.memory", "512m").config("spark.sql.shuffle.partitions", "4")
                       .config("spark.cores.max", "2").config("spark.sql.warehouse.dir", work).getOrCreate())
            for table in SUMS:
                if os.path.isdir(f"{path}/{table}"):
                    session.read.parquet(f"{path}/{table}").createOrReplaceTempView(table)
            workers = session.sparkContext._jsc.sc().getExecutorMemoryStatus().size()
            for query in queries:
                yield [tuple(row) for row in session.sql(query.rstrip().rstrip(";")).collect()]
            workers = max(workers, session.sparkContext._jsc.sc().getExecutorMemoryStatus().size())
            session.stop()
            if workers < 3: # the driver is one
                fail(f"{workers - 1} executors")
        finally:
            for daemon in daemons:
                os.killpg(daemon.pid, signal.SIGTERM)
            for daemon in daemons:
                daemon.wait()


def spark(path, document):
    _, answers = ask(path, document, in_spark)
    if not set("abcdf") <= set(answers) or not all(answers[letter] for letter in "abcdf"):
        fail(answers)
    for name, rows in answers.items():
        print(name, rows[:3])


def throttled(path, document):
    _, answers = ask(path, document)
    expect("e", answers, answers["e"] and answers["e"][0][0] == "throttled" and answers["e"][0][3] > 0.3)
    print("e", answers["e"][:3])


if __name__ == "__main__":
    {"random": random_tables, "tables": tables, "questions": questions, "throttled": throttled,
     "spark": spark}[sys.argv[1]](*sys.argv[2:])
