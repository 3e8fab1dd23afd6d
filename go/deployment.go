package podrank

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podrank/podrank/go/internal/cpodrank"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The annotations in which Kubernetes notes, on each ReplicaSet that it scales, the Deployment's count, and the count plus
// the surge.
const (
	DesiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
	MaxReplicasAnnotation     = "deployment.kubernetes.io/max-replicas"
)

// A Path is which way a sync of a Deployment takes.
type Path uint8

// The paths.
const (
	// PathNothing: the Deployment is being deleted, and no set changes.
	PathNothing Path = cpodrank.PathNothing
	// PathScale: it scales the sets there are, because it is paused or its count changed.
	PathScale Path = cpodrank.PathScale
	// PathRoll: it replaces old pods by new ones, within its budgets.
	PathRoll Path = cpodrank.PathRoll
	// PathRecreate: it takes all old pods first, then creates the new ones.
	PathRecreate Path = cpodrank.PathRecreate
	// PathRollback: it only changes its template, by its rollback annotation.
	PathRollback Path = cpodrank.PathRollback
)

// String is the name in lower case.
func (p Path) String() string {
	switch p {
	case PathNothing:
		return "nothing"
	case PathScale:
		return "scale"
	case PathRoll:
		return "roll"
	case PathRecreate:
		return "recreate"
	case PathRollback:
		return "rollback"
	}
	return fmt.Sprintf("Path(%d)", uint8(p))
}

// A SetChange is what a sync does to one ReplicaSet.
type SetChange struct {
	// Set is the ReplicaSet; nil for a new set that does not exist yet.
	Set *appsv1.ReplicaSet
	// Replicas is the size that the set gets: its new spec.replicas.
	Replicas int32
	// Part is how much of the change comes first, negative if pods go: the share of the reason share-and-leftover, the pods
	// not available of unhealthy-and-available. For other reasons it is the whole change.
	Part int32
	// Reason says why, in lower-case words with hyphens such as "share" and "held-back": the PODRANK_REASON_ names of
	// podrank.h, which explains them.
	Reason string
}

// A Step is what the next sync of a Deployment does.
type Step struct {
	// Path is which way it takes.
	Path Path
	// MaxSurge and MaxUnavailable are the budgets in pods; both 0 with the strategy Recreate.
	MaxSurge, MaxUnavailable int32
	// Changes has one element for each set, in the order in which they were given.
	Changes []SetChange
	// New is what becomes of the new set: the one of Changes, or, with a nil Set, of which size it is created or why it is not.
	New SetChange
	// Creates is whether the sync creates the new set. Its size can be 0.
	Creates bool
	// GoesOn is whether later syncs may change sizes, as statuses follow. A paused Deployment may go on, too: once the new set
	// has the count and all its pods are available, or one set alone is left, it is scaled again.
	GoesOn bool
}

