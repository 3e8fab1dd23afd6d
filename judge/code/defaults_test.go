package judge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	featuregatetesting "k8s.io/component-base/featuregate/testing"
	appsdefaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	"k8s.io/kubernetes/pkg/features"
)

// What an object leaves out, the preview reads as the default that Kubernetes' own code gives it: it says the same of the object with
// and without its defaults.
func TestPreviewReadsKubernetesDefaults(t *testing.T) {
	p, err := newPreviewer(t)
	if err != nil {
		t.Fatal(err)
	}
	specs := []string{
		`{}`, `{"replicas": 10}`, `{"replicas": 10, "podManagementPolicy": "Parallel"}`, `{"strategy": {"type": "Recreate"}}`, `{"strategy": {"rollingUpdate": {"maxSurge": 2}}}`,
		`{"strategy": {"type": "RollingUpdate"}}`, `{"updateStrategy": {"type": "OnDelete"}}`,
		`{"updateStrategy": {"type": "RollingUpdate"}}`, `{"updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {}}}`,
		`{"podManagementPolicy": "Parallel"}`, `{"parallelism": 2}`, `{"completions": 2}`,
		`{"completions": 2, "completionMode": "Indexed"}`, `{"suspend": true}`,
	}
	for _, gate := range []bool{true, false} {
		featuregatetesting.SetFeatureGateDuringTest(t, utilfeature.DefaultFeatureGate, features.MaxUnavailableStatefulSet, gate)
		for _, spec := range specs {
			for _, failed := range []int{0, 7} {
				judgeDefaults(t, p, gate, spec, failed)
			}
		}
	}
}

// judgeDefaults asks about a workload of each kind with this spec, which has pods of an earlier revision.
func judgeDefaults(t *testing.T, p *previewer, gate bool, spec string, failed int) {
	object := func(into metav1.Object) {
		text := fmt.Sprintf(`{"metadata": {"namespace": "shop", "name": "web", "uid": "web"},
			"spec": {"selector": {"matchLabels": {"app": "web"}}}, "status": {"updateRevision": "web-2", "failed": %d}}`, failed)
		for _, text := range []string{text, `{"spec": ` + spec + `}`} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
	}
	var deployment appsv1.Deployment
	var statefulSet appsv1.StatefulSet
	var daemonSet appsv1.DaemonSet
	var job batchv1.Job
	object(&deployment)
	object(&statefulSet)
	object(&daemonSet)
	object(&job)
	labels := map[string]string{"app": "web"}
	deployment.Spec.Template.Labels = labels
	set := oldSet(&deployment, "web-1", 12)
	set.Spec.Template.Spec.Hostname = "old"
	revision := &appsv1.ControllerRevision{Revision: 1, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-2",
		Labels: map[string]string{appsv1.ControllerRevisionHashLabelKey: "2"}, OwnerReferences: owned(&daemonSet, daemonSetKind)}}
	ready := []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue, LastTransitionTime: at(0)}}
	var nodes []*v1.Node
	podsOf := func(owner metav1.Object, kind schema.GroupVersionKind) (pods []*v1.Pod) {
		nodes = nil
		for i := range 10 {
			name := fmt.Sprint("web-", i)
			nodes = append(nodes, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
			pods = append(pods, &v1.Pod{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: uid(i), Labels: labels, OwnerReferences: owned(owner, kind)},
				Spec:       v1.PodSpec{NodeName: name}, Status: v1.PodStatus{Phase: v1.PodRunning, Conditions: ready}})
		}
		return pods
	}
	says := func() map[string]string {
		said := map[string]string{}
		ask := func(kind, workload string, lists ...list) {
			answer, err := p.raw(question{Workload: workload, Now: at(time.Hour).Time, Partial: true,
				Gates: map[string]bool{string(features.MaxUnavailableStatefulSet): gate}}, lists...)
			if err != nil {
				t.Fatal(err)
			}
			said[kind] = string(answer)
		}
		ask("Deployment", "deploy/web", list{"apps/v1", "DeploymentList", []any{deployment}},
			list{"apps/v1", "ReplicaSetList", []any{set}})
		ask("StatefulSet", "sts/web", list{"apps/v1", "StatefulSetList", []any{statefulSet}},
			list{"v1", "PodList", podsOf(&statefulSet, statefulSetKind)})
		ask("DaemonSet", "ds/web", list{"v1", "PodList", podsOf(&daemonSet, daemonSetKind)}, list{"v1", "NodeList", nodes},
			list{"apps/v1", "DaemonSetList", []any{daemonSet}}, list{"apps/v1", "ControllerRevisionList", []any{revision}})
		ask("Job", "job/web", list{"batch/v1", "JobList", []any{job}}, list{"v1", "PodList", podsOf(&job, jobKind)})
		return said
	}
	before := says()
	appsdefaults.SetObjectDefaults_Deployment(&deployment)
	appsdefaults.SetObjectDefaults_StatefulSet(&statefulSet)
	appsdefaults.SetObjectDefaults_DaemonSet(&daemonSet)
	batchdefaults.SetObjectDefaults_Job(&job)
	for kind, after := range says() {
		if before[kind] != after || strings.HasPrefix(after, `[{"error":`) {
			t.Errorf("%s of %s, gate %t: without defaults %s\nwith %s", kind, spec, gate, before[kind], after)
		}
	}
}
