//! Times contenders in turns, so that what slows the machine down slows them all; the best lap of each counts.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Long enough for the clock.
const LAP: Duration = Duration::from_micros(20);

/// More would tell nothing new.
const MOST_LAPS: u32 = 2_000;

/// Runs a contender and says how many nanoseconds it took.
pub type Contender<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// What can be run again and again, and is, until the clock can tell.
pub fn again<'a, T>(mut run: impl FnMut() -> T + 'a) -> Contender<'a> {
    let mut times = 1_u32;
    Box::new(move || {
        let start = Instant::now();
        for _ in 0..times {
            black_box(run());
        }
        let elapsed = start.elapsed();
        let nanos = elapsed.as_secs_f64() * 1e9 / f64::from(times);
        if elapsed < LAP {
            times *= 2;
        }
        nanos
    })
}

/// The best lap of each in nanoseconds. Each runs at least once, and continues while some of its share of time remains.
pub fn race(share: Duration, contenders: &mut [Contender<'_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; contenders.len()];
    let mut spent = vec![Duration::ZERO; contenders.len()];
    for _ in 0..MOST_LAPS {
        let mut runners = 0;
        for ((contender, best), spent) in contenders.iter_mut().zip(&mut best).zip(&mut spent) {
            if *spent < share {
                let start = Instant::now();
                *best = best.min(contender());
                *spent += start.elapsed();
                runners += 1;
            }
        }
        if runners == 0 {
            break;
        }
    }
    best
}
