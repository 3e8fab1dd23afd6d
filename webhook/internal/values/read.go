package values

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
	"k8s.io/apimachinery/pkg/util/cache"
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
	// recent has what was just read, and failing what has failed.
	recent  *cache.LRUExpireCache
	failing bounded.Breaker[key]
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

// NewReader reads from the API server of the configuration, with its account, and from what the options name.
func NewReader(config *rest.Config, options Options) (*Reader, error) {
	r := &Reader{
		now: time.Now, queries: options.Queries, turns: map[string]*semaphore.Weighted{}, recent: cache.NewLRUExpireCache(bounded.RecentValues),
		failing: bounded.Breaker[key]{Failures: bounded.ValueFailures, Rest: bounded.ValueRest},
	}
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
	// With protocols of its own, nobody else uses this transport.
	transport, err := rest.TransportFor(config)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &remote{&http.Client{Transport: transport, CheckRedirect: stay}, at}, err
}

// Read returns the values of the pods of a namespace, by their names, that are read now or were read less than a second ago. It takes a part of the
// time until the context ends. A namespace has one decision at a time, and so one read.
func (r *Reader) Read(ctx context.Context, namespace string, of Source) (map[string]Value, error) {
	api, k := of.api(), key{namespace, of}
	if values, ok := r.recent.Get(k); ok {
		return values.(map[string]Value), nil
	}
	// Whatever is selected of it.
	same := key{namespace, Source{Metric: of.Metric, Resource: of.Resource, Query: of.Query}}
	if r.failing.IsOpen(same, r.now()) {
		return nil, fmt.Errorf("%s: the last %d reads failed, so podrank-webhook does not ask for %v", api, bounded.ValueFailures, bounded.ValueRest)
	}
	most := bounded.ValueTime
	if deadline, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(deadline)*36/100)
	}
	ctx, stop := context.WithTimeout(ctx, most)
	defer stop()
	if err := r.turns[api].Acquire(ctx, 1); err != nil {
		// This is not a failure of the API.
		return nil, fmt.Errorf("other reads of %s take long", api)
	}
	defer r.turns[api].Release(1)
	values, err := r.ask(ctx, k)
	r.failing.Note(same, err != nil, r.now())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", api, err)
	}
	r.recent.Add(k, values, bounded.ValuePause)
	return values, nil
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

// ask asks who knows the values, by the first version that is served.
func (r *Reader) ask(ctx context.Context, k key) (values map[string]Value, err error) {
	from, query := r.api, url.Values{}
	of := func(version string, rest ...string) []string {
		return append([]string{"apis", k.api(), version, "namespaces", k.namespace, "pods"}, rest...)
	}
	paths := [][]string{of("v1beta2", "*", k.Metric), of("v1beta1", "*", k.Metric)}
	switch k.api() {
	case metricsAPI:
		query.Set("metricLabelSelector", k.Selector)
	case resourcesAPI:
		// Kubernetes 1.37 has the first.
		paths = [][]string{of("v1"), of("v1beta1")}
		query.Set("labelSelector", k.Pods)
	default:
		from, paths = r.prometheus, [][]string{{"api", "v1", "query"}}
		query.Set("query", strings.ReplaceAll(r.queries[k.Query], "$namespace", k.namespace))
		if r.queries[k.Query] == "" {
			return nil, fmt.Errorf("the administrator of podrank-webhook has set no query %q", k.Query)
		}
	}
	for _, path := range paths {
		if values, err = from.get(ctx, path, query, k); !errors.Is(err, errNotFound) {
			break
		}
	}
	return values, err
}

var errNotFound = errors.New("it has no such metric, or is not installed (status 404)")

// get reads an answer, and returns the values in it.
func (r *remote) get(ctx context.Context, path []string, query url.Values, k key) (map[string]Value, error) {
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
	// What the answer itself says of its status may come from anybody.
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, errNotFound
	case http.StatusForbidden:
		return nil, errors.New("podrank-webhook may not read it: its administrator has to allow it (status 403)")
	default:
		return nil, fmt.Errorf("the status is %d", response.StatusCode)
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, bounded.ValueBytes+1))
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case len(answer) > bounded.ValueBytes:
		return nil, fmt.Errorf("the answer has more than %d MiB", bounded.ValueBytes>>20)
	}
	return collect(answer, k)
}

// failure says why nothing came. Anyone who may read events need not know addresses, so only the log has these.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("it did not answer in time")
	}
	logf.Log.Error(err, "cannot read values")
	return errors.New("it cannot be reached, or its answer breaks off: the log of podrank-webhook says why")
}
