package judge

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	"k8s.io/kubernetes/pkg/features"

	podrank "github.com/podrank/podrank/go"
)

// The predictions refuse an object whose defaults are missing. They accept each one to which Kubernetes' own code has given its
// defaults, however little it said before.
func TestObjectsWithKubernetesDefaultsAreAccepted(t *testing.T) {
	specs := []string{
		`{}`, `{"replicas": 3}`, `{"strategy": {"type": "Recreate"}}`, `{"strategy": {"rollingUpdate": {"maxSurge": 2}}}`,
		`{"strategy": {"type": "RollingUpdate"}}`, `{"updateStrategy": {"type": "OnDelete"}}`,
		`{"updateStrategy": {"type": "RollingUpdate"}}`, `{"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}}}`,
		`{"podManagementPolicy": "Parallel"}`, `{"parallelism": 2}`, `{"completions": 2}`,
		`{"completions": 2, "completionMode": "Indexed"}`, `{"suspend": true}`,
	}
	for _, gate := range []bool{true, false} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MaxUnavailableStatefulSet, gate)
		for _, spec := range specs {
			object := func(into any) {
				if err := json.Unmarshal([]byte(`{"spec": `+spec+`}`), into); err != nil {
					t.Fatal(err)
				}
			}
			var deployment appsv1.Deployment
			var statefulSet appsv1.StatefulSet
			var daemonSet appsv1.DaemonSet
			var job batchv1.Job
			predict := func() map[string]error {
				errs := map[string]error{}
				_, errs["Deployment"] = podrank.NextDeployment(&deployment, nil, nil)
				_, errs["StatefulSet"] = podrank.NextStatefulSet(&statefulSet, nil, time.Now(), podrank.StatefulSetGates{})
				_, errs["DaemonSet"] = podrank.NextDaemonSet(&daemonSet, "", nil, nil, time.Now())
				_, errs["Job"] = podrank.NextJob(&job, nil, time.Now())
				return errs
			}
			object(&deployment)
			object(&statefulSet)
			statefulSet.Status.UpdateRevision = "web-1" // of its controller
			object(&daemonSet)
			object(&job)
			for kind, err := range predict() {
				complete := kind == "DaemonSet" && strings.Contains(spec, "OnDelete") // It has no other default.
				if !errors.Is(err, podrank.ErrMissing) && !complete {
					t.Errorf("%s of %s without defaults: %v", kind, spec, err)
				}
			}
			appsdefaults.SetObjectDefaults_Deployment(&deployment)
			appsdefaults.SetObjectDefaults_StatefulSet(&statefulSet)
			appsdefaults.SetObjectDefaults_DaemonSet(&daemonSet)
			batchdefaults.SetObjectDefaults_Job(&job)
			for kind, err := range predict() {
				if err != nil {
					t.Errorf("%s of %s with defaults: %v", kind, spec, err)
				}
			}
		}
	}
}
