//! How likely a contested pod goes, as data, as JSON and as text.

use serde::Serialize;

/// How the odds of several cases combine.
#[derive(Clone, Copy)]
pub(crate) enum Cases<'s> {
    /// One of them happens, and nobody knows how likely each is.
    Unknown,
    /// Each has its share of the time.
    Shares(&'s [f64]),
}

/// How likely a contested pod goes: the share of all orders in which the controller can list the pods that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Odds {
    /// From 0 to 1. A pod that goes in none or in all of the orders that were looked at has 0 or 1, and is contested all the same.
    /// If they depend on something of which nobody knows how likely it is, the least.
    pub odds: f64,
    /// If they depend on something of which nobody knows how likely it is, such as which set's pods go first, the most.
    #[serde(rename = "oddsMost", skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// The standard error of `odds`; 0 if they are exact.
    #[serde(rename = "oddsError")]
    pub error: f64,
}

impl Odds {
    /// The odds that core found.
    pub(crate) fn of(odds: podrank::Probability) -> Self {
        Self::new(f64::from(odds.deleted) / f64::from(odds.samples), f64::from(odds.std_error_ppm) / 1e6)
    }

    /// Those of one of `count` pods that are alike, of which `quota` go.
    pub(crate) fn shared(quota: u32, count: u32) -> Self {
        Self::new(f64::from(quota) / f64::from(count), 0.0)
    }

    /// To four places, which is finer than any error.
    pub(crate) fn new(odds: f64, error: f64) -> Self {
        let [odds, error] = [odds, error].map(|number| (number * 1e4).round() / 1e4);
        Self { odds, most: None, error }
    }

    /// Those of a pod with these odds in several cases. `None` if one has none.
    pub(crate) fn together(cases: impl Iterator<Item = Option<Self>>, how: Cases<'_>) -> Option<Self> {
        let cases: Vec<Self> = cases.collect::<Option<_>>()?;
        let all = || cases.iter().flat_map(|case| [case.odds, case.most.unwrap_or(case.odds)]);
        let error = cases.iter().map(|case| case.error).fold(0.0, f64::max);
        match how {
            Cases::Shares(shares) if cases.iter().all(|case| case.most.is_none()) => {
                let sum: f64 = shares.iter().sum();
                let mean = cases.iter().zip(shares).map(|(case, share)| case.odds * share).sum::<f64>() / sum;
                Some(Self::new(mean, error))
            }
            _ => {
                let (least, most) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
                // That it goes or stays says nothing about how likely it goes.
                let says = least > 0.0 || most < 1.0;
                let most = (most > least).then_some(most);
                says.then_some(Self { odds: least, most, error })
            }
        }
    }

    /// Returns them in per cent: `63%`, `20 to 63%`, or `<1%` and `>99%` at the ends.
    pub fn text(&self) -> String {
        let text = |odds: f64| match odds {
            odds if odds < 0.005 => "<1".to_owned(),
            odds if odds >= 0.995 => ">99".to_owned(),
            odds => format!("{:.0}", odds * 100.0),
        };
        match (text(self.odds), self.most.map(text)) {
            (least, Some(most)) if least != most => format!("{least} to {most}%"),
            (odds, _) => format!("{odds}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contested_pods_never_have_none_or_all() {
        let text =
            |goes| Odds::of(podrank::Probability { deleted: goes, samples: 4096, std_error_ppm: 732 }).text();
        assert_eq!([text(0), text(20), text(21)], ["<1%", "<1%", "1%"]);
        assert_eq!([text(4096), text(4076), text(4075)], [">99%", ">99%", "99%"]);
        assert_eq!(Odds::shared(2, 3).text(), "67%");
        let range = Odds { most: Some(0.999), ..Odds::new(0.6, 0.0) };
        assert_eq!(range.text(), "60 to >99%");
    }
}
