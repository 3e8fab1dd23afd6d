package serve_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/serve"
)

// running is a server, and its address.
type running struct {
	*testing.T
	address string
	// stop ends it.
	stop func()
	// unread says how long it wrote an answer that nobody read.
	unread chan time.Duration
}

func startServer(t *testing.T, writeTime time.Duration) *running {
	t.Helper()
	authority, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	fakeapi.Must(t, err)
	pair, err := tls.X509KeyPair(authority, key)
	fakeapi.Must(t, err)
	r := &running{T: t, unread: make(chan time.Duration, 1)}
	routes := http.NewServeMux()
	routes.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	routes.HandleFunc("/long", r.answerLong)
	routes.HandleFunc("/last", r.answerLast)
	routes.HandleFunc("/read", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	server, err := serve.New("requests", "127.0.0.1:0", routes, &tls.Config{Certificates: []tls.Certificate{pair}})
	fakeapi.Must(t, err)
	server.Server.WriteTimeout = writeTime
	r.address = server.Listener.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// answerLast is under way when the server should end.
func (r *running) answerLast(_ http.ResponseWriter, request *http.Request) {
	r.stop()
	select {
	case <-request.Context().Done():
		r.Error("a request ends with the server")
	case <-time.After(200 * time.Millisecond):
	}
}

func (r *running) answerLong(w http.ResponseWriter, _ *http.Request) {
	began := time.Now()
	if _, err := w.Write(make([]byte, 64<<20)); err == nil {
		r.Error("all of a long answer was read")
	}
	r.unread <- time.Since(began)
}

// get sends a request with a header on a connection of its own.
func (r *running) get(path, header string) (int, string, error) {
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true, ForceAttemptHTTP2: true,
	}}
	request, err := http.NewRequest(http.MethodGet, "https://"+r.address+path, nil)
	fakeapi.Must(r, err)
	request.Header.Set("A", header)
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// The protocol is HTTP/1.1.
func TestServerAnswers(t *testing.T) {
	server := startServer(t, 10*bounded.RequestTime)
	if status, text, err := server.get("/", ""); err != nil || status != http.StatusOK || text != "HTTP/1.1" {
		t.Fatalf("%d, %s, %v", status, text, err)
	}
}

// A request that has begun is finished when the server should end.
func TestServerEnds(t *testing.T) {
	server := startServer(t, 10*bounded.RequestTime)
	if status, _, err := server.get("/last", ""); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
}

// Who does not read the answer is not waited for.
func TestServerAndDeafClient(t *testing.T) {
	server := startServer(t, time.Second)
	deaf, err := tls.Dial("tcp", server.address, &tls.Config{InsecureSkipVerify: true})
	fakeapi.Must(t, err)
	defer deaf.Close()
	if _, err := io.WriteString(deaf, "GET /long HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case took := <-server.unread:
		if took > 5*time.Second {
			t.Errorf("it wrote for %v", took)
		}
	case <-time.After(10 * time.Second):
		t.Error("it still writes")
	}
}

// A client has a few seconds for all of a request.
func TestServerAndSlowClient(t *testing.T) {
	server := startServer(t, 10*bounded.RequestTime)
	for what, begins := range map[string]string{
		"no handshake": "", "a header": "GET / HTTP/1.1\r\n", "a body": "POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nslow",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			slow, err := net.Dial("tcp", server.address)
			fakeapi.Must(t, err)
			defer slow.Close()
			if begins != "" {
				slow = tls.Client(slow, &tls.Config{InsecureSkipVerify: true})
			}
			_, err = io.WriteString(slow, begins)
			fakeapi.Must(t, err)
			began := time.Now()
			_ = slow.SetReadDeadline(began.Add(10 * time.Second))
			if _, err := io.Copy(io.Discard, slow); errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) > 2*bounded.RequestTime {
				t.Errorf("still open after %v: %v", time.Since(began), err)
			}
		})
	}
}

// Headers are few.
func TestServerAndHeaders(t *testing.T) {
	server := startServer(t, 10*bounded.RequestTime)
	for size, want := range map[int]int{3 << 10: http.StatusOK, 9 << 10: http.StatusRequestHeaderFieldsTooLarge} {
		if status, _, err := server.get("/", strings.Repeat("x", size)); err != nil || status != want {
			t.Errorf("%d bytes: %d, %v", size, status, err)
		}
	}
}

// There are few connections at a time. One more is served once another has ended.
func TestServerAndManyConnections(t *testing.T) {
	server, err := serve.New("", "127.0.0.1:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), nil)
	fakeapi.Must(t, err)
	go func() { _ = server.Server.Serve(server.Listener) }()
	defer server.Server.Close()
	connect := func() net.Conn {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		fakeapi.Must(t, err)
		t.Cleanup(func() { connection.Close() })
		_, err = io.WriteString(connection, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		fakeapi.Must(t, err)
		return connection
	}
	answered := func(connection net.Conn, within time.Duration) error {
		_ = connection.SetReadDeadline(time.Now().Add(within))
		_, err := connection.Read(make([]byte, 1000))
		return err
	}
	// A connection that has had a request may be kept.
	var open []net.Conn
	for i := range bounded.Connections {
		open = append(open, connect())
		if err := answered(open[i], 10*time.Second); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
	}
	last := connect()
	if err := answered(last, time.Second); err == nil {
		t.Errorf("more than %d connections", bounded.Connections)
	}
	open[0].Close()
	if err := answered(last, 10*time.Second); err != nil {
		t.Errorf("no connection although another one has ended: %v", err)
	}
}
