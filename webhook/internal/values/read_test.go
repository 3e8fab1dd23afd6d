package values_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/values"
)

var sessions = values.Source{Metric: "active_sessions"}

// adapter is a server whose answers the test decides.
type adapter struct {
	testing.TB
	*values.Reader
	*httptest.Server
	mu       sync.Mutex
	answer   http.HandlerFunc
	requests []*http.Request
}

func newAdapter(t testing.TB, options values.Options) *adapter {
	a := &adapter{TB: t}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.requests = append(a.requests, r)
		answer := a.answer
		a.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(a.Close)
	if options.Queries != nil {
		options.Prometheus = a.URL
	}
	var err error
	a.Reader, err = values.NewReader(&rest.Config{Host: a.URL}, options)
	fakeapi.Must(t, err)
	return a
}

// says makes it answer a text.
func (a *adapter) says(text string) {
	a.does(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
}

func (a *adapter) does(what http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = what
}

// asked are the paths with their queries.
func (a *adapter) asked() (asked []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range a.requests {
		asked = append(asked, r.RequestURI)
	}
	return asked
}

// read reads as a request does that has 2 s.
func (a *adapter) read(namespace string, of values.Source) (map[string]values.Value, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
	defer stop()
	return a.Read(ctx, namespace, of)
}

// fails reads, and expects this error.
func (a *adapter) fails(namespace string, of values.Source, want string) {
	a.Helper()
	got, err := a.read(namespace, of)
	if err == nil || !strings.Contains(err.Error(), want) || len(got) > 0 {
		a.Errorf("%v: %v", err, got)
	}
}

// metrics is an answer of an adapter with rows of namespace, pod and value.
func metrics(rows ...[3]string) string {
	var items []string
	for _, row := range rows {
		items = append(items, fmt.Sprintf(`{"describedObject":{"kind":"Pod","namespace":%q,"name":%q},"timestamp":"2026-03-10T12:00:00Z","value":%q}`,
			row[0], row[1], row[2]))
	}
	return `{"items":[` + strings.Join(items, ",") + `]}`
}

func isNumbers(t *testing.T, got map[string]values.Value, err error, want map[string]float64) {
	t.Helper()
	if err != nil || len(got) != len(want) {
		t.Fatalf("%v: %v", got, err)
	}
	for pod, number := range want {
		if value, ok := got[pod]; !ok || value.Number != number || !value.At.Equal(fakeapi.Now) {
			t.Errorf("%s: %+v", pod, got[pod])
		}
	}
}

// Answers mean the same here as at the terminal.
func TestFacts(t *testing.T) {
	facts := readFacts(t)
	for _, fact := range facts.Answers {
		source := values.Source{Resource: fact.Of}
		if metric, ok := strings.CutPrefix(fact.Of, "metric/"); ok {
			source = values.Source{Metric: metric}
		}
		a := newAdapter(t, values.Options{})
		a.says(string(fact.Answer))
		read, err := a.read("shop", source)
		preference, got := values.Preference{AtMost: math.Inf(1)}, map[string]float64{}
		for name := range read {
			order := preference.Order([]values.Pod{{UID: types.UID(name), Name: name, Created: facts.Now.Add(-time.Hour)}}, read, nil, facts.Now)
			if number, ok := order.Values[types.UID(name)]; ok {
				got[name] = number
			}
		}
		isSame := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }
		if (err != nil) != (fact.Values == nil) || !maps.EqualFunc(got, fact.Values, isSame) {
			t.Errorf("%s: %v, %v", fact.Why, got, err)
		}
	}
}

// facts are what Rust's tests read, too.
type facts struct {
	Now     time.Time
	Names   map[string]bool
	Answers []struct {
		Why, Of string
		Answer  json.RawMessage
		Values  map[string]float64
	}
}

func readFacts(t *testing.T) (all facts) {
	t.Helper()
	text, err := os.ReadFile("../../../tests/vectors/values.json")
	fakeapi.Must(t, errors.Join(err, json.Unmarshal(text, &all)))
	if len(all.Names) == 0 || len(all.Answers) == 0 {
		t.Fatal("there are none")
	}
	return all
}

