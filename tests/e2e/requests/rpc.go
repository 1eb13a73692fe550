// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

//go:build libraries

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const service = "tests.Words"

// Only every third attempt at /Flaky succeeds; the others are repeated.
const retries = `{"methodConfig": [{"name": [{"service": "tests.Words", "method": "Flaky"}], "retryPolicy": {
	"maxAttempts": 5, "initialBackoff": "0.001s", "maxBackoff": "0.001s", "backoffMultiplier": 1,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

type rpcServer struct {
	server *grpc.Server
	conn   *grpc.ClientConn
	within *grpc.ClientConn // the same server as a net/http handler
	sync.Mutex
	flaky int
}

type word = wrapperspb.StringValue

// words is the type of the service; it has no methods of its own.
type words interface{}

// countRPC counts an RPC under its code; the error of repeated attempts, which wraps a status, shows none.
func countRPC(name string, err error, since time.Time) {
	if errors.Unwrap(err) != nil {
		count(name, "error", since)
		return
	}
	count(name, "code="+status.Code(err).String(), since)
}

// --- the server ---

func (s *rpcServer) unary(method string, w *word) (*word, error) {
	switch method {
	case "Slow":
		time.Sleep(200 * time.Millisecond)
	case "Short":
		time.Sleep(5 * time.Millisecond)
	case "Missing":
		return nil, status.Error(codes.NotFound, "secret")
	case "Strange":
		return nil, status.Error(codes.Code(42), "secret")
	case "Plain":
		return nil, fmt.Errorf("secret")
	case "Flaky":
		s.Lock()
		defer s.Unlock()
		s.flaky++
		if s.flaky%3 != 0 {
			return nil, status.Error(codes.Unavailable, "secret")
		}
	}
	return w, nil
}

// stream answers each word twice; "fail" ends it, and "wait" waits for the client to go away.
func (s *rpcServer) stream(stream grpc.ServerStream) error {
	for {
		var w word
		err := stream.RecvMsg(&w)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if w.Value == "fail" {
			return status.Error(codes.Aborted, "secret")
		}
		if stream.SendMsg(&w) != nil || stream.SendMsg(&w) != nil {
			return status.Error(codes.Internal, "cannot send")
		}
		if w.Value == "wait" {
			<-stream.Context().Done()
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}

func (s *rpcServer) describe() *grpc.ServiceDesc {
	desc := &grpc.ServiceDesc{ServiceName: service, HandlerType: (*words)(nil)}
	for _, method := range []string{"Echo", "Slow", "Short", "Missing", "Strange", "Plain", "Flaky"} {
		method := method
		handler := func(srv any, ctx context.Context, dec func(any) error, in grpc.UnaryServerInterceptor) (any, error) {
			w := new(word)
			if err := dec(w); err != nil {
				return nil, err
			}
			since := time.Now()
			answer, err := s.unary(method, w)
			countRPC("/"+service+"/"+method, err, since)
			return answer, err
		}
		desc.Methods = append(desc.Methods, grpc.MethodDesc{MethodName: method, Handler: handler})
	}
	handler := func(srv any, stream grpc.ServerStream) error {
		since := time.Now()
		err := s.stream(stream)
		countRPC("/"+service+"/Stream", err, since)
		return err
	}
	desc.Streams = []grpc.StreamDesc{{StreamName: "Stream", Handler: handler, ServerStreams: true, ClientStreams: true}}
	return desc
}

func newRPCServer() *rpcServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	s := &rpcServer{server: grpc.NewServer()}
	s.server.RegisterService(s.describe(), s)
	go s.server.Serve(listener)
	s.conn = dial(listener.Addr().String())
	handler := httptest.NewServer(h2c.NewHandler(s.server, &http2.Server{}))
	s.within = dial(handler.Listener.Addr().String())
	return s
}

// --- the client ---

func dial(address string) *grpc.ClientConn {
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultServiceConfig(retries))
	if err != nil {
		panic(err)
	}
	return conn
}

// call makes a unary RPC, and counts it.
func call(conn *grpc.ClientConn, method string, limit time.Duration, options ...grpc.CallOption) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	since := time.Now()
	err := conn.Invoke(ctx, method, wrapperspb.String("secret"), new(word), options...)
	countRPC("client "+method, err, since)
}

// chat sends words over a stream, and reads the answers until the last one.
func chat(conn *grpc.ClientConn, sent ...string) {
	ctx, cancel := context.WithCancel(context.Background())
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	since := time.Now()
	stream, err := conn.NewStream(ctx, desc, "/"+service+"/Stream")
	for _, text := range sent {
		for err == nil {
			w := wrapperspb.String(text)
			if err = stream.SendMsg(w); err != nil || text == "fail" {
				break
			}
			if err = stream.RecvMsg(w); err == nil {
				err = stream.RecvMsg(w)
			}
			break
		}
		if text == "wait" {
			cancel()
		}
	}
	if err == nil {
		stream.CloseSend()
		err = stream.RecvMsg(new(word))
	}
	if err == io.EOF {
		err = nil
	}
	cancel()
	countRPC("client /"+service+"/Stream", err, since)
}

func (s *rpcServer) round() {
	var group sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := 0; i < 50/few; i++ {
				for _, method := range []string{"Echo", "Missing", "Strange", "Plain", "Flaky"} {
					call(s.conn, "/"+service+"/"+method, time.Minute)
				}
				chat(s.conn, "one", "two")
				chat(s.conn, "one", "fail")
			}
			for i := 0; i < 10; i++ {
				call(s.conn, "/"+service+"/Short", time.Minute)
				chat(s.conn, "wait")
			}
		}()
	}
	group.Wait()
	for i := 0; i < 50/few; i++ {
		for _, method := range []string{"Echo", "Missing"} {
			since := time.Now()
			call(s.within, "/"+service+"/"+method, time.Minute)
			count("POST /"+service+"/"+method, "status=200", since)
		}
	}
	s.refusals()
}

// refusals makes RPCs that no handler sees: of a method or service that does not exist, and without a server.
func (s *rpcServer) refusals() {
	for i := 0; i < 5; i++ {
		for _, method := range []string{"/" + service + "/None", "/tests.None/None"} {
			call(s.conn, method, time.Minute)
			countRPC(method, status.Error(codes.Unimplemented, ""), time.Now())
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	listener.Close()
	conn := dial(listener.Addr().String())
	call(conn, "/"+service+"/Refused", time.Minute)
	call(conn, "/"+service+"/Late", 200*time.Millisecond, grpc.WaitForReady(true))
	conn.Close()
}

func (s *rpcServer) slowly() {
	for {
		s.conn.Invoke(context.Background(), "/"+service+"/Slow", wrapperspb.String(""), new(word))
	}
}
