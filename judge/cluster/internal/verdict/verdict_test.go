package verdict

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/podrank/podrank/judge/cluster/internal/preview"
)

var began = time.Unix(1_800_000_000, 0)

// dump has a ReplicaSet `a` of five pods a0 to a4, `b` of two, and a pod of nobody. All is old enough for no age to cross
// an edge.
func dump(t *testing.T) *preview.Dump {
	t.Helper()
	var items []string
	object := func(kind, name, owner, rest string) {
		items = append(items, fmt.Sprintf(`{"kind":%q,"metadata":{"name":%q,"uid":%q,
			"creationTimestamp":"2020-01-01T00:00:00Z","ownerReferences":[{"uid":%q,"controller":true}]}%s}`,
			kind, name, name, owner, rest))
	}
	for set, size := range map[string]int{"a": 5, "b": 2} {
		object("ReplicaSet", set, "", fmt.Sprintf(`,"spec":{"replicas":%d}`, size))
		for i := range size {
			object("Pod", fmt.Sprint(set, i), set, "")
		}
	}
	object("Pod", "stranger", "nobody", "")
	var dump preview.Dump
	if err := json.Unmarshal([]byte(`{"items":[`+strings.Join(items, ",")+`]}`), &dump); err != nil {
		t.Fatal(err)
	}
	return &dump
}

// inTurn is a preview in which pods are deleted by name, a0 first, and all are certain.
func inTurn(q *preview.Question) (*preview.Prediction, error) {
	var names []string
	for _, object := range q.Dump.Items {
		if object.IsActivePod() && "rs/"+object.Owner() == types.UID(q.Set) {
			names = append(names, object.Metadata.Name)
		}
	}
	slices.Sort(names)
	deletions := len(names) - int(q.Replicas)
	var pods []preview.Pod
	for i, name := range names {
		verdict := "kept"
		if i < deletions {
			verdict = "deleted"
		}
		pods = append(pods, pod(name, verdict))
	}
	return prediction(deletions, pods...), nil
}

func prediction(deletions int, pods ...preview.Pod) *preview.Prediction {
	number := int32(deletions)
	return &preview.Prediction{Deletions: preview.Bounds{Min: number, Max: number}, Groups: []preview.Group{{Pods: pods}}}
}

func pod(name, verdict string) preview.Pod {
	return preview.Pod{Name: name, UID: types.UID(name), Verdict: verdict}
}

// lost are the deleted pods, in this order, a millisecond apart.
func lost(names ...string) (lost []Gone) {
	for i, name := range names {
		lost = append(lost, Gone{types.UID(name), name, began.Add(time.Duration(i+1) * time.Millisecond)})
	}
	return lost
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name  string
		gone  []Gone
		to    int32
		wrong string // part of the error; right if empty
	}{
		{"the right ones", lost("a1", "a0"), 3, ""},
		{"another one", lost("a0", "a2"), 3, "is certain to go, and stayed"},
		{"too few", lost("a0"), 3, "2 pods should go, the preview says 2, and 1 went"},
		{"too many", lost("a0", "a1", "a2"), 3, "2 pods should go, the preview says 2, and 3 went"},
		{"of another set", lost("a0", "b0"), 4, "b0 was deleted, but is not a pod of rs/a"},
		{"a stranger's", lost("a0", "stranger"), 4, "stranger was deleted, but is not a pod of rs/a"},
		{"all", lost("a0", "a1", "a2", "a3", "a4"), 0, ""},
		{"a pod made later", lost("a0", "later"), 4, ""},
	} {
		_, err := Judge(&Run{"default", dump(t), "rs/a", c.to, began, c.gone}, inTurn)
		if c.wrong == "" && err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: want %q, got %v", c.name, c.wrong, err)
		}
	}
}

// A preview that is right at one of the possible moments is right.
func TestMomentsAreTried(t *testing.T) {
	crossing := dump(t)
	created := began.Add(time.Millisecond/2 - 1<<40)
	for i := range crossing.Items {
		crossing.Items[i].Metadata.Created = &created
	}
	for asked, right := range []bool{false, true, true, false} {
		questions := 0
		_, err := Judge(&Run{"default", crossing, "rs/a", 4, began, lost("a0")}, func(q *preview.Question) (*preview.Prediction, error) {
			if questions++; questions != asked {
				q.Replicas++
			}
			return inTurn(q)
		})
		if (err == nil) != right {
			t.Errorf("right at moment %d: %v", asked, err)
		}
	}
}

func TestCompare(t *testing.T) {
	predicted := prediction(2, pod("sure", "deleted"), pod("one", "possible"), pod("two", "possible"), pod("safe", "kept"))
	for gone, right := range map[string]bool{
		"sure one": true, "sure two": true, "one two": false, "sure safe": false, "sure": false, "sure one two": false,
		"sure unknown": false,
	} {
		var uids []types.UID
		for name := range strings.FieldsSeq(gone) {
			uids = append(uids, types.UID(name))
		}
		if err := Compare(predicted, 2, uids); (err == nil) != right {
			t.Errorf("%s: %v", gone, err)
		}
	}
}
