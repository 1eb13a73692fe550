// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// A driver that has no database: database/sql is what is traced.
type fakeDriver struct{}
type fakeConn struct{}
type fakeRows struct{ left int }
type fakeTx struct{}

var errWanted = errors.New("on purpose")

func (fakeDriver) Open(string) (driver.Conn, error)  { return fakeConn{}, nil }
func (fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errWanted }
func (fakeConn) Close() error                        { return nil }
func (fakeConn) Begin() (driver.Tx, error)           { return fakeTx{}, nil }
func (fakeTx) Commit() error                         { return nil }
func (fakeTx) Rollback() error                       { return nil }
func (*fakeRows) Columns() []string                  { return []string{"n"} }
func (*fakeRows) Close() error                       { return nil }
func (r *fakeRows) Next(to []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	to[0] = int64(r.left)
	return nil
}

func (fakeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if len(query) < 100 && strings.HasPrefix(query, "bad") {
		return nil, errWanted
	}
	return &fakeRows{3}, nil
}

func (fakeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if len(query) < 100 && strings.HasPrefix(query, "bad") {
		return nil, errWanted
	}
	return driver.ResultNoRows, nil
}

func init() { sql.Register("fake", fakeDriver{}) }

type querier interface {
	Query(query string, args ...interface{}) (*sql.Rows, error)
	Exec(query string, args ...interface{}) (sql.Result, error)
}

// query reads all rows, and closes them twice, as programs do that defer Close.
func query(db querier, statement string, args ...interface{}) {
	since := time.Now()
	rows, err := db.Query(statement, args...)
	if err != nil {
		count(statement, "error", since)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			panic(err)
		}
	}
	count(statement, "-", since)
}

func exec(db querier, statement string, args ...interface{}) {
	since := time.Now()
	_, err := db.Exec(statement, args...)
	if err != nil {
		count(statement, "-", since)
		return
	}
	count(statement, "-", since)
}

func database() {
	db, err := sql.Open("fake", "")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(3)
	var group sync.WaitGroup
	for worker := 0; worker < 6; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50/few; i++ {
				query(db, "SELECT n FROM t WHERE password = $1", "secret")
				exec(db, "INSERT INTO t VALUES ($1)", "secret")
				query(db, "bad query")
				exec(db, "bad statement")
				tx, err := db.Begin()
				if err != nil {
					panic(err)
				}
				query(tx, "SELECT in a transaction")
				exec(tx, "UPDATE in a transaction")
				tx.Commit()
			}
		}()
	}
	group.Wait()
}
