package report

import (
	"strconv"

	"github.com/podrank/podrank/webhook/internal/steer"
)

// Audit returns what the API server's audit log says of a request: what became of it, by which policy, the pods that should go,
// and how many deletion costs were written.
func Audit(o *steer.Outcome) map[string]string {
	if o.Policy == nil {
		return nil
	}
	var names []string
	for _, pod := range o.Wanted {
		names = append(names, pod.Key.Name)
	}
	audit := map[string]string{"result": string(o.Result), "policy": o.Policy.Name}
	if len(names) > 0 {
		audit["wanted"], audit["costs-written"] = list(names), strconv.Itoa(o.Written)
	}
	return audit
}
