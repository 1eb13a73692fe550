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

// fakeDriver is a driver without a database: database/sql is what is traced.
type fakeDriver struct{}
type fakeConn struct{}
type fakeStmt struct{ query string }
type fakeRows struct {
	left  int
	fails bool
}
type fakeTx struct{}
type rowError struct{}

var errWanted = errors.New("on purpose")

func (fakeDriver) Open(string) (driver.Conn, error) { return fakeConn{}, nil }
func (fakeConn) Close() error                       { return nil }
func (fakeConn) Begin() (driver.Tx, error)          { return fakeTx{}, nil }
func (rowError) Error() string                      { return "on purpose, of a row" }
func (fakeTx) Commit() error                        { return nil }
func (fakeTx) Rollback() error                      { return nil }
func (*fakeRows) Columns() []string                 { return []string{"n"} }
func (*fakeRows) Close() error                      { return nil }
func (r *fakeRows) Next(to []driver.Value) error {
	if r.left == 0 && r.fails {
		return rowError{}
	}
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	to[0] = int64(r.left)
	return nil
}

// begins also works for statements that hostile.go makes, not all of which can be read.
func begins(query, with string) bool { return len(query) < 100 && strings.HasPrefix(query, with) }

// outcome returns that of a statement: one that begins with "prepare" must be prepared, by database/sql if
// not by the program.
func outcome(query string) error {
	if begins(query, "bad") {
		return errWanted
	}
	if begins(query, "prepare") {
		return driver.ErrSkip
	}
	return nil
}

func (fakeConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := outcome(query); err != nil {
		return nil, err
	}
	return &fakeRows{3, begins(query, "fails")}, nil
}

func (fakeConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := outcome(query); err != nil {
		return nil, err
	}
	return driver.ResultNoRows, nil
}

func (fakeConn) Prepare(query string) (driver.Stmt, error) {
	if query == "unprepared" {
		return nil, errWanted
	}
	return fakeStmt{query}, nil
}
func (fakeStmt) Close() error  { return nil }
func (fakeStmt) NumInput() int { return -1 }

func (s fakeStmt) Query(args []driver.Value) (driver.Rows, error) {
	if outcome(s.query) == errWanted {
		return nil, errWanted
	}
	return &fakeRows{3, begins(s.query, "fails")}, nil
}

func (s fakeStmt) Exec(args []driver.Value) (driver.Result, error) {
	if outcome(s.query) == errWanted {
		return nil, errWanted
	}
	return driver.ResultNoRows, nil
}

func init() { sql.Register("fake", fakeDriver{}) }

type querier interface {
	Query(query string, args ...interface{}) (*sql.Rows, error)
	Exec(query string, args ...interface{}) (sql.Result, error)
}

// query reads all rows, and closes them twice, like programs that defer Close.
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
	if rows.Err() != nil {
		count(statement, "error", since)
		return
	}
	count(statement, "-", since)
}

func exec(db querier, statement string, args ...interface{}) {
	since := time.Now()
	_, err := db.Exec(statement, args...)
	if err != nil {
		count(statement, "error", since)
		return
	}
	count(statement, "-", since)
}

// prepared runs the same statement for every query.
type prepared struct{ *sql.Stmt }

func (p prepared) Query(query string, args ...interface{}) (*sql.Rows, error) {
	return p.Stmt.Query(args...)
}

func (p prepared) Exec(query string, args ...interface{}) (sql.Result, error) {
	return p.Stmt.Exec(args...)
}

func prepare(stmt *sql.Stmt, err error) prepared {
	if err != nil {
		panic(err)
	}
	return prepared{stmt}
}

// statements prepares statements for all connections, for one, and for a transaction.
func statements(db *sql.DB) {
	ctx := context.Background()
	selects := prepare(db.Prepare("SELECT prepared WHERE password = ?"))
	defer selects.Close()
	deletes := prepare(db.Prepare("DELETE prepared"))
	defer deletes.Close()
	bad := prepare(db.Prepare("bad prepared"))
	defer bad.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		panic(err)
	}
	own := prepare(conn.PrepareContext(ctx, "UPDATE prepared for a connection"))
	for i := 0; i < 3; i++ {
		exec(own, "UPDATE prepared for a connection")
	}
	own.Close()
	conn.Close()
	for i := 0; i < 5; i++ {
		query(selects, "SELECT prepared WHERE password = ?", "secret")
		exec(deletes, "DELETE prepared")
		query(bad, "bad prepared")
		exec(bad, "bad prepared")
	}
	tx, err := db.Begin()
	if err != nil {
		panic(err)
	}
	exec(prepared{tx.Stmt(deletes.Stmt)}, "DELETE prepared")
	query(prepared{tx.Stmt(selects.Stmt)}, "SELECT prepared WHERE password = ?", "secret")
	query(prepared{tx.Stmt(bad.Stmt)}, "bad prepared")
	exec(prepare(tx.Prepare("bad prepared for a transaction")), "bad prepared for a transaction")
	rows, err := tx.Query("SELECT while others fail")
	if err != nil {
		panic(err)
	}
	since := time.Now()
	for rows.Next() {
		exec(tx, "bad beside open rows")
		query(tx, "bad query beside open rows")
		if _, err := tx.Prepare("unprepared"); err == nil {
			panic("prepared")
		}
	}
	rows.Close()
	count("SELECT while others fail", "-", since)
	tx.Commit()
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
				query(tx, "bad query in a transaction")
				exec(tx, "bad statement in a transaction")
				tx.Commit()
				query(db, "prepare and query")
				query(db, "fails while rows are read")
				exec(db, "prepare and execute")
			}
			statements(db)
		}()
	}
	group.Wait()
}
