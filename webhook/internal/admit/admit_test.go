package admit

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A Deployment that changes its own count writes it into each of its sets. A step of a rollout, and whoever scales a set, do not.
func TestIsScale(t *testing.T) {
	object := func(count int, annotations string) runtime.RawExtension {
		return runtime.RawExtension{Raw: fmt.Appendf(nil, `{"metadata":{"uid":"set","resourceVersion":"7","annotations":%s},"spec":{"replicas":%d}}`, annotations, count)}
	}
	const desired, most = "deployment.kubernetes.io/desired-replicas", "deployment.kubernetes.io/max-replicas"
	for _, test := range []struct {
		before, after string
		want          bool
	}{
		{fmt.Sprintf(`{%q:"10"}`, desired), fmt.Sprintf(`{%q:"6"}`, desired), true},
		{fmt.Sprintf(`{%q:"10"}`, desired), fmt.Sprintf(`{%q:"10"}`, desired), false},
		// It follows maxSurge.
		{fmt.Sprintf(`{%q:"10",%q:"13"}`, desired, most), fmt.Sprintf(`{%q:"10",%q:"12"}`, desired, most), false},
		{"null", "null", false},
	} {
		request, err := parse(&admissionv1.AdmissionRequest{
			UID: "6d3c2e1f-0000-4000-8000-000000000001", Operation: admissionv1.Update, Namespace: "shop", Name: "web",
			Resource:  metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"},
			OldObject: object(9, test.before), Object: object(5, test.after),
		})
		if err != nil || request.IsScale != test.want {
			t.Errorf("%s, %s: %+v, %v", test.before, test.after, request, err)
		}
		if request.Set != "set" || request.Version != "7" || request.From != 9 || request.To != 5 {
			t.Errorf("%+v", request)
		}
	}
}
