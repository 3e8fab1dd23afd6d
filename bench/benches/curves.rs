//! Curves over the number of pods and of victims: `cargo bench -p podrank-bench`, and `-- NAME` for some of them.

use divan::{Bencher, black_box};
use podrank::Policy;
use podrank_bench::contenders;
use podrank_bench::data::{DataSet, exact, log_scaled};

const SIZES: [usize; 5] = [10, 100, 1_000, 10_000, 150_000];
const KS: [usize; 4] = [1, 50, 500, 15_000];
const MOST_PODS: usize = 150_000;

fn main() {
    divan::main();
}

fn select(bencher: Bencher<'_, '_>, policy: Policy, set: DataSet, len: usize, k: usize, with_scratch: bool) {
    let pods = set.pods(len);
    let mut victims = vec![0; k.min(len)];
    let mut scratch = if with_scratch { contenders::scratch(&pods, k) } else { Vec::new() };
    bencher.counter(divan::counter::ItemsCount::new(len)).bench_local(|| {
        policy.select_with(black_box(&pods), &mut victims, &mut scratch).map_or(0, <[u32]>::len)
    });
}

macro_rules! data_sets {
    ($($name:ident: $set:expr;)*) => {$(
        mod $name {
            use super::*;

            #[divan::bench(args = SIZES)]
            fn floor(bencher: Bencher<'_, '_>, len: usize) {
                let pods = $set.pods(len);
                bencher
                    .counter(divan::counter::ItemsCount::new(len))
                    .bench_local(|| contenders::floor(black_box(&pods)));
            }

            #[divan::bench(args = SIZES)]
            fn select_500(bencher: Bencher<'_, '_>, len: usize) {
                select(bencher, log_scaled(), $set, len, 500, false);
            }

            #[divan::bench(args = SIZES)]
            fn scratch_500(bencher: Bencher<'_, '_>, len: usize) {
                select(bencher, log_scaled(), $set, len, 500, true);
            }

            #[divan::bench(args = SIZES)]
            fn scratch_500_exact(bencher: Bencher<'_, '_>, len: usize) {
                select(bencher, exact(), $set, len, 500, true);
            }

            #[divan::bench(args = KS)]
            fn select_k_of_150000(bencher: Bencher<'_, '_>, k: usize) {
                select(bencher, log_scaled(), $set, MOST_PODS, k, false);
            }

            #[divan::bench(args = KS)]
            fn scratch_k_of_150000(bencher: Bencher<'_, '_>, k: usize) {
                select(bencher, log_scaled(), $set, MOST_PODS, k, true);
            }

            #[divan::bench(args = SIZES)]
            fn settle(bencher: Bencher<'_, '_>, len: usize) {
                let (pods, policy) = ($set.pods(len), log_scaled());
                let (mut order, mut scores) = (vec![0; len], vec![0; len]);
                bencher.counter(divan::counter::ItemsCount::new(len)).bench_local(|| {
                    policy.settle(black_box(&pods), len / 2, &mut order, &mut scores).map_or(0, |it| it.quota())
                });
            }
        }
    )*};
}

data_sets! {
    spread: DataSet::Spread;
    rollout: DataSet::Rollout;
    tie: DataSet::Tie;
    reverse: DataSet::Reverse;
}
