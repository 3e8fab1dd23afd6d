package podrank

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/podrank/podrank/go/internal/core"
	"github.com/podrank/podrank/go/internal/engine"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The annotations in which Kubernetes records, on each ReplicaSet that it scales, the Deployment's spec.replicas, and that
// number plus the surge.
const (
	DesiredReplicasAnnotation = "deployment.kubernetes.io/desired-replicas"
	MaxReplicasAnnotation     = "deployment.kubernetes.io/max-replicas"
)

// A Path says what kind of sync it is.
type Path uint8

// The paths.
const (
	// PathNothing: the Deployment is being deleted, and no set changes.
	PathNothing Path = core.DeploymentPathNothing
	// PathScale: it scales the sets there are, because it is paused or its count changed.
	PathScale Path = core.DeploymentPathScale
	// PathRoll: it replaces old pods by new ones, within its budgets.
	PathRoll Path = core.DeploymentPathRoll
	// PathRecreate: it takes all old pods first, then creates the new ones.
	PathRecreate Path = core.DeploymentPathRecreate
	// PathRollback: it only changes its template, by its rollback annotation.
	PathRollback Path = core.DeploymentPathRollback
)

// String returns the name in lower case, such as "scale".
func (p Path) String() string {
	return nameOf("Path", p, map[Path]string{
		PathNothing: "nothing", PathScale: "scale", PathRoll: "roll", PathRecreate: "recreate", PathRollback: "rollback",
	})
}

// A SetChange is what a sync does to one ReplicaSet.
type SetChange struct {
	// Set is the ReplicaSet; nil for a new set that does not exist yet.
	Set *appsv1.ReplicaSet
	// Replicas is the size that the set gets: its new spec.replicas.
	Replicas int32
	// Part is the part of the change in size that was decided first, negative if the set shrinks. With
	// [DeploymentReasonShareAndLeftover], it is the share, and the rest is the leftover. With
	// [DeploymentReasonUnhealthyAndAvailable], it is the pods that are not available. With any other reason, it is the whole change.
	Part int32
	// Reason is why the set gets this size: one of DeploymentReason....
	Reason Reason
	// Annotates is whether the sync also writes the set's annotations: the Deployment's count to [DesiredReplicasAnnotation], and the
	// count plus MaxSurge to [MaxReplicasAnnotation]. It does so whenever it changes the size or creates the set, and when it scales
	// in proportion even if the size stays.
	Annotates bool
}

// A DeploymentStep is what the next sync of a Deployment does.
type DeploymentStep struct {
	// Path says what kind of sync it is.
	Path Path
	// MaxSurge and MaxUnavailable are the budgets as numbers of pods. Both are 0 with the strategy Recreate.
	MaxSurge, MaxUnavailable int32
	// Changes has one element for each set, in the order in which they were given.
	Changes []SetChange
	// New is what happens to the new set. If the set exists, it is that set's element of Changes. Otherwise Set is nil, and the
	// rest says with which size the set is created, or why it is not created.
	New SetChange
	// Creates is whether the sync creates the new set, perhaps with size 0.
	Creates bool
	// GoesOn is whether another step follows at once: whether the next sync, too, changes a size, an annotation that records
	// one, or creates the new set, although nothing changes but what this sync leads to.
	//
	// This sync leads to the following. The ReplicaSet controllers create and delete pods until each set has as many as its
	// size, and the statuses follow. A set that shrinks loses pods that are not available first. Pods that are created do not
	// become available, and with Recreate, pods that are deleted still run. What only the Deployment's status records does not
	// count.
	//
	// If GoesOn is false, this sync is the last one, or the Deployment waits. The sync is the last one, whatever the statuses
	// become, if it leaves every old set at 0 and the new set, which exists by then, at the count. Otherwise, a RollingUpdate
	// waits until more pods of the new set are available, and Recreate until no pod of an old set runs. A Deployment that is
	// paused, or whose annotations still record another count, only scales.
	//
	// The prediction has limits:
	//   - If minReadySeconds is not 0, deletion costs and ranks can make a set lose an available pod before one that is ready
	//     but not yet available.
	//   - If the controller syncs before it sees all new statuses, it can change more sizes than GoesOn says.
	//   - Deleting a pod without a node ends it at once, so the next sync of a Recreate may follow at once, too.
	//   - After a rollback, GoesOn is true: the sync changes the template, and another set may become the new one.
	//   - If a size is rejected (the reason "rejected"), GoesOn is true: the controller tries again.
	GoesOn bool
}

