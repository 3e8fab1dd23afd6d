package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const database = "db"

// A statefulSet is scaled or updated, or both, while some of its pods are broken.
type statefulSet struct {
	*round
	set      *appsv1.StatefulSet
	size     int32
	isUpdate bool
	// What the trigger sets.
	replicas, partition int32
}

func (s *statefulSet) types() string { return "pods,statefulsets" }

func (s *statefulSet) prepare(ctx context.Context) error {
	s.size = 2 + s.r.Int32N(4)
	if err := s.create(ctx); err != nil {
		return err
	}
	if s.isUpdate = s.r.IntN(2) == 0; s.isUpdate {
		// The partition keeps the controller from updating any pod yet.
		patch := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":%q,"image":"db:2"}]}}}}`, database)
		if err := s.patch(ctx, patch); err != nil {
			return err
		}
		if err := s.settle(ctx); err != nil {
			return err
		}
	}
	if err := s.breakPods(ctx); err != nil {
		return err
	}
	return s.settle(ctx)
}

// create makes a StatefulSet whose pods are all ready.
func (s *statefulSet) create(ctx context.Context) error {
	labels := map[string]string{"app": database}
	unavailable := pick(s.r, intstr.FromInt32(1), intstr.FromInt32(2), intstr.FromString("50%"))
	partition := s.size
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: database},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &s.size, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: database,
			PodManagementPolicy: pick(s.r, appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement),
			UpdateStrategy: appsv1.StatefulSetUpdateStrategy{
				Type:          appsv1.RollingUpdateStatefulSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: &partition, MaxUnavailable: &unavailable},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels, Finalizers: []string{finalizer}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: database, Image: "db:1"}}},
			},
		},
	}
	if s.r.IntN(3) == 0 {
		set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: pick(s.r, int32(1), 3, 8)}
	}
	if _, err := s.plane.AppsV1().StatefulSets(s.namespace).Create(ctx, set, metav1.CreateOptions{}); err != nil {
		return err
	}
	for ready := int32(0); ready < s.size; {
		pods, err := s.pods(ctx)
		if err != nil {
			return err
		}
		ready = 0
		for _, pod := range pods {
			if pod.Status.Phase == corev1.PodRunning {
				ready++
			} else if err := s.give(ctx, pod, corev1.PodRunning, corev1.ConditionTrue); err != nil {
				return err
			}
		}
		if err := sleep(ctx, quiet/20); err != nil {
			return err
		}
	}
	return s.settle(ctx)
}

// breakPods makes some pods unready, pending or terminating, and if it is an update, some new.
func (s *statefulSet) breakPods(ctx context.Context) error {
	pods, err := s.podsByName(ctx)
	if err != nil {
		return err
	}
	share := pick(s.r, 0, 0, 15, 40)
	for i := range pods {
		pod := &pods[i]
		if s.isUpdate && s.r.IntN(4) == 0 {
			if err := s.label(ctx, pod, appsv1.StatefulSetRevisionLabel, s.set.Status.UpdateRevision); err != nil {
				return err
			}
		}
		if s.r.IntN(100) >= share {
			continue
		}
		switch s.r.IntN(4) {
		case 0, 1:
			err = s.give(ctx, pod, corev1.PodRunning, corev1.ConditionFalse)
		case 2:
			err = s.give(ctx, pod, corev1.PodPending, corev1.ConditionFalse)
		case 3:
			err = s.plane.CoreV1().Pods(s.namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{})
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	kind := fmt.Sprintf("StatefulSet, %s, scaled %t, updated %t", s.set.Spec.PodManagementPolicy, s.replicas < s.size, s.isUpdate)
	return question{Kind: kind, Workload: "sts/" + database, Replicas: &s.replicas}
}

func (s *statefulSet) trigger(ctx context.Context, _ map[types.UID]*corev1.Pod) error {
	return s.patch(ctx, fmt.Sprintf(`{"spec":{"replicas":%d,"updateStrategy":{"rollingUpdate":{"partition":%d}}}}`,
		s.replicas, s.partition))
}

func (s *statefulSet) patch(ctx context.Context, patch string) error {
	kind := types.StrategicMergePatchType
	_, err := s.plane.AppsV1().StatefulSets(s.namespace).Patch(ctx, database, kind, []byte(patch), metav1.PatchOptions{})
	return err
}

func (s *statefulSet) settle(ctx context.Context) error {
	return s.awaitQuiet(ctx, func() (string, bool, error) {
		set, err := s.plane.AppsV1().StatefulSets(s.namespace).Get(ctx, database, metav1.GetOptions{})
		if err != nil {
			return "", false, err
		}
		s.set = set
		return set.ResourceVersion, set.Status.ObservedGeneration == set.Generation, nil
	})
}

func (s *statefulSet) delete(ctx context.Context) error {
	return s.plane.AppsV1().StatefulSets(s.namespace).Delete(ctx, database, orphan())
}
