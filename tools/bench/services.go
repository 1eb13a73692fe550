// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause

package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Programs as Debian and Go's module proxy have them, and their clients: part real measures some of them, and
// tests/e2e/real.sh judges what is said of all.

// service is a server and its clients, or a program that works by itself.
type service struct {
	pid      string
	load     func(rate float64, length time.Duration) answers // rate 0: as many as the server answers
	end      func()
	onlyFull bool   // its clients have no other rate
	inGo     bool   // gotrace probes it, and so can attach empty programs
	metrics  string // URL of its own counts, as Prometheus reads them; empty: it has none
	request  string // the name of the task that an answer is, as in SQL's LIKE; empty: none
}

var services = []struct {
	name  string
	needs string // program; empty: it is built
	bench bool   // part real measures it
	start func(b *bench) *service
}{
	{"prometheus, a query", "prometheus", true, (*bench).prometheus},
	{"etcd, a put", "etcd", true, (*bench).etcd},
	{"gRPC, a call", "", true, (*bench).grpc},
	{"pgx, a query", "pgbench", false, (*bench).pgx},
	{"redis, a GET", "redis-server", true, (*bench).redisService},
	{"nginx, a page", "nginx", true, (*bench).nginx},
	{"pgbench -S", "pgbench", true, (*bench).pgbenchService},
	{"caddy, a page", "caddy", false, (*bench).caddy},
	{"nats, a message", "nats-server", false, (*bench).nats},
	{"memcached, a get", "memcached", false, (*bench).memcached},
	{"python, a page", "python3", false, (*bench).python},
	{"threads, a page", "python3", false, (*bench).pythonThreads},
	{"node, a page", "node", false, (*bench).node},
	{"zlib, a page", "node", false, (*bench).nodePool},
	{"java, a page", "java", false, (*bench).java},
	{"xz", "xz", false, worker("xz", "-T2", "-c", "/dev/urandom")},
	{"ffmpeg", "ffmpeg", false, worker("ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc=size=640x360", "-f", "null", "-")},
	{"go build", "go", false, (*bench).goBuild},
}

// Debian's postgresql keeps its programs in a directory of its own.
func installed(name string) bool {
	_, err := exec.LookPath(name)
	return name == "" || err == nil
}

// freePort returns an address that nobody listens at.
func freePort() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	fail(err)
	defer listener.Close()
	return listener.Addr().String()
}

func answering(address string) {
	within(20*time.Second, func() error {
		client, err := net.Dial("tcp", address)
		if err == nil {
			client.Close()
		}
		return err
	})
}

// --- servers ---

func (b *bench) prometheus() *service {
	address, config := freePort(), filepath.Join(b.dir, "prometheus.yml")
	text := fmt.Sprintf("scrape_configs:\n- job_name: self\n  scrape_interval: 1s\n  static_configs:\n  - targets: ['%s']\n", address)
	fail(os.WriteFile(config, []byte(text), 0o600))
	server := exec.Command("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(b.dir, "tsdb"),
		"--web.listen-address="+address)
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return driveHTTP(func() (*http.Request, error) {
			return http.NewRequest("GET", "http://"+address+"/api/v1/query?query=up", nil)
		}, rate, length)
	}, end: end, inGo: true, metrics: "http://" + address + "/metrics", request: "GET %query%"}
}

func (b *bench) etcd() *service {
	address := freePort()
	server := exec.Command("etcd", "--data-dir", filepath.Join(b.dir, "etcd"), "--listen-client-urls", "http://"+address,
		"--advertise-client-urls", "http://"+address, "--listen-peer-urls", "http://"+freePort(), "--log-level", "error")
	server.Env = append(os.Environ(), "ETCD_UNSUPPORTED_ARCH=arm64")
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return driveHTTP(func() (*http.Request, error) {
			return http.NewRequest("POST", "http://"+address+"/v3/kv/put", strings.NewReader(`{"key":"a2V5","value":"dmFsdWU="}`))
		}, rate, length)
	}, end: end, inGo: true, metrics: "http://" + address + "/metrics", request: "%/kv/put%"}
}

// build builds tools/bench/NAME, whose modules come through the Go proxy. It returns "" if that fails.
func (b *bench) build(name string) string {
	program := filepath.Join(b.dir, name)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", program, ".")
	build.Dir = filepath.Join("tools/bench", name)
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Printf("# %s: %.300s\n", name, out)
		return ""
	}
	return program
}

