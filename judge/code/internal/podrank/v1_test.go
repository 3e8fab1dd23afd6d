package podrank

import (
	"encoding/json"
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/judge/internal/vectors"
)

// The judge reads v1.Pods as tests/vectors/pods.json says, which every reader of them
// has to: a judge that misreads would compare other pods than upstream.
func TestPodsJSON(t *testing.T) {
	var cases []struct {
		Name     string
		Pod      json.RawMessage
		Record   *vectors.Record
		Inactive bool
		Error    string
	}
	if err := vectors.Read("pods.json", &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 40 {
		t.Errorf("only %d cases", len(cases))
	}
	for _, c := range cases {
		var pod v1.Pod
		if err := json.Unmarshal(c.Pod, &pod); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		got, err := FromV1(&pod, Nodes{})
		switch {
		case c.Inactive:
			if err == nil && pod.DeletionTimestamp == nil { // which FromV1 leaves to the caller
				t.Errorf("%s: no error", c.Name)
			}
		case c.Record == nil:
			if err == nil {
				t.Errorf("%s: no error", c.Name)
			}
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		default:
			if want := direct(t, *c.Record); got != want {
				t.Errorf("%s: got %+v, want %+v", c.Name, got, want)
			}
		}
	}
}

// A record and the pod made of it are the same to podrank.
func TestRecordsBecomePods(t *testing.T) {
	for name, r := range vectors.Upstream("").Pods {
		got, err := FromV1(r.V1(), Nodes{})
		got.Rank = uint32(r.Rank)
		if want := direct(t, r); err != nil || got != want {
			t.Errorf("%s: %v, got %+v, want %+v", name, err, got, want)
		}
	}
}

// direct is the record without a v1.Pod in between.
func direct(t *testing.T, r vectors.Record) Pod {
	uid, err := r.UIDBytes()
	if err != nil {
		t.Fatal(err)
	}
	at := func(n *vectors.Nanos) int64 {
		if n == nil {
			return core.TimeUnset
		}
		return int64(*n)
	}
	flag := func(on bool, flag uint8) uint8 {
		if on {
			return flag
		}
		return 0
	}
	return Pod{
		UID: uid, ReadyTime: at(r.ReadyTime), CreationTime: at(r.CreationTime), DeletionCost: r.DeletionCost,
		Rank: uint32(r.Rank), Restarts: uint32(r.Restarts), SidecarRestarts: uint32(r.SidecarRestarts), Phase: r.Phase,
		Flags: flag(r.Assigned, core.PodAssigned) | flag(r.Ready, core.PodReady) | flag(r.Preferred, core.PodPreferred),
	}
}
