package admit

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/podrank/podrank/webhook/internal/workload"

	"github.com/podrank/podrank/webhook/internal/fakeapi"
)

// A Deployment that changes its own count writes it into each of its sets. A step of a rollout, and anyone who scales a set, do not.
func TestIsScale(t *testing.T) {
	const desired, most = workload.Desired, "deployment.kubernetes.io/max-replicas"
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
		object := func(count int, annotations string) string {
			return fmt.Sprintf(`{"metadata":{"uid":"set","resourceVersion":"7","annotations":%s},"spec":{"replicas":%d}}`, annotations, count)
		}
		text := fmt.Sprintf(`{"operation":"UPDATE","namespace":"shop","name":"web","resource":{"resource":"replicasets"},"oldObject":%s,"object":%s}`,
			object(9, test.before), object(5, test.after))
		var read request
		fakeapi.Must(t, json.Unmarshal([]byte(text), &read))
		request, ok := read.parse()
		if !ok || request.IsScale != test.want {
			t.Errorf("%s, %s: %+v, %v", test.before, test.after, request, ok)
		}
		if request.SetUID != "set" || request.SetVersion != "7" || request.From != 9 || request.To != 5 {
			t.Errorf("%+v", request)
		}
	}
}
