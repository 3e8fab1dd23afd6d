// podrank: the other decisions of a ReplicaSet controller, for a controller of your own.

// podrank_plan says how many pods to create or delete. podrank_slow_start_begin and _report say in which batches to
// create them; deletions need no batches. podrank_expectations_expect_ and podrank_..._observed record requested
// changes that have not been observed yet, so that nothing is requested twice. podrank_availability counts ready and
// available pods. You can use each without the others; where one takes the result of another, it says so.
//
// One sync, without the checks of statuses. examples-c/agent.c has it in full. victims, keys and key_storage have burst_replicas elements:
//
//     podrank_expectations_satisfied(&expectations, now, &satisfied);          may it act?
//     now list the pods, and not before: see PODRANK_PLAN_SATISFIED            count them in state.active
//     podrank_plan(&state, &creations, &deletions);                            how many, with that in state.flags?
//     if (creations > 0)
//         podrank_expectations_expect_creations(&expectations, creations, now);    then create, in a slow start
//     if (deletions > 0) {
//         podrank_count_ranks(pods, pods_len, others, others_len, counts, counts_len);      if nodes matter
//         podrank_select(pods, pods_len, &options, victims, deletions, ...);       which to delete?
//         podrank_expectations_expect_deletions(&expectations, key_storage, key_storage_len, keys, selected, now);    then delete them
//     }
//
// and as you observe that pods have come or gone, podrank_expectations_creations_observed and _deletion_observed.
//
// Sync a set when it changes; when one of its pods, or a pod that it could adopt, changes; some time after a request
// has failed; once as many nanoseconds have passed as podrank_availability stored in *next_check_after; and as soon as more
// than PODRANK_EXPECTATIONS_TIMEOUT has passed since expectations were set.

@controller@
