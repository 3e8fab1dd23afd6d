package verdict

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

// end is a preview in which Kubernetes deletes one of the two pods of `old` immediately and the other one once new pods are available, and
// one of two possible pods of `new`.
const end = `{
	"deletions": {"min": 2, "max": 2},
	"groups": [
		{"replicaSet": "old", "replicasAtEnd": {"min": 1, "max": 1},
			"pods": [{"name": "a", "uid": "a", "verdict": "deleted"}, {"name": "b", "uid": "b", "verdict": "waiting"}]},
		{"replicaSet": "new", "replicasAtEnd": {"min": 3, "max": 4},
			"pods": [{"name": "c", "uid": "c", "verdict": "possible"}, {"name": "d", "uid": "d", "verdict": "possible"},
			{"name": "e", "uid": "e", "verdict": "kept"}]}]
}`

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, gone string
		sizes      map[string]int32
		others     int32
		want       string // of the error; empty if nothing is wrong
	}{
		{"as said", "ac", nil, 0, ""},
		{"the other possible pod", "ad", nil, 0, ""},
		{"the other size", "ac", map[string]int32{"new": 4}, 0, ""},
		{"a certain pod stays", "cd", nil, 0, "a is certain to go, and stayed"},
		{"a later pod goes", "abc", nil, 0, "b has the verdict waiting, and went"},
		{"a safe pod goes", "ace", nil, 0, "e has the verdict kept, and went"},
		{"too few go", "a", nil, 0, "1 pods went"},
		{"too many go", "acd", nil, 0, "3 pods went"},
		{"an unknown pod goes", "acx", nil, 0, "the pod with the UID x went"},
		{"another size", "ac", map[string]int32{"old": 2}, 0, "old ends at 2"},
		{"a set that is not shown", "ac", map[string]int32{"other": 1}, 0, "other ends at 1"},
		{"an empty set that is not shown", "ac", map[string]int32{"other": 0}, 0, ""},
		{"a new set that is not shown", "ac", nil, 1, "a new set ends at 1"},
	} {
		var said preview.End
		if err := json.Unmarshal([]byte(end), &said); err != nil {
			t.Fatal(err)
		}
		arrival := &Arrival{Before: map[types.UID]bool{}, Sizes: map[string]int32{"old": 1, "new": 3}, Others: c.others}
		maps.Copy(arrival.Sizes, c.sizes)
		for _, uid := range "abcde" {
			arrival.Before[types.UID(uid)] = false
		}
		for _, uid := range c.gone {
			arrival.Before[types.UID(uid)] = true
		}
		err := JudgeEnd(&said, arrival)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := JudgeEnd(&preview.End{}, &Arrival{}); err == nil {
		t.Error("a preview without an end is right")
	}
}
