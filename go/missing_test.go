//go:build !cgo

package podrank

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestWithoutCgoTheErrorSaysWhatIsMissing(t *testing.T) {
	pod := &corev1.Pod{}
	pods := []*corev1.Pod{pod}
	_, err := PodsToDelete(pods, pods, 1)
	_, errKubernetes := PodsToDelete(pods, pods, 1, Kubernetes())
	_, errSettle := Settle(pods, pods, 1)
	_, errExplain := Explain(pod, pod, nil)
	for _, err := range []error{err, errKubernetes, errSettle, errExplain} {
		if !errors.Is(err, ErrMissing) {
			t.Error(err)
		}
	}
	if LibraryVersion() != "" {
		t.Error("there is a library")
	}
}
