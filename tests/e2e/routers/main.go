// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

// Command routers serves requests with five routers, also nested in each other. Each SIGUSR2 makes a round of
// requests, after which it prints a line for each name and status: "count", name, status, how many, between tabs.
// The names are those that a trace should have: the method, and the pattern that matched or else the path.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	chimiddleware "github.com/go-chi/chi/v5/middleware"
	"github.com/gorilla/mux"
	"github.com/labstack/echo/v4"
	echomiddleware "github.com/labstack/echo/v4/middleware"
)

// rounds of requests. With the argument "few", there are less.
var rounds = 50

func answer(w http.ResponseWriter, r *http.Request) {}
func create(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201) }

func ginRouter() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	gin.DefaultErrorWriter = io.Discard
	e := gin.New()
	next := func(c *gin.Context) { c.Next() }
	e.Use(gin.Recovery(), next, next)
	e.GET("/users/:id", func(c *gin.Context) { c.String(200, c.Param("id")) })
	group := e.Group("/api/v1", next)
	group.POST("/orders/:id/items/*rest", func(c *gin.Context) { c.Status(201) })
	group.GET("/panics", func(c *gin.Context) { panic("on purpose") })
	return e
}

func chiRouter() http.Handler {
	r := chi.NewRouter()
	r.Use(chimiddleware.RequestID)
	r.Get("/users/{id}", answer)
	r.Route("/api", func(r chi.Router) {
		r.Use(chimiddleware.NoCache)
		r.Route("/v1", func(r chi.Router) {
			r.Get("/things/{id:[0-9]+}", create)
			r.Get("/", answer)
		})
	})
	inner := chi.NewRouter()
	inner.Get("/deep/{x}", answer)
	r.Mount("/mounted", inner)
	return r
}

func echoRouter(before ...echo.MiddlewareFunc) http.Handler {
	e := echo.New()
	e.Pre(before...)
	e.Use(echomiddleware.Recover())
	e.GET("/users/:id", func(c echo.Context) error { return c.String(200, c.Param("id")) })
	group := e.Group("/api")
	group.PUT("/orders/:id", func(c echo.Context) error { return c.NoContent(201) })
	group.GET("/fails/:id", func(c echo.Context) error { return echo.NewHTTPError(418) })
	return e
}

func gorillaRouter() http.Handler {
	r := mux.NewRouter()
	r.Use(func(next http.Handler) http.Handler { return next })
	r.HandleFunc("/users/{id}", answer).Methods("GET")
	api := r.PathPrefix("/api").Subrouter()
	api.HandleFunc("/orders/{id:[0-9]+}", create).Methods("POST", "GET")
	api.PathPrefix("/v2").Subrouter().HandleFunc("/x/{y}", answer)
	return r
}

// serveMux contains another one, which sees less of the path, and a router that sees all of it.
func serveMux() http.Handler {
	inner := http.NewServeMux()
	inner.HandleFunc("/users/", answer)
	inner.HandleFunc("/orders", create)
	outer := http.NewServeMux()
	outer.Handle("/api/", http.StripPrefix("/api", inner))
	outer.Handle("/", chiRouter())
	return outer
}

type request struct {
	method, path, name string // with %d for a number
	status             int
}

type site struct {
	handler  http.Handler
	requests []request
}

var sites = []site{
	{ginRouter(), []request{
		{"GET", "/users/%d", "/users/:id", 200},
		{"POST", "/api/v1/orders/%d/items/a/b", "/api/v1/orders/:id/items/*rest", 201},
		{"GET", "/api/v1/panics", "/api/v1/panics", 500},
		{"GET", "/gin/none", "/gin/none", 404},
	}},
	{chiRouter(), []request{
		{"GET", "/users/%d", "/users/{id}", 200},
		{"GET", "/api/v1/things/%d", "/api/v1/things/{id:[0-9]+}", 201},
		{"GET", "/api/v1/", "/api/v1", 200},
		{"GET", "/mounted/deep/%d", "/mounted/deep/{x}", 200},
		{"GET", "/chi/none", "/chi/none", 404},
	}},
	{echoRouter(), []request{
		{"GET", "/users/%d", "/users/:id", 200},
		{"PUT", "/api/orders/%d", "/api/orders/:id", 201},
		{"GET", "/api/fails/%d", "/api/fails/:id", 418},
		{"GET", "/echo/none", "/echo/none", 404},
	}},
	{echoRouter(echomiddleware.RemoveTrailingSlash()), []request{
		{"GET", "/users/%d/", "/users/:id", 200},
	}},
	{gorillaRouter(), []request{
		{"GET", "/users/%d", "/users/{id}", 200},
		{"POST", "/api/orders/%d", "/api/orders/{id:[0-9]+}", 201},
		{"GET", "/api/v2/x/%d", "/api/v2/x/{y}", 200},
		{"GET", "/gorilla/none", "/gorilla/none", 404},
	}},
	{serveMux(), []request{
		{"GET", "/api/users/%d", "/api/users/", 200},
		{"POST", "/api/orders", "/api/orders", 201},
		{"GET", "/users/%d", "/users/{id}", 200},
		{"GET", "/mounted/deep/%d", "/mounted/deep/{x}", 200},
	}},
}

// round makes all requests, and returns how many of each name and status there are.
func round(urls []string) map[string]int {
	counts := map[string]int{}
	for n := 0; n < rounds; n++ {
		for i, site := range sites {
			for _, r := range site.requests {
				ask(r, urls[i]+strings.Replace(r.path, "%d", strconv.Itoa(n), 1))
				counts[fmt.Sprintf("%s %s\tstatus=%d", r.method, r.name, r.status)]++
			}
		}
	}
	return counts
}

func ask(r request, url string) {
	made, err := http.NewRequest(r.method, url, nil)
	if err != nil {
		panic(err)
	}
	response, err := http.DefaultTransport.RoundTrip(made)
	if err != nil || response.StatusCode != r.status {
		panic(fmt.Sprint(url, err, response))
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "few" {
		rounds = 5
	}
	var urls []string
	for _, site := range sites {
		server := httptest.NewUnstartedServer(site.handler)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.Start()
		urls = append(urls, server.URL)
	}
	wanted := make(chan os.Signal, 1)
	signal.Notify(wanted, syscall.SIGUSR2)
	fmt.Println("ready")
	for range wanted {
		counts := round(urls)
		time.Sleep(300 * time.Millisecond) // ends of requests come after the answers
		var names []string
		for name := range counts {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			fmt.Printf("count\t%s\t%d\n", name, counts[name])
		}
		fmt.Println("done")
	}
}
