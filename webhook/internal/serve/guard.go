package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// Guard bounds what a request takes before anything is known of it, and hides what is none from next, which would log it.
func Guard(next http.Handler) http.Handler {
	free, senders := semaphore.NewWeighted(bounded.AllReviewsBytes), bounded.Shared[string, *sender]{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" || r.Method != http.MethodPost {
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusUnsupportedMediaType)
			return
		}
		size := r.ContentLength
		if size > bounded.ReviewBytes {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		}
		if size < 0 {
			size = bounded.ReviewBytes
		}
		from, leave := senders.Use(Host(r.RemoteAddr), func() *sender {
			return &sender{large: semaphore.NewWeighted(bounded.LargeReviewsBytes), small: semaphore.NewWeighted(bounded.SmallReviewsBytes), own: semaphore.NewWeighted(bounded.OwnReviewBytes)}
		})
		defer leave()
		taken := &taken{from: from, free: free}
		defer taken.release()
		switch err := taken.read(w, r, size); {
		case errors.Is(err, context.DeadlineExceeded):
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		case err != nil:
			http.Error(w, "the request is too large or too slow", http.StatusRequestEntityTooLarge)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(taken.body)), int64(len(taken.body))
		next.ServeHTTP(w, r)
	})
}

// sender is an address that has requests here.
type sender struct {
	// large and small are what all such requests may have, by what they say they have.
	large, small *semaphore.Weighted
	// own is what it has besides.
	own *semaphore.Weighted
}

// taken is what a request has taken: bytes of its sender's own, of the room for all, and of the sender's share.
type taken struct {
	from              *sender
	free              *semaphore.Weighted
	own, common, says int64
	share             *semaphore.Weighted
	// body is what has come until the context ends.
	ctx  context.Context
	body []byte
}

// read reads the body of a request that says that it has so many bytes. Room is taken for what has come, so that nobody keeps others out by
// what is only said.
func (t *taken) read(w http.ResponseWriter, r *http.Request, size int64) error {
	ctx, stop := context.WithTimeout(r.Context(), bounded.ReviewTime)
	defer stop()
	t.ctx, t.share = ctx, t.from.large
	if size <= bounded.OwnReviewBytes {
		t.share = t.from.small
	}
	if err := t.share.Acquire(ctx, size); err != nil {
		return err
	}
	t.says = size
	if err := http.NewResponseController(w).SetReadDeadline(time.Now().Add(bounded.ReviewTime)); err != nil {
		return err
	}
	_, err := io.Copy(t, http.MaxBytesReader(w, r.Body, size))
	return err
}

// Write keeps some more of the body, when there is room for that.
func (t *taken) Write(piece []byte) (int, error) {
	count := int64(len(piece))
	if t.from.own.TryAcquire(count) {
		t.own += count
	} else if err := t.free.Acquire(t.ctx, count); err != nil {
		return 0, err
	} else {
		t.common += count
	}
	t.body = append(t.body, piece...)
	return len(piece), nil
}

func (t *taken) release() {
	t.share.Release(t.says)
	t.free.Release(t.common)
	t.from.own.Release(t.own)
}