// NextDeployment predicts the next sync of a Deployment, as in Kubernetes 1.37: the size (spec.replicas) that each of its
// ReplicaSets gets, and why. Kubernetes' Deployment controller never touches a pod: [Settle] predicts which pods a set then
// deletes.
//
// sets are the ReplicaSets that the Deployment owns and its selector matches, in any order, including those of size 0. pods
// are the pods that these sets control. Only the strategy Recreate needs them, and other pods are skipped. The new set is
// the oldest one with the Deployment's pod template, and all others are old. The prediction relies on the sizes and
// statuses in the objects. If Kubernetes has newer ones by then, it may decide differently.
//
// The objects must have the defaults that the API server sets, also in the pod templates, which are compared. If spec.replicas,
// spec.strategy.type, the template's spec.restartPolicy or, with the strategy RollingUpdate, spec.strategy.rollingUpdate or maxSurge or maxUnavailable in that is missing, negative or a text that is no
// percentage, NextDeployment returns an error that names the object and the field, and wraps [ErrMissing] or [ErrOutOfRange] if it is
// one of these.
func NextDeployment(deployment *appsv1.Deployment, sets []*appsv1.ReplicaSet, pods []*corev1.Pod) (DeploymentStep, error) {
	if deployment == nil {
		return DeploymentStep{}, errNil("deployment")
	}
	for i, pod := range pods {
		if pod == nil {
			return DeploymentStep{}, errPod("pods", i, pod, ErrNil)
		}
	}
	record, err := deploymentRecord(deployment)
	if err != nil {
		return DeploymentStep{}, fmt.Errorf("podrank: Deployment %s/%s: %w", deployment.Namespace, deployment.Name, err)
	}
	records := make([]core.ReplicaSet, len(sets))
	for i, set := range sets {
		if err := fillSet(&records[i], set, deployment); err != nil {
			return DeploymentStep{}, errSet(i, set, err)
		}
	}
	for order, i := range sorted(len(sets), func(a, b int) int { return strings.Compare(sets[a].Name, sets[b].Name) }) {
		records[i].NameOrder = uint32(order)
	}

	changes := make([]core.ReplicaSetChange, len(sets))
	next, err := engine.Current.NextDeployment(&record, records, changes)
	if err == nil && record.Flags&core.DeploymentRecreate != 0 && oldPodsRun(sets, next.NewSet, pods) {
		record.Flags |= core.DeploymentOldPodsRun
		next, err = engine.Current.NextDeployment(&record, records, changes)
	}
	if err != nil {
		return DeploymentStep{}, err
	}
	step := DeploymentStep{
		Path: Path(next.Path), MaxSurge: next.Surge, MaxUnavailable: next.Unavailable,
		Changes: make([]SetChange, len(sets)), New: setChange(nil, &next.NewChange),
		Creates: next.Creates != 0, GoesOn: next.GoesOn != 0,
	}
	for i := range changes {
		step.Changes[i] = setChange(sets[i], &changes[i])
	}
	if next.NewSet != core.None {
		step.New.Set = sets[next.NewSet]
	}
	return step, nil
}

// errSet returns an error that says which set in a list is wrong, and why.
func errSet(index int, set *appsv1.ReplicaSet, err error) error {
	if set == nil {
		return errNil(fmt.Sprintf("sets[%d]", index))
	}
	return fmt.Errorf("podrank: sets[%d] (%s/%s): %w", index, set.Namespace, set.Name, err)
}

