package cost

import (
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PreviousAnnotation keeps a cost of somebody else that was overwritten. kubectl podrank writes it in the same form.
const PreviousAnnotation = "podrank.dev/previous-cost"

// A Previous is a cost that somebody else has written, and its field manager.
type Previous struct {
	Value   string `json:"value"`
	Manager string `json:"manager"`
}

// String is the value of the annotation.
func (p Previous) String() string {
	// Two texts are JSON.
	text, _ := json.Marshal(p)
	return string(text)
}

// isSound reports whether it can be restored: anybody may write such an annotation. Nobody else can make a cost look like one of podrank.
func (p Previous) isSound() bool {
	number, err := strconv.ParseInt(p.Value, 10, 32)
	return err == nil && strconv.FormatInt(number, 10) == p.Value && p.Manager != "" && !slices.Contains([]string{Manager, Terminal}, p.Manager) &&
		len(validation.ValidateFieldManager(p.Manager, field.NewPath("manager"))) == 0
}

// Theirs returns the cost that another field manager has written on a pod, if it can be restored. An applied cost
// cannot: another patch in the name of its manager would remove it.
func Theirs(pod metav1.Object) *Previous {
	theirs := Previous{pod.GetAnnotations()[corev1.PodDeletionCost], WriterOf(pod)}
	isApplied := slices.ContainsFunc(managers(pod, corev1.PodDeletionCost), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Operation == metav1.ManagedFieldsOperationApply && entry.Manager != Manager
	})
	if isApplied || !theirs.isSound() {
		return nil
	}
	return &theirs
}

// PreviousOf returns the cost that this program has overwritten on a pod, or nil.
func PreviousOf(pod metav1.Object) *Previous {
	text := pod.GetAnnotations()[PreviousAnnotation]
	var previous Previous
	// In another form, it may be long.
	if !isOurs(pod, PreviousAnnotation) || json.Unmarshal([]byte(text), &previous) != nil || !previous.isSound() || previous.String() != text {
		return nil
	}
	return &previous
}
