package serve_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/serve"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// Only requests of the right form, size and speed are passed on.
func TestGuard(t *testing.T) {
	var passed atomic.Int32
	server := httptest.NewTLSServer(serve.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	is := func(what string, passes bool, kind string, body io.Reader) {
		t.Helper()
		before, began := passed.Load(), time.Now()
		response, err := server.Client().Post(server.URL, kind, body)
		if err == nil {
			response.Body.Close()
		}
		if (passed.Load() > before) != passes || passes && (err != nil || response.StatusCode != http.StatusOK) || time.Since(began) > 4*time.Second {
			t.Errorf("%s: %+v, %v, after %v", what, response, err, time.Since(began))
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
	fakeapi.Must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.ContentLength = 24 << 20
	began := time.Now()
	if _, err := server.Client().Do(request); err != nil || time.Since(began) > time.Second/2 {
		t.Errorf("a larger one: %v after %v", err, time.Since(began))
	}
	stuck, writer = io.Pipe()
	defer writer.Close()
	is("a slow request", false, "application/json", stuck)
}

// clientFrom is a client with an address of its own.
func clientFrom(host string) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}}
	return &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: dialer.DialContext}}
}

// holder keeps the requests that it was passed until it is told to let them go.
type holder struct {
	held, most atomic.Int64
	free       chan struct{}
}

// ServeHTTP counts the bytes that are held at once. A small request is answered at once.
func (h *holder) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if len(body) < 100_000 {
		return
	}
	now := h.held.Add(int64(len(body)))
	for old := h.most.Load(); now > old && !h.most.CompareAndSwap(old, now); old = h.most.Load() {
	}
	<-h.free
	h.held.Add(-int64(len(body)))
}

// again forgets what was held.
func (h *holder) again() {
	h.free = make(chan struct{})
	h.most.Store(0)
}

// flood sends requests of the largest size from several addresses, so many from each.
func flood(t *testing.T, url string, hosts, each int, body func() io.Reader) *sync.WaitGroup {
	t.Helper()
	var group sync.WaitGroup
	for host := range hosts {
		client := clientFrom(fmt.Sprint("127.0.0.", 2+host))
		for range each {
			group.Go(func() {
				request, err := http.NewRequest(http.MethodPost, url, body())
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Content-Type", "application/json")
				request.ContentLength = 4 << 20
				if response, err := client.Do(request); err == nil {
					response.Body.Close()
				}
			})
		}
	}
	time.Sleep(300 * time.Millisecond)
	return &group
}

// All requests have bounded memory until they are answered, and those of one address have a share of it. However much others send, or only
// say that they send, a request of another address comes through.
func TestRoom(t *testing.T) {
	h := &holder{free: make(chan struct{})}
	server := httptest.NewServer(serve.Guard(h))
	defer server.Close()
	comesThrough := func(what string) {
		t.Helper()
		began := time.Now()
		response, err := clientFrom("127.0.0.100").Post(server.URL, "application/json", strings.NewReader(strings.Repeat(" ", 40_000)))
		if err != nil || response.StatusCode != http.StatusOK || time.Since(began) > time.Second/2 {
			t.Errorf("%s: %v, %v, after %v", what, response, err, time.Since(began))
		}
	}
	large := func() io.Reader { return strings.NewReader(strings.Repeat(" ", 4<<20)) }
	group := flood(t, server.URL, 1, 20, large)
	comesThrough("one address sends a lot")
	time.Sleep(2 * time.Second)
	if most := h.most.Load(); most != 8<<20 {
		t.Errorf("one address holds %d bytes", most)
	}
	close(h.free)
	group.Wait()
	h.again()
	group = flood(t, server.URL, 9, 5, large)
	comesThrough("many addresses send a lot")
	// While that address has another request, which has yet to be sent: what earlier ones took is free again.
	unsent, send := io.Pipe()
	waiting := make(chan error, 1)
	go func() {
		_, err := clientFrom("127.0.0.100").Post(server.URL, "application/json", unsent)
		waiting <- err
	}()
	time.Sleep(100 * time.Millisecond)
	for range 5 {
		comesThrough("one by one")
	}
	send.Close()
	if err := <-waiting; err != nil {
		t.Error(err)
	}
	time.Sleep(2 * time.Second)
	if most := h.most.Load(); most == 0 || most > 24<<20+9*128<<10 {
		t.Errorf("all hold %d bytes", most)
	}
	close(h.free)
	group.Wait()
	stuck, end := io.Pipe()
	group = flood(t, server.URL, 9, 5, func() io.Reader { return stuck })
	comesThrough("many addresses say that they send a lot")
	end.Close()
	group.Wait()
	// Nothing is left of all that.
	h.again()
	close(h.free)
	flood(t, server.URL, 1, 1, large).Wait()
	if h.most.Load() != 4<<20 {
		t.Error("there is no room again")
	}
}
