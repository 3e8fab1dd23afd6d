// podrank: how likely Kubernetes deletes each pod.

// How likely a possible pod is deleted. Nobody outside the controller can know the order in which it lists pods. Over all
// lists, each pod is among the victims with a certain share, which depends on Kubernetes' comparator and on Go's sort.

@probabilities@
