/*
 * The C functions in C++: with vectors, and with an exception for any status but PODRANK_OK. Copy what you need.
 *
 *     c++ -std=c++11 pods.cpp $(pkg-config --cflags --libs podrank) && ./a.out
 */
#include <podrank.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

void check(std::int32_t status) {
    if (status != PODRANK_OK)
        throw std::runtime_error(podrank_status_str(status));
}

/* Counts the ranks of pods on nodes numbered 0 to nodes - 1. */
void count_ranks(std::vector<podrank_pod> &pods, std::size_t nodes) {
    std::vector<std::uint32_t> counts(nodes);
    check(podrank_count_ranks(pods.data(), pods.size(), nullptr, 0, counts.data(), counts.size()));
}

/* Returns the indices of the victims, in the order in which they go. The scratch memory makes it faster. */
std::vector<std::uint32_t> victims(const std::vector<podrank_pod> &pods, std::size_t count,
                                   const podrank_options &options) {
    std::vector<std::uint32_t> indices(std::min(count, pods.size()));
    std::vector<podrank_scratch> scratch(indices.size());
    std::size_t selected = 0;
    check(podrank_select(pods.data(), pods.size(), &options, indices.data(), indices.size(), scratch.data(),
                         scratch.size(), &selected));
    indices.resize(selected);
    return indices;
}

/* Returns the name of the rule that decides between a and b. */
std::string rule(const podrank_pod &a, const podrank_pod &b, const podrank_options &options) {
    std::int32_t ordering = 0;
    std::uint8_t by = PODRANK_RULE_NONE;
    check(podrank_decide(&a, &b, &options, &ordering, &by));
    return by == PODRANK_RULE_NONE ? "nothing" : podrank_rule_str(by);
}

podrank_pod running(const std::string &uid, std::uint32_t node, std::int64_t ready_seconds) {
    podrank_pod pod = PODRANK_POD_INIT;
    check(podrank_uid_parse(uid.data(), uid.size(), pod.uid, sizeof pod.uid));
    check(podrank_time_from_unix(ready_seconds, 0, &pod.ready_time));
    pod.phase = PODRANK_PHASE_RUNNING;
    pod.flags = PODRANK_POD_ASSIGNED | PODRANK_POD_READY;
    pod.node = node;
    return pod;
}

void run() {
    const std::int64_t now = 1767268800; // 2026-01-01T12:00:00Z
    podrank_options options = PODRANK_OPTIONS_INIT;
    options.flags = PODRANK_OPTIONS_NOW;
    check(podrank_time_from_unix(now, 0, &options.now));

    // Three on node 0, two on node 1. On node 0, one has been ready for a minute and two for about an hour, which is a
    // tie: both are between 2^41 and 2^42 ns. Their UIDs decide.
    std::vector<podrank_pod> pods = {
        running("7d1e0c6a-52c1-4b7e-8a43-00000000000c", 0, now - 3600),
        running("7d1e0c6a-52c1-4b7e-8a43-00000000000e", 0, now - 60),
        running("7d1e0c6a-52c1-4b7e-8a43-00000000000b", 0, now - 3700),
        running("7d1e0c6a-52c1-4b7e-8a43-00000000000a", 1, now - 30),
        running("7d1e0c6a-52c1-4b7e-8a43-00000000000d", 1, now - 7200),
    };
    count_ranks(pods, 2);

    const std::vector<std::uint32_t> order = victims(pods, pods.size(), options);
    for (std::size_t i = 0; i < order.size(); i++) {
        char uid[PODRANK_UID_TEXT_LEN + 1];
        check(podrank_uid_format(pods[order[i]].uid, uid, sizeof uid));
        std::cout << uid << " on node " << pods[order[i]].node;
        if (i + 1 < order.size())
            std::cout << ", before the next by " << rule(pods[order[i]], pods[order[i + 1]], options);
        std::cout << "\n";
    }
}

} // namespace

int main() {
    try {
        run();
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    return 0;
}
