// podrank: deletion costs that make Kubernetes delete the selected pods, ranks that keep pods spread, and tiers that
// empty nodes.

// To have Kubernetes delete some pods before others, give them lower tiers. podrank_steer turns tiers into
// deletion costs, which Kubernetes compares; you write them into the annotations of the pods. podrank_spread sets ranks
// such that podrank_select keeps the remaining pods spread over nodes, zones or both. podrank_empty_nodes makes tiers
// by nodes, so that as many nodes as possible become empty and can be removed.

@steer@
