//! Says which of two pods is deleted first, and which victims are selected from lists of the two, by podrank and by the
//! naive oracle: `pair A B FLAGS NOW`. A and B are records in hexadecimal, FLAGS and NOW those of `podrank_options`.
//! `proof/` replays its counterexamples so.

use podrank::{FeatureGates, Flags, Phase, Pod, Policy, Scratch, Time, Uid};
use podrank_laws::oracle;

/// Lists of the two pods, by their numbers, and how many victims to select: by heads, past a prefilter, and from a buffer that is full.
const LISTS: [(&[usize], usize); 5] = [
    (&[0, 1], 2),
    (&[0, 0, 0, 0, 0, 1], 1),
    (&[1, 1, 1, 1, 1, 0], 1),
    (&[1, 1, 1, 0, 1], 1),
    (&[0, 0, 0, 1, 0], 1),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [a, b, flags, now] = &arguments[..] else { panic!("pair A B FLAGS NOW") };
    let flags: u8 = flags.parse().expect("flags");
    let now = time(now.parse().expect("nanoseconds"));
    let policy = if flags & 1 == 0 { Policy::without_now() } else { Policy::at(now) };
    let mut gates = FeatureGates::KUBERNETES;
    gates.pod_deletion_cost = flags & 2 == 0;
    gates.logarithmic_scale_down = flags & 4 == 0;
    gates.prefer_for_scale_down = flags & 8 != 0;
    let policy = policy.with_gates(gates);
    let (a, b) = (pod(a), pod(b));
    println!("{a:?}\n{b:?}\n{policy:?}");
    println!("podrank {:?}, oracle {:?}", policy.compare(&a, &b), oracle::compare(&policy, &a, &b));
    for (numbers, victims_len) in LISTS {
        let pods: Vec<Pod> = numbers.iter().map(|&number| [a, b][number]).collect();
        let (mut victims, mut scratch) = (vec![0; victims_len], vec![Scratch::default(); victims_len]);
        let victims = policy.select_with(&pods, &mut victims, &mut scratch).expect("few pods");
        let mut order: Vec<usize> = (0..pods.len()).collect();
        order.sort_by(|&i, &j| oracle::compare(&policy, &pods[i], &pods[j]));
        println!("podrank {victims:?}, oracle {:?} of {numbers:?}", &order[..victims_len]);
    }
}

fn time(nanos: i64) -> Time {
    if nanos == i64::MIN { Time::UNSET } else { Time::from_unix_nanos(nanos) }
}

fn pod(text: &str) -> Pod {
    let byte = |at: usize| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).expect("64 bytes");
    let number = |at: usize| u32::from_le_bytes([byte(at), byte(at + 1), byte(at + 2), byte(at + 3)]);
    let time = |at: usize| time((u64::from(number(at + 4)) << 32 | u64::from(number(at))).cast_signed());
    let mut pod = Pod::new();
    pod.uid = Uid::from_bytes(std::array::from_fn(byte));
    (pod.ready_time, pod.creation_time) = (time(16), time(24));
    pod.deletion_cost = number(32).cast_signed();
    (pod.rank, pod.restarts, pod.sidecar_restarts) = (number(36), number(40), number(44));
    pod.phase = [Phase::PENDING, Phase::UNKNOWN, Phase::RUNNING][usize::from(byte(52))];
    for (flag, bit) in [(Flags::ASSIGNED, 1), (Flags::READY, 2), (Flags::PREFERRED, 4)] {
        pod.flags = pod.flags.with(flag, byte(53) & bit != 0);
    }
    pod.tier = u16::from_le_bytes([byte(54), byte(55)]);
    pod
}
