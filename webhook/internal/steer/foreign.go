package steer

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podrank/podrank/webhook/internal/cost"
	"github.com/podrank/podrank/webhook/internal/decide"
)

// owned says whose a pod's cost is.
type owned struct {
	cost.Owner
	// theirs is what somebody else has written, if it can be restored: it is still there, or this program has overwritten it.
	theirs *cost.Previous
	// writer is who else has written the cost that is there, if that is known.
	writer string
	// text is that cost, as far as it may be a number.
	text string
}

// textOf is the cost of a pod, as far as it may be a number.
func textOf(pod metav1.Object) string {
	text := pod.GetAnnotations()[corev1.PodDeletionCost]
	return text[:min(len(text), len("-2147483648")+1)]
}

// whose returns that of a pod.
func (f *fall) whose(pod *corev1.Pod) owned {
	o := owned{Owner: cost.OwnerOf(pod, f.Set.TemplateAnnotations), text: strings.Clone(textOf(pod))}
	switch o.Owner {
	case cost.Ours:
		o.theirs = cost.PreviousOf(pod)
	case cost.Other:
		o.theirs, o.writer = cost.Theirs(pod), cost.WriterOf(pod)
	}
	return o
}

// noRoom says whose costs leave no room.
func (f *fall) noRoom(err *decide.NoRoomError) error {
	describe := func(pod *corev1.Pod) string {
		text := fmt.Sprintf("%s (cost %s", pod.Name, cmp.Or(textOf(pod), "0"))
		if writer := f.costs[pod.UID].writer; writer != "" {
			text += ", written by " + writer
		}
		return text + ")"
	}
	return fmt.Errorf("foreign deletion costs leave no room for a lower cost of pod %s than of pod %s", describe(err.Lower), describe(err.Higher))
}
