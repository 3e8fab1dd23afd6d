package values

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
	"k8s.io/client-go/rest"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/podrank/podrank/webhook/internal/bounded"
)

// Options are what the administrator has set.
type Options struct {
	// Prometheus is the address of Prometheus, or "". CA and Token are files, or "".
	Prometheus, CA, Token string
	// Queries are those of Prometheus by name, in which $namespace stands for the namespace.
	Queries map[string]string
}

// AddQuery adds NAME=PROMQL.
func (o *Options) AddQuery(text string) error {
	name, query, _ := strings.Cut(text, "=")
	if _, isThere := o.Queries[name]; isThere || query == "" || !queryName.MatchString(name) {
		return fmt.Errorf("%q is no NAME=PROMQL, or the name is there already", text)
	}
	if o.Queries == nil {
		o.Queries = map[string]string{}
	}
	o.Queries[name] = query
	return nil
}

// The APIs from which values come, each of which has its own room.
const (
	metricsAPI   = "custom.metrics.k8s.io"
	resourcesAPI = "metrics.k8s.io"
	queriesAPI   = "Prometheus"
)

// A Reader reads values.
type Reader struct {
	// api and prometheus are clients with where they ask.
	api, prometheus *remote
	queries         map[string]string
	now             func() time.Time
	turns           map[string]*semaphore.Weighted
	// spaces keep the reads of a namespace from an API apart, so that they never take all turns.
	spaces bounded.Semaphores[string]

	mu    sync.Mutex
	reads map[key]*read
	paces map[key]*pace
	held  bounded.Semaphores[string]
}

// remote is a server. The clients of k8s.io/metrics decode a whole answer, of which 4 MiB become 350 MiB, and parse any exponent of a quantity, which
// may take minutes. The one for custom.metrics.k8s.io cannot be stopped, either.
type remote struct {
	client *http.Client
	at     *url.URL
}

type key struct {
	namespace string
	Source
}

// read is one that is under way or over.
type read struct {
	began time.Time
	// done is closed when it is over. Then there are values or an error.
	done   chan struct{}
	values map[string]Value
	err    error
}

// pace is that of all reads of one thing in a namespace, whatever their selectors are.
type pace struct {
	*rate.Limiter
	// used is when it was last asked for.
	used time.Time
	// failures is how many reads have failed since the last one that did not. The last of them, at failed, did so by err.
	failures int
	failed   time.Time
	err      error
}

// ofAll is the key of the pace of a read.
func (k key) ofAll() key {
	return key{k.namespace, Source{Metric: k.Metric, Resource: k.Resource, Query: k.Query}}
}

// NewReader reads from the API server of the configuration, with its account, and from what the options name.
func NewReader(config *rest.Config, options Options) (*Reader, error) {
	r := &Reader{now: time.Now, reads: map[key]*read{}, paces: map[key]*pace{}, queries: options.Queries, turns: map[string]*semaphore.Weighted{}}
	for _, api := range []string{metricsAPI, resourcesAPI, queriesAPI} {
		r.turns[api] = semaphore.NewWeighted(bounded.ValueReads)
	}
	if options.Prometheus == "" && len(options.Queries) > 0 {
		return nil, errors.New("queries of Prometheus need its address")
	}
	var err error
	if r.api, err = newRemote(rest.CopyConfig(config)); err != nil || options.Prometheus == "" {
		return r, err
	}
	// Nothing of the account of the API server.
	alone := &rest.Config{Host: options.Prometheus, BearerTokenFile: options.Token, TLSClientConfig: rest.TLSClientConfig{CAFile: options.CA}}
	if r.prometheus, err = newRemote(alone); err == nil && options.Token != "" && r.prometheus.at.Scheme != "https" {
		err = errors.New("the token for Prometheus needs an address that begins with https")
	}
	return r, err
}

// newRemote makes a client with connections of its own: one that hangs keeps no other request waiting.
func newRemote(config *rest.Config) (*remote, error) {
	config.TLSClientConfig.NextProtos = []string{"http/1.1"}
	at, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	// A client without a transport shares that of the whole program.
	own := *client
	if own.Transport == nil || own.Transport == http.DefaultTransport {
		own.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &remote{&own, at}, nil
}

// Read returns the values of the pods of a namespace, by their names, that are read now or were read less than a second ago. It takes a part of the
// time until the context ends.
func (r *Reader) Read(ctx context.Context, namespace string, of Source) (map[string]Value, error) {
	most := bounded.ValueTime
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)*36/100)
	}
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	shared, err := r.share(key{namespace, of}, most)
	if err != nil {
		return nil, err
	}
	select {
	case <-shared.done:
		return shared.values, shared.err
	case <-ctx.Done():
		return nil, named(of.api(), errLate)
	}
}

// share returns the read that is under way or was just made, or begins one, unless the last ones failed, or it could not begin in half of the time.
func (r *Reader) share(k key, most time.Duration) (*read, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if last := r.reads[k]; last != nil && now.Sub(last.began) < bounded.ValuePause {
		return last, nil
	}
	maps.DeleteFunc(r.paces, func(_ key, p *pace) bool { return now.Sub(p.used) >= 2*bounded.ValueRest })
	p := r.paces[k.ofAll()]
	if p == nil {
		p = &pace{Limiter: rate.NewLimiter(rate.Every(bounded.ValuePause), 1)}
		r.paces[k.ofAll()] = p
	}
	p.used = now
	if p.failures >= bounded.ValueFailures && now.Sub(p.failed) < bounded.ValueRest {
		return nil, fmt.Errorf("%w: this was the answer %d times, so podrank-webhook does not ask for %.0f s", p.err, p.failures, bounded.ValueRest.Seconds())
	}
	wait := time.Duration(0)
	// Each set has its own pods, and so its own read of a resource.
	if k.Resource == "" {
		turn := p.ReserveN(now, 1)
		if wait = turn.DelayFrom(now); wait > most/2 {
			turn.CancelAt(now)
			return nil, named(k.api(), errOften)
		}
	}
	next := &read{began: now.Add(wait), done: make(chan struct{})}
	r.reads[k] = next
	time.AfterFunc(wait, func() { r.run(k, p, next) })
	return next, nil
}

