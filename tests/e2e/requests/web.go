// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"strings"
	"sync"
	"time"
)

type server struct {
	plain, secure *httptest.Server
}

type key struct{}

// wrap passes a copy of the request on, as middleware does: the mux then sets the copy's Pattern.
func wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, 1)))
	})
}

func newServer() *server {
	mux := http.NewServeMux()
	handle(mux)
	s := &server{httptest.NewServer(wrap(mux)), httptest.NewUnstartedServer(mux)}
	s.plain.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.secure.Config.ErrorLog = s.plain.Config.ErrorLog
	s.secure.EnableHTTP2 = true
	s.secure.StartTLS()
	return s
}

func countAnswer(name string, response *http.Response, err error, since time.Time) {
	if err != nil {
		count(name, "error", since)
		return
	}
	count(name, fmt.Sprintf("status=%d", response.StatusCode), since)
}

// ask makes a request, and counts it as a client.
func ask(client *http.Client, method, url string) {
	askBy(1, client, method, url)
}

// askBy does the same with this version of HTTP.
func askBy(version int, client *http.Client, method, url string) {
	request, err := http.NewRequest(method, url, strings.NewReader(""))
	if err != nil {
		panic(err)
	}
	name := "client " + method + " " + request.URL.Host + request.URL.Path
	since := time.Now()
	response, err := client.Do(request)
	countAnswer(name, response, err, since)
	if err != nil {
		return
	}
	if response.ProtoMajor != version {
		panic(response.Proto)
	}
	io.Copy(io.Discard, response.Body)
	response.Body.Close()
}

func (s *server) round() {
	var group sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		group.Add(2)
		go func() {
			defer group.Done()
			client := &http.Client{Transport: &http.Transport{}}
			for i := 0; i < 100/few; i++ {
				ask(client, "GET", fmt.Sprintf("%s/items/%d?token=secret", s.plain.URL, i%7))
				ask(client, "POST", s.plain.URL+"/orders")
				ask(client, "GET", s.plain.URL+"/missing")
				if i%10 == 0 {
					ask(client, "GET", s.plain.URL+"/panics")
				}
			}
			client.CloseIdleConnections()
		}()
		go func() {
			defer group.Done()
			for i := 0; i < 100/few; i++ {
				askBy(2, s.secure.Client(), "GET", s.secure.URL+"/items/1")
				if i%10 == 0 {
					askBy(2, s.secure.Client(), "POST", s.secure.URL+"/orders")
					askBy(2, s.secure.Client(), "GET", s.secure.URL+"/panics")
				}
			}
		}()
	}
	group.Wait()
	s.proxied()
	refused(s.plain)
}

// refused sends a request to a server that does not listen, and one that was received, which clients refuse.
func refused(*httptest.Server) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	listener.Close()
	ask(http.DefaultClient, "GET", "http://"+listener.Addr().String()+"/")
	request := httptest.NewRequest("GET", "http://"+listener.Addr().String()+"/received", nil)
	since := time.Now()
	_, err = http.DefaultClient.Do(request)
	count("client GET "+request.URL.Host+"/received", "error", since)
}

// counting is a transport that is used without a client.
type counting struct{ next http.RoundTripper }

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	since := time.Now()
	response, err := c.next.RoundTrip(request)
	countAnswer("client "+request.Method+" "+request.URL.Host+request.URL.Path, response, err, since)
	return response, err
}

// proxied makes requests through a reverse proxy.
func (s *server) proxied() {
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{
		Director: func(r *http.Request) {
			r.URL.Scheme, r.URL.Host = "http", s.plain.Listener.Addr().String()
			r.URL.Path = strings.TrimPrefix(r.URL.Path, "/front")
		},
		ErrorLog:  s.plain.Config.ErrorLog,
		Transport: counting{transport},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		counted(r.Method+" "+r.URL.Path, proxy.ServeHTTP)(w, r)
	}))
	client := &http.Client{Transport: &http.Transport{}}
	for i := 0; i < 100/few; i++ {
		ask(client, "GET", front.URL+"/front/items/1?token=secret")
		ask(client, "GET", front.URL+"/front/missing")
		if i%10 == 0 {
			ask(client, "GET", front.URL+"/front/panics")
		}
	}
	client.CloseIdleConnections()
	transport.CloseIdleConnections()
	front.Close()
}

func (s *server) slowly() {
	for {
		response, err := http.Get(s.plain.URL + "/slow")
		if err == nil {
			io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
	}
}

func item(w http.ResponseWriter, r *http.Request)  { io.WriteString(w, "an item") }
func order(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201) }
func fails(w http.ResponseWriter, r *http.Request) { panic("on purpose") }
func slow(w http.ResponseWriter, r *http.Request)  { time.Sleep(200 * time.Millisecond) }
func gone(w http.ResponseWriter, r *http.Request)  { w.WriteHeader(404) }
