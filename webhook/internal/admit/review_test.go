package admit_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"

	"github.com/podrank/podrank/webhook/internal/admit"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// Only what an API server may have written is passed on, and nothing of the rest is returned.
func TestReviews(t *testing.T) {
	const uid = "6d3c2e1f-0000-4000-8000-000000000001"
	long := strings.Repeat("<", 300)
	handler := admit.Reviews(serve(t, time.Now()).Handler)
	post := func(body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		return w
	}
	review := func(change func(review, request map[string]any)) string {
		request := map[string]any{
			"uid": uid, "name": "web", "namespace": "shop", "operation": "UPDATE", "resource": map[string]any{"group": "apps", "version": "v1", "resource": "replicasets"},
			"object": map[string]any{"a": long}, "oldObject": map[string]any{"metadata": map[string]any{"uid": "1", "resourceVersion": "2"}},
		}
		all := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
		change(all, request)
		text, err := json.Marshal(all)
		fakeapi.Must(t, err)
		return string(text)
	}
	for what, change := range map[string]func(request map[string]any){
		"a fall":           func(map[string]any) {},
		"a deletion":       func(request map[string]any) { request["operation"] = "DELETE" },
		"another resource": func(request map[string]any) { request["resource"].(map[string]any)["resource"] = "deployments" },
		"a subresource":    func(request map[string]any) { request["subResource"] = "status" },
	} {
		w := post(review(func(_, request map[string]any) { change(request) }))
		var answer admissionv1.AdmissionReview
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d: %s, %v", what, w.Code, w.Body, err)
		}
		if r := answer.Response; answer.Kind != "AdmissionReview" || answer.APIVersion != "admission.k8s.io/v1" || r == nil || r.UID != uid || !r.Allowed {
			t.Errorf("%s: %s", what, w.Body)
		}
	}
	old := func(request map[string]any) map[string]any {
		return request["oldObject"].(map[string]any)["metadata"].(map[string]any)
	}
	for what, body := range map[string]string{
		"nothing": "", "no JSON": "<<<", "no request": `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`,
		"another kind":     review(func(review, _ map[string]any) { review["kind"] = long }),
		"another version":  review(func(review, _ map[string]any) { review["apiVersion"] = "admission.k8s.io/v1beta1" }),
		"a UID":            review(func(_, request map[string]any) { request["uid"] = long }),
		"no UID":           review(func(_, request map[string]any) { delete(request, "uid") }),
		"a UID in braces":  review(func(_, request map[string]any) { request["uid"] = "{" + uid + "}" }),
		"a name":           review(func(_, request map[string]any) { request["name"] = long }),
		"a namespace":      review(func(_, request map[string]any) { request["namespace"] = long }),
		"an operation":     review(func(_, request map[string]any) { request["operation"] = long }),
		"a subresource":    review(func(_, request map[string]any) { request["subResource"] = long }),
		"a resource":       review(func(_, request map[string]any) { request["resource"].(map[string]any)["resource"] = long }),
		"a set":            review(func(_, request map[string]any) { old(request)["uid"] = long }),
		"a version":        review(func(_, request map[string]any) { old(request)["resourceVersion"] = long }),
		"another spelling": strings.ReplaceAll(review(func(_, _ map[string]any) {}), `"uid":"6`, `"UID":"6`),
	} {
		if w := post(body); w.Code != http.StatusBadRequest || w.Body.Len() > 100 || strings.Contains(w.Body.String(), "<") {
			t.Errorf("%s: %d: %s", what, w.Code, w.Body)
		}
	}
}

// A request that is short when it is sent does not take much memory when it is decoded.
func TestBombs(t *testing.T) {
	handler := admit.Reviews(serve(t, time.Now()).Handler)
	const size = 1 << 20
	zeros := "[" + strings.Repeat("0,", size/2) + "0]"
	empty := "[" + strings.Repeat("{},", size/3) + "{}]"
	for what, body := range map[string]string{
		"causes":      `{"response":{"status":{"details":{"causes":` + zeros + `}}}}`,
		"empty":       `{"response":{"status":{"details":{"causes":` + empty + `}}}}`,
		"groups":      `{"request":{"userInfo":{"groups":` + zeros + `}}}`,
		"owners":      `{"request":{"object":{"metadata":{"ownerReferences":` + empty + `}}}}`,
		"annotations": `{"request":{"object":{"metadata":{"annotations":` + zeros + `}}}}`,
		"labels":      `{"request":{"oldObject":{"metadata":{"annotations":{` + strings.TrimSuffix(strings.Repeat(`"a":"",`, size/7), ",") + `}}}}}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		runtime.ReadMemStats(&after)
		// All that was ever allocated, not at a time.
		if took := after.TotalAlloc - before.TotalAlloc; took > 4*size {
			t.Errorf("%s: %d bytes take %d", what, len(body), took)
		}
	}
}

// What follows answers is bounded: each remembers pods, and anyone who forges requests can have many of them wait to be reported.
func TestFewReports(t *testing.T) {
	set, policy, pods := fakeapi.Shop(6)
	pods[0].Annotations = map[string]string{corev1.PodDeletionCost: "-2147483648"}
	fakeapi.Manage(pods[0], "somebody", corev1.PodDeletionCost)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"lifecycle": "spot"}}}
	s := serve(t, fakeapi.Now, fakeapi.All(pods, set, policy, node)...)
	recorder := events.NewFakeRecorder(10)
	s.Reporter.Events = recorder
	var told atomic.Int64
	s.Reporter.Log = funcr.New(func(_, line string) {
		if strings.Contains(line, `"msg"="decision"`) {
			told.Add(1)
		}
	}, funcr.Options{})
	now := fakeapi.Read[appsv1.ReplicaSet](t, s.API, "web")
	for i := range 80 {
		// Each is another scale-down.
		now.Generation++
		fakeapi.Must(t, s.Update(context.Background(), now))
		audit := s.Handle(context.Background(), steer.Request{
			UID: fakeapi.UID(5, i), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 6, To: 3, SetUID: now.UID, SetVersion: now.ResourceVersion,
		})
		if audit["result"] != string(steer.NoRoom) {
			t.Fatal(audit)
		}
		time.Sleep(time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if got := told.Load(); got != 80 {
		t.Errorf("%d are in the log", got)
	}
	ended := make(chan struct{})
	go func() {
		s.Wait()
		close(ended)
	}()
	count := 0
	for isOver := false; !isOver; {
		select {
		case <-recorder.Events:
			count++
		case <-ended:
			isOver = true
		}
	}
	// Five requests have been reported, in two events each, and 50 waited, because nobody took their events.
	if count += len(recorder.Events); count != 110 {
		t.Errorf("%d events", count)
	}
}
