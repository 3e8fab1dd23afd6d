package admit_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/admit"
)

// Only requests of the right form, size and speed are passed on.
func TestGuard(t *testing.T) {
	var passed atomic.Int32
	server := httptest.NewTLSServer(admit.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		// Longer than a request may take to be read: the connection is still there for its answer.
		if string(body) == "slow answer" {
			select {
			case <-r.Context().Done():
				t.Error("the connection ended before the answer")
			case <-time.After(1500 * time.Millisecond):
			}
		}
		if err != nil {
			t.Error(err)
		}
		passed.Add(1)
	})))
	defer server.Close()
	post := func(kind string, body io.Reader) (int, error) {
		response, err := server.Client().Post(server.URL, kind, body)
		if err != nil {
			return 0, err
		}
		response.Body.Close()
		return response.StatusCode, nil
	}
	is := func(what string, passes bool, kind string, body io.Reader) {
		t.Helper()
		before := passed.Load()
		began := time.Now()
		status, err := post(kind, body)
		if (passed.Load() > before) != passes || passes && (err != nil || status != http.StatusOK) || time.Since(began) > 4*time.Second {
			t.Errorf("%s: %d, %v, after %v", what, status, err, time.Since(began))
		}
	}
	is("a request", true, "application/json", strings.NewReader("{}"))
	is("with a charset", true, "application/json; charset=utf-8", strings.NewReader("{}"))
	is("another type", false, "text/"+strings.Repeat("x", 50_000), strings.NewReader("{}"))
	is("no type", false, "", strings.NewReader("{}"))
	is("the largest", true, "application/json", strings.NewReader(strings.Repeat(" ", 4<<20)))
	is("a larger one", false, "application/json", strings.NewReader(strings.Repeat(" ", 4<<20+1)))
	is("a slow answer", true, "application/json", strings.NewReader("slow answer"))
	stuck, writer := io.Pipe()
	defer writer.Close()
	// One that only says that it is larger takes nobody's room.
	request, err := http.NewRequest(http.MethodPost, server.URL, stuck)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.ContentLength = 24 << 20
	began := time.Now()
	if _, err := server.Client().Do(request); err != nil || time.Since(began) > time.Second/2 {
		t.Errorf("a larger one: %v after %v", err, time.Since(began))
	}
	stuck, writer = io.Pipe()
	defer writer.Close()
	is("a slow request", false, "application/json", stuck)

	// All together have few bytes, until they are answered.
	var held, most atomic.Int64
	free := make(chan struct{})
	holding := httptest.NewServer(admit.Guard(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		now := held.Add(int64(len(body)))
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		<-free
		held.Add(-int64(len(body)))
	})))
	var group sync.WaitGroup
	for range 40 {
		group.Go(func() {
			response, err := http.Post(holding.URL, "application/json", strings.NewReader(strings.Repeat(" ", 4<<20)))
			if err == nil {
				response.Body.Close()
			}
		})
	}
	time.Sleep(3 * time.Second)
	close(free)
	group.Wait()
	holding.Close()
	if most := most.Load(); most == 0 || most > 24<<20 {
		t.Errorf("%d bytes are held", most)
	}

	// Those that send nothing more hold no room for long.
	for range 100 {
		connection, err := tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer connection.Close()
		if _, err := io.WriteString(connection, "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Second)
	is("after all of these", true, "application/json", strings.NewReader("{}"))
}
