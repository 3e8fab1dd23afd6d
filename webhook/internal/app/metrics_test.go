package app

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// slow is somebody who does not read the answer.
type slow struct {
	*httptest.ResponseRecorder
	writes func()
	end    chan struct{}
}

func (s *slow) Write(text []byte) (int, error) {
	s.writes()
	<-s.end
	return len(text), nil
}

// However many ask for metrics, and however slowly they read, few answers are in memory.
func TestRendering(t *testing.T) {
	handler := promhttp.HandlerFor(metrics.Registry, rendering)
	ask := func(w http.ResponseWriter) {
		request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
		request.Header.Set("Accept-Encoding", "gzip")
		handler.ServeHTTP(w, request)
	}
	end := make(chan struct{})
	var group, writing sync.WaitGroup
	for range 4 {
		writing.Add(1)
		group.Go(func() { ask(&slow{httptest.NewRecorder(), sync.OnceFunc(writing.Done), end}) })
	}
	writing.Wait()
	fifth := httptest.NewRecorder()
	if ask(fifth); fifth.Code != http.StatusServiceUnavailable {
		t.Errorf("%d", fifth.Code)
	}
	close(end)
	group.Wait()
	again := httptest.NewRecorder()
	if ask(again); again.Code != http.StatusOK || again.Header().Get("Content-Encoding") != "" {
		t.Errorf("%d, %v", again.Code, again.Header())
	}
}
