//! Answers what `judge/code` asks of the preview. Each line that it reads is a question, followed by the objects that Kubernetes' own
//! code gets, too; each line that it writes is a list of answers: a preview as other programs read it, or the error in its place.

use jiff::Timestamp;
use podrank_predict::gates::STATEFUL_SET_GATES;
use podrank_predict::{Options, Snapshot, WorkloadName, preview_workload};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufWriter, Write};

/// A question about the objects of one input line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Question {
    workload: String,
    now: Timestamp,
    /// The counts to decide for, one after the other. Without any, that of the object.
    #[serde(default)]
    counts: Vec<u32>,
    /// Whether pods that the statuses count may be missing.
    #[serde(default)]
    partial: bool,
    /// The feature gates of `StatefulSets` that are on or off, by name.
    #[serde(default)]
    gates: BTreeMap<String, bool>,
}

impl Question {
    fn options(&self, count: Option<u32>) -> Result<Options, String> {
        let workload: WorkloadName =
            self.workload.parse().map_err(|error: podrank_predict::Error| error.to_string())?;
        let mut options = Options::new(0, self.now);
        options.replicas = count;
        options.workload = Some(workload);
        options.partial = self.partial;
        // Kubernetes' code decides about pods, and has no probabilities.
        options.probabilities = false;
        for (name, gate) in STATEFUL_SET_GATES {
            *gate(&mut options.controller_gates) = self.gates.get(name).copied();
        }
        Ok(options)
    }

    fn answer(&self, input: &Snapshot, count: Option<u32>) -> Result<Box<RawValue>, String> {
        let preview = preview_workload(input, &self.options(count)?).map_err(|error| error.to_string())?;
        to_raw_value(&preview).map_err(|error| error.to_string())
    }
}

fn answers(line: &str) -> Result<Vec<Box<RawValue>>, String> {
    let mut values = serde_json::Deserializer::from_str(line).into_iter();
    let question: Question = values.next().ok_or("no question")?.map_err(|error| error.to_string())?;
    let input =
        Snapshot::read(&line.as_bytes()[values.byte_offset()..]).map_err(|error| error.to_string())?;
    if question.counts.is_empty() {
        return Ok(vec![question.answer(&input, None)?]);
    }
    question.counts.iter().map(|count| question.answer(&input, Some(*count))).collect()
}

fn main() -> io::Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        match answers(&line?) {
            Ok(answers) => serde_json::to_writer(&mut output, &answers)?,
            Err(error) => serde_json::to_writer(&mut output, &[serde_json::json!({ "error": error })])?,
        }
        writeln!(output)?;
        output.flush()?;
    }
    Ok(())
}
