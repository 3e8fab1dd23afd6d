// Package serve serves HTTP to anybody who can connect. What one address takes leaves room for others, and all together take bounded memory.
package serve

import (
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// each is how many connections one address may have, and all how many there are. An API server has one for each request at a time.
	each, all = 200, 1000
	// headers is how many bytes the headers of a request may have, and Patience how long these and a handshake may take.
	headers  = 4 << 10
	Patience = 3 * time.Second
	// idle is how long a connection without requests is kept.
	idle = 90 * time.Second
)

// New returns a server. It does not speak HTTP/2, which API servers do not use for webhooks, and with which a connection has a megabyte for each
// frame. It does not log what is wrong with connections: there may be any number of them.
func New(handler http.Handler) *http.Server {
	only := &http.Protocols{}
	only.SetHTTP1(true)
	return &http.Server{
		Protocols: only,
		ErrorLog:  log.New(io.Discard, "", 0),
		Handler:   handler, ReadHeaderTimeout: Patience, MaxHeaderBytes: headers, IdleTimeout: idle,
	}
}

// Listen listens for connections to a server.
func Listen(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return &fair{Listener: listener, open: map[string][]*connection{}}, nil
}

// Host is the address of who has connected, without the port.
func Host(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	return host
}

// fair bounds connections. If there are too many, whoever has the most loses the oldest.
type fair struct {
	net.Listener
	mu sync.Mutex
	// open are those of each address, the oldest first, and count is how many there are.
	open  map[string][]*connection
	count int
}

// Accept returns the next connection of an address that may have one. It ends others.
func (f *fair) Accept() (net.Conn, error) {
	for {
		accepted, err := f.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: accepted, of: f, from: Host(accepted.RemoteAddr().String())}
		ends := f.admit(c)
		if ends != nil {
			_ = ends.Conn.Close()
		}
		if ends != c {
			return c, nil
		}
	}
}

// admit adds a connection, and returns the one that has to end for that, which may be the same.
func (f *fair) admit(c *connection) (ends *connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[c.from] = append(f.open[c.from], c)
	f.count++
	switch {
	case len(f.open[c.from]) > each:
		ends = c
	case f.count > all:
		most := c.from
		for from, open := range f.open {
			if len(open) > len(f.open[most]) {
				most = from
			}
		}
		if ends = f.open[most][0]; most == c.from {
			ends = c
		}
	default:
		return nil
	}
	f.remove(ends)
	return ends
}

// remove forgets a connection, if it is there.
func (f *fair) remove(c *connection) {
	if i := slices.Index(f.open[c.from], c); i >= 0 {
		f.count--
		f.open[c.from] = slices.Delete(f.open[c.from], i, i+1)
	}
	if len(f.open[c.from]) == 0 {
		delete(f.open, c.from)
	}
}

// connection tells when it ends.
type connection struct {
	net.Conn
	of   *fair
	from string
}

// Close ends it.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.remove(c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
