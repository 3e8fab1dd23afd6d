// podrank: how likely Kubernetes deletes each pod.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_PROBABILITIES_H
#define PODRANK_PROBABILITIES_H

#ifndef PODRANK_UNSTABLE
#error "define PODRANK_UNSTABLE before this header: what it declares may change with any release"
#endif

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

// How likely a possible pod is deleted. Nobody outside the controller can know the order in which it lists pods. Over all
// lists, each pod is among the victims with a certain share, which depends on Kubernetes' comparator and on Go's sort.

@probabilities@

@assertions@

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_PROBABILITIES_H
