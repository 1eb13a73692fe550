// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// A program that has the structs of the presets for the standard library, for check.sh. Builds with Go 1.9
// and later.
package main

import (
	"database/sql"
	"fmt"
	"net/http"
)

func main() {
	db, err := sql.Open("none", "")
	fmt.Println(db, err)
	if err == nil {
		db.Exec("delete from t")
		rows, _ := db.Query("select 1")
		stmt, _ := db.Prepare("select 2")
		fmt.Println(rows, stmt)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Get("http://localhost/" + r.URL.Path)
	})
	http.ListenAndServe("localhost:0", nil)
}
