// Package serve serves HTTP to anybody who can connect. What one address takes leaves room for others, and all together take bounded memory.
package serve

import (
	"crypto/tls"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// New returns a server that listens, by TLS if that is configured: one of controller-runtime takes as many connections as memory allows, each with a
// megabyte of headers. It does not speak HTTP/2, which API servers do not use for webhooks, and with which a connection has a megabyte for each
// frame. It does not log what is wrong with connections: there may be any number of them. When it should end, requests that have begun are finished.
func New(name, address string, handler http.Handler, secure *tls.Config) (*manager.Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	listener = &fair{Listener: listener, rates: map[string]*rate.Limiter{}, open: map[string][]*connection{}}
	if secure != nil {
		listener = tls.NewListener(listener, secure)
	}
	only := &http.Protocols{}
	only.SetHTTP1(true)
	return &manager.Server{Name: name, Listener: listener, Server: &http.Server{
		Protocols: only,
		ErrorLog:  log.New(io.Discard, "", 0),
		Handler:   handler, ReadHeaderTimeout: bounded.HeaderTime, MaxHeaderBytes: bounded.HeaderBytes, IdleTimeout: bounded.IdleTime,
	}}, nil
}

// Host is the address of who has connected, without the port.
func Host(remote string) string {
	host, _, _ := net.SplitHostPort(remote)
	return host
}

// fair bounds connections, and how fast an address makes new ones. If there are too many, whoever has the most loses the oldest.
type fair struct {
	net.Listener
	// rates are those of addresses that have connected lately, and swept is when others were forgotten. Accept alone reads them.
	rates map[string]*rate.Limiter
	swept time.Time

	mu sync.Mutex
	// open are those of each address, the oldest first.
	open map[string][]*connection
}

// Accept returns the next connection of an address that may have one. It ends others.
func (f *fair) Accept() (net.Conn, error) {
	for {
		accepted, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: accepted, of: f, from: Host(accepted.RemoteAddr().String())}
		ends := c
		if f.mayConnect(c.from, time.Now()) {
			ends = f.admit(c)
		}
		if ends != nil {
			_ = ends.Close()
		}
		if ends != c {
			return c, nil
		}
	}
}

// mayConnect reports whether an address has made few enough connections.
func (f *fair) mayConnect(from string, now time.Time) bool {
	const atOnce = 2 * bounded.ConnectionsPerSecond
	if now.Sub(f.swept) > time.Second {
		f.swept = now
		maps.DeleteFunc(f.rates, func(_ string, of *rate.Limiter) bool { return of.TokensAt(now) >= atOnce })
	}
	if f.rates[from] == nil {
		f.rates[from] = rate.NewLimiter(bounded.ConnectionsPerSecond, atOnce)
	}
	return f.rates[from].AllowN(now, 1)
}

// admit adds a connection, and returns the one that has to end for that, which may be the same.
func (f *fair) admit(c *connection) *connection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[c.from] = append(f.open[c.from], c)
	most, count := c.from, 0
	for from, open := range f.open {
		count += len(open)
		if len(open) > len(f.open[most]) {
			most = from
		}
	}
	switch {
	case len(f.open[c.from]) > bounded.ConnectionsOfAddress, count > bounded.Connections && most == c.from:
		return c
	case count > bounded.Connections:
		return f.open[most][0]
	}
	return nil
}

// connection tells when it ends.
type connection struct {
	net.Conn
	of   *fair
	from string
}

// Close ends it, and forgets it, if it is not forgotten yet.
func (c *connection) Close() error {
	f := c.of
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[c.from] = slices.DeleteFunc(f.open[c.from], func(one *connection) bool { return one == c })
	if len(f.open[c.from]) == 0 {
		delete(f.open, c.from)
	}
	return c.Conn.Close()
}
