// podrank: which pods the next sync of a Deployment, StatefulSet, DaemonSet or Job deletes, and why.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.

#ifndef PODRANK_PREDICT_H
#define PODRANK_PREDICT_H

#include "../podrank.h"

#ifdef __cplusplus
extern "C" {
#endif

@outcome@

// ---------------------------------------------------------------------------------------------------------------------
// DEPLOYMENTS. A Deployment changes the sizes of its ReplicaSets, and each ReplicaSet creates and deletes its own pods.
// podrank_deployment_next predicts the sizes that the next sync of the Deployment writes, and says why.
// podrank_percent_parse and podrank_replica_set_annotations read texts for it. Below, the size of a set is its
// spec.replicas; the count is spec.replicas of the Deployment; the new set is the one with the pod template of the
// Deployment or, if several have it, the oldest of them; every other set is old; a set is active if its size is above 0;
// the budgets are maxSurge and maxUnavailable as numbers of pods.

@deployment@

// ---------------------------------------------------------------------------------------------------------------------
// STATEFULSETS, like DaemonSets and Jobs, delete pods themselves. The predictions say which pods the next sync deletes: those
// that certainly go, and contested ones, among which list order or chance decides. How many of the contested pods go is
// unknown for a StatefulSet, and known for the others.

@stateful_set@

// ---------------------------------------------------------------------------------------------------------------------
// DAEMONSETS

@daemon_set@

// ---------------------------------------------------------------------------------------------------------------------
// JOBS

@job@

@assertions@

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_PREDICT_H
