package admit

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	// connections is how many connections one address may have. An API server has few, for many requests each.
	connections = 100
	// headers is how many bytes the headers of a request may have, and handshake how long these and the handshake may take.
	headers   = 16 << 10
	handshake = 3 * time.Second
	// idle is how long a connection without requests is kept, streams how many requests one has at a time, and buffered how many bytes of one wait
	// to be read.
	idle     = 90 * time.Second
	streams  = 32
	buffered = 256 << 10
	// ending is how long requests may take when the program should end.
	ending = time.Minute
)

// A Server is controller-runtime's, but for its connections: anybody who reaches that one can have as many as memory allows, each
// with a megabyte of headers.
type Server struct {
	webhook.Server
	// Address is where requests come in.
	Address string
	// Directory has tls.crt and tls.key, which may change.
	Directory string
	// Clients says from whom, by TLS.
	Clients func(*tls.Config)
}

// The manager ends it last.
var _ webhook.Server = (*Server)(nil)

// Start answers until the context ends, and then those that have begun.
func (s *Server) Start(ctx context.Context) error {
	watcher, err := certwatcher.New(filepath.Join(s.Directory, "tls.crt"), filepath.Join(s.Directory, "tls.key"))
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.Address)
	if err != nil {
		return err
	}
	watching := make(chan error, 1)
	go func() { watching <- watcher.Start(ctx) }()
	config := &tls.Config{GetCertificate: watcher.GetCertificate}
	s.Clients(config)
	server := &http.Server{
		Handler: s.WebhookMux(), TLSConfig: config, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: handshake, MaxHeaderBytes: headers, IdleTimeout: idle,
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: streams, MaxReceiveBufferPerConnection: buffered, MaxReceiveBufferPerStream: buffered},
	}
	ended := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), ending)
		defer stop()
		ended <- server.Shutdown(ctx)
	}()
	if err := server.ServeTLS(&fair{Listener: listener, open: map[string]int{}}, "", ""); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return errors.Join(<-ended, <-watching)
}

// StartedChecker is ready once somebody can connect.
func (s *Server) StartedChecker() healthz.Checker {
	return func(r *http.Request) error {
		dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: handshake}, Config: &tls.Config{InsecureSkipVerify: true}}
		connection, err := dialer.DialContext(r.Context(), "tcp", s.Address)
		if err != nil {
			return err
		}
		return connection.Close()
	}
}

// fair bounds the connections of each address.
type fair struct {
	net.Listener
	mu   sync.Mutex
	open map[string]int
}

// Accept returns the next connection of an address that may have one. It ends others.
func (f *fair) Accept() (net.Conn, error) {
	for {
		connection, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := connection.RemoteAddr().String()
		if host, _, err := net.SplitHostPort(from); err == nil {
			from = host
		}
		if f.count(from, 1) <= connections {
			return &counted{connection, sync.OnceFunc(func() { f.count(from, -1) })}, nil
		}
		f.count(from, -1)
		connection.Close()
	}
}

func (f *fair) count(from string, change int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[from] += change
	if f.open[from] == 0 {
		delete(f.open, from)
		return 0
	}
	return f.open[from]
}

// counted tells when it ends.
type counted struct {
	net.Conn
	ends func()
}

func (c *counted) Close() error {
	defer c.ends()
	return c.Conn.Close()
}
