// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build databases

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
)

// Real databases, with common drivers: PostgreSQL, at PGHOST and the like, and SQLite through cgo. go.mod
// does not have them: build with -tags=databases,libsqlite3 and -modfile=olddb.mod or -modfile=newdb.mod,
// which are two years apart.

const workers = 3

// store is a database with its driver's name, with which the names of tables begin, so that statements
// differ. Reading the rows of broken fails.
type store struct {
	*sql.DB
	name, broken string
}

var stores []store

// pool is used through pgx's own interface.
var pool *pgxpool.Pool

func open(driver, name, address, types, broken string) {
	db, err := sql.Open(driver, address)
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(workers)
	for _, statement := range []string{"DROP TABLE IF EXISTS %s", "CREATE TABLE %s (n " + types + " PRIMARY KEY, text TEXT)"} {
		if _, err := db.Exec(fmt.Sprintf(statement, name)); err != nil {
			panic(err)
		}
	}
	for n := 0; n < 100; n++ {
		if _, err := db.Exec("INSERT INTO "+name+" VALUES ($1, $2)", n, "secret"); err != nil {
			panic(err)
		}
	}
	stores = append(stores, store{db, name, broken})
}

func startLibraries(slow bool) {
	open("postgres", "pq", "", "integer", "SELECT 1/(5-n) FROM pq WHERE n < 10 ORDER BY n")
	open("pgx", "pgx", "", "integer", "SELECT 1/(5-n) FROM pgx WHERE n < 10 ORDER BY n")
	var err error
	if pool, err = pgxpool.New(context.Background(), ""); err != nil {
		panic(err)
	}
	open("sqlite3", "sqlite", "file:"+filepath.Join(os.Getenv("STORE"), "file.db")+"?_busy_timeout=60000", "integer",
		"SELECT n FROM sqlite WHERE n < 5 UNION ALL SELECT abs(-9223372036854775807 - 1)")
}

// work runs statements that succeed, and that fail at once or when they are run.
func (s store) work(worker int) {
	read := "SELECT n FROM " + s.name + " WHERE n < $1"
	write := "UPDATE " + s.name + " SET text = $1 WHERE n = $2"
	insert := "INSERT INTO " + s.name + " VALUES ($1, $2)"
	reader := prepare(s.Prepare(read + " ORDER BY n"))
	defer reader.Close()
	inserter := prepare(s.Prepare(insert))
	defer inserter.Close()
	for i := 0; i < 20; i++ {
		query(s, read, 10)
		query(s, s.broken)
		query(reader, read+" ORDER BY n", 10)
		exec(s, write, "secret", worker)
		exec(s, insert, 0, "secret") // the row exists
		exec(inserter, insert, 0, "secret")
		query(s, "SELECT n FROM "+s.name+"_nothing")
	}
	s.transaction(func(tx *sql.Tx) {
		query(tx, read, 20)
		query(prepared{tx.Stmt(reader.Stmt)}, read+" ORDER BY n", 20)
		exec(tx, write, "secret", 50+worker)
		exec(prepare(tx.Prepare(write)), write, "secret", 60+worker)
	})
	s.transaction(func(tx *sql.Tx) {
		exec(prepared{tx.Stmt(inserter.Stmt)}, insert, 0, "secret")
	})
	s.transaction(func(tx *sql.Tx) {
		query(tx, "SELECT n FROM "+s.name+"_nothing in a transaction")
	})
}

// transaction is rolled back, so that rounds are alike.
func (s store) transaction(work func(*sql.Tx)) {
	tx, err := s.Begin()
	if err != nil {
		panic(err)
	}
	work(tx)
	tx.Rollback()
	if s.name == "pgx" {
		countTransaction()
	}
}

// countTransaction counts what begins and ends a transaction, which are statements of pgx.
func countTransaction() {
	count("begin", "-", time.Now())
	count("rollback", "-", time.Now())
}

// direct is the interface that a connection, a transaction and a pool of pgx share.
type direct interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
}

func outcomeOf(err error) string {
	if err != nil {
		return "error"
	}
	return "-"
}

func queryDirectly(on direct, statement string, args ...any) {
	since := time.Now()
	rows, err := on.Query(context.Background(), statement, args...)
	for err == nil && rows.Next() {
	}
	rows.Close()
	count(statement, outcomeOf(rows.Err()), since)
}

func execDirectly(on direct, statement string, args ...any) {
	since := time.Now()
	_, err := on.Exec(context.Background(), statement, args...)
	count(statement, outcomeOf(err), since)
}

// directly runs statements with pgx, without database/sql.
func directly(worker int) {
	for i := 0; i < 20; i++ {
		queryDirectly(pool, "SELECT n FROM pgx WHERE n < $1 -- directly", 10)
		queryDirectly(pool, "SELECT 1/(5-n) FROM pgx WHERE n < 10 ORDER BY n -- directly")
		queryDirectly(pool, "SELECT n FROM pgx_nothing -- directly")
		execDirectly(pool, "UPDATE pgx SET text = $1 WHERE n = $2 -- directly", "secret", worker)
		execDirectly(pool, "INSERT INTO pgx VALUES ($1, $2) -- directly", 0, "secret")
	}
	tx, err := pool.Begin(context.Background())
	if err != nil {
		panic(err)
	}
	queryDirectly(tx, "SELECT n FROM pgx WHERE n < $1 -- directly in a transaction", 20)
	execDirectly(tx, "UPDATE pgx SET text = $1 WHERE n = $2 -- directly in a transaction", "secret", 70+worker)
	tx.Rollback(context.Background())
	countTransaction()
}

func libraries() {
	var group sync.WaitGroup
	for _, s := range stores {
		for worker := 0; worker < workers; worker++ {
			group.Add(1)
			go func(s store, worker int) {
				defer group.Done()
				s.work(worker)
			}(s, worker)
		}
	}
	for worker := 0; worker < workers; worker++ {
		group.Add(1)
		go func(worker int) {
			defer group.Done()
			directly(worker)
		}(worker)
	}
	group.Wait()
	for _, s := range stores[:2] {
		for i := 0; i < 10; i++ {
			query(s, "SELECT 1 FROM pg_sleep(0.02) -- "+s.name)
		}
	}
}
