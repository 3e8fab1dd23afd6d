//! Compares probabilities with how often a real controller deleted the pods, in rounds that `judge/cluster/judge
//! -chance -record FILE` records.
//!
//! Pods of one round depend on each other, so rounds are the samples. The deletions of a decile in all rounds together
//! are compared with their variance, round by round, over random lists.

use flate2::read::GzDecoder;
use podrank::{FeatureGates, Flags, Phase, Pod, Policy, Time};
use podrank_predict::{Options, PodAnswer, Preview, Snapshot, Verdict, preview_workload};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// How many lists tell how much a round varies.
const LISTS: u32 = 1024;

/// The largest z of a decile that counts as chance.
const MOST_Z: f64 = 3.5;

/// One round, as `judge/cluster/internal/record` writes it.
#[derive(Deserialize)]
struct Round {
    #[serde(rename = "round")]
    number: u64,
    set: String,
    replicas: u32,
    now: String,
    victims: BTreeSet<String>,
    items: Vec<Value>,
}

/// The result of rounds.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The number of rounds in which chance decided something.
    pub rounds: usize,
    /// The number of rounds in which it did not.
    pub plain: usize,
    deciles: [Decile; 10],
    brier: Sum,
    /// The Brier score of a prediction that gives all possible pods of a round the same probability.
    flat: f64,
}

/// The pods whose probability is in one tenth.
#[derive(Clone, Copy, Debug, Default)]
struct Decile {
    pods: usize,
    said: f64,
    went: f64,
    /// The variance of the number of deleted pods.
    variance: f64,
}

/// A sum over rounds, and its expectation if the probabilities are right.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    pods: f64,
    found: f64,
    expected: f64,
    variance: f64,
}

impl Calibration {
    /// Reads rounds, as JSON lines, compressed by gzip if the name says so. Returns those of up to 8 pods, and those of more.
    ///
    /// # Errors
    /// If the file cannot be read, or if a round is not one.
    pub fn read(path: &Path) -> Result<[Self; 2], Box<dyn Error>> {
        let file = File::open(path)?;
        let lines: Box<dyn BufRead> = if path.extension().is_some_and(|extension| extension == "gz") {
            Box::new(BufReader::new(GzDecoder::new(file)))
        } else {
            Box::new(BufReader::new(file))
        };
        let mut sizes = [Self::default(), Self::default()];
        for line in lines.lines() {
            let round: Round = serde_json::from_str(&line?)?;
            round.judge(&mut sizes).map_err(|error| format!("round {}: {error}", round.number))?;
        }
        Ok(sizes)
    }

    /// Both together.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.rounds += other.rounds;
        self.plain += other.plain;
        self.flat += other.flat;
        for (sum, more) in self.deciles.iter_mut().zip(&other.deciles) {
            sum.pods += more.pods;
            sum.said += more.said;
            sum.went += more.went;
            sum.variance += more.variance;
        }
        let Sum { pods, found, expected, variance } = other.brier;
        self.brier.pods += pods;
        self.brier.found += found;
        self.brier.expected += expected;
        self.brier.variance += variance;
        self
    }

    /// A line for each decile, and one for the Brier score.
    pub fn table(&self, title: &str) -> String {
        let mut text = format!(
            "{title}: {} rounds in which chance decides, {} in which it does not\n{:>8} {:>6} {:>9} {:>9} {:>6}\n",
            self.rounds, self.plain, "chance", "pods", "predicted", "deleted", "z"
        );
        for (tenth, decile) in (0..).step_by(10).zip(&self.deciles).filter(|(_, decile)| decile.pods > 0) {
            let odds = format!("{tenth}-{}%", tenth + 10);
            let [said, went] = [decile.said, decile.went].map(|sum| 100.0 * sum / decile.pods());
            let _ =
                writeln!(text, "{odds:>8} {:>6} {said:>8.1}% {went:>8.1}% {:>6.2}", decile.pods, decile.z());
        }
        let Sum { pods, found, expected, variance } = self.brier;
        let _ = writeln!(
            text,
            "Brier score {:.4} (right chances would give {:.4}, with a standard error of {:.4}, and equal ones in each ReplicaSet {:.4})",
            found / pods,
            expected / pods,
            variance.sqrt() / pods,
            self.flat / pods,
        );
        text
    }

    /// Contradictions to the probabilities.
    pub fn contradictions(&self) -> Vec<String> {
        let far = (0..).step_by(10).zip(&self.deciles).filter(|(_, decile)| decile.z().abs() > MOST_Z);
        let mut found: Vec<_> = far
            .map(|(tenth, decile)| {
                format!("chances from {tenth}% to {}%: z is {:.2}", tenth + 10, decile.z())
            })
            .collect();
        let Sum { found: brier, expected, variance, .. } = self.brier;
        if (brier - expected).abs() > 3.0 * variance.sqrt() {
            found.push(format!("the Brier score is {brier:.2} in all, and should be {expected:.2}"));
        }
        found
    }
}

