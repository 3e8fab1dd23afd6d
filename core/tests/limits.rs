//! The limits: lists longer than 20 bits can count, more pods than 32 bits can count, and counts that are full.

use podrank::controller::{Availability, Status};
use podrank::ffi::node_number;
use podrank::{Flags, NodeCounts, Pod, count_ranks};
use podrank_laws::{Core, laws};

#[test]
fn long_lists_get_the_same_answers() {
    laws::long_lists(&Core);
}

#[test]
fn long_lists_settle() {
    laws::settles_long_lists(&Core);
}

/// Zeros at addresses that no memory backs: of a list this long, only the length is read.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn unbacked<T>(len: usize) -> &'static [T] {
    // SAFETY: a new mapping, which nobody unmaps or writes to, and from which every byte would read as zero. Zeros are a valid
    // value of each type below.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = libc::mmap(std::ptr::null_mut(), len * size_of::<T>(), libc::PROT_READ, flags, -1, 0);
        assert_ne!(start, libc::MAP_FAILED, "{len} elements: {}", std::io::Error::last_os_error());
        std::slice::from_raw_parts(start.cast(), len)
    }
}

/// 2^32 pods take 256 GiB of addresses.
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
#[test]
fn too_many_pods_are_rejected_and_nothing_is_written() {
    use podrank::{Error, Policy, Scratch};

    let len = u32::MAX as usize + 1;
    let pods = unbacked::<Pod>(len);
    let policy = Policy::without_now();
    let mut victims = [77; 3];
    let mut scratch = [Scratch::default(); 8];
    // First without victims: an implementation that accepts the list would not read it then, so this would fail
    // immediately.
    assert_eq!(policy.select(pods, &mut []), Err(Error::TooManyPods));
    assert_eq!(policy.select(&pods[1..], &mut []), Ok(&[][..]), "one fewer are not too many");
    assert_eq!(policy.select(pods, &mut victims), Err(Error::TooManyPods));
    assert_eq!(policy.select_with(pods, &mut victims, &mut scratch), Err(Error::TooManyPods));
    assert_eq!(policy.sort(pods, &mut []), Err(Error::ShortBuffer { len: 0, needed: len }));
    let mut scores = [77; 3];
    assert_eq!(policy.predict(pods, 1, &mut victims, &mut scores), Err(Error::TooManyPods));
    assert_eq!((victims, scores), ([77; 3], [77; 3]));
}

/// Counts that are almost full once the first pod is counted, which would otherwise take 2^32 calls.
struct AlmostFull {
    counts: [u32; 2],
    calls: u32,
}

impl AsRef<[u32]> for AlmostFull {
    fn as_ref(&self) -> &[u32] {
        &self.counts
    }
}

impl AsMut<[u32]> for AlmostFull {
    fn as_mut(&mut self) -> &mut [u32] {
        // The first call is the one that resets the counts.
        if self.calls == 1 {
            self.counts[1] = u32::MAX - 1;
        }
        self.calls += 1;
        &mut self.counts
    }
}

#[test]
fn node_counts_stop_at_their_maximum() {
    let pod = Pod { node: 1, flags: Flags::ASSIGNED, ..Pod::new() };
    let mut counts = NodeCounts::new(AlmostFull { counts: [0; 2], calls: 0 });
    for expected in [u32::MAX, u32::MAX, u32::MAX] {
        counts.add(&pod).unwrap();
        assert_eq!(counts.rank(&pod), Ok(expected));
    }
    assert_eq!(counts.rank(&Pod { node: 0, ..pod }), Ok(0));
}

#[test]
fn node_numbers_can_be_large() {
    let nodes = 70_000;
    let on = |node| Pod { node, flags: Flags::ASSIGNED, ..Pod::new() };
    let mut pods: Vec<Pod> = (0..nodes).map(on).collect();
    count_ranks(&mut pods, &[on(69_999), on(66_000), on(66_000)], &mut vec![7; nodes as usize]).unwrap();
    let rank = |node: u32| pods[node as usize].rank;
    assert_eq!([rank(69_999), rank(66_000)], [2, 3]);
    assert_eq!(pods.iter().filter(|pod| pod.rank == 1).count(), nodes as usize - 2);

    // Slots beyond 16 bits: a table that is full but for one of them.
    let mut slots = vec![Some(&b"other"[..]); nodes as usize];
    slots[67_000] = None;
    assert_eq!(node_number(&slots, b"node", |held| *held), Some(67_000));
}

#[test]
fn a_status_stops_at_its_maximum() {
    let full = Status {
        observed_generation: 1,
        replicas: u32::MAX,
        fully_labeled_replicas: u32::MAX,
        ready_replicas: u32::MAX,
        available_replicas: u32::MAX,
        terminating_replicas: u32::MAX,
    };
    let mut status = full;
    status.add(true, Availability::Available);
    status.add_terminating();
    assert_eq!(status, full);
}