func (b *bench) grpc() *service {
	program, address := b.build("grpc"), freePort()
	if program == "" {
		return nil
	}
	server := exec.Command(program, "server", address)
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		out, err := exec.Command(program, "client", address, fmt.Sprint(rate), length.String()).Output()
		fail(err)
		return parseAnswers(string(out))
	}, end: end, inGo: true, request: "%"}
}

// pgx asks PostgreSQL once for each answer.
func (b *bench) pgx() *service {
	program, address := b.build("pgx"), freePort()
	if program == "" {
		return nil
	}
	place, _, endServer := b.postgresServer()
	server := exec.Command(program, address, "host="+place+" user="+postgresUser+" dbname=postgres")
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return driveHTTP(func() (*http.Request, error) {
			return http.NewRequest("GET", "http://"+address+"/balance", nil)
		}, rate, length)
	}, end: func() { end(); endServer() }, inGo: true, request: "GET /balance"}
}

// parseAnswers reads what the client of gRPC prints: a count, answers a second, p50 and p99 in ns.
func parseAnswers(text string) (got answers) {
	_, err := fmt.Sscan(text, &got.n, &got.perSecond, &got.p50, &got.p99)
	fail(err)
	return got
}

func (b *bench) redisService() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", b.dir)
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return driveWith(func() func() error {
			client, err := net.Dial("tcp", address)
			fail(err)
			answer := bufio.NewReader(client)
			return func() error {
				if _, err := client.Write([]byte("GET key\r\n")); err != nil {
					return err
				}
				_, err := answer.ReadString('\n')
				return err
			}
		}, rate, length)
	}, end: end}
}

func (b *bench) nginx() *service {
	address, config := freePort(), filepath.Join(b.dir, "nginx.conf")
	text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/nginx.pid; error_log %[1]s/nginx.err; user root;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000000; server { listen %[2]s; root %[1]s/www; } }
`, b.dir, address)
	fail(os.WriteFile(config, []byte(text), 0o600))
	fail(os.MkdirAll(filepath.Join(b.dir, "www"), 0o755))
	fail(os.WriteFile(filepath.Join(b.dir, "www", "x"), []byte("a page\n"), 0o644))
	server := exec.Command("nginx", "-c", config)
	end := b.background(server)
	answering(address)
	master := strconv.Itoa(server.Process.Pid)
	worker, err := os.ReadFile("/proc/" + master + "/task/" + master + "/children")
	fail(err)
	return &service{pid: strings.Fields(string(worker))[0], load: func(rate float64, length time.Duration) answers {
		return drive(address, rate, length)
	}, end: end}
}

// pgbenchService measures the backend that serves pgbench's only connection.
func (b *bench) pgbenchService() *service {
	w := b.postgres("-S")
	return &service{pid: w.pid, onlyFull: true, load: func(_ float64, length time.Duration) answers {
		before, began := w.ops(), time.Now()
		time.Sleep(length)
		n := w.ops() - before
		return answers{n: n, perSecond: n / time.Since(began).Seconds()}
	}, end: w.end}
}

// caddy file-server would have no address for its metrics.
func (b *bench) caddy() *service {
	address, admin, config := freePort(), freePort(), filepath.Join(b.dir, "Caddyfile")
	fail(os.WriteFile(filepath.Join(b.dir, "x"), []byte("a page\n"), 0o644))
	_, port, _ := net.SplitHostPort(address)
	text := fmt.Sprintf("{\n\tadmin %s\n}\n:%s {\n\troot * %s\n\tfile_server\n}\n", admin, port, b.dir)
	fail(os.WriteFile(config, []byte(text), 0o600))
	server := exec.Command("caddy", "run", "--config", config, "--adapter", "caddyfile")
	server.Env = append(os.Environ(), "HOME="+b.dir)
	s := b.pages(server, address)
	s.metrics, s.request = "http://"+admin+"/metrics", "GET /x"
	return s
}

// pages asks a server for pages.
func (b *bench) pages(server *exec.Cmd, address string) *service {
	end := b.background(server)
	answering(address)
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return drive(address, rate, length)
	}, end: end}
}

// lines asks a server over connections that begin with hello, which is answered with a line; an answer has so many.
func (b *bench) lines(server *exec.Cmd, address string, words func() (hello, question string), many int) *service {
	end := b.background(server)
	answering(address)
	var both sync.Mutex
	return &service{pid: strconv.Itoa(server.Process.Pid), load: func(rate float64, length time.Duration) answers {
		return driveWith(func() func() error {
			client, err := net.Dial("tcp", address)
			fail(err)
			answer := bufio.NewReader(client)
			both.Lock()
			hello, question := words()
			both.Unlock()
			if hello != "" {
				_, err = client.Write([]byte(hello))
				fail(err)
				_, err = answer.ReadString('\n')
				fail(err)
			}
			return func() error {
				_, err := client.Write([]byte(question))
				for i := 0; i < many && err == nil; i++ {
					_, err = answer.ReadString('\n')
				}
				return err
			}
		}, rate, length)
	}, end: end}
}

// nats gets each message back: what a connection publishes, it subscribes to.
func (b *bench) nats() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	server := exec.Command("nats-server", "-a", "127.0.0.1", "-p", port)
	number := 0
	return b.lines(server, address, func() (hello, question string) {
		number++
		return fmt.Sprintf("CONNECT {\"verbose\":false}\r\nSUB x.%d 1\r\n", number), fmt.Sprintf("PUB x.%d 2\r\nhi\r\n", number)
	}, 2)
}

func (b *bench) memcached() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	return b.lines(exec.Command("memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", port, "-U", "0"), address,
		func() (hello, question string) { return "", "get key\r\n" }, 1)
}

// An answer is two writes: with Nagle's algorithm, the second one waits for the client's delayed acknowledgement.
func (b *bench) python() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	return b.pages(exec.Command("/usr/bin/python3", "-c", `
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "7"); self.end_headers(); self.wfile.write(b"a page\n")
    def log_message(self, *args): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()`, port), address)
}

func (b *bench) node() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	return b.pages(exec.Command("node", "-e",
		`require("http").createServer((question, answer) => answer.end("a page\n")).listen(+process.argv[1], "127.0.0.1")`, port), address)
}

// pythonThreads has a thread for each request, whose beginning the main thread waits for.
func (b *bench) pythonThreads() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	fail(os.WriteFile(filepath.Join(b.dir, "x"), []byte("a page\n"), 0o600))
	return b.pages(exec.Command("/usr/bin/python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", b.dir, port), address)
}

// nodePool compresses each page in node's thread pool. The collector has threads of its own.
func (b *bench) nodePool() *service {
	address := freePort()
	_, port, _ := net.SplitHostPort(address)
	return b.pages(exec.Command("node", "-e", `
