// podrank: deletion costs that make Kubernetes delete the pods you want, ranks that keep pods spread, and tiers that empty nodes.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_STEER_H
#define PODRANK_STEER_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// To have Kubernetes delete some pods before others, give them lower tiers. podrank_steer turns tiers into
// deletion costs, which Kubernetes compares; you write them into the annotations of the pods. podrank_spread sets ranks
// such that podrank_select keeps the remaining pods spread over nodes, zones or both. podrank_empty_nodes makes tiers that
// take whole nodes, so that as many as possible become empty and can be given back.

@steer@

@assertions@

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_STEER_H