impl Decile {
    #[expect(clippy::cast_precision_loss, reason = "few pods")]
    fn pods(&self) -> f64 {
        self.pods as f64
    }

    fn z(&self) -> f64 {
        if self.variance > 0.0 { (self.went - self.said) / self.variance.sqrt() } else { 0.0 }
    }
}

/// The position of each possible pod, and its probability.
fn said(pods: &[&PodAnswer<'_>]) -> Result<Vec<(usize, f64)>, Box<dyn Error>> {
    let odds = |pod: &PodAnswer<'_>| pod.probability.map(|it| it.min);
    let said: Vec<(usize, f64)> =
        pods.iter().enumerate().filter_map(|(place, pod)| Some((place, odds(pod)?))).collect();
    let contested = pods.iter().filter(|pod| pod.verdict == Verdict::Possible).count();
    let are_contested = said.iter().all(|(place, _)| pods[*place].verdict == Verdict::Possible);
    if said.len() != contested || !are_contested {
        return Err("not each contested pod has odds, or another one has".into());
    }
    Ok(said)
}

impl Round {
    /// Adds what this round says to the rounds of its size.
    fn judge(&self, sizes: &mut [Calibration; 2]) -> Result<(), Box<dyn Error>> {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": self.items }).to_string();
        let input = Snapshot::read(list.as_bytes())?;
        let mut options = Options::new(self.replicas, self.now.parse()?);
        options.workload = Some(self.set.parse()?);
        let preview = preview_workload(&input, &options)?;
        let pods: Vec<_> = preview.pods().collect();
        let size = &mut sizes[usize::from(pods.len() > 8)];
        let said = said(&pods)?;
        let went: Vec<bool> =
            said.iter().map(|(place, _)| self.victims.contains(&pods[*place].uid().to_string())).collect();
        let outcome = Outcome::of(&said, &went);
        let (expected, variances) = self.chance(&preview, &said)?;
        if variances.went.iter().all(|variance| *variance < 1e-9) {
            size.plain += 1;
            return Ok(());
        }
        size.rounds += 1;
        for (decile, variance) in size.deciles.iter_mut().zip(variances.went) {
            decile.variance += variance;
        }
        let quota = preview.delete() - preview.count(Verdict::Deleted);
        let flat = f64::from(u32::try_from(quota)?) / f64::from(u32::try_from(said.len())?);
        for ((_, odds), went) in said.iter().zip(&went) {
            let went = f64::from(u8::from(*went));
            let decile = &mut size.deciles[tenth(*odds)];
            decile.pods += 1;
            decile.said += odds;
            decile.went += went;
            size.brier.pods += 1.0;
            size.flat += (flat - went).powi(2);
        }
        size.brier.found += outcome.brier;
        size.brier.expected += expected.brier;
        size.brier.variance += variances.brier;
        Ok(())
    }

    /// What happens on average if the controller sorts lists of random order, and the variance of that.
    fn chance(
        &self,
        preview: &Preview<'_>,
        said: &[(usize, f64)],
    ) -> Result<(Outcome, Outcome), Box<dyn Error>> {
        let records = preview.pods().map(record).collect::<Result<Vec<_>, _>>()?;
        let policy = Policy::at(Time::from_unix_nanos(i64::try_from(preview.now.as_nanosecond())?))
            .with_gates(FeatureGates::KUBERNETES);
        let mut random = fastrand::Rng::with_seed(self.number);
        let mut order: Vec<u32> = (0..u32::try_from(records.len())?).collect();
        let mut scratch = vec![[0; 4]; records.len()];
        let (mut sums, mut squares) = (Outcome::default(), Outcome::default());
        for _ in 0..LISTS {
            random.shuffle(&mut order);
            let mut sorted = order.clone();
            policy.kubernetes_sort(&records, &mut sorted, &mut scratch).map_err(|error| error.to_string())?;
            let mut goes = vec![false; records.len()];
            for pod in &sorted[..preview.delete()] {
                goes[*pod as usize] = true;
            }
            let goes: Vec<bool> = said.iter().map(|(place, _)| goes[*place]).collect();
            let drawn = Outcome::of(said, &goes);
            for ((sum, square), value) in sums.each().zip(squares.each()).zip(drawn.values()) {
                *sum += value;
                *square += value * value;
            }
        }
        let (mut mean, mut variance) = (sums, squares);
        for (mean, variance) in mean.each().zip(variance.each()) {
            *mean /= f64::from(LISTS);
            *variance = *variance / f64::from(LISTS) - mean.powi(2);
        }
        Ok((mean, variance))
    }
}

/// The outcome of one round, or of one list.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    /// How many pods of each decile were deleted.
    went: [f64; 10],
    /// The sum of the squared differences from the probabilities.
    brier: f64,
}

