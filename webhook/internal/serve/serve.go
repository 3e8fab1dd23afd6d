// Package serve serves HTTP within bounded memory. It does not distinguish clients: only a NetworkPolicy or a client
// certificate keeps clients other than the API server from using all connections.
package serve

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"mime"
	"net"
	"net/http"

	"golang.org/x/net/netutil"
	"golang.org/x/sync/semaphore"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// New returns a server that listens, by TLS if that is configured. The webhook server of controller-runtime opens its listener itself, so nothing
// bounds its connections, nor what a slow or deaf client costs. This one does not speak HTTP/2, which API servers do not use for webhooks, and
// with which a connection has a megabyte for each frame. It does not log errors of connections, of which there may be any number. When it ends,
// it finishes the requests that have begun.
func New(name, address string, handler http.Handler, secure *tls.Config) (*manager.Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	listener = netutil.LimitListener(listener, bounded.Connections)
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	only := &http.Protocols{}
	only.SetHTTP1(true)
	return &manager.Server{Name: name, Listener: listener, Server: &http.Server{
		Handler: handler, Protocols: only, ErrorLog: log.New(io.Discard, "", 0), WriteTimeout: 10 * bounded.RequestTime,
		ReadTimeout: bounded.RequestTime, IdleTimeout: bounded.IdleTime, MaxHeaderBytes: bounded.HeaderBytes,
	}}, nil
}

// Guard passes a request on if it may be a review, and while there is memory for its body until it is answered.
func Guard(next http.Handler) http.Handler {
	free := semaphore.NewWeighted(bounded.AllReviewsBytes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
		switch {
		case err != nil || kind != "application/json" || r.Method != http.MethodPost:
			http.Error(w, "expected an AdmissionReview as JSON", http.StatusUnsupportedMediaType)
			return
		case r.ContentLength < 0 || r.ContentLength > bounded.ReviewBytes:
			http.Error(w, "the request is too large, or has no length", http.StatusRequestEntityTooLarge)
			return
		}
		ctx, stop := context.WithTimeout(r.Context(), bounded.ReviewTime)
		defer stop()
		if err := free.Acquire(ctx, r.ContentLength); err != nil {
			http.Error(w, "too many requests at a time", http.StatusServiceUnavailable)
			return
		}
		defer free.Release(r.ContentLength)
		next.ServeHTTP(w, r)
	})
}
