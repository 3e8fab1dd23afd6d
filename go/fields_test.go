package podrank

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
)

// These objects have the defaults that an API server sets.
func defaulted[T any](object T, text string) *T {
	if err := json.Unmarshal([]byte(`{"metadata": {"namespace": "shop", "name": "web"}, "spec": `+text+`, "status": {"updateRevision": "new"}}`), &object); err != nil {
		panic(err)
	}
	return &object
}

const (
	deploymentSpec = `{"replicas": 1, "template": {"spec": {"restartPolicy": "Always"}},
		"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}}}`
	statefulSetSpec = `{"replicas": 1, "podManagementPolicy": "OrderedReady",
		"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0, "maxUnavailable": 1}}}`
	daemonSetSpec = `{"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}`
	jobSpec       = `{"parallelism": 1, "completions": 1, "completionMode": "NonIndexed", "suspend": false, "backoffLimit": 6,
		"podReplacementPolicy": "Failed", "podFailurePolicy": {}, "template": {"spec": {"restartPolicy": "Never"}}}`
)

func defaultedDeployment() *appsv1.Deployment { return defaulted(appsv1.Deployment{}, deploymentSpec) }
func defaultedStatefulSet() *appsv1.StatefulSet {
	return defaulted(appsv1.StatefulSet{}, statefulSetSpec)
}
func defaultedDaemonSet() *appsv1.DaemonSet { return defaulted(appsv1.DaemonSet{}, daemonSetSpec) }
func defaultedJob() *batchv1.Job            { return defaulted(batchv1.Job{}, jobSpec) }

// predictions predict the sync of a workload with such a spec.
var predictions = map[string]struct {
	spec    string
	predict func(spec string) error
}{
	"Deployment": {deploymentSpec, func(spec string) error {
		_, err := NextDeployment(defaulted(appsv1.Deployment{}, spec), nil, nil)
		return err
	}},
	"StatefulSet": {statefulSetSpec, func(spec string) error {
		_, err := NextStatefulSet(defaulted(appsv1.StatefulSet{}, spec), nil, noon, StatefulSetGates{})
		return err
	}},
	"DaemonSet": {daemonSetSpec, func(spec string) error {
		_, err := NextDaemonSet(defaulted(appsv1.DaemonSet{}, spec), "new", nil, nil, noon)
		return err
	}},
	"Job": {jobSpec, func(spec string) error {
		_, err := NextJob(defaulted(batchv1.Job{}, spec), nil, noon)
		return err
	}},
}

// without returns the fields of an object, each with a copy of the object that lacks it.
func without(t *testing.T, object map[string]any, path string, whole func() map[string]any) map[string]map[string]any {
	copies := map[string]map[string]any{}
	for field, value := range object {
		full := whole()
		at := full
		for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' }) {
			at = at[step].(map[string]any)
		}
		delete(at, field)
		copies[path+field] = full
		if inner, ok := value.(map[string]any); ok {
			for field, full := range without(t, inner, path+field+".", whole) {
				copies[field] = full
			}
		}
	}
	return copies
}

// One rule for all workloads: an object that lacks a default is an error that names the first field that it lacks. A DaemonSet
// without a strategy type was once taken for one with OnDelete, which deletes nothing.
func TestAnObjectWithoutADefaultIsAnError(t *testing.T) {
	// Absent in some objects that an API server stores, too.
	optional := map[string]bool{
		"StatefulSet updateStrategy.rollingUpdate": true, "StatefulSet updateStrategy.rollingUpdate.maxUnavailable": true,
		"Job completions": true, "Job podFailurePolicy": true,
	}
	fields := 0
	for kind, c := range predictions {
		if err := c.predict(c.spec); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		whole := func() (object map[string]any) {
			if err := json.Unmarshal([]byte(c.spec), &object); err != nil {
				t.Fatal(err)
			}
			return object
		}
		for field, object := range without(t, whole(), "", whole) {
			fields++
			text, err := json.Marshal(object)
			if err != nil {
				t.Fatal(err)
			}
			err = c.predict(string(text))
			if optional[kind+" "+field] {
				if err != nil {
					t.Errorf("%s without %s: %v", kind, field, err)
				}
				continue
			}
			// Without a whole object, its first field is missing.
			want := "podrank: " + kind + " shop/web: spec." + strings.TrimSuffix(field, ".spec")
			if !errors.Is(err, ErrMissing) || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), " is missing") {
				t.Errorf("%s without %s: %v", kind, field, err)
			}
		}
		if err := c.predict("{}"); !errors.Is(err, ErrMissing) {
			t.Errorf("%s without defaults: %v", kind, err)
		}
	}
	if fields < 18 {
		t.Errorf("only %d fields", fields)
	}
}

