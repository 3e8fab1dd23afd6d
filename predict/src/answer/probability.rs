//! How likely a possible deletion is, as data, as JSON and as text.

use crate::text::number;
use serde::Serialize;

/// How the probabilities of several cases combine.
#[derive(Clone, Copy)]
pub(crate) enum Cases<'s> {
    /// One of them happens, and nobody knows how likely each is.
    Unknown,
    /// Each has its share of the time.
    Shares(&'s [f64]),
}

/// The probability that a pod is deleted: the share of the orders in which the controller can list the pods that delete it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Probability {
    /// From 0 to 1. A pod that is deleted in none or in all of the orders that were sampled has 0 or 1, and is possible all the same.
    /// If it depends on something of which nobody knows how likely it is, the least.
    #[serde(rename = "probability")]
    pub min: f64,
    /// If it depends on something of which nobody knows how likely it is, such as which set's pods are deleted first, the most.
    #[serde(rename = "probabilityMax", skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The standard error of `min`; 0 if it is exact.
    #[serde(rename = "probabilityError")]
    pub error: f64,
}

impl Probability {
    /// The one that core found.
    pub(crate) fn of(found: podrank::Probability) -> Self {
        Self::new(f64::from(found.deleted) / f64::from(found.samples), f64::from(found.std_error_ppm) / 1e6)
    }

    /// That of one of `count` pods that are alike, of which `quota` are deleted.
    pub(crate) fn shared(quota: usize, count: usize) -> Self {
        let [quota, count] = [quota, count].map(|pods| f64::from(number(pods)));
        Self::new(quota / count, 0.0)
    }

    /// To four places, which is finer than any error.
    pub(crate) fn new(probability: f64, error: f64) -> Self {
        let [min, error] = [probability, error].map(|number| (number * 1e4).round() / 1e4);
        Self { min, max: None, error }
    }

    /// That of a pod with these probabilities in several cases. `None` if one has none.
    pub(crate) fn together(cases: impl Iterator<Item = Option<Self>>, how: Cases<'_>) -> Option<Self> {
        let cases: Vec<Self> = cases.collect::<Option<_>>()?;
        let all = || cases.iter().flat_map(|case| [case.min, case.max.unwrap_or(case.min)]);
        let error = cases.iter().map(|case| case.error).fold(0.0, f64::max);
        match how {
            Cases::Shares(shares) if cases.iter().all(|case| case.max.is_none()) => {
                let sum: f64 = shares.iter().sum();
                let mean = cases.iter().zip(shares).map(|(case, share)| case.min * share).sum::<f64>() / sum;
                Some(Self::new(mean, error))
            }
            _ => {
                let (min, max) = (all().fold(1.0, f64::min), all().fold(0.0, f64::max));
                // That it is deleted or kept says nothing about how likely that is.
                let says = min > 0.0 || max < 1.0;
                let max = (max > min).then_some(max);
                says.then_some(Self { min, max, error })
            }
        }
    }

    /// Returns them in per cent: `63%`, `20 to 63%`, or `<1%` and `>99%` at the ends.
    pub fn text(&self) -> String {
        let text = |probability: f64| match probability {
            it if it < 0.005 => "<1".to_owned(),
            it if it >= 0.995 => ">99".to_owned(),
            it => format!("{:.0}", it * 100.0),
        };
        match (text(self.min), self.max.map(text)) {
            (least, Some(most)) if least != most => format!("{least} to {most}%"),
            (min, _) => format!("{min}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contested_pods_never_have_none_or_all() {
        let text = |goes| {
            Probability::of(podrank::Probability { deleted: goes, samples: 4096, std_error_ppm: 732 }).text()
        };
        assert_eq!([text(0), text(20), text(21)], ["<1%", "<1%", "1%"]);
        assert_eq!([text(4096), text(4076), text(4075)], [">99%", ">99%", "99%"]);
        assert_eq!(Probability::shared(2, 3).text(), "67%");
        let range = Probability { max: Some(0.999), ..Probability::new(0.6, 0.0) };
        assert_eq!(range.text(), "60 to >99%");
    }
}