// run reads for all who share it, and forgets what was read when nobody can share it any longer.
func (r *Reader) run(k key, p *pace, into *read) {
	ctx, stop := context.WithTimeout(context.Background(), bounded.ValueTime)
	defer stop()
	end, err := r.turn(ctx, k)
	if err == nil {
		into.values, err = r.ask(ctx, k)
		end()
		r.mu.Lock()
		if p.failures, p.failed, p.err = p.failures+1, into.began, err; err == nil {
			p.failures = 0
		}
		r.mu.Unlock()
	}
	rows := len(into.values)
	if !r.held.Hold(k.namespace, rows, bounded.AllValueRows/2, bounded.AllValueRows) {
		into.values, rows, err = nil, 0, errors.New("too many values are in memory")
	}
	into.err = err
	close(into.done)
	time.AfterFunc(bounded.ValuePause, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		// A reader that has it keeps it. The next read begins again.
		if r.reads[k] == into {
			delete(r.reads, k)
		}
		r.held.Release(k.namespace, rows)
	})
}

// turn waits for the turn of a read. That others take long is no failure of the API.
func (r *Reader) turn(ctx context.Context, k key) (end func(), err error) {
	unlock, err := r.spaces.Lock(ctx, k.namespace+" "+k.api())
	if err == nil {
		if err = r.turns[k.api()].Acquire(ctx, 1); err == nil {
			return func() {
				r.turns[k.api()].Release(1)
				unlock()
			}, nil
		}
		unlock()
	}
	return nil, fmt.Errorf("other reads of %s take long", k.api())
}

func (s *Source) api() string {
	switch {
	case s.Metric != "":
		return metricsAPI
	case s.Resource != "":
		return resourcesAPI
	}
	return queriesAPI
}

// newest reads by the first of these versions that is served.
func newest(versions []string, read func(version string) (map[string]Value, error)) (values map[string]Value, err error) {
	for _, version := range versions {
		if values, err = read(version); !errors.Is(err, errNotFound) {
			break
		}
	}
	return values, err
}

// ask asks anyone who knows the values.
func (r *Reader) ask(ctx context.Context, k key) (map[string]Value, error) {
	switch api := k.api(); api {
	case metricsAPI:
		return newest([]string{"v1beta2", "v1beta1"}, func(version string) (map[string]Value, error) {
			path := []string{"apis", api, version, "namespaces", k.namespace, "pods", "*", k.Metric}
			values, err := r.api.get(ctx, path, url.Values{"metricLabelSelector": {k.Selector}}, k.namespace, ofMetric)
			return values, named(api, err)
		})
	case resourcesAPI:
		// Kubernetes 1.37 has the first.
		return newest([]string{"v1", "v1beta1"}, func(version string) (map[string]Value, error) {
			path := []string{"apis", api, version, "namespaces", k.namespace, "pods"}
			values, err := r.api.get(ctx, path, url.Values{"labelSelector": {k.Pods}}, k.namespace, ofUsage(k.Resource, k.Container))
			return values, named(api, err)
		})
	}
	query, ok := r.queries[k.Query]
	if !ok || r.prometheus == nil {
		return nil, fmt.Errorf("the operator of podrank-webhook has set no query %q", k.Query)
	}
	query = strings.ReplaceAll(query, "$namespace", k.namespace)
	values, err := r.prometheus.get(ctx, []string{"api", "v1", "query"}, url.Values{"query": {query}}, k.namespace, ofQuery(k.namespace))
	return values, named(queriesAPI, err)
}

func named(api string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", api, err)
}

var errOften = errors.New("this metric is read with other selectors, and once a second in all")

var errLate = errors.New("it did not answer in time")

var errNotFound = errors.New("it has no such metric, or is not installed (status 404)")

// meaning says what statuses mean, since what the answer itself says may come from anybody.
var meaning = map[int]error{
	http.StatusNotFound:  errNotFound,
	http.StatusForbidden: errors.New("podrank-webhook may not read it: its administrator has to allow it (status 403)"),
}

// get reads an answer, and returns the values in it.
func (r *remote) get(ctx context.Context, path []string, query url.Values, namespace string, decode decoder) (map[string]Value, error) {
	for name, value := range query {
		if len(value) == 1 && value[0] == "" {
			delete(query, name)
		}
	}
	// Each is one segment of the path, whatever is in it.
	for i, segment := range path {
		path[i] = url.PathEscape(segment)
	}
	at := r.at.JoinPath(path...)
	at.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := r.client.Do(request)
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		if err, ok := meaning[response.StatusCode]; ok {
			return nil, err
		}
		return nil, fmt.Errorf("the status is %d", response.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, bounded.ValueBytes+1))
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case len(answer) > bounded.ValueBytes:
		return nil, fmt.Errorf("the answer has more than %d MiB", bounded.ValueBytes>>20)
	}
	return collect(answer, namespace, decode)
}

// failure says why nothing came. Anyone who may read events need not know addresses, so only the log has these.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errLate
	}
	logf.Log.Error(err, "cannot read values")
	return errors.New("it cannot be reached, or its answer breaks off: the log of podrank-webhook says why")
}
