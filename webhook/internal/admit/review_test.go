package admit_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/podrank/podrank/webhook/internal/admit"
)

// Only what an API server may have written is passed on, and nothing of the rest is returned.
func TestReviews(t *testing.T) {
	const uid = "6d3c2e1f-0000-4000-8000-000000000001"
	long := strings.Repeat("<", 300)
	var got *admissionv1.AdmissionRequest
	handler := admit.Reviews(admission.HandlerFunc(func(_ context.Context, request admission.Request) admission.Response {
		got = &request.AdmissionRequest
		answer := admission.Allowed("")
		answer.AuditAnnotations = map[string]string{"result": "Steered"}
		return answer
	}))
	post := func(body string) *httptest.ResponseRecorder {
		got = nil
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		return w
	}
	review := func(change func(review, request map[string]any)) string {
		request := map[string]any{
			"uid": uid, "name": "web", "namespace": "shop", "operation": "UPDATE", "resource": map[string]any{"group": "apps", "version": "v1", "resource": "replicasets"},
			"object": map[string]any{"a": long},
		}
		all := map[string]any{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
		change(all, request)
		text, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	w := post(review(func(_, _ map[string]any) {}))
	var answer admissionv1.AdmissionReview
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || got == nil || got.Name != "web" || got.Resource.Resource != "replicasets" {
		t.Fatalf("%d: %s, %+v, %v", w.Code, w.Body, got, err)
	}
	if r := answer.Response; answer.Kind != "AdmissionReview" || answer.APIVersion != "admission.k8s.io/v1" || r == nil || r.UID != uid || !r.Allowed || r.AuditAnnotations["result"] != "Steered" {
		t.Errorf("%s", w.Body)
	}
	for what, body := range map[string]string{
		"nothing": "", "no JSON": "<<<", "no request": `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`,
		"another kind":     review(func(review, _ map[string]any) { review["kind"] = long }),
		"another version":  review(func(review, _ map[string]any) { review["apiVersion"] = "admission.k8s.io/v1beta1" }),
		"a UID":            review(func(_, request map[string]any) { request["uid"] = long }),
		"a name":           review(func(_, request map[string]any) { request["name"] = long }),
		"a namespace":      review(func(_, request map[string]any) { request["namespace"] = long }),
		"an operation":     review(func(_, request map[string]any) { request["operation"] = long }),
		"a subresource":    review(func(_, request map[string]any) { request["subResource"] = long }),
		"a resource":       review(func(_, request map[string]any) { request["resource"].(map[string]any)["resource"] = long }),
		"another spelling": strings.ReplaceAll(review(func(_, _ map[string]any) {}), `"uid"`, `"UID"`),
	} {
		if w := post(body); w.Code != http.StatusBadRequest || w.Body.Len() > 100 || strings.Contains(w.Body.String(), "<") || got != nil {
			t.Errorf("%s: %d: %s", what, w.Code, w.Body)
		}
	}
}
