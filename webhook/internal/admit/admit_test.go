package admit

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/fakeapi"
	"github.com/podrank/podrank/webhook/internal/steer"
	"github.com/podrank/podrank/webhook/internal/workload"
)

// As many observed scale-downs as may wait keep none that was steered from being reported.
func TestReports(t *testing.T) {
	set, policy, pods := fakeapi.Shop(3)
	api := fakeapi.New(fakeapi.All(pods, set, policy)...)
	reporter, events := api.NewReporter()
	h := New(api.NewSteerer(func(context.Context) error { return nil }, fakeapi.Now), reporter, "podrank-system", time.Minute)
	if !h.observed.Hold("shop", bounded.Reports) || h.observed.Hold("shop", 1) {
		t.Fatal("not as many as may wait")
	}
	live := fakeapi.Read[appsv1.ReplicaSet](t, api, "web")
	h.Handle(context.Background(), steer.Request{
		UID: fakeapi.UID(5, 1), Kind: workload.ReplicaSet, Key: fakeapi.Key("web"), From: 3, To: 2, SetUID: live.UID, SetVersion: live.ResourceVersion,
	})
	if h.Wait(); len(events.Events) == 0 {
		t.Error("not reported")
	}
}

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