func TestMetric(t *testing.T) {
	a := newAdapter(t, values.Options{})
	a.says(metrics([3]string{"shop", "a", "3"}, [3]string{"shop", "endless", "1e999999999"}, [3]string{"shop", strings.Repeat("x", 254), "1"}))
	got, err := a.read("shop", values.Source{Metric: "http:requests.per-second", Selector: "a in (b,c),d!=e&f"})
	isNumbers(t, got, err, map[string]float64{"a": 3})
	want := "/apis/custom.metrics.k8s.io/v1beta2/namespaces/shop/pods/%2A/http:requests.per-second?metricLabelSelector=a+in+%28b%2Cc%29%2Cd%21%3De%26f"
	if asked := a.asked(); len(asked) != 1 || asked[0] != want {
		t.Error(asked)
	}
}

// An adapter that serves only the older version is asked for that.
func TestOlderVersion(t *testing.T) {
	a := newAdapter(t, values.Options{})
	a.does(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "v1beta2") {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, metrics([3]string{"shop", "a", "0"}))
	})
	got, err := a.read("shop", sessions)
	isNumbers(t, got, err, map[string]float64{"a": 0})
}

func TestResource(t *testing.T) {
	a := newAdapter(t, values.Options{})
	pod := func(name, containers string) string {
		return fmt.Sprintf(`{"metadata":{"namespace":"shop","name":%q},"timestamp":"2026-03-10T12:00:00Z","containers":%s}`, name, containers)
	}
	a.says(`{"items":[` + strings.Join([]string{
		pod("a", `[{"name":"main","usage":{"cpu":"250m","memory":"1Mi"}},{"name":"proxy","usage":{"cpu":"500000000n"}}]`),
		pod("b", `[{"name":"main","usage":{"cpu":"1","memory":"3Ki"}}]`), pod("none", `[]`), pod("null", `null`), pod("other", `[{"name":"main","usage":{"gpu":"1"}}]`),
	}, ",") + `]}`)
	for of, want := range map[values.Source]map[string]float64{
		{Resource: "cpu", Pods: "app=web"}:        {"a": .75, "b": 1},
		{Resource: "cpu", Container: "main"}:      {"a": .25, "b": 1},
		{Resource: "memory", Container: "main"}:   {"a": 1 << 20, "b": 3 << 10},
		{Resource: "memory", Container: "missed"}: {},
	} {
		got, err := a.read("shop", of)
		isNumbers(t, got, err, want)
	}
	if all := strings.Join(a.asked(), " "); !strings.Contains(all, "/apis/metrics.k8s.io/v1/namespaces/shop/pods?labelSelector=app%3Dweb") {
		t.Error(all)
	}
}

// Servers of before Kubernetes 1.37 serve an older version alone.
func TestOlderVersionOfResources(t *testing.T) {
	a := newAdapter(t, values.Options{})
	a.does(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/v1beta1/") {
			fmt.Fprint(w, `{"items":[{"metadata":{"namespace":"shop","name":"a"},"timestamp":"2026-03-10T12:00:00Z","containers":[{"name":"main","usage":{"cpu":"1"}}]}]}`)
			return
		}
		http.NotFound(w, r)
	})
	got, err := a.read("shop", values.Source{Resource: "cpu"})
	isNumbers(t, got, err, map[string]float64{"a": 1})
	if asked := a.asked(); len(asked) != 2 || !strings.Contains(asked[0], "/metrics.k8s.io/v1/") {
		t.Error(asked)
	}
}

func TestQuery(t *testing.T) {
	a := newAdapter(t, values.Options{Queries: map[string]string{"sessions": `sum by (pod) (s{namespace="$namespace"} + on() x{n="$namespace"})`}})
	a.says(`{"status":"success","data":{"resultType":"vector","result":[
		{"metric":{"pod":"a"},"value":[1773144000,"3"]},{"metric":{"pod":"b","namespace":"shop"},"value":[1773144000.0,"0.5"]},
		{"metric":{"pod":"a","namespace":"bar"},"value":[1773144000,"9"]},{"metric":{},"value":[1773144000,"9"]},{"metric":{"pod":"text"},"value":[1773144000,7]}]}}`)
	got, err := a.read("shop", values.Source{Query: "sessions"})
	isNumbers(t, got, err, map[string]float64{"a": 3, "b": .5})
	if query := a.requests[0].URL.Query().Get("query"); query != `sum by (pod) (s{namespace="shop"} + on() x{n="shop"})` || a.requests[0].URL.Path != "/api/v1/query" {
		t.Error(a.requests[0].URL)
	}
	a.fails("shop", values.Source{Query: "other"}, `the administrator of podrank-webhook has set no query "other"`)
	a.says(`{"status":"success","data":{"resultType":"scalar","result":[1773144000,"1"]}}`)
	a.fails("bar", values.Source{Query: "sessions"}, "no instant vector")
}

