//! What --prefer-nodes says of nodes: a label selector or a name, a taint or a condition.

use std::fmt;
use std::str::FromStr;

/// Which nodes are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodePreference {
    /// Those that a label selector selects, or the one of this name.
    Labels(String),
    /// Those that have such a taint. Without a value or an effect, any will do.
    Taint { key: String, value: Option<String>, effect: Option<String> },
    /// Those that have a condition with this status.
    Condition { kind: String, status: String },
}

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const STATUSES: [&str; 3] = ["True", "False", "Unknown"];

impl FromStr for NodePreference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("taint", taint)) => Self::taint(taint),
            Some(("condition", condition)) => {
                match condition.split_once('=') {
                    Some((kind, status)) if !kind.is_empty() && STATUSES.contains(&status) => {
                        Ok(Self::Condition { kind: kind.to_owned(), status: status.to_owned() })
                    }
                    _ => Err("expected condition:TYPE=STATUS, with True, False or Unknown as the status"
                        .to_owned()),
                }
            }
            Some(_) => Err(
                "expected labels, the name of a node, taint:KEY[=VALUE][:EFFECT] or condition:TYPE=STATUS"
                    .to_owned(),
            ),
            None => Ok(Self::Labels(text.to_owned())),
        }
    }
}

impl NodePreference {
    fn taint(text: &str) -> Result<Self, String> {
        let (taint, effect) =
            text.split_once(':').map_or((text, None), |(taint, effect)| (taint, Some(effect)));
        let (key, value) = taint.split_once('=').map_or((taint, None), |(key, value)| (key, Some(value)));
        if key.is_empty() {
            return Err("expected taint:KEY[=VALUE][:EFFECT]".to_owned());
        }
        match effect {
            Some(effect) if !EFFECTS.contains(&effect) => {
                Err(format!("the effect of a taint is one of {}", EFFECTS.join(", ")))
            }
            _ => Ok(Self::Taint {
                key: key.to_owned(),
                value: value.map(str::to_owned),
                effect: effect.map(str::to_owned),
            }),
        }
    }
}

impl fmt::Display for NodePreference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Labels(selector) => f.write_str(selector),
            Self::Taint { key, value, effect } => {
                write!(f, "taint:{key}")?;
                value.iter().try_for_each(|value| write!(f, "={value}"))?;
                effect.iter().try_for_each(|effect| write!(f, ":{effect}"))
            }
            Self::Condition { kind, status } => write!(f, "condition:{kind}={status}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_are_written_as_they_are_read() {
        for text in [
            "lifecycle=spot",
            "worker-1",
            "taint:karpenter.sh/disrupted",
            "taint:dedicated=batch",
            "taint:dedicated=",
            "taint:dedicated=batch:NoExecute",
            "taint:going:PreferNoSchedule",
            "condition:Ready=False",
        ] {
            assert_eq!(
                text.parse::<NodePreference>().map(|preference| preference.to_string()).as_deref(),
                Ok(text)
            );
        }
        for (text, error) in [
            ("taint:", "expected taint:KEY"),
            ("taint:=a", "expected taint:KEY"),
            ("taint:a:Now", "the effect of a taint is one of NoSchedule"),
            ("condition:Ready", "expected condition:TYPE=STATUS"),
            ("condition:Ready=true", "expected condition:TYPE=STATUS"),
            ("condition:=True", "expected condition:TYPE=STATUS"),
            ("cordoned:", "expected labels, the name of a node, taint:"),
            ("taints:a", "expected labels, the name of a node, taint:"),
        ] {
            let got = text.parse::<NodePreference>().expect_err(text);
            assert!(got.starts_with(error), "{text}: {got}");
        }
    }
}
