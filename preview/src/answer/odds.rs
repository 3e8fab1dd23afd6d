//! How likely a contested pod goes, as data, as JSON and as text.

use serde::Serialize;

/// How likely a contested pod goes: the share of all orders in which the controller can list the pods that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Odds {
    /// From 0 to 1. A pod that goes in none or in all of the orders that were looked at has 0 or 1, and is contested all the same.
    pub odds: f64,
    /// The standard error of `odds`; 0 if they are exact.
    #[serde(rename = "oddsError")]
    pub error: f64,
}

impl Odds {
    /// The odds that core found.
    pub(crate) fn of(odds: podrank::Odds) -> Self {
        Self::new(f64::from(odds.goes) / f64::from(odds.of), f64::from(odds.error) / 1e6)
    }

    /// Those of one of `count` pods that are alike, of which `quota` go.
    pub(crate) fn shared(quota: u32, count: u32) -> Self {
        Self::new(f64::from(quota) / f64::from(count), 0.0)
    }

    /// To four places, which is finer than any error.
    fn new(odds: f64, error: f64) -> Self {
        let [odds, error] = [odds, error].map(|number| (number * 1e4).round() / 1e4);
        Self { odds, error }
    }

    /// Returns them in per cent: `63 %`, or `<1 %` and `>99 %` at the ends.
    pub fn text(&self) -> String {
        match self.odds {
            odds if odds < 0.005 => "<1 %".to_owned(),
            odds if odds >= 0.995 => ">99 %".to_owned(),
            odds => format!("{:.0} %", odds * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contested_pods_never_have_none_or_all() {
        let text = |goes| Odds::of(podrank::Odds { goes, of: 4096, error: 732 }).text();
        assert_eq!([text(0), text(20), text(21)], ["<1 %", "<1 %", "1 %"]);
        assert_eq!([text(4096), text(4076), text(4075)], [">99 %", ">99 %", "99 %"]);
        assert_eq!(Odds::shared(2, 3).text(), "67 %");
    }
}
