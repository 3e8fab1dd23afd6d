//! How many replicas autoscalers want, minute by minute. That does not depend on which pods go.

use super::scenario::{Scenario, Workload};
use fastrand::Rng;

/// The number of minutes in a day.
pub const DAY: u32 = 24 * 60;

/// `HorizontalPodAutoscaler`'s default: a load that is off by less changes nothing.
const TOLERANCE: f64 = 0.1;

/// `HorizontalPodAutoscaler`'s default: the count falls to the highest that it wanted in so many minutes.
const STABILIZATION: usize = 5;

/// The standard deviation of the noise, as a share of the load.
const NOISE: f64 = 0.05;

/// How much of the noise is still there a minute later: half of it after 23 minutes.
const STAYS: f64 = 0.97;

/// The share of the highest load at this minute, without noise: 1 at 14:00, a half at 02:00, and lines between. (A sine would
/// not have the same bits on every machine.)
#[must_use]
pub fn load(minute: u32) -> f64 {
    let from_peak =
        f64::from((minute + DAY - 14 * 60) % DAY).min(f64::from((14 * 60 + DAY - minute % DAY) % DAY));
    1.0 - from_peak / f64::from(DAY)
}

/// How many replicas each workload wants, at the end of each minute.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Where it is.
    pub scenario: Scenario,
    /// What it was made from.
    pub seed: u64,
    /// The replicas before the first minute.
    pub start: Vec<u32>,
    /// For each minute, the replicas of each workload. The first is midnight.
    pub minutes: Vec<Vec<u32>>,
}

impl Demand {
    /// Lets autoscalers follow the load for so many days, and one before them.
    #[must_use]
    pub fn new(scenario: Scenario, seed: u64, days: u32) -> Self {
        let workloads = scenario.workloads(seed).into_iter().zip(0..);
        let mut autoscalers: Vec<_> = workloads
            .map(|(workload, number)| Autoscaler::new(workload, seed * 1_000 + number, load(0)))
            .collect();
        let start = autoscalers.iter().map(Autoscaler::replicas).collect();
        let mut pass =
            |minute| autoscalers.iter_mut().map(|autoscaler| autoscaler.minute(load(minute))).collect();
        Self { scenario, seed, start, minutes: (0..(days + 1) * DAY).map(&mut pass).collect() }
    }
}

/// The autoscaler of one workload.
#[derive(Clone, Debug)]
pub struct Autoscaler {
    workload: Workload,
    noise: f64,
    replicas: u32,
    wanted: [u32; STABILIZATION],
    random: Rng,
}

impl Autoscaler {
    /// Starts it with the replicas for this load.
    #[must_use]
    pub fn new(workload: Workload, seed: u64, load: f64) -> Self {
        let replicas =
            if workload.scales { replicas(f64::from(workload.replicas) * load) } else { workload.replicas };
        Self {
            workload,
            noise: 0.0,
            replicas,
            wanted: [replicas; STABILIZATION],
            random: Rng::with_seed(seed),
        }
    }

    /// Returns the replicas.
    #[must_use]
    pub const fn replicas(&self) -> u32 {
        self.replicas
    }

    /// Lets a minute pass with this share of the highest load, and returns the replicas after it.
    pub fn minute(&mut self, load: f64) -> u32 {
        if !self.workload.scales {
            return self.replicas;
        }
        // Of 12 numbers from 0 to 1, the sum has the variance 1.
        let normal = (0..12).map(|_| self.random.f64()).sum::<f64>() - 6.0;
        self.noise = self.noise * STAYS + normal * NOISE * (1.0 - STAYS * STAYS).sqrt();
        let load = f64::from(self.workload.replicas) * load * (1.0 + self.noise);
        let is_tolerable = (load / f64::from(self.replicas) - 1.0).abs() <= TOLERANCE;
        self.wanted.rotate_left(1);
        self.wanted[STABILIZATION - 1] = if is_tolerable { self.replicas } else { replicas(load) };
        let highest = self.wanted.into_iter().max().unwrap_or(1);
        let wanted = self.wanted[STABILIZATION - 1];
        self.replicas = if wanted > self.replicas { wanted } else { highest.min(self.replicas) };
        self.replicas
    }
}

/// How many replicas a load needs, where each bears a load of 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a load is positive and small")]
fn replicas(load: f64) -> u32 {
    (load.ceil() as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_is_highest_at_14_and_lowest_at_2() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(near(load(14 * 60), 1.0) && near(load(2 * 60), 0.5));
        assert!(near(load(8 * 60), 0.75) && near(load(DAY + 20 * 60), 0.75));
    }

    #[test]
    fn replicas_rise_at_once_and_fall_after_five_minutes() {
        let workload = Workload { replicas: 100, request: 1, scales: true };
        let mut autoscaler = Autoscaler::new(workload, 0, 0.5);
        assert_eq!(autoscaler.replicas(), 50);
        assert!(autoscaler.minute(1.0) > 80);
        let high = autoscaler.replicas();
        for _ in 0..STABILIZATION - 1 {
            assert_eq!(autoscaler.minute(0.5), high);
        }
        assert!(autoscaler.minute(0.5) < 60);
        let never = Workload { scales: false, ..workload };
        assert_eq!(Autoscaler::new(never, 0, 0.5).minute(0.7), 100);
    }
}