const zlib = require("zlib");
require("http").createServer((question, answer) => zlib.gzip(Buffer.alloc(20000, "a page\n"), (error, page) => answer.end(page)))
	.listen(+process.argv[1], "127.0.0.1")`, port), address)
}

func (b *bench) java() *service {
	address, source := freePort(), filepath.Join(b.dir, "Page.java")
	_, port, _ := net.SplitHostPort(address)
	fail(os.WriteFile(source, []byte(`
import com.sun.net.httpserver.HttpServer;
public class Page {
	public static void main(String[] args) throws Exception {
		var server = HttpServer.create(new java.net.InetSocketAddress("127.0.0.1", Integer.parseInt(args[0])), 0);
		server.createContext("/", exchange -> {
			exchange.sendResponseHeaders(200, 7);
			try (var body = exchange.getResponseBody()) { body.write("a page\n".getBytes()); }
		});
		server.setExecutor(java.util.concurrent.Executors.newFixedThreadPool(8));
		server.start();
	}
}
`), 0o600))
	return b.pages(exec.Command("java", source, port), address)
}

// worker is a program that works by itself, at one rate.
func worker(name string, args ...string) func(b *bench) *service {
	return func(b *bench) *service {
		command := exec.Command(name, args...)
		if name == "xz" {
			null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			fail(err)
			command.Stdout = null
		}
		return b.works(command)
	}
}

func (b *bench) works(command *exec.Cmd) *service {
	end := b.background(command)
	return &service{pid: strconv.Itoa(command.Process.Pid), onlyFull: true, load: func(_ float64, length time.Duration) answers {
		time.Sleep(length)
		return answers{}
	}, end: end}
}

// goBuild builds the standard library, which takes a minute and more.
func (b *bench) goBuild() *service {
	command := exec.Command("go", "build", "-a", "std")
	command.Dir = "tools/bench"
	command.Env = append(os.Environ(), "GOCACHE="+filepath.Join(b.dir, "cache"), "GOTOOLCHAIN=go1.26.8")
	return b.works(command)
}
