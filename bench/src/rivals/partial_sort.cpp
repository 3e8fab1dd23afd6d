// What a C++ programmer does without podrank_select: the standard library's partial sort, through podrank_compare.
#include <algorithm>
#include <podrank.h>

extern "C" void podrank_bench_partial_sort(podrank_pod *pods, size_t pods_len, size_t k, const podrank_options *options)
{
    std::partial_sort(pods, pods + k, pods + pods_len, [options](const podrank_pod &a, const podrank_pod &b) {
        int32_t ordering = 0;
        podrank_compare(&a, &b, options, &ordering);
        return ordering < 0;
    });
}
