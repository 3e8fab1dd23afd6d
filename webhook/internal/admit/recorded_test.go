package admit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/api/v1alpha1"
	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	guard "github.com/podrank/podrank/webhook/internal/serve"
	"github.com/podrank/podrank/webhook/internal/steer"
)

func open(context.Context) error { return nil }

// server answers requests as the program does, with everything but a cluster.
type server struct {
	*fakeapi.API
	*admit.Handler
	http *httptest.Server
}

func serve(t *testing.T, now time.Time, objects ...client.Object) *server {
	t.Helper()
	s := &server{API: fakeapi.New(objects...)}
	reporter, _ := s.NewReporter()
	s.Handler = admit.New(s.NewSteerer(open, now), reporter, "", time.Minute)
	s.http = httptest.NewServer(guard.Guard(admit.Reviews(s.Handler)))
	t.Cleanup(s.http.Close)
	return s
}

// ask sends a review and returns the answer, and when all that follows it is done.
func (s *server) ask(t *testing.T, review []byte) *admissionv1.AdmissionResponse {
	t.Helper()
	response, err := http.Post(s.http.URL, "application/json", bytes.NewReader(review))
	fakeapi.Must(t, err)
	defer response.Body.Close()
	defer s.Wait()
	var answer admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Response == nil {
		t.Fatalf("no answer: %v", err)
	}
	return answer.Response
}

// TestRecorded: a recorded request leads to the recorded costs, and the pods that should be deleted are those that Kubernetes deleted.
func TestRecorded(t *testing.T) {
	cases, err := fakeapi.ReadCases("testdata")
	fakeapi.Must(t, err)
	if len(cases) < 8 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s := serve(t, c.Now, read(t, c)...)
			answer := s.ask(t, c.Review)
			if !answer.Allowed {
				t.Fatalf("refused: %+v", answer.Result)
			}
			if audit := answer.AuditAnnotations; audit["result"] != c.Result && c.Result != "" ||
				c.Result == string(steer.Steered) && audit["request"] != string(request(t, c).UID) {
				t.Errorf("audit annotations: %v", audit)
			}
			costs := map[string]string{}
			for _, write := range s.Written() {
				costs[write.Name] = write.Annotations[corev1.PodDeletionCost]
			}
			if !maps.Equal(costs, c.Costs) {
				t.Errorf("costs: %v, not %v", costs, c.Costs)
			}
			deleted := s.selected(t)
			slices.Sort(deleted)
			slices.Sort(c.Deleted)
			if c.Result == string(steer.Steered) && !slices.Equal(deleted, c.Deleted) {
				t.Errorf("selected %v, but %v went", deleted, c.Deleted)
			}
			var policies v1alpha1.ScaleDownPolicyList
			fakeapi.Must(t, s.List(context.Background(), &policies))
			result := ""
			if all := policies.Items[0].Status.Workloads; len(all) > 0 {
				result = all[0].LastScaleDown.Result
			}
			if result != c.Result {
				t.Errorf("result %q, not %q", result, c.Result)
			}
		})
	}
}

// A request is not steered if the API server no longer waits.
func TestEnds(t *testing.T) {
	cases, err := fakeapi.ReadCases("testdata")
	fakeapi.Must(t, err)
	c := cases[slices.IndexFunc(cases, func(c *fakeapi.Case) bool { return c.Name == "deployment-spot" })]
	for _, ends := range []bool{false, true} {
		s := serve(t, c.Now, read(t, c)...)
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		s.Steerer.Barrier = func(ctx context.Context) error {
			if ends {
				stop()
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
			return ctx.Err()
		}
		w := httptest.NewRecorder()
		admit.Reviews(s.Handler).ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(c.Review)))
		if w.Code != http.StatusOK {
			t.Errorf("%d: %s", w.Code, w.Body)
		}
		s.Wait()
		if ok := strings.Contains(w.Body.String(), `"result":"Steered"`); ok == ends {
			t.Errorf("the API server no longer waits: %t, steered: %t", ends, ok)
		}
	}
}

// selected are the pods whose annotations say that they should be deleted.
func (s *server) selected(t *testing.T) (selected []types.UID) {
	t.Helper()
	var pods corev1.PodList
	fakeapi.Must(t, s.List(context.Background(), &pods))
	for _, pod := range pods.Items {
		if steered, ok := cost.SteeredOf(&pod); ok && steered.Selected {
			selected = append(selected, pod.UID)
		}
	}
	return selected
}

// read decodes the objects of a case.
func read(t *testing.T, c *fakeapi.Case) (objects []client.Object) {
	t.Helper()
	decoder := serializer.NewCodecFactory(fakeapi.Scheme()).UniversalDeserializer()
	for _, text := range c.Objects {
		object, _, err := decoder.Decode(text, nil, nil)
		fakeapi.Must(t, err)
		objects = append(objects, object.(client.Object))
	}
	return objects
}

func request(t *testing.T, c *fakeapi.Case) *admissionv1.AdmissionRequest {
	t.Helper()
	var review admissionv1.AdmissionReview
	fakeapi.Must(t, json.Unmarshal(c.Review, &review))
	return review.Request
}
