package record

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// End is a Deployment, and where its controllers came to rest.
type End struct {
	Round    int              `json:"round"`
	Kind     string           `json:"kind"`
	Replicas *int32           `json:"replicas"`
	Now      time.Time        `json:"now"`
	Gone     []types.UID      `json:"gone"`
	Sizes    map[string]int32 `json:"sizes"`
	Others   int32            `json:"others"`
	Items    []map[string]any `json:"items"`
}

// EndOf makes the case of where some objects led.
func EndOf(round int, kind string, question *preview.EndQuestion, arrival *verdict.Arrival) *End {
	e := &End{round, kind, question.Count, question.Now.UTC(), nil, arrival.Sizes, arrival.Others, reduce(question.Dump, ofEnds)}
	for uid, gone := range arrival.Before {
		if gone {
			e.Gone = append(e.Gone, uid)
		}
	}
	slices.Sort(e.Gone)
	return e
}

// ofEnds are more paths of fields that are kept, for rounds of ends.
var ofEnds = map[string][]string{
	"ReplicaSet": {".metadata.annotations", ".metadata.generation", ".spec.template.metadata", ".spec.minReadySeconds", ".status.availableReplicas",
		".status.observedGeneration"},
	"Deployment": {".metadata.generation", ".spec.template.metadata", ".spec.minReadySeconds", ".status.observedGeneration"},
}
