package serve_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/serve"
)

// Only requests of the right form, size and speed are passed on.
func TestGuard(t *testing.T) {
	var passed atomic.Int32
	server := httptest.NewUnstartedServer(serve.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	server.Config.ReadTimeout = time.Second
	server.StartTLS()
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
	is("no length", false, "application/json", stuck)
}

// holder holds its requests until the test releases them.
type holder struct {
	held, most atomic.Int64
	free       chan struct{}
}

func (h *holder) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	now := h.held.Add(r.ContentLength)
	for old := h.most.Load(); now > old && !h.most.CompareAndSwap(old, now); old = h.most.Load() {
	}
	<-h.free
	h.held.Add(-r.ContentLength)
}

// All requests have bounded memory until they are answered. One for which there is none is refused after a second, and one that is refused or
// answered leaves nothing behind.
func TestRoom(t *testing.T) {
	h := &holder{free: make(chan struct{})}
	server := httptest.NewServer(serve.Guard(h))
	defer server.Close()
	post := func(size int) int {
		response, err := server.Client().Post(server.URL, "application/json", strings.NewReader(strings.Repeat(" ", size)))
		if err != nil {
			// The server may refuse a request before it has read all of it.
			return http.StatusServiceUnavailable
		}
		response.Body.Close()
		return response.StatusCode
	}
	var group sync.WaitGroup
	var refused atomic.Int64
	for range 20 {
		group.Go(func() {
			if post(bounded.ReviewBytes) != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	for deadline := time.Now().Add(10 * time.Second); h.held.Load() < bounded.AllReviewsBytes && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	// In case there is room for it.
	defer time.AfterFunc(5*time.Second, func() { close(h.free) }).Stop()
	began := time.Now()
	if status := post(1); status != http.StatusServiceUnavailable || time.Since(began) < bounded.ReviewTime/2 || time.Since(began) > 3*bounded.ReviewTime {
		t.Errorf("one more: %d after %v", status, time.Since(began))
	}
	group.Wait()
	if h.most.Load() != bounded.AllReviewsBytes || refused.Load() != 20-bounded.AllReviewsBytes/bounded.ReviewBytes {
		t.Errorf("%d bytes at a time, %d refused", h.most.Load(), refused.Load())
	}
	for range 20 {
		if status := post(bounded.ReviewBytes); status != http.StatusOK {
			t.Errorf("one after the other: %d", status)
		}
	}
}
