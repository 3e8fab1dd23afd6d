package cleanup

import (
	"context"
	"errors"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/podrank/podrank/webhook/internal/bounded"
	"github.com/podrank/podrank/webhook/internal/cost"
)

// Uninstall removes from all pods what this program has written, and returns of how many. It deletes the webhook configuration of this name, so that
// nothing is steered any more, and waits until scale-downs that are under way have ended. It needs the right to delete the configuration, which only the
// hook of the chart has. The client reads from the API server, in bounded answers.
func Uninstall(ctx context.Context, to client.Client, configuration string, patience time.Duration) (int, error) {
	object := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: configuration}}
	if err := to.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(patience):
	}
	list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"}}
	live, costs, found, failed := bounded.NewReader(to, 2), cost.NewWriter(to, to), 0, []error(nil)
	err := bounded.Each(ctx, live, list, func(pod *metav1.PartialObjectMetadata) error {
		if !cost.Wrote(pod, nil) {
			return nil
		}
		_, template, err := setOf(pod).read(ctx, live)
		if err == nil && cost.Wrote(pod, template) {
			if err = costs.Remove(ctx, []cost.Undo{{Pod: cost.PodOf(pod), Before: template}})[0]; err == nil {
				found++
			}
		}
		if err != nil && !errors.Is(err, cost.ErrChanged) {
			failed = append(failed, err)
		}
		return ctx.Err()
	}, client.Limit(bounded.Page))
	return found, errors.Join(append(failed, err)...)
}
