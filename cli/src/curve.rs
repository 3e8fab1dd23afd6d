//! How likely one pod goes at many counts, in a few words and as a line of blocks. Computes text and reads nothing.

use podrank_preview::Chance;

/// The most counts whose odds are listed one by one.
pub(crate) const MOST_LISTED: usize = 8;

/// The blocks, each of an eighth more.
const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The most blocks in a line, so that it fits an ordinary terminal with the words before it.
const MOST_BLOCKS: usize = 32;

/// Where the odds turn, the largest count first: `less than 5 % above 287`, `half at about 276`, `more than 95 % at 262 or fewer`.
pub(crate) fn turning_points(chances: &[Chance]) -> Vec<String> {
    let first = |least: f64| chances.iter().find(|chance| chance.odds.odds >= least).map(|its| its.replicas);
    let low = first(0.05).or(chances.last().map(|last| last.replicas));
    let low = low.filter(|low| chances.first().is_some_and(|first| first.replicas > *low));
    let off = |chance: &&Chance| (chance.odds.odds - 0.5).abs();
    let half = chances.iter().min_by(|a, b| off(a).total_cmp(&off(b))).filter(|half| off(half) < 0.45);
    let points = [
        low.map(|count| format!("less than 5 % above {count}")),
        half.map(|half| format!("half at about {}", half.replicas)),
        first(0.95).map(|count| format!("95 % or more at {count} or fewer")),
    ];
    points.into_iter().flatten().collect()
}

/// The odds as a line of blocks between the counts at its ends: `Its odds from 299 down to 1: ▁▁▂▄▇████`.
pub(crate) fn line(chances: &[Chance]) -> Option<String> {
    let [first, .., last] = chances else { return None };
    let blocks = chances.len().min(MOST_BLOCKS);
    let block = |place: usize| {
        let odds = chances[place * (chances.len() - 1) / (blocks - 1)].odds.odds;
        let level = BLOCKS.iter().zip(1_u8..).find(|(_, eighths)| odds * 8.0 < f64::from(*eighths));
        level.map_or('█', |(block, _)| *block)
    };
    let line: String = (0..blocks).map(block).collect();
    Some(format!("Its odds from {} down to {}: {line}", first.replicas, last.replicas))
}

#[cfg(test)]
mod tests {
    use super::*;
    use podrank_preview::Odds;

    /// Odds at the counts from this one down.
    fn chances(from: u32, odds: &[f64]) -> Vec<Chance> {
        let chance = |(replicas, odds): (u32, &f64)| Chance {
            replicas,
            odds: Odds { odds: *odds, most: None, error: 0.0 },
        };
        (0..=from).rev().zip(odds).map(chance).collect()
    }

    #[test]
    fn the_points_are_where_the_odds_turn() {
        let all = chances(20, &[0.0, 0.01, 0.049, 0.05, 0.2, 0.45, 0.6, 0.949, 0.95, 1.0]);
        assert_eq!(
            turning_points(&all),
            ["less than 5 % above 17", "half at about 15", "95 % or more at 12 or fewer"]
        );
        assert_eq!(turning_points(&chances(20, &[0.06, 0.5])), ["half at about 19"]);
        assert_eq!(turning_points(&chances(20, &[0.99, 1.0])), ["95 % or more at 20 or fewer"]);
        // What is known ends before the odds turn.
        assert_eq!(turning_points(&chances(20, &[0.0, 0.01])), ["less than 5 % above 19"]);
    }

    #[test]
    fn a_block_is_an_eighth() {
        let eighths: Vec<f64> = (0..=8).map(|eighths| f64::from(eighths) / 8.0).collect();
        assert_eq!(line(&chances(9, &eighths)).as_deref(), Some("Its odds from 9 down to 1: ▁▂▃▄▅▆▇██"));
        let long = line(&chances(400, &[0.3; 301])).expect("a line");
        assert_eq!(long, format!("Its odds from 400 down to 100: {}", "▃".repeat(32)));
        assert_eq!(line(&chances(9, &[0.5])), None);
    }
}
