//! A preview as text: for people, for programs, and for `kubectl delete`.

use crate::preview::{Order, PodPreview, Preview, Verdict};
use anstyle::{AnsiColor, Style};
use comfy_table::{Table, presets};
use std::borrow::Cow;

/// The JSON that other programs read.
///
/// # Panics
/// Never: a preview always is JSON.
pub fn json(preview: &Preview<'_>) -> String {
    serde_json::to_string_pretty(preview).expect("a preview is JSON") + "\n"
}

/// `pod/NAME` of every (certain) victim, a line each.
pub fn name(preview: &Preview<'_>) -> String {
    let victims = preview.pods.iter().filter(|pod| pod.verdict == Verdict::Delete);
    victims.flat_map(|pod| ["pod/".into(), plain(pod.name), "\n".into()]).collect()
}

/// A table, victims first, with escape codes if `in_colour`.
pub fn table(preview: &Preview<'_>, in_colour: bool) -> String {
    let mut text = plain(&summary(preview)).into_owned() + "\n";
    if preview.pods.is_empty() {
        return text;
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["#", "VERDICT", "POD", "NODE", "RANK", "AGE", "RULE", "WHY"]);
    table.add_rows(preview.pods.iter().map(row));
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);

    let paint = |style: Style, line: &str| {
        if in_colour { format!("{style}{line}{style:#}\n") } else { format!("{line}\n") }
    };
    text.push('\n');
    // The header, then a line for each pod.
    let Some((header, rows)) = lines.split_first() else { return text };
    text += &paint(Style::new().bold(), header);
    let mut last = None;
    for (pod, line) in preview.pods.iter().zip(rows) {
        if last.is_some_and(|verdict| verdict != pod.verdict) {
            text += &paint(Style::new().dimmed(), &"-".repeat(width));
        }
        last = Some(pod.verdict);
        let style = match pod.verdict {
            Verdict::Delete => AnsiColor::Red.on_default(),
            Verdict::Contested => AnsiColor::Yellow.on_default(),
            Verdict::Keep => Style::new(),
        };
        text += &paint(style, line);
    }
    text
}

fn summary(preview: &Preview<'_>) -> String {
    let Preview { delete, active, set_kind, namespace, replica_set, replicas, order, now, .. } = preview;
    let count = |verdict| preview.pods.iter().filter(|pod| pod.verdict == verdict).count();
    let (certain, contested) = (count(Verdict::Delete), count(Verdict::Contested));
    let contest = match contested {
        0 => String::new(),
        _ => format!(", {certain} certainly and {} of {contested} contested", delete - certain),
    };
    let order = match order {
        Order::Total => "total",
        Order::Kubernetes => "kubernetes",
    };
    format!(
        "{delete} of {active} active pods of {set_kind} {namespace}/{replica_set} go{contest} \
         at --replicas {replicas} --now {now} --order {order}"
    )
}

fn row(pod: &PodPreview<'_>) -> [String; 8] {
    let verdict = match pod.verdict {
        Verdict::Delete => "delete",
        Verdict::Contested => "contested",
        Verdict::Keep => "keep",
    };
    [
        pod.position.to_string(),
        verdict.to_owned(),
        plain(pod.name).into_owned(),
        plain(pod.node.unwrap_or("<none>")).into_owned(),
        pod.rank.to_string(),
        pod.age.clone().unwrap_or_else(|| "<unknown>".to_owned()),
        pod.rule.unwrap_or("-").to_owned(),
        plain(&pod.why).into_owned(),
    ]
}

/// `text` on one line and harmless to a terminal: control characters, which no Kubernetes name has but a file
/// may, are written as escapes.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::new();
    for char in text.chars() {
        if char.is_control() {
            plain.extend(char.escape_default());
        } else {
            plain.push(char);
        }
    }
    Cow::Owned(plain)
}