// Prometheus gets its own token and nothing of the API server's, and only over TLS.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	fakeapi.Must(t, os.WriteFile(file, []byte("secret"), 0o600))
	options := values.Options{Prometheus: "http://prometheus", Token: file, Queries: map[string]string{"a": "b"}}
	if _, err := values.NewReader(&rest.Config{Host: "https://api"}, options); err == nil || !strings.Contains(err.Error(), "https") {
		t.Error(err)
	}
	if _, err := values.NewReader(&rest.Config{Host: "https://api"}, values.Options{Queries: options.Queries}); err == nil {
		t.Error("queries without an address")
	}
	got := make(chan string, 2)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		// Over HTTP/2, it would share its connection with all else that is read from the API server.
		got <- r.Header.Get("Authorization") + " by " + r.Proto
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	ca := filepath.Join(t.TempDir(), "ca")
	fakeapi.Must(t, os.WriteFile(ca, pemOf(server), 0o600))
	options.Prometheus, options.CA = server.URL, ca
	reader, err := values.NewReader(&rest.Config{Host: server.URL, BearerToken: "of the account", TLSClientConfig: rest.TLSClientConfig{CAFile: ca}}, options)
	fakeapi.Must(t, err)
	for of, want := range map[values.Source]string{{Query: "a"}: "Bearer secret by HTTP/1.1", sessions: "Bearer of the account by HTTP/1.1"} {
		_, _ = reader.Read(context.Background(), "shop", of)
		select {
		case header := <-got:
			if header != want {
				t.Errorf("%+v: %q", of, header)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%+v: nobody asked", of)
		}
	}
}

// What an adapter does wrong is an error that says what, and never values.
func TestFailures(t *testing.T) {
	elsewhere := newAdapter(t, values.Options{})
	elsewhere.says(metrics([3]string{"shop", "a", "3"}))
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, metrics([3]string{"shop", "a", "3"}), code)
		}
	}
	text := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	for want, does := range map[string]http.HandlerFunc{
		"custom.metrics.k8s.io: it has no such metric, or is not installed": status(http.StatusNotFound),
		"podrank-webhook may not read it":                                   status(http.StatusForbidden),
		"the status is 429":                                                 status(http.StatusTooManyRequests),
		"the status is 503":                                                 status(http.StatusServiceUnavailable),
		"the status is 302": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		},
		"it did not answer in time": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"more than 4 MiB": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"items":[],"x":"`, strings.Repeat("x", 50<<20))
		},
		"the answer is not JSON, or not all of it came": text(`{"items":[`),
		"the answer has no list":                        text(`{"items":{}}`),
		"something else in its list":                    text(`{"items":[1]}`),
		"more than 10,000 values":                       text(`{"items":[` + strings.Repeat("{},", bounded.ValueRows) + `{}]}`),
		"it cannot be reached": func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := w.(http.Hijacker).Hijack()
			connection.Close()
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			a := newAdapter(t, values.Options{})
			a.does(does)
			a.TB = t
			began := time.Now()
			a.fails("shop", sessions, strings.ReplaceAll(want, "10,000", "10000"))
			if took := time.Since(began); took > time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
	t.Cleanup(func() {
		if asked := elsewhere.asked(); asked != nil {
			t.Errorf("a redirect was followed: %v", asked)
		}
	})
}

