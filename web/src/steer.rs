//! The plan of a scale-down that takes the pods that were clicked, with the commands that carry it out, and the decision once its costs
//! are written.

use crate::answer::Answer;
use crate::decide;
use crate::failure::Failure;
use kubectl_podrank::view;
use podrank::DELETION_COST_ANNOTATION;
use podrank_predict::plan::{ForeignCosts, Plan, PlanRequest, PlanSize, PlannedPod, plan as planned};
use podrank_predict::{Note, NoteCode, Options, Preview, Snapshot};
use serde::Serialize;

/// The most pods whose costs are listed: each is an object to be written.
const MOST_LISTED: usize = 200;

/// The last plan, and the input with its costs.
pub(crate) struct Steered {
    /// What was asked, with the pods that were clicked.
    asked: (String, Vec<String>),
    options: Options,
    plan: Plan,
    written: Snapshot,
}

/// A plan, as the page shows it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown<'p> {
    /// How many costs are to be written.
    new_costs: usize,
    /// How many pods are deleted.
    deletions: usize,
    notes: &'p [Note],
    /// Those that were named or whose costs change.
    pods: Vec<&'p PlannedPod>,
    /// The decision once the costs are written.
    answer: Answer<'p>,
    /// One command that does all of it, waits where it must and compares afterwards.
    scale: &'p str,
    /// What it does with kubectl alone: the costs, and then the count.
    costs: Vec<String>,
    count: String,
}

impl Steered {
    pub(crate) fn new(
        input: &Snapshot,
        asked: &str,
        options: Options,
        names: &[String],
    ) -> Result<Self, Failure> {
        let count =
            options.replicas.ok_or_else(|| "without a count, there is nothing to choose".to_owned())?;
        let request = PlanRequest {
            options: options.clone(),
            count: PlanSize::To(count),
            named: names.iter().cloned().collect(),
            preferences: Vec::new(),
            foreign_costs: ForeignCosts::Keep,
            own_costs: None,
        };
        let plan = planned(input, &request)?;
        let mut options = options;
        options.probabilities = false;
        Ok(Self { asked: (asked.to_owned(), names.to_vec()), options, written: plan.written(input), plan })
    }

    pub(crate) fn is_for(&self, asked: &str, names: &[String]) -> bool {
        self.asked.0 == asked && self.asked.1 == names
    }

    /// The decision once the costs are written.
    pub(crate) fn preview(&self) -> Result<Preview<'_>, Failure> {
        let mut preview = decide(&self.written, &self.options)?;
        // They are those of the plan.
        preview.notes.retain(|note| note.code != NoteCode::DeletionCosts);
        Ok(preview)
    }

    /// The plan and the decision, as JSON.
    pub(crate) fn shown(&self) -> Result<String, Failure> {
        let Self { plan, asked: (_, names), .. } = self;
        let preview = self.preview()?;
        let mut answer = Answer::of(&preview);
        self.add_condition(&mut answer.headline);
        let is_listed = |pod: &&PlannedPod| pod.is_named || pod.write.is_some();
        let shown = Shown {
            new_costs: plan.writes,
            deletions: plan.delete,
            notes: &plan.notes,
            pods: plan.pods.iter().filter(is_listed).take(MOST_LISTED).collect(),
            answer,
            scale: &scale(plan, names),
            costs: costs(plan),
            count: format!(
                "kubectl scale {} --current-replicas={} --replicas={}{}",
                plan.target,
                plan.from,
                plan.replicas,
                namespace(plan)
            ),
        };
        Ok(crate::json(&shown))
    }

    /// What `kubectl podrank -o markdown` prints once the costs are written, and how they are.
    pub(crate) fn markdown(&self) -> Result<String, Failure> {
        let mut table = view::answer::table(&self.preview()?);
        self.add_condition(&mut table.sentences[0]);
        let answer = table.markdown();
        Ok(format!("{answer}\n```sh\n{}\n```\n", scale(&self.plan, &self.asked.1)))
    }

    /// Adds to the headline that the deletion costs have to be written.
    fn add_condition(&self, headline: &mut String) {
        let condition = match self.plan.writes {
            0 => return,
            1 => "this deletion cost is".to_owned(),
            writes => format!("these {writes} deletion costs are"),
        };
        headline.truncate(headline.trim_end_matches('.').len());
        headline.extend([", if ", &condition, " written."]);
    }
}

/// `kubectl podrank scale` for these pods.
fn scale(plan: &Plan, names: &[String]) -> String {
    let pods = names.iter().map(|name| format!(" --pod {name}")).collect::<Vec<_>>().concat();
    format!("kubectl podrank scale {} --replicas {}{}{pods}", plan.target, plan.replicas, namespace(plan))
}

/// The commands that write the costs.
fn costs(plan: &Plan) -> Vec<String> {
    let namespace = namespace(plan);
    let write = |pod: &PlannedPod| {
        let cost = pod.write?;
        Some(format!(
            "kubectl annotate pod {}{namespace} --overwrite {DELETION_COST_ANNOTATION}={cost}",
            pod.name
        ))
    };
    plan.pods.iter().filter_map(write).collect()
}

fn namespace(plan: &Plan) -> String {
    if plan.namespace == "default" { String::new() } else { format!(" --namespace {}", plan.namespace) }
}
