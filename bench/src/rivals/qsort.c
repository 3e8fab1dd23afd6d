// What a C programmer does without podrank_select: the standard library's sort, through podrank_compare.
#include <podrank.h>
#include <stdlib.h>

// qsort hands nothing through to its comparator.
static const podrank_options *options;

static int in_order(const void *a, const void *b)
{
    int32_t ordering = 0;
    podrank_compare(a, b, options, &ordering);
    return ordering;
}

void podrank_bench_qsort(podrank_pod *pods, size_t pods_len, const podrank_options *how);

void podrank_bench_qsort(podrank_pod *pods, size_t pods_len, const podrank_options *how)
{
    options = how;
    qsort(pods, pods_len, sizeof *pods, in_order);
}
