package serve_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/serve"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// start starts a server, and returns its address.
func start(t *testing.T) string {
	says := func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, serve.Host(r.RemoteAddr)) }
	server, err := serve.New("", "127.0.0.1:0", http.HandlerFunc(says), nil)
	fakeapi.Must(t, err)
	go func() { _ = server.Start(context.Background()) }()
	t.Cleanup(func() { server.Server.Close() })
	return server.Listener.Addr().String()
}

// connect connects from an address. What a server ends, it soon ends.
func connect(t *testing.T, host, address string) net.Conn {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	connection, err := dialer.Dial("tcp", address)
	fakeapi.Must(t, err)
	t.Cleanup(func() { connection.Close() })
	return connection
}

// get sends a request, and returns the answer, or nothing if the connection ends.
func get(connection net.Conn, headers string) string {
	_ = connection.SetDeadline(time.Now().Add(2 * time.Second))
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: a\r\n"+headers+"Connection: close\r\n\r\n"); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(connection)
	return string(answer)
}

// One address has few connections, and if there are too many in all, whoever has the most loses some. So another address always gets one.
func TestConnections(t *testing.T) {
	address := start(t)
	var alone []net.Conn
	for range 250 {
		alone = append(alone, connect(t, "127.0.0.1", address))
	}
	// Until all have been accepted or ended: one that is answered makes room for another.
	time.Sleep(500 * time.Millisecond)
	answered := 0
	for _, connection := range alone {
		if get(connection, "") != "" {
			answered++
		}
	}
	if answered != 200 {
		t.Errorf("one address alone had %d connections", answered)
	}
	open := map[string][]net.Conn{}
	for i := range 7 {
		host := fmt.Sprint("127.0.0.", 10+i)
		for range 210 {
			open[host] = append(open[host], connect(t, host, address))
		}
	}
	time.Sleep(500 * time.Millisecond)
	for range 20 {
		if answer := get(connect(t, "127.0.0.100", address), ""); !strings.HasSuffix(answer, "127.0.0.100") {
			t.Fatalf("another address: %q", answer)
		}
	}
	count := 0
	for host, connections := range open {
		own := 0
		for _, connection := range connections {
			if strings.HasSuffix(get(connection, ""), host) {
				own++
			}
		}
		if count += own; own > 200 {
			t.Errorf("%s had %d connections", host, own)
		}
	}
	// While these ended one after the other, no others came.
	if count < 800 || count > 1000 {
		t.Errorf("%d connections", count)
	}
	if answer := get(connect(t, "127.0.0.10", address), ""); answer == "" {
		t.Error("no connection although all have ended")
	}
}

// One address makes few new connections in a second, and TLS handshakes with them, also if it ends them at once. Another one still gets some.
func TestHandshakes(t *testing.T) {
	address := start(t)
	answered, began := 0, time.Now()
	for range 400 {
		connection := connect(t, "127.0.0.1", address)
		if get(connection, "") != "" {
			answered++
		}
		connection.Close()
	}
	if most := 201 + int(100*time.Since(began).Seconds()); answered < 200 || answered > most {
		t.Errorf("%d connections of one address, and not 200 to %d", answered, most)
	}
	if get(connect(t, "127.0.0.2", address), "") == "" {
		t.Error("another address has no connection")
	}
	time.Sleep(time.Second)
	if get(connect(t, "127.0.0.1", address), "") == "" {
		t.Error("no connection a second later")
	}
}

// Headers are few, and come soon.
func TestHeaders(t *testing.T) {
	address := start(t)
	if answer := get(connect(t, "127.0.0.1", address), "A: "+strings.Repeat("x", 3<<10)+"\r\n"); !strings.Contains(answer, "200 OK") {
		t.Errorf("%q", answer)
	}
	if answer := get(connect(t, "127.0.0.1", address), "A: "+strings.Repeat("x", 9<<10)+"\r\n"); !strings.Contains(answer, "431") {
		t.Errorf("%q", answer)
	}
	slow := connect(t, "127.0.0.1", address)
	if _, err := io.WriteString(slow, "GET / HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = slow.SetReadDeadline(began.Add(10 * time.Second))
	if _, err := io.Copy(io.Discard, slow); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("still open after %v: %v", time.Since(began), err)
	}
}
