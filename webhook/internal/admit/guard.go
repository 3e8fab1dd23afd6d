package admit

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"time"
)

const (
	// largest is how many bytes a request may have: twice the largest object that Kubernetes stores, and some more.
	largest = 4 << 20
	// reading is how long it may take to send one, and readers how many are read at a time. Another waits for its turn as long.
	reading = time.Second
	readers = 32
)

// Guard bounds what a request takes before anything is known of it, and hides what is none from next, which would log it.
func Guard(next http.Handler) http.Handler {
	turns := make(chan struct{}, readers)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" || r.Method != http.MethodPost {
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusUnsupportedMediaType)
			return
		}
		select {
		case turns <- struct{}{}:
		case <-time.After(reading):
			http.Error(w, "too many requests are being read", http.StatusServiceUnavailable)
			return
		}
		body, err := read(w, r)
		<-turns
		if err != nil {
			http.Error(w, "the request is too large or too slow", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// read reads the body of a request.
func read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(reading)); err != nil {
		return nil, err
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, largest))
}