// Nor is a value guessed that an API server rejects.
func TestAValueThatIsRejectedIsAnErrorThatNamesTheField(t *testing.T) {
	for _, c := range []struct {
		kind, old, new, want string
		is                   error
	}{
		{"Deployment", `"replicas": 1`, `"replicas": -1`, "spec.replicas is negative: -1", ErrOutOfRange},
		{"Deployment", `"type": "RollingUpdate"`, `"type": "Later"`, `spec.strategy.type "Later" is neither RollingUpdate nor Recreate`, nil},
		{"Deployment", `"maxSurge": "25%"`, `"maxSurge": -2`, "spec.strategy.rollingUpdate.maxSurge is negative: -2", ErrOutOfRange},
		{"Deployment", `"maxSurge": "25%"`, `"maxSurge": "3"`,
			`spec.strategy.rollingUpdate.maxSurge "3": podrank: the percentage does not end`, nil},
		{"Deployment", `"maxUnavailable": "25%"`, `"maxUnavailable": "x%"`,
			`spec.strategy.rollingUpdate.maxUnavailable "x%": podrank: the percentage has a byte`, nil},
		{"Deployment", `"maxUnavailable": "25%"`, `"maxUnavailable": -1`, "spec.strategy.rollingUpdate.maxUnavailable is negative: -1", ErrOutOfRange},
		{"Deployment", `"maxUnavailable": "25%"`, `"maxUnavailable": -2147483648`,
			"spec.strategy.rollingUpdate.maxUnavailable is negative: -2147483648", ErrOutOfRange},
		{"StatefulSet", `"replicas": 1`, `"replicas": -1`, "spec.replicas is negative: -1", ErrOutOfRange},
		{"StatefulSet", `"replicas": 1`, `"replicas": 1, "ordinals": {"start": -1}`, "spec.ordinals.start is negative: -1", ErrOutOfRange},
		{"StatefulSet", "OrderedReady", "Later", `spec.podManagementPolicy "Later" is neither OrderedReady nor Parallel`, nil},
		{"StatefulSet", `"partition": 0`, `"partition": -1`, "spec.updateStrategy.rollingUpdate.partition is negative: -1", ErrOutOfRange},
		{"StatefulSet", `"maxUnavailable": 1`, `"maxUnavailable": "3"`, `spec.updateStrategy.rollingUpdate.maxUnavailable "3": `, nil},
		{"StatefulSet", `"type": "RollingUpdate"`, `"type": "Later"`,
			`spec.updateStrategy.type "Later" is none of RollingUpdate, OnDelete and Recreate`, nil},
		{"DaemonSet", `"maxSurge": 0`, `"maxSurge": -1`, "spec.updateStrategy.rollingUpdate.maxSurge is negative: -1", ErrOutOfRange},
		{"DaemonSet", `"maxUnavailable": 1`, `"maxUnavailable": "3"`, `spec.updateStrategy.rollingUpdate.maxUnavailable "3": `, nil},
		{"DaemonSet", `"maxUnavailable": 1`, `"maxUnavailable": "x"`, `spec.updateStrategy.rollingUpdate.maxUnavailable "x": `, nil},
		{"DaemonSet", `"type": "RollingUpdate"`, `"type": "Later"`, `spec.updateStrategy.type "Later" is neither RollingUpdate nor OnDelete`, nil},
		{"Job", `"parallelism": 1`, `"parallelism": -1`, "spec.parallelism is negative: -1", ErrOutOfRange},
		{"Job", `"suspend": false`, `"suspend": false, "activeDeadlineSeconds": -1`, "spec.activeDeadlineSeconds is negative: -1", ErrOutOfRange},
		{"Job", `"completions": 1`, `"completions": -1`, "spec.completions is negative: -1", ErrOutOfRange},
		{"Job", `"completions": 1, "completionMode": "NonIndexed"`, `"completionMode": "Indexed"`,
			"spec.completions is missing, although spec.completionMode is Indexed", ErrMissing},
		{"Job", `"podFailurePolicy": {}`, `"podFailurePolicy": {"rules": [{"action": "FailJob", "onPodConditions": [{"type": "Ready"}]}]}`,
			"spec.podFailurePolicy.rules[0].onPodConditions[0].status is missing", ErrMissing},
	} {
		p := predictions[c.kind]
		spec := strings.Replace(p.spec, c.old, c.new, 1)
		err := p.predict(spec)
		if err == nil || spec == p.spec || !strings.HasPrefix(err.Error(), "podrank: "+c.kind+" shop/web: "+c.want) ||
			c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

// Without it, every pod would seem old.
func TestAStatefulSetWithoutUpdateRevisionIsAnError(t *testing.T) {
	set := defaultedStatefulSet()
	set.Status.UpdateRevision = ""
	_, err := NextStatefulSet(set, nil, noon, StatefulSetGates{})
	if !errors.Is(err, ErrMissing) || err.Error() != "podrank: StatefulSet shop/web: status.updateRevision is missing" {
		t.Error(err)
	}
}