// An answer without end is cut off, whether it comes fast or slowly.
func TestEndless(t *testing.T) {
	for want, pause := range map[string]time.Duration{"more than 4 MiB": 0, "it did not answer in time": 50 * time.Millisecond} {
		a := newAdapter(t, values.Options{})
		ended := make(chan struct{})
		a.does(func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			for r.Context().Err() == nil {
				if _, err := fmt.Fprint(w, strings.Repeat(" ", 1<<10)); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(pause)
			}
		})
		a.fails("shop", sessions, want)
		select {
		case <-ended:
		case <-time.After(5 * time.Second):
			t.Error("the connection stays")
		}
	}
}

// Equal reads in one namespace within a second are one, as far as there is memory for what was read.
func TestShared(t *testing.T) {
	a := newAdapter(t, values.Options{})
	a.says(metrics([3]string{"shop", "a", "1"}))
	reads := func(namespace string, of values.Source, want int) {
		t.Helper()
		got, err := a.read(namespace, of)
		if fakeapi.Must(t, err); len(got) != 1 && namespace == "shop" {
			t.Errorf("%v", got)
		}
		if asked := a.asked(); len(asked) != want {
			t.Errorf("%d reads, not %d: %v", len(asked), want, asked)
		}
	}
	reads("shop", sessions, 1)
	reads("shop", sessions, 1)
	reads("bar", sessions, 2)
	reads("shop", values.Source{Metric: "active_sessions", Selector: "a=b"}, 3)
	reads("shop", sessions, 3)
	for i := range bounded.RecentValues {
		reads("shop", values.Source{Metric: fmt.Sprint("other_", i)}, 4+i)
	}
	reads("shop", sessions, 4+bounded.RecentValues)
	time.Sleep(bounded.ValuePause + 100*time.Millisecond)
	reads("shop", sessions, 5+bounded.RecentValues)
}

// Who has little time left waits only a part of it.
func TestPart(t *testing.T) {
	a := newAdapter(t, values.Options{})
	a.does(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, stop := context.WithTimeout(context.Background(), time.Second/2)
	defer stop()
	began := time.Now()
	if _, err := a.Read(ctx, "shop", sessions); err == nil || time.Since(began) > 300*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

// After three failures, nobody asks for 30 s, and then once. Other namespaces, metrics and APIs are asked all the same.
func TestRest(t *testing.T) {
	a := newAdapter(t, values.Options{})
	clock := fakeapi.Now
	a.SetClock(func() time.Time { return clock })
	a.says("broken")
	const rests = "the last 3 reads failed, so podrank-webhook does not ask for 30s"
	count := func(why string, want int) {
		t.Helper()
		a.fails("shop", sessions, why)
		if asked := a.asked(); len(asked) != want {
			t.Errorf("%d requests, not %d", len(asked), want)
		}
		clock = clock.Add(2 * time.Second)
	}
	for i := range 3 {
		count("not JSON", i+1)
	}
	count(rests, 3)
	a.fails("shop", values.Source{Metric: sessions.Metric, Selector: "a=b"}, rests)
	a.fails("bar", sessions, "not JSON")
	a.fails("shop", values.Source{Resource: "cpu"}, "not JSON")
	clock = clock.Add(bounded.ValueRest)
	count("not JSON", 6)
	count(rests, 6)
	clock = clock.Add(bounded.ValueRest)
	a.says(metrics([3]string{"shop", "a", "1"}))
	got, err := a.read("shop", sessions)
	isNumbers(t, got, err, map[string]float64{"a": 1})
	clock = clock.Add(2 * time.Second)
	if got, err = a.read("shop", sessions); err != nil {
		t.Error("one that works ends it")
	}
}

// An API that hangs delays no reads of another.
func TestHung(t *testing.T) {
	a := newAdapter(t, values.Options{})
	var hanging atomic.Int64
	a.does(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "custom") {
			hanging.Add(1)
			<-r.Context().Done()
		}
		fmt.Fprint(w, `{"items":[]}`)
	})
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { _, _ = a.read(fmt.Sprint("shop-", i), sessions) })
	}
	time.Sleep(100 * time.Millisecond)
	began := time.Now()
	if _, err := a.read("other", values.Source{Resource: "cpu"}); err != nil || time.Since(began) > 300*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(began))
	}
	if hanging.Load() != bounded.ValueReads {
		t.Errorf("%d at a time", hanging.Load())
	}
	all.Wait()
}

// pemOf is the certificate of a server.
func pemOf(server *httptest.Server) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
