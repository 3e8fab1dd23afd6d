package record

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/must"
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
	e := &End{round, kind, question.Count, question.Now.UTC(), nil, arrival.Sizes, arrival.Others, nil}
	for uid, gone := range arrival.Before {
		if gone {
			e.Gone = append(e.Gone, uid)
		}
	}
	slices.Sort(e.Gone)
	for _, item := range question.Items {
		var whole map[string]any
		must.Do(json.Unmarshal(must.Get(json.Marshal(item)), &whole))
		kind, _ := whole["kind"].(string)
		prune(whole, "", slices.Concat(kept[""], kept[kind], ofEnds[kind]))
		e.Items = append(e.Items, whole)
	}
	return e
}

// ReadEnds reads cases, a line of JSON each, and returns them in the order of their rounds. Of a round that was played again, the last
// cases count.
func ReadEnds(file io.ReadSeeker) []*End {
	must.Get(file.Seek(0, io.SeekStart))
	ofRounds, last := map[int][]*End{}, 0
	for decoder := json.NewDecoder(file); decoder.More(); {
		var e End
		must.Do(decoder.Decode(&e))
		if e.Round != last {
			ofRounds[e.Round] = nil
		}
		last = e.Round
		ofRounds[e.Round] = append(ofRounds[e.Round], &e)
	}
	var all []*End
	for _, round := range slices.Sorted(maps.Keys(ofRounds)) {
		all = append(all, ofRounds[round]...)
	}
	return all
}

// ofEnds is what is kept besides.
var ofEnds = map[string][]string{
	"ReplicaSet": {".metadata.annotations", ".metadata.generation", ".spec.template.metadata", ".spec.minReadySeconds", ".status.availableReplicas",
		".status.observedGeneration"},
	"Deployment": {".metadata.generation", ".spec.template.metadata", ".spec.minReadySeconds", ".status.observedGeneration"},
}
