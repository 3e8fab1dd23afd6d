package preview

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// EndQuestion is what the preview is asked of the Deployment `web`: where do its syncs lead?
type EndQuestion struct {
	Dump   *Dump
	Count  *int32 // what it is scaled to; nil if it keeps its count
	Now    time.Time
	Within string // by how much the controllers may decide earlier and later
}

// Bounds are the least and the most.
type Bounds struct{ Min, Max int32 }

// Has says whether a number is within them.
func (b Bounds) Has(number int) bool { return int(b.Min) <= number && number <= int(b.Max) }

// End is the preview's answer.
type End struct {
	Notes     []Note     `json:"notes"`
	Deletions *Bounds    `json:"deletions"`
	Steps     []struct{} `json:"steps"`
	Groups    []EndOf    `json:"groups"`
}

// Note is a note of the preview.
type Note struct{ Code, Text string }

// Has says whether there is a note of this code.
func (e *End) Has(code string) bool {
	return slices.ContainsFunc(e.Notes, func(note Note) bool { return note.Code == code })
}

// EndOf is the end of one set.
type EndOf struct {
	ReplicaSet    *string `json:"replicaSet"`
	ReplicasAtEnd Bounds  `json:"replicasAtEnd"`
	Pods          []Pod   `json:"pods"`
}

// AskEnd runs the preview.
func (p Program) AskEnd(ctx context.Context, q *EndQuestion) (*End, error) {
	goal := []string{"--rollout"}
	if q.Count != nil {
		goal = []string{"--replicas", fmt.Sprint(*q.Count)}
	}
	arguments := append(goal, "deploy/web", "--now", q.Now.UTC().Format(time.RFC3339Nano), "--within", q.Within)
	var end End
	return &end, p.AskInto(ctx, List(q.Dump.Items), &end, arguments...)
}

// Merged is the dump with one object changed by a merge patch.
func (d *Dump) Merged(kind, name string, patch map[string]any) *Dump {
	merged := &Dump{slices.Clone(d.Items)}
	for i := range merged.Items {
		if o := &merged.Items[i]; o.Kind == kind && o.Metadata.Name == name {
			must.Do(o.UnmarshalJSON(must.Get(jsonpatch.MergePatch(o.Raw, must.Get(json.Marshal(patch))))))
		}
	}
	return merged
}