func deploymentRecord(d *appsv1.Deployment) (record core.Deployment, err error) {
	var r reader
	record.Replicas = r.count("spec.replicas", d.Spec.Replicas)
	record.StatusReplicas = r.count("status.replicas", &d.Status.Replicas)
	// Without its defaults, the template equals that of no ReplicaSet.
	r.needs(d.Spec.Template.Spec.RestartPolicy != "", "spec.template.spec.restartPolicy")
	_, notNumber := strconv.ParseInt(d.Annotations[appsv1.DeprecatedRollbackTo], 10, 64)
	raise(&record.Flags, d.Spec.Paused, core.DeploymentPaused)
	raise(&record.Flags, d.DeletionTimestamp != nil, core.DeploymentBeingDeleted)
	raise(&record.Flags, notNumber == nil, core.DeploymentRollingBack)
	switch kind, rolling := d.Spec.Strategy.Type, d.Spec.Strategy.RollingUpdate; {
	case kind == appsv1.RecreateDeploymentStrategyType:
		record.Flags |= core.DeploymentRecreate
	case kind != appsv1.RollingUpdateDeploymentStrategyType:
		r.odd("spec.strategy.type", string(kind), "neither RollingUpdate nor Recreate")
	case rolling == nil:
		r.fail(errField("spec.strategy.rollingUpdate"))
	default:
		const field = "spec.strategy.rollingUpdate."
		r.budget(field+"maxSurge", rolling.MaxSurge, &record.MaxSurge, &record.Flags, core.DeploymentSurgePercent)
		r.budget(field+"maxUnavailable", rolling.MaxUnavailable, &record.MaxUnavailable, &record.Flags, core.DeploymentUnavailablePercent)
	}
	return record, r.err
}

func fillSet(record *core.ReplicaSet, set *appsv1.ReplicaSet, d *appsv1.Deployment) error {
	if set == nil {
		return ErrNil
	}
	var r reader
	record.Replicas = r.count("spec.replicas", set.Spec.Replicas)
	record.StatusReplicas = r.count("status.replicas", &set.Status.Replicas)
	record.AvailableReplicas = r.count("status.availableReplicas", &set.Status.AvailableReplicas)
	if r.err != nil {
		return r.err
	}
	record.CreationTime = nanos(&set.CreationTimestamp)
	raise(&record.Flags, equalTemplates(&set.Spec.Template, &d.Spec.Template), core.ReplicaSetCurrentTemplate)
	return engine.Current.SetAnnotations(record, set.Annotations[DesiredReplicasAnnotation], set.Annotations[MaxReplicasAnnotation])
}

// equalTemplates is Kubernetes' EqualIgnoreHash: it ignores the label pod-template-hash.
func equalTemplates(a, b *corev1.PodTemplateSpec) bool {
	hasNoHash := func(key, _ string) bool { return key == appsv1.DefaultDeploymentUniqueLabelKey }
	left, right := *a, *b
	left.Labels, right.Labels = maps.Clone(a.Labels), maps.Clone(b.Labels)
	maps.DeleteFunc(left.Labels, hasNoHash)
	maps.DeleteFunc(right.Labels, hasNoHash)
	return equality.Semantic.DeepEqual(&left, &right)
}

// oldPodsRun reports whether any pod of an old set is neither Succeeded nor Failed.
func oldPodsRun(sets []*appsv1.ReplicaSet, newSet uint32, pods []*corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			return false
		}
		owner := metav1.GetControllerOfNoCopy(pod)
		of := slices.IndexFunc(sets, func(set *appsv1.ReplicaSet) bool { return owner != nil && owner.UID == set.UID })
		return of >= 0 && uint32(of) != newSet
	})
}

func setChange(set *appsv1.ReplicaSet, change *core.ReplicaSetChange) SetChange {
	return SetChange{Set: set, Replicas: change.Replicas, Part: change.Part, Reason: Reason(engine.Current.ReasonName(change.Reason)), Annotates: change.Annotates != 0}
}
