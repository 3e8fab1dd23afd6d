package admit

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// largest is how many bytes a request may have: twice the largest object that Kubernetes stores, and some more.
	largest = 4 << 20
	// room is how many bytes all requests may have together, from before they are read until they are answered. Decoded, they take
	// several times as much.
	room = 6 * largest
	// reading is how long it may take to send a request. It waits for room as long.
	reading = time.Second
)

// Guard bounds what a request takes before anything is known of it, and hides what is none from next, which would log it.
func Guard(next http.Handler) http.Handler {
	free := semaphore.NewWeighted(room)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" || r.Method != http.MethodPost {
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusUnsupportedMediaType)
			return
		}
		size := r.ContentLength
		if size > largest {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		}
		if size < 0 {
			size = largest
		}
		waiting, stop := context.WithTimeout(r.Context(), reading)
		err := free.Acquire(waiting, size)
		stop()
		if err != nil {
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		}
		defer free.Release(size)
		body, err := read(w, r)
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
