// Package record reduces judged rounds to what the preview reads, as one JSON line for each set that lost pods.
package record

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/must"
	"github.com/podrank/podrank/judge/cluster/internal/preview"
	"github.com/podrank/podrank/judge/cluster/internal/verdict"
)

// Case is one set before a scale-down, and the deleted pods.
type Case struct {
	Round    int              `json:"round"`
	Kind     string           `json:"kind"`
	Set      string           `json:"set"`
	Replicas int32            `json:"replicas"`
	Now      time.Time        `json:"now"`
	Victims  []types.UID      `json:"victims"`
	Items    []map[string]any `json:"items"`
}

// Of makes the case of an outcome that leaves nothing open.
func Of(round int, kind string, run *verdict.Run, outcome *verdict.Outcome) *Case {
	return &Case{round, kind, run.Set, run.Replicas, outcome.Now.UTC(), outcome.Gone, reduce(run.Dump, nil)}
}

// reduce returns the objects with what is kept, and with further paths of each kind.
func reduce(dump *preview.Dump, further map[string][]string) (items []map[string]any) {
	for _, object := range dump.Items {
		var whole map[string]any
		must.Do(json.Unmarshal(object.Raw, &whole))
		prune(whole, "", slices.Concat(kept[""], kept[object.Kind], further[object.Kind]))
		items = append(items, whole)
	}
	return items
}

// kept are the paths of the fields that are kept of each kind, with everything below them. A path does not name lists.
var kept = map[string][]string{
	"": {
		".apiVersion", ".kind", ".metadata.name", ".metadata.namespace", ".metadata.uid", ".metadata.labels",
		".metadata.creationTimestamp", ".metadata.deletionTimestamp", ".metadata.ownerReferences",
	},
	"Pod": {
		".metadata.annotations." + corev1.PodDeletionCost, ".spec.nodeName", ".spec.initContainers.name",
		".spec.initContainers.restartPolicy", ".status.phase", ".status.conditions.type", ".status.conditions.status",
		".status.conditions.lastTransitionTime", ".status.containerStatuses.restartCount",
		".status.containerStatuses.name", ".status.initContainerStatuses.restartCount",
		".status.initContainerStatuses.name",
	},
	"ReplicaSet":            {".spec.replicas", ".spec.selector", ".status.replicas"},
	"ReplicationController": {".spec.replicas", ".spec.selector", ".status.replicas"},
	"Deployment":            {".spec.replicas", ".spec.selector", ".spec.paused", ".spec.strategy", ".status.replicas"},
}

func prune(value any, path string, kept []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			at := path + "." + key
			stays := func(p string) bool {
				return p == at || strings.HasPrefix(p, at+".") || strings.HasPrefix(at, p+".")
			}
			if slices.ContainsFunc(kept, stays) {
				prune(inner, at, kept)
			} else {
				delete(value, key)
			}
		}
	case []any:
		for _, inner := range value {
			prune(inner, path, kept)
		}
	}
}
