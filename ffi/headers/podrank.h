// podrank: which pods are deleted first when Kubernetes scales down, as one total order.
// SPDX-License-Identifier: Apache-2.0
//
// Made by `make header` from ffi/: do not edit.
//
//     #include <podrank.h>
//     #include <stdio.h>
//
//     int main(void) {
//         podrank_pod pods[2] = { PODRANK_POD_INIT, PODRANK_POD_INIT };
//         podrank_options options = PODRANK_OPTIONS_AT(1773144000000000000); /* when you decide, in nanoseconds */
//         uint32_t victims[1];
//         size_t selected;
//         PODRANK_REQUIRE_ABI(); /* does not link with a library of another ABI */
//         pods[0].phase = pods[1].phase = PODRANK_PHASE_RUNNING;
//         pods[0].flags = pods[1].flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
//         pods[0].restarts = 3; /* so it is deleted first */
//         if (podrank_select(pods, 2, &options, victims, 1, NULL, 0, &selected) != PODRANK_OK)
//             return 1;
//         printf("delete pod %u\n", (unsigned)victims[0]);
//         return 0;
//     }
//
// STABILITY. A program that was compiled with this header works with every library that has the same PODRANK_ABI, older or
// newer, if it uses only what the older of the two has: ffi/ABI.md in podrank's repository says how the rest shows.
// podrank_predict and podrank_kubernetes_compare reproduce Kubernetes PODRANK_KUBERNETES, and follow later releases of it,
// as the changelog says.
//
// Three more headers include this one. They are not stable: any release may change them, and nothing notices at run time,
// so name libpodrank.a, the archive, in the link command of such a program. -lpodrank takes the shared library if there is
// one, unless the linker has -static or -Bstatic, and pkg-config --static prints neither. The three headers need
// PODRANK_UNSTABLE to be defined: podrank/controller.h for the other decisions of a controller, podrank/probabilities.h for
// how likely Kubernetes deletes each pod, podrank/steer.h to make it delete the pods that you select.
//
// WHAT EVERY CALL PROMISES, by number. Each promise has a test with its number.
//
//  1. Status. Functions return PODRANK_OK (0) or a PODRANK_ERR_ number, which podrank_status_str describes. No later
//     release gives a number another meaning. Treat one that you do not know as an error, because later releases add some. If
//     several apply, any of them is returned. A function's description names the statuses that are its own. Those of promises
//     3 to 7 can come from every function that has such arguments, and PODRANK_ERR_OPTIONS_SIZE, _FLAGS and _NOW from every
//     function that has options. A compiler warns of a call that ignores the status: see PODRANK_NODISCARD. (Functions that
//     return a static text, or the number of the ABI or of the format of keys, return no status.)
//  2. Outputs are written only on success, with one exception: if podrank_steer returns PODRANK_ERR_NO_ROOM, it has stored
//     the indices of two pods in *steered. Outputs and scratch memory need not be initialised, except for outputs that the
//     function also reads, as podrank_count_ranks reads pods. Scratch memory, a buffer that you lend until the call returns, may
//     change in any case.
//  3. A pointer may be NULL if its length is 0. Options may be NULL, which means the defaults. Where a pointer may be
//     NULL in other cases, its function says so. Any other NULL is PODRANK_ERR_NULL.
//  4. Every pointer must be aligned as its type is in C, unless its length is 0. If not: PODRANK_ERR_MISALIGNED.
//  5. What a function writes, also a single value such as *selected, must not overlap anything else that it reads or
//     writes. If it does: PODRANK_ERR_OVERLAP. What it only reads may
//     overlap. podrank_node_number does not check the names that its table already holds: they must be apart from the table and *node.
//  6. Lengths count elements, not bytes, up to UINT32_MAX. Above that: PODRANK_ERR_TOO_LONG. Every array that a function
//     writes has a length. The function's description says how long the array must be. If it is shorter, the status is
//     PODRANK_ERR_SHORT_BUFFER, unless the description names another one.
//  7. Records must be valid: a known phase, known flags, and reserved bytes of zero. If not: PODRANK_ERR_PHASE,
//     PODRANK_ERR_FLAGS or PODRANK_ERR_RESERVED. podrank_validate finds the first invalid record.
//  8. Functions do not allocate, lock or keep global state, and never write through a pointer to const. So any thread and
//     any signal or interrupt handler may call any function, and they may share inputs.
//  9. No pointer is kept after the call, except those to node names in the table of podrank_node_number.
// 10. Every call returns, whatever the buffers hold: no panic, no abort, no waiting. A function that does not say how its time grows
//     takes constant time, or time in proportion to the text that it reads. The one exception to this promise is the
//     table of podrank_node_number: every pointer in it must be one that podrank_node_number stored there and must still
//     be valid.
//
// Your part: a pointer that is not NULL must point to as many elements as its length says, one if it has no length, 16 bytes for a
// UID, and options->size bytes for options. They must be readable for inputs and writable for outputs, and no one else may
// write them during the call.
//
// WHAT THE LIBRARY NEEDS. At most 1 KiB of stack on a Cortex-M3, however many pods there are, and a few KiB on 64-bit
// machines: `make budget` measures each function. No recursion and no floating point. Of functions, at most memcpy,
// memmove, memset and memcmp; on 32-bit ARM also the __aeabi_ names of the first three; on a Cortex-M0 also integer
// arithmetic from the compiler's runtime. `make needs` prints which functions each machine needs. Without a C library, copy
// examples-c/firmware/memory.c. The archive is one object. With -Wl,--gc-sections, which `pkg-config --static --libs podrank`
// prints, a program that is linked with it has only what it calls.

