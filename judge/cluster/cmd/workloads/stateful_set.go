package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podrank/podrank/judge/cluster/internal/must"
)

// A statefulSet is scaled or updated, or both, while some of its pods are broken.
type statefulSet struct {
	*round
	size     int32
	policy   appsv1.PodManagementPolicyType
	isUpdate bool
	// What the trigger sets.
	replicas, partition int32
}

func (s *statefulSet) types() string { return "pods,statefulsets" }

func (s *statefulSet) prepare(ctx context.Context) {
	s.size = 2 + s.r.Int32N(4)
	s.create(ctx)
	if s.isUpdate = s.r.IntN(2) == 0; s.isUpdate {
		// The partition keeps the controller from updating any pod yet.
		s.patch(ctx, fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"db:2"}]}}}}`, s.name))
		s.settle(ctx)
	}
	s.breakPods(ctx)
	s.settle(ctx)
}

// create makes a StatefulSet whose pods are all ready.
func (s *statefulSet) create(ctx context.Context) {
	labels := map[string]string{"app": s.name}
	unavailable := pick(s.r, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%"))
	partition := s.size
	s.policy = pick(s.r, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement)
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Namespace: s.namespace},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &s.size, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: s.name,
			PodManagementPolicy: s.policy,
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &unavailable},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: []string{finalizer}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: s.name, Image: "db:1"}}},
			},
		},
	}
	if s.r.IntN(3) == 0 {
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: pick(s.r, int32(1), 3, 8)}
	}
	s.Plane.Create(ctx, set)
	for ready := int32(0); ready < s.size; sleep(ctx, quiet/20) {
		ready = 0
		for _, pod := range s.pods(ctx) {
			if pod.Status.Phase == corev1.PodRunning {
				ready++
			} else {
				s.give(ctx, pod, corev1.PodRunning, corev1.ConditionTrue)
			}
		}
	}
	s.settle(ctx)
}

// breakPods makes some pods unready, pending or terminating, and if it is an update, some new.
func (s *statefulSet) breakPods(ctx context.Context) {
	newest, _, err := unstructured.NestedString(s.get(ctx).Object, "status", "updateRevision")
	must.Do(err)
	pods := s.podsByName(ctx)
	share := pick(s.r, 0, 0, 15, 40)
	for i := range pods {
		pod := &pods[i]
		if s.isUpdate && s.r.IntN(4) == 0 {
			s.label(ctx, pod, appsv1.StatefulSetRevisionLabel, newest)
		}
		if s.r.IntN(100) >= share {
			continue
		}
		switch s.r.IntN(4) {
		case 0, 1:
			s.give(ctx, pod, corev1.PodRunning, corev1.ConditionFalse)
		case 2:
			s.give(ctx, pod, corev1.PodPending, corev1.ConditionFalse)
		case 3:
			must.Do(s.Plane.Of("pods", s.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{}))
		}
	}
}

func (s *statefulSet) question(items []map[string]any) question {
	s.replicas, s.partition = s.size, s.size
	if !s.isUpdate || s.r.IntN(3) == 0 {
		s.replicas = s.r.Int32N(s.size + 1)
	}
	if s.isUpdate {
		s.partition = s.r.Int32N(s.size)
	}
	for _, item := range items {
		if item["kind"] == "StatefulSet" {
			spec := item["spec"].(map[string]any)
			spec["updateStrategy"].(map[string]any)["rollingUpdate"].(map[string]any)["partition"] = s.partition
			delete(spec, "template")
		}
	}
	kind := fmt.Sprintf("StatefulSet, %s, scaled %t, updated %t", s.policy, s.replicas < s.size, s.isUpdate)
	return question{Kind: kind, Workload: "sts/" + s.name, Replicas: &s.replicas}
}

func (s *statefulSet) trigger(ctx context.Context) {
	s.patch(ctx, fmt.Sprintf(`{"spec":{"replicas":%d,"updateStrategy":{"rollingUpdate":{"partition":%d}}}}`, s.replicas, s.partition))
}
