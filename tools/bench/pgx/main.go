// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command pgx is a server of HTTP whose answers come from PostgreSQL, through a pool of connections:
//
//	pgx ADDRESS DSN
package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"
)

// rows is how many accounts there are: pgbench -i -s 10.
const rows = 1000000

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgx:", err)
		os.Exit(1)
	}
}

func main() {
	pool, err := pgxpool.New(context.Background(), os.Args[2])
	fail(err)
	http.HandleFunc("GET /balance", func(answer http.ResponseWriter, question *http.Request) {
		var balance int
		err := pool.QueryRow(question.Context(), "SELECT abalance FROM pgbench_accounts WHERE aid = $1", 1+rand.IntN(rows)).Scan(&balance)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(answer, balance)
	})
	fail(http.ListenAndServe(os.Args[1], nil))
}