#ifndef PODRANK_H
#define PODRANK_H

#include <stddef.h>
#include <stdint.h>

// Precedes each function that returns a status, so that the compiler warns if a call ignores it (MSVC: only with /analyze).
// Before C23 and C++17, GCC also warns of a call that is cast to void: store the status. Define it as nothing before this
// header to turn that off.
#ifndef PODRANK_NODISCARD
#if defined(__cplusplus) ? __cplusplus >= 201703L : defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L
#define PODRANK_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define PODRANK_NODISCARD __attribute__((warn_unused_result))
#elif defined(_MSC_VER)
#include <sal.h>
#define PODRANK_NODISCARD _Check_return_
#else
#define PODRANK_NODISCARD
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

// The release of the library that this header came with; podrank_version() returns that of the library linked in.
#define PODRANK_VERSION "@VERSION@"
#define PODRANK_VERSION_MAJOR @MAJOR@
#define PODRANK_VERSION_MINOR @MINOR@
#define PODRANK_VERSION_PATCH @PATCH@

// The release of Kubernetes whose behavior podrank_predict and podrank_kubernetes_compare reproduce in the library that this
// header came with. Another library of this ABI can reproduce another release: its changelog says which.
#define PODRANK_KUBERNETES "1.37"

// Put it into a function that the program calls, such as main: the program then links only with a library that has the ABI
// of this header.
#define PODRANK_REQUIRE_ABI() ((void)podrank_abi_1())

@lib@

// ---------------------------------------------------------------------------------------------------------------------
// STATUS

@status@

// ---------------------------------------------------------------------------------------------------------------------
// PODS

@record@

// ---------------------------------------------------------------------------------------------------------------------
// OPTIONS

@options@

// Kubernetes' default gates, and ages at the time now, in nanoseconds of the clock of the pods' times:
// `podrank_options options = PODRANK_OPTIONS_AT(now);`
#define PODRANK_OPTIONS_AT(now) \
    { (uint32_t)sizeof(podrank_options), PODRANK_OPTIONS_NOW, (now) }

// ---------------------------------------------------------------------------------------------------------------------
// THE ORDER. These rules apply in turn, and the first that does not tie decides: unassigned first; lower phase; not ready;
// lower tier (if you set any); lower deletion cost; higher rank; preferred (if turned on); ready for a shorter time,
// unset first; more restarts; more sidecar restarts; created later, unset first; smaller UID. With PODRANK_OPTIONS_NOW, unless
// PODRANK_OPTIONS_LOGARITHMIC_SCALE_DOWN_OFF is set, ages are compared by age bucket, floor(log2(age in ns)): two ages in one
// bucket tie, and the next rule decides. Pods with one UID can tie in all rules, as those do whose uid you leave at the zeros of
// PODRANK_POD_INIT. Of pods that tie in all rules, podrank_select and podrank_sort put the one with the lower index first.

@order@

// ---------------------------------------------------------------------------------------------------------------------
// PREDICTION. Kubernetes itself has no total order, for two reasons. If two times differ but their ages
// are in one bucket, its comparator skips the other rules and compares the UIDs, so it can contradict itself: X before
// Z, Z before Y, but X and Y tie, or even Y before X. And if no two times differ in this way, it never compares UIDs, so
// pods can tie in everything that it compares. In both cases the list order decides. podrank_predict separates the pods
// that are deleted in every list order, those that are kept in every list order, and the possible ones in
// between, of which a known number is deleted, but the list order decides which. podrank_select has no possible pods: it
// gives one answer, by the order.

@kubernetes@

// ---------------------------------------------------------------------------------------------------------------------
// EXPLANATIONS

@explain@

// ---------------------------------------------------------------------------------------------------------------------
// TEXTS: what Kubernetes' objects have as text, and records have as numbers. Texts that functions read need no NUL at their
// end, and their lengths must not count one: with it, "Running" would not be a phase and would count as Pending.

@text@

// ---------------------------------------------------------------------------------------------------------------------
// KEYS, for pods in a sorted store

@key@

@assertions@

#ifdef __cplusplus
} // extern "C"
#endif

#endif // PODRANK_H
