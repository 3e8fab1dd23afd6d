package serve_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/util/cert"

	"github.com/podrank/podrank/webhook/internal/serve"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
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

func startServer(t *testing.T) *running {
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
	server, err := serve.New("requests", "127.0.0.1:0", routes, &tls.Config{Certificates: []tls.Certificate{pair}})
	fakeapi.Must(t, err)
	server.Server.WriteTimeout = time.Second
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

// get sends a request from this address on a connection of its own.
func (r *running) get(from, path string) (int, string, error) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
	}}
	request, err := http.NewRequest(http.MethodGet, "https://"+r.address+path, nil)
	fakeapi.Must(r, err)
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
	server := startServer(t)
	if status, text, err := server.get("127.0.0.1", "/"); err != nil || status != http.StatusOK || text != "HTTP/1.1" {
		t.Fatalf("%d, %s, %v", status, text, err)
	}
}

// A request that has begun is finished when the server should end.
func TestServerEnds(t *testing.T) {
	server := startServer(t)
	if status, _, err := server.get("127.0.0.1", "/last"); err != nil || status != http.StatusOK {
		t.Errorf("%d, %v", status, err)
	}
}

// Who does not read the answer is not waited for.
func TestServerAndDeafClient(t *testing.T) {
	server := startServer(t)
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

// It has the connections of package serve.
func TestServerAndManyConnections(t *testing.T) {
	server := startServer(t)
	for range 250 {
		connection, err := net.Dial("tcp", server.address)
		fakeapi.Must(t, err)
		defer connection.Close()
	}
	if _, _, err := server.get("127.0.0.1", "/"); err == nil {
		t.Error("one address has more than 200 connections")
	}
	if status, _, err := server.get("127.0.0.2", "/"); err != nil || status != http.StatusOK {
		t.Errorf("another address: %d, %v", status, err)
	}
}
