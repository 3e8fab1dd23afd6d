package scene

import (
	"context"

	"github.com/podrank/podrank/judge/cluster/internal/control"
	"github.com/podrank/podrank/judge/cluster/internal/history"
)

// CleanUp empties a round's namespace, and waits until that is known.
func CleanUp(ctx context.Context, plane *control.Plane, h *history.History, namespace string) {
	plane.Empty(ctx, namespace)
	h.Await(ctx, namespace, "empty", func(n *history.Namespace) bool { return len(n.Sets)+len(n.Pods) == 0 })
	h.Forget(namespace)
}