impl Outcome {
    fn of(said: &[(usize, f64)], went: &[bool]) -> Self {
        let mut outcome = Self::default();
        for ((_, odds), went) in said.iter().zip(went) {
            let went = f64::from(u8::from(*went));
            outcome.went[tenth(*odds)] += went;
            outcome.brier += (odds - went).powi(2);
        }
        outcome
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.went.into_iter().chain([self.brier])
    }

    fn each(&mut self) -> impl Iterator<Item = &mut f64> {
        self.went.iter_mut().chain([&mut self.brier])
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "odds are from 0 to 1")]
fn tenth(odds: f64) -> usize {
    ((odds * 10.0) as usize).min(9)
}

/// What the comparator reads of a pod.
fn record(pod: &PodAnswer<'_>) -> Result<Pod, Box<dyn Error>> {
    let time = |time: Option<jiff::Timestamp>| -> Result<Time, Box<dyn Error>> {
        Ok(time
            .map_or(Ok(Time::UNSET), |time| i64::try_from(time.as_nanosecond()).map(Time::from_unix_nanos))?)
    };
    let details = pod.details();
    Ok(Pod {
        uid: pod.uid(),
        phase: Phase::parse(details.phase).ok_or("an inactive pod")?,
        flags: Flags::NONE.with(Flags::ASSIGNED, pod.node().is_some()).with(Flags::READY, details.is_ready),
        ready_time: time(details.ready_time)?,
        creation_time: time(details.creation_time)?,
        deletion_cost: details.deletion_cost,
        rank: pod.rank,
        restarts: details.restarts,
        sidecar_restarts: details.sidecar_restarts,
        ..Pod::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rounds of docs/certainty.md.
    #[test]
    fn pods_go_as_often_as_their_odds_say() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/odds-rounds.jsonl.gz");
        let [small, large] = Calibration::read(&path).expect("rounds");
        println!("{}{}", small.table("up to 8 pods"), large.table("more"));
        assert!(small.rounds + large.rounds >= 300, "{} and {} rounds", small.rounds, large.rounds);
        for part in [&small, &large, &small.clone().and(&large)] {
            assert_eq!(part.contradictions(), [""; 0]);
        }
    }
}
