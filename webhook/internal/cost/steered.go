// Package cost has what this program writes on pods: a deletion cost, together with the annotation podrank.dev/steered, which says for which scale-down.
// It alone writes to pods of workloads.
//
// +kubebuilder:rbac:groups="",resources=pods,verbs=patch
package cost

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// Manager is the field manager of this program, Terminal that of kubectl podrank, and controllers that of
	// kube-controller-manager, which makes pods with the cost of their template.
	Manager     = "podrank-webhook"
	Terminal    = "podrank"
	controllers = "kube-controller-manager"

	// Annotation is on each pod that this program selected, or whose cost it wrote.
	Annotation = "podrank.dev/steered"
	// kept is in place of a rule in the annotation of a pod that should be kept.
	kept = "kept"
)

// Steered is the parsed annotation: it says for which scale-down a cost was written. It is all that is left of a plan after a restart. A later request that
// relies on the cost replaces the annotation, and so keeps earlier ones from removing the cost.
type Steered struct {
	Set types.UID
	// Count is the count that the set falls to.
	Count int32
	// Request is the UID of the admission request that lowers the count.
	Request types.UID
	// Selected is whether the pod should be deleted. Otherwise its cost only makes room for those of the selected pods.
	Selected bool
	// Rule is why it is deleted, for anyone who looks at it: nothing is decided by it.
	Rule string
	// From is the replica count before, and Generation that of the set then: any later change of its spec has another one.
	From       int32
	Generation int64
	// First is when the first request about this scale-down came, in Unix milliseconds, and Decision which decision about it wrote this, from 1 on.
	First    int64
	Decision int
}

// rules are what a rule looks like.
var rules = regexp.MustCompile(`^[a-zA-Z0-9[\]-]{1,32}$`)

// String is the value of the annotation.
func (m Steered) String() string {
	rule := m.Rule
	switch {
	case !m.Selected:
		rule = kept
	case !rules.MatchString(rule) || rule == kept:
		// An annotation that cannot be read again would leave its cost there forever.
		rule = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s/%s/%d/%d/%d/%d", m.Set, m.Count, m.Request, rule, m.From, m.Generation, m.First, m.Decision)
}

// IsOf reports whether two annotations are of the same request.
func (m Steered) IsOf(other Steered) bool {
	m.Selected, m.Rule = other.Selected, other.Rule
	return m == other
}

// Serves reports whether an annotation says what another would, so that it need not be written again: an earlier decision about the same scale-down wrote it.
func (m Steered) Serves(other Steered) bool {
	m.Request, m.Decision, m.Rule = other.Request, other.Decision, other.Rule
	return m == other
}

// SteeredOf returns the annotation of a pod, if this program manages it. An admission policy refuses its field manager
// to other accounts. An annotation that another program wrote, or that comes from a template, does not count.
func SteeredOf(pod metav1.Object) (steered Steered, ok bool) {
	steered, ok = Cached(pod)
	if !ok || !isOurs(pod, Annotation) {
		return Steered{}, false
	}
	return steered, true
}

// Cached returns the annotation of a pod in the cache, which has no annotations but those of this program, and does not know who manages what.
func Cached(pod metav1.Object) (steered Steered, ok bool) {
	text := pod.GetAnnotations()[Annotation]
	fields := strings.SplitN(text, "/", 9)
	if len(fields) != 8 || !IsUUID(fields[0]) || !IsUUID(fields[2]) {
		return Steered{}, false
	}
	number := func(i int) int64 {
		number, _ := strconv.ParseInt(fields[i], 10, 64)
		return number
	}
	steered = Steered{
		Set: types.UID(fields[0]), Count: int32(number(1)), Request: types.UID(fields[2]), Selected: fields[3] != kept,
		From: int32(number(4)), Generation: number(5), First: number(6), Decision: int(number(7)),
	}
	if steered.Selected {
		steered.Rule = fields[3]
	}
	// An invalid count or rule is not written like this, and a count may be written in many other ways, some of them long.
	if steered.String() != text {
		return Steered{}, false
	}
	return steered, true
}

// IsUUID reports whether a text is a UUID in its usual form, as all UIDs of an API server are.
func IsUUID(text string) bool {
	return len(text) == len(uuid.Nil.String()) && uuid.Validate(text) == nil
}

// An Owner is whose a pod's deletion cost is.
type Owner int

// The owners. If a cost has several, the last of them in this order counts.
const (
	// Nobody: the pod has no cost.
	Nobody Owner = iota
	// Ours: this program wrote it.
	Ours
	// FromTemplate: the cost came with the pod from its template, so nobody chose it for this pod. Only force overwrites it,
	// also if this program once wrote the same.
	FromTemplate
	// Other: somebody else wrote it.
	Other
	// OfTerminal: kubectl podrank is at work.
	OfTerminal
)

// OwnerOf returns whose a pod's cost is. template has the annotations that its set makes pods with.
func OwnerOf(pod metav1.Object, template map[string]string) Owner {
	cost, ok := pod.GetAnnotations()[corev1.PodDeletionCost]
	if !ok {
		return Nobody
	}
	owners := map[string]Owner{Terminal: OfTerminal, Manager: Ours}
	if value, ok := template[corev1.PodDeletionCost]; ok && value == cost {
		owners[controllers] = FromTemplate
	}
	owner := Nobody
	for _, entry := range managers(pod, corev1.PodDeletionCost) {
		owner = max(owner, cmp.Or(owners[entry.Manager], Other))
	}
	// The fields of a cost are always managed by someone, unless somebody has removed that note.
	return cmp.Or(owner, Other)
}

// Wrote reports whether a pod has annotations of this program. A restored cost of the template, which has these
// annotations, does not count.
func Wrote(pod metav1.Object, template map[string]string) bool {
	return isOurs(pod, Annotation) || isOurs(pod, PreviousAnnotation) ||
		isOurs(pod, corev1.PodDeletionCost) && pod.GetAnnotations()[corev1.PodDeletionCost] != template[corev1.PodDeletionCost]
}

// WriterOf returns the field manager of a pod's cost that is not this program, or "" if none is known.
func WriterOf(pod metav1.Object) string {
	for _, entry := range managers(pod, corev1.PodDeletionCost) {
		if entry.Manager != Manager {
			return entry.Manager
		}
	}
	return ""
}

// isOurs reports whether this program manages an annotation.
func isOurs(pod metav1.Object, annotation string) bool {
	return slices.ContainsFunc(managers(pod, annotation), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == Manager })
}

// managers returns the entries that have an annotation. Names count exactly, as they do in the admission policy for annotations.
func managers(pod metav1.Object, annotation string) (entries []metav1.ManagedFieldsEntry) {
	path := fieldpath.MakePathOrDie("metadata", "annotations", annotation)
	for _, entry := range pod.GetManagedFields() {
		var fields fieldpath.Set
		if entry.FieldsV1 != nil && fields.FromJSON(entry.FieldsV1.GetRawReader()) == nil && fields.Has(path) {
			entries = append(entries, entry)
		}
	}
	return entries
}

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
