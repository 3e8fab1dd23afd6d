package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// ending is how long requests may take when the program should end.
const ending = time.Minute

// A Server is controller-runtime's, but for its connections: anybody who reaches that one can have as many as memory allows, each
// with a megabyte of headers.
type Server struct {
	webhook.Server
	// Address is where requests come in.
	Address string
	// Directory has tls.crt and tls.key, which may change.
	Directory string
	// Answering is how long a request may take until its answer has been read.
	Answering time.Duration
	// Clients says from whom, by TLS.
	Clients func(*tls.Config)

	listens atomic.Bool
}

// The manager ends it last.
var _ webhook.Server = (*Server)(nil)

// Start answers until the context ends, and then those that have begun.
func (s *Server) Start(ctx context.Context) error {
	watcher, err := certwatcher.New(filepath.Join(s.Directory, "tls.crt"), filepath.Join(s.Directory, "tls.key"))
	if err != nil {
		return err
	}
	listener, err := Listen(s.Address)
	if err != nil {
		return err
	}
	s.listens.Store(true)
	watching := make(chan error, 1)
	go func() { watching <- watcher.Start(ctx) }()
	config := &tls.Config{GetCertificate: watcher.GetCertificate}
	s.Clients(config)
	server := New(s.WebhookMux())
	server.WriteTimeout = s.Answering
	server.TLSConfig, server.BaseContext = config, func(net.Listener) context.Context { return ctx }
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), ending)
		defer stop()
		ended <- server.Shutdown(ctx)
	}()
	if err := server.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return errors.Join(<-ended, <-watching)
}

// StartedChecker is ready once somebody can connect.
func (s *Server) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.listens.Load() {
			return errors.New("it does not listen yet")
		}
		return nil
	}
}
