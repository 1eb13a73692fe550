#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Answers the questions of docs/fleet.md with DuckDB.

    questions.py LAKE [DOCUMENT]

LAKE is a directory, or s3://BUCKET/PATH with the server and the keys in the variables that AWS's tools read
(AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY). S3 needs DuckDB's extension httpfs.
"""
import os
import re
import sys

TABLES = ["trace", "wait", "latency", "request", "request_wait", "label", "offcpu", "finding", "stack"]


def questions_of(document):
    """Returns the queries by their letters, each with its question as the first line."""
    with open(document, encoding="utf-8") as file:
        block = re.search(r"^```sql\n(-- a:.*?)^```", file.read(), re.M | re.S).group(1)
    return {text[3]: text for text in re.split(r"\n(?=-- [a-f]:)", block)}


def open_store(db):
    """Lets DuckDB read s3://. The extension is that of the PyPI package duckdb-extension-httpfs, if it is installed."""
    try:
        import duckdb_extension_httpfs
        home = os.path.dirname(duckdb_extension_httpfs.__file__)
        found = [os.path.join(at, name) for at, _, names in os.walk(home) for name in names
                 if name.endswith(".duckdb_extension")]
        db.execute(f"LOAD '{found[0]}'")
    except ImportError:
        db.execute("INSTALL httpfs; LOAD httpfs")
    scheme, host = os.environ.get("AWS_ENDPOINT_URL", "https://s3.amazonaws.com").rstrip("/").split("://")
    db.execute(f"SET s3_endpoint = '{host}'; SET s3_use_ssl = {str(scheme == 'https').lower()};"
               " SET s3_url_style = 'path';")
    for setting, variable in [("s3_access_key_id", "AWS_ACCESS_KEY_ID"), ("s3_region", "AWS_REGION"),
                              ("s3_secret_access_key", "AWS_SECRET_ACCESS_KEY")]:
        if variable in os.environ:
            db.execute(f"SET {setting} = '{os.environ[variable]}'")


def view(db, lake, table):
    """Returns whether the lake has the table."""
    files = f"{lake}/{table}/*/*/*.parquet"
    if not db.execute("SELECT count(*) FROM glob(?)", [files]).fetchone()[0]:
        return False
    db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{files}', hive_partitioning = true,"
               " union_by_name = true)")
    return True


def cell(value):
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def print_table(names, rows):
    lines = [names] + [[cell(value) for value in row] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    for line in lines:
        print("   ", "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def main():
    import duckdb
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    lake = sys.argv[1].rstrip("/")
    document = sys.argv[2] if len(sys.argv) == 3 else os.path.join(os.path.dirname(__file__), "../../docs/fleet.md")
    db = duckdb.connect()
    if lake.startswith("s3://"):
        open_store(db)
    missing = [table for table in TABLES if not view(db, lake, table)]
    for letter, query in sorted(questions_of(document).items()):
        print(query.split("\n", 1)[0])
        used = [table for table in missing if re.search(rf"(?:FROM|JOIN) {table}\b", query)]
        if used:
            print(f"    no trace has the table {used[0]}")
            continue
        done = db.execute(query)
        rows = done.fetchall()
        print_table([column[0] for column in done.description], rows) if rows else print("    none")


if __name__ == "__main__":
    main()