// NextStep predicts the next sync of a Deployment, as Kubernetes 1.37 does it: the size that each of its ReplicaSets gets, and
// why. The Deployment controller never deletes a pod itself: each set's controller then deletes as many as are too many, for
// which see [PodsToDelete].
//
// sets are the ReplicaSets that the Deployment owns and selects, those of size 0 included, in any order. pods are the pods that
// these sets control; only the strategy Recreate asks for them, and others are skipped. Sizes and statuses are taken as listed.
//
// A count that is missing or negative, and a maxSurge or maxUnavailable that is missing or a text but no percentage, is an error
// that names the field: the API server stores none of them.
func NextStep(deployment *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*corev1.Pod) (Step, error) {
	if deployment == nil {
		return Step{}, errors.New("podrank: the Deployment is nil")
	}
	record, err := deploymentRecord(deployment)
	if err != nil {
		return Step{}, fmt.Errorf("podrank: Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	records := make([]cpodrank.ReplicaSet, len(sets))
	for i, set := range sets {
		if err := fillSet(&records[i], set, deployment); err != nil {
			return Step{}, errSet(i, set, err)
		}
	}
	byName := make([]int, len(sets))
	for i := range byName {
		byName[i] = i
	}
	slices.SortStableFunc(byName, func(a, b int) int { return strings.Compare(sets[a].Name, sets[b].Name) })
	for order, i := range byName {
		records[i].NameOrder = uint32(order)
	}

	changes := make([]cpodrank.Change, len(sets))
	next, err := cpodrank.NextDeployment(&record, records, changes)
	if err == nil && record.Flags&cpodrank.Recreate != 0 && oldPodsRun(sets, next.NewSet, pods) {
		record.Flags |= cpodrank.OldPodsRun
		next, err = cpodrank.NextDeployment(&record, records, changes)
	}
	if err != nil {
		return Step{}, err
	}
	step := Step{
		Path: Path(next.Path), MaxSurge: next.Surge, MaxUnavailable: next.Unavailable,
		Changes: make([]SetChange, len(sets)), New: setChange(nil, &next.NewChange),
		Creates: next.Creates != 0, GoesOn: next.GoesOn != 0,
	}
	for i := range changes {
		step.Changes[i] = setChange(sets[i], &changes[i])
	}
	if next.NewSet != cpodrank.NoSet {
		step.New.Set = sets[next.NewSet]
	}
	return step, nil
}

var (
	errMissing  = errors.New("is missing")
	errNegative = errors.New("is negative")
)

// errSet says which set of a list is wrong, and how.
func errSet(index int, set *appsv1.ReplicaSet, err error) error {
	if set == nil {
		return fmt.Errorf("podrank: ReplicaSet %d %w", index, errNil)
	}
	return fmt.Errorf("podrank: ReplicaSet %d, %s/%s: %w", index, set.Namespace, set.Name, err)
}

func deploymentRecord(d *appsv1.Deployment) (record cpodrank.Deployment, err error) {
	if record.Replicas, err = count("spec.replicas", d.Spec.Replicas); err != nil {
		return record, err
	}
	if record.StatusReplicas, err = count("status.replicas", &d.Status.Replicas); err != nil {
		return record, err
	}
	if d.Spec.Paused {
		record.Flags |= cpodrank.Paused
	}
	if d.DeletionTimestamp != nil {
		record.Flags |= cpodrank.BeingDeleted
	}
	if _, err := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64); err == nil {
		record.Flags |= cpodrank.RollingBack
	}
	switch d.Spec.Strategy.Type {
	case appsv1.RecreateDeploymentStrategyType:
		record.Flags |= cpodrank.Recreate
		return record, nil
	case appsv1.RollingUpdateDeploymentStrategyType:
	default:
		return record, fmt.Errorf("spec.strategy.type %q is neither RollingUpdate nor Recreate", d.Spec.Strategy.Type)
	}
	rolling := d.Spec.Strategy.RollingUpdate
	if rolling == nil {
		return record, fmt.Errorf("spec.strategy.rollingUpdate %w", errMissing)
	}
	for _, budget := range []struct {
		field   string
		value   *intstr.IntOrString
		number  *int32
		percent uint32
	}{
		{"maxSurge", rolling.MaxSurge, &record.MaxSurge, cpodrank.SurgePercent},
		{"maxUnavailable", rolling.MaxUnavailable, &record.MaxUnavailable, cpodrank.UnavailablePercent},
	} {
		field := "spec.strategy.rollingUpdate." + budget.field
		switch {
		case budget.value == nil:
			return record, fmt.Errorf("%s %w", field, errMissing)
		case budget.value.Type == intstr.Int:
			if *budget.number, err = count(field, &budget.value.IntVal); err != nil {
				return record, err
			}
		default:
			percent, err := cpodrank.ParsePercent(budget.value.StrVal)
			if err != nil {
				return record, fmt.Errorf("%s %q: %w", field, budget.value.StrVal, err)
			}
			*budget.number = int32(percent)
			record.Flags |= budget.percent
		}
	}
	return record, nil
}

func fillSet(record *cpodrank.ReplicaSet, set *appsv1.ReplicaSet, d *appsv1.Deployment) (err error) {
	if set == nil {
		return errNil
	}
	if record.Replicas, err = count("spec.replicas", set.Spec.Replicas); err != nil {
		return err
	}
	if record.StatusReplicas, err = count("status.replicas", &set.Status.Replicas); err != nil {
		return err
	}
	if record.AvailableReplicas, err = count("status.availableReplicas", &set.Status.AvailableReplicas); err != nil {
		return err
	}
	record.CreationTime = nanos(&set.CreationTimestamp)
	if equalTemplates(&set.Spec.Template, &d.Spec.Template) {
		record.Flags = cpodrank.CurrentTemplate
	}
	return cpodrank.SetAnnotations(record, set.Annotations[DesiredReplicasAnnotation], set.Annotations[MaxReplicasAnnotation])
}

// equalTemplates is Kubernetes' EqualIgnoreHash: the label with the hash does not count.
func equalTemplates(a, b *corev1.PodTemplateSpec) bool {
	hasNoHash := func(key, _ string) bool { return key == appsv1.DefaultDeploymentUniqueLabelKey }
	left, right := *a, *b
	left.Labels, right.Labels = maps.Clone(a.Labels), maps.Clone(b.Labels)
	maps.DeleteFunc(left.Labels, hasNoHash)
	maps.DeleteFunc(right.Labels, hasNoHash)
	return equality.Semantic.DeepEqual(&left, &right)
}

// oldPodsRun says whether a pod of a set that is not the new one is neither Succeeded nor Failed.
func oldPodsRun(sets []*appsv1.ReplicaSet, newSet uint32, pods []*corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		if pod == nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return false
		}
		owner := metav1.GetControllerOfNoCopy(pod)
		of := slices.IndexFunc(sets, func(set *appsv1.ReplicaSet) bool { return owner != nil && owner.UID == set.UID })
		return of >= 0 && uint32(of) != newSet
	})
}

func setChange(set *appsv1.ReplicaSet, change *cpodrank.Change) SetChange {
	return SetChange{Set: set, Replicas: change.Replicas, Part: change.Part, Reason: cpodrank.ReasonName(change.Reason)}
}

func count(field string, number *int32) (int32, error) {
	switch {
	case number == nil:
		return 0, fmt.Errorf("%s %w", field, errMissing)
	case *number < 0:
		return 0, fmt.Errorf("%s %w: %d", field, errNegative, *number)
	}
	return *number, nil
}
