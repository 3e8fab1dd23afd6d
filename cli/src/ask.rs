//! Answers what is asked: reads a file or the cluster, decides, and makes the text. Prints nothing.

use crate::Failure;
use crate::args::preview::{Output, PreviewArgs};
use crate::at;
use crate::deletion;
use crate::files::{self, Read};
use crate::kubectl::Kubectl;
use crate::live::{self, Live, Scope, Several};
use crate::surroundings;
use jiff::Timestamp;
use kubectl_podrank::terminal::Terminal;
use kubectl_podrank::view::{self, Table, plain_but};
use podrank_predict::{
    DeletionOrder, Error, ErrorKind, Options, OrderedPod, Overview, OverviewRow, OwnerName, PodDeletion,
    Preview, Snapshot, Subject, TimeSource, WorkloadId, WorkloadKind, WorkloadName, deletion_order,
    deletion_order_of_pod, escaped, is_hidden, preview_workload,
};
use serde::Serialize;

/// What to print.
pub(crate) struct Answer {
    /// For standard output.
    pub(crate) text: Vec<u8>,
    /// For standard error, a line each.
    pub(crate) beside: Vec<String>,
    /// What makes it the same answer as an earlier one, although pods have grown older.
    pub(crate) gist: String,
}

/// A question about an input.
enum Question {
    /// What happens at a count, or in a rollout.
    Count,
    /// At which counts each pod is deleted.
    Order,
    /// The verdict about this pod.
    Pod(String),
    /// The deletion order of each of these sets, of one owner.
    Sets(Vec<WorkloadId>),
}

impl Question {
    /// About a workload.
    fn of(args: &PreviewArgs) -> Self {
        if args.has_count() { Self::Count } else { Self::Order }
    }
}

/// The set that an owner uses, if it is the only one. Only the owner's controller knows how it divides its replicas
/// among several.
fn only_set(
    owner: &OwnerName,
    sets: &[WorkloadId],
    args: &PreviewArgs,
) -> Result<Option<(String, WorkloadName)>, Error> {
    match sets {
        [only] => Ok(Some((only.namespace.clone(), live::named(only)))),
        [first, ..] if args.has_count() => {
            let names: Vec<_> = sets.iter().map(|id| live::named(id).to_string()).collect();
            let (first, namespace) = (live::named(first), &first.namespace);
            let command = format!("kubectl podrank {first} -n {namespace} --replicas N");
            Err(Error::new(format!("{owner} uses several ReplicaSets: {}", names.join(", ")))
                .because("Only its own controller decides how they share its replica count.")
                .advise(format!("Ask about one: {command}{}", args.of_file_and_decision())))
        }
        _ => Ok(None),
    }
}

/// An input, and what to ask about in it.
struct Inquiry {
    input: Snapshot,
    options: Options,
    question: Question,
}

/// Reads what the arguments name, and answers.
pub(crate) fn answer(args: &PreviewArgs, terminal: Terminal) -> Result<Answer, Failure> {
    let clock = Timestamp::now();
    let mut options = args.options(clock);
    let subjects = args.subjects()?;
    if let ([subject], Some(_)) = (&*subjects, &args.selector)
        && !matches!(subject, Subject::All(_))
    {
        let error = Error::new(format!("--selector cannot be used with {subject}"));
        return Err(error.because("It selects among all workloads, or all of a type.").into());
    }
    if !args.filename.is_empty() {
        let Read { input, modified, unread } = files::read(&args.filename)?;
        if let (None, Some(modified)) = (args.now, modified) {
            (options.now, options.time_source) = (modified, TimeSource::FileTime);
        }
        let answer = of_file(input, options, &subjects, args, terminal);
        let mut answer = answer.map_err(|error| at(error, &files::place(&args.filename)))?;
        answer.beside.extend(unread);
        return Ok(answer);
    }
    let kubectl = Kubectl::new(args.connection.arguments());
    let scope = if args.all_namespaces { Scope::All } else { Scope::Namespace(args.namespace.as_deref()) };
    match &*subjects {
        [Subject::All(_)] | [] | [_, _, ..] => {
            let Several { input, is_selected, refusals } =
                live::read_several(&kubectl, &subjects, args.selector.as_deref(), scope)?;
            let kinds = input.all_workloads().into_iter().map(|workload| workload.kind);
            add_release(&kubectl, kinds, args, &mut options);
            at_clock(args, &mut options);
            several(&input, &options, args, terminal, with_parts(&subjects), is_selected, refusals)
        }
        [subject] => match one(&kubectl, subject, scope, args, options.clone()) {
            Ok(asked) => about(asked, args, terminal),
            Err(error) => of_gone(subject, args, error, |pod| deletion::of(&kubectl, pod, scope, &options)),
        },
    }
}

/// Answers about a pod that is being deleted or was deleted, or otherwise fails.
fn of_gone(
    subject: &Subject,
    args: &PreviewArgs,
    error: Failure,
    explain: impl FnOnce(&str) -> Option<PodDeletion>,
) -> Result<Answer, Failure> {
    let (Subject::Pod(pod) | Subject::Workload(WorkloadName { kind: None, name: pod })) = subject else {
        return Err(error);
    };
    let Some(taken) = explain(pod) else { return Err(error) };
    let text = plain_but(&taken.to_string(), &['\n']).into_owned() + "\n";
    let gist = text.clone();
    let text = match args.output {
        Output::Table | Output::Wide | Output::Markdown => text,
        Output::Json => podrank_predict::json(&taken),
        Output::Yaml => yaml(&taken)?,
        Output::Name => return Err(error),
    };
    Ok(Answer { text: text.into_bytes(), beside: Vec::new(), gist })
}

/// Asks for the cluster's release, unless one is given, if releases differ in what they do with workloads of one of these kinds.
fn add_release(
    kubectl: &Kubectl,
    kinds: impl IntoIterator<Item = WorkloadKind>,
    args: &PreviewArgs,
    options: &mut Options,
) {
    let may_scale_to_zero = options.replicas == Some(0) || args.is_relative();
    let differs = |kind| may_scale_to_zero || matches!(kind, WorkloadKind::StatefulSet | WorkloadKind::Job);
    if options.release.is_none() && kinds.into_iter().any(differs) {
        options.release = live::release(kubectl);
    }
}

/// After the last answer of the cluster, so that no pod in it is younger than the decision.
fn at_clock(args: &PreviewArgs, options: &mut Options) {
    if args.now.is_none() {
        options.now = Timestamp::now();
    }
}

fn of_file(
    input: Snapshot,
    mut options: Options,
    subjects: &[Subject],
    args: &PreviewArgs,
    terminal: Terminal,
) -> Result<Answer, Failure> {
    let question = match subjects {
        [subject] if !matches!(subject, Subject::All(_)) => match name(&input, &mut options, subject, args) {
            Ok(question) => question,
            Err(error) => {
                return of_gone(subject, args, error, |pod| deletion::in_file(&input, pod, &options));
            }
        },
        // The only workload needs no name.
        [] if args.selector.is_none()
            && !args.all_namespaces
            && (input.workloads().len() <= 1 || args.has_count() && !args.is_relative()) =>
        {
            Question::of(args)
        }
        _ => {
            let is_named = live::wanted(&input.all_workloads(), subjects, || "in the file".to_owned())?;
            let selected = args.selector.as_ref().map(|selector| input.selected(selector)).transpose()?;
            let is_selected =
                |id: &WorkloadId| is_named(id) && selected.as_ref().is_none_or(|ids| ids.contains(id));
            return several(&input, &options, args, terminal, with_parts(subjects), is_selected, Vec::new());
        }
    };
    about(Inquiry { input, options, question }, args, terminal)
}

/// Names the workload of a subject of the input in the options.
fn name(
    input: &Snapshot,
    options: &mut Options,
    subject: &Subject,
    args: &PreviewArgs,
) -> Result<Question, Failure> {
    let namespace = options.namespace.clone();
    Ok(match subject {
        Subject::Workload(name) => {
            options.workload = Some(name.clone());
            Question::of(args)
        }
        Subject::Pod(pod) => {
            let (namespace, workloads) = input.workloads_of_pod(pod, namespace.as_deref())?;
            let has = |name: &&WorkloadName| input.workload(name).is_ok_and(|found| found.is_some());
            options.workload = workloads.iter().rev().find(has).or(workloads.first()).cloned();
            options.namespace = Some(namespace);
            Question::Pod(pod.clone())
        }
        Subject::Owner(owner) => {
            let sets = input.sets_in_use(owner, namespace.as_deref())?;
            match only_set(owner, &sets, args)? {
                Some((namespace, workload)) => {
                    (options.namespace, options.workload) = (Some(namespace), Some(workload));
                    Question::of(args)
                }
                None => Question::Sets(sets),
            }
        }
        Subject::All(_) => return Err(format!("ask about {subject} alone").into()),
    })
}

/// Reads one subject from the cluster, and names its workload in full.
fn one(
    kubectl: &Kubectl,
    subject: &Subject,
    scope: Scope<'_>,
    args: &PreviewArgs,
    mut options: Options,
) -> Result<Inquiry, Failure> {
    let mut question = Question::of(args);
    let read = |name: &WorkloadName, scope| live::read(kubectl, name, None, scope, false, live::RETRIES);
    let Live { mut input, workload, lags } = match subject {
        Subject::Workload(name) => match read(name, scope) {
            // A name alone may be that of a pod.
            Err(_) if name.kind.is_none() && live::is_pod(kubectl, &name.name, scope) => {
                return one(kubectl, &Subject::Pod(name.name.clone()), scope, args, options);
            }
            result => result?,
        },
        Subject::Pod(pod) => {
            question = Question::Pod(pod.clone());
            let (namespace, name) = live::workload_of_pod(kubectl, pod, scope)?;
            read(&name, Scope::Namespace(Some(&namespace)))?
        }
        Subject::Owner(owner) => {
            let (input, sets) = live::sets_in_use(kubectl, owner, scope)?;
            let Some((namespace, name)) = only_set(owner, &sets, args)? else {
                at_clock(args, &mut options);
                return Ok(Inquiry { input, options, question: Question::Sets(sets) });
            };
            read(&name, Scope::Namespace(Some(&namespace)))?
        }
        Subject::All(_) => return Err(format!("ask about {subject} alone").into()),
    };
    surroundings::add(kubectl, &workload, &mut input);
    add_release(kubectl, [workload.kind], args, &mut options);
    if !workload.kind.has_count() && !matches!(question, Question::Pod(_)) {
        question = Question::Count;
    }
    options.workload = Some(WorkloadName { kind: Some(workload.kind), name: workload.name });
    options.namespace = Some(workload.namespace);
    // The cluster has nothing more to tell, so where its statuses lag behind, notes say so.
    options.lags = lags;
    at_clock(args, &mut options);
    Ok(Inquiry { input, options, question })
}

/// Answers a question about one workload.
fn about(mut inquiry: Inquiry, args: &PreviewArgs, terminal: Terminal) -> Result<Answer, Failure> {
    let Some(replicas) = args.replicas.filter(|replicas| replicas.is_relative()) else {
        return decided(inquiry, args, terminal);
    };
    let (count, none) = inquiry.input.rounded_count(&inquiry.options, replicas)?;
    inquiry.options.replicas = Some(count);
    let mut answer = decided(inquiry, args, terminal)?;
    answer.beside.extend(none.map(|error| format!("note: {}", error.in_one_line())));
    Ok(answer)
}

/// Answers a question about one workload, whose count is a number if there is one.
fn decided(inquiry: Inquiry, args: &PreviewArgs, terminal: Terminal) -> Result<Answer, Failure> {
    let Inquiry { input, options, question } = inquiry;
    match question {
        Question::Order if input.has_count(&options)? => {
            let order = deletion_order(&input, &options).map_err(explained)?;
            let tables = view::order::tables(&order, args.output == Output::Wide);
            of_order(&order, args, terminal, tables)
        }
        Question::Pod(pod) if !args.has_count() && input.has_count(&options)? => {
            let order = deletion_order_of_pod(&input, &options, &pod).map_err(explained)?;
            let tables = match args.output {
                Output::Markdown => view::order::tables(&order, false),
                _ => vec![view::order::of_pod(&order)],
            };
            of_order(&order, args, terminal, tables)
        }
        Question::Pod(pod) => {
            let preview = preview_workload(&input, &options).map_err(explained)?;
            let table = view::answer::of_pod(&preview, &pod);
            let table = table.ok_or_else(|| format!("{pod} is not an active pod of its workload"))?;
            let is_whole = args.output == Output::Markdown;
            let tables = vec![if is_whole { view::answer::table(&preview) } else { table }];
            of_preview(&preview, args, terminal, None, tables)
        }
        Question::Sets(sets) => {
            several(&input, &options, args, terminal, false, |id| sets.contains(id), Vec::new())
        }
        Question::Count | Question::Order => {
            let preview = preview_workload(&input, &options).map_err(explained)?;
            let tables = match args.output {
                Output::Wide => view::wide::tables(&preview, &args.of_file()),
                _ => vec![view::answer::table(&preview)],
            };
            // Scaling the owner of a set is another question, and so is scaling what a file was made of.
            let is_asked = preview.owner.is_none() || !args.names_workload();
            let is_smaller = preview.size.replicas < preview.present;
            let has_hint = args.output == Output::Table && terminal.width.is_some() && is_asked;
            let has_hint = has_hint && args.filename.is_empty() && is_smaller;
            let hint = view::answer::hint(&preview).filter(|_| has_hint);
            let hint = hint.map(|hint| hint + default_namespace(args) + &args.of_file());
            of_preview(&preview, args, terminal, hint, tables)
        }
    }
}

/// The error, with the flags that help.
fn explained(error: Error) -> Error {
    match error.kind {
        ErrorKind::Ambiguous => {
            error.advise("Choose one as TYPE/NAME, with --namespace, or ask about all with -A.")
        }
        ErrorKind::Incomplete => error.advise("To accept what is missing, use --partial."),
        _ => error,
    }
}

/// An answer as data, as tables, and as the names of pods, or why it has none.
struct Forms<'f, T> {
    data: &'f T,
    tables: Vec<Table>,
    names: Result<String, Error>,
}

impl<T: Serialize> Forms<'_, T> {
    /// Returns the form that is asked for.
    fn text(self, output: Output, terminal: Terminal) -> Result<Vec<u8>, Failure> {
        let Self { data, tables, names } = self;
        let text: String = match output {
            Output::Table | Output::Wide => tables.iter().map(|table| table.text(terminal)).collect(),
            Output::Json => podrank_predict::json(data),
            Output::Yaml => yaml(data)?,
            Output::Markdown => tables.iter().map(Table::markdown).collect::<Vec<_>>().join("\n"),
            Output::Name => names?,
        };
        Ok(text.into_bytes())
    }
}

/// Returns the YAML that other programs read. In YAML's own form of a text, hidden characters do not change. A text
/// that has some makes it JSON, which is YAML, too.
fn yaml(data: &impl Serialize) -> Result<String, Failure> {
    let yaml = serde_saphyr::to_string(data)?;
    if !yaml.contains(|char| char != '\n' && is_hidden(char)) {
        return Ok(yaml);
    }
    // YAML has no surrogates, by which JSON writes what needs more than four digits.
    let escape = |char| format!("\\U{:08x}", u32::from(char));
    Ok(escaped(&serde_json::to_string_pretty(data)?, &['\n'], escape).into_owned() + "\n")
}

/// The answer about a count.
fn of_preview(
    preview: &Preview<'_>,
    args: &PreviewArgs,
    terminal: Terminal,
    hint: Option<String>,
    tables: Vec<Table>,
) -> Result<Answer, Failure> {
    let mut beside: Vec<_> = preview.notes.iter().map(ToString::to_string).chain(hint).collect();
    if args.output == Output::Name {
        beside.extend(view::wide::unnamed(preview).iter().map(|note| format!("note: {note}")));
    }
    beside.extend(args.verbose.then(|| view::wide::again(preview, &args.of_file())));
    let pods = preview.pods().map(|pod| format!(" {} {:?} {:?}", pod.name(), pod.verdict, pod.waits_for()));
    let gist = view::answer::headline(preview) + &pods.collect::<String>();
    let forms = Forms { data: preview, tables, names: Ok(view::wide::names(preview)) };
    Ok(Answer { text: forms.text(args.output, terminal)?, beside, gist })
}

/// The answer without a count.
fn of_order(
    order: &DeletionOrder<'_>,
    args: &PreviewArgs,
    terminal: Terminal,
    tables: Vec<Table>,
) -> Result<Answer, Failure> {
    let mut beside: Vec<_> = view::order::notes(order).map(ToString::to_string).collect();
    if terminal.width.is_some() && args.output == Output::Table {
        beside.push(view::order::hint(order) + default_namespace(args) + &args.of_file_and_decision());
    }
    let pods = order.pods().map(|pod| {
        let OrderedPod { possible_at, deleted_at, waits_for, .. } = pod;
        format!(" {} {:?} {possible_at:?} {deleted_at:?} {waits_for:?}", pod.pod.name(), pod.pod.verdict)
    });
    let error = Error::new("-o name needs a replica count").advise("Add --replicas N.");
    let forms = Forms { data: order, tables, names: Err(error) };
    Ok(Answer { text: forms.text(args.output, terminal)?, beside, gist: pods.collect() })
}

/// The default namespace, which hints leave out, if it was named: the context may have another one.
fn default_namespace(args: &PreviewArgs) -> &'static str {
    if args.namespace.as_deref() == Some("default") { " -n default" } else { "" }
}

/// Whether the user may ask about a `ReplicaSet` of a Deployment. Otherwise, the Deployment stands for it.
fn with_parts(subjects: &[Subject]) -> bool {
    let may_be_set = |subject: &Subject| match subject {
        Subject::All(kind) => *kind == WorkloadKind::ReplicaSet,
        Subject::Workload(name) => name.kind.is_none_or(|kind| kind == WorkloadKind::ReplicaSet),
        _ => false,
    };
    subjects.iter().any(may_be_set)
}

/// A line for each workload. `refusals` say what could not be read.
fn several(
    input: &Snapshot,
    options: &Options,
    args: &PreviewArgs,
    terminal: Terminal,
    with_parts: bool,
    is_selected: impl Fn(&WorkloadId) -> bool,
    refusals: Vec<String>,
) -> Result<Answer, Failure> {
    if args.has_count() && args.replicas.is_none() {
        return Err("only --replicas can be used with several workloads".into());
    }
    let all = podrank_predict::overview(input, options, args.replicas, with_parts, is_selected);
    let all = Overview { unread: refusals, ..all };
    let mut beside: Vec<_> =
        all.unread.iter().map(|refusal| format!("note: not all types are shown: {refusal}")).collect();
    beside.extend(view::overview::once(&all).iter().map(ToString::to_string));
    let is_asked = args.replicas.is_some();
    if all.workloads.is_empty() {
        beside.push(nothing_in(args));
    } else if terminal.width.is_some() && args.output == Output::Table {
        beside.extend(next_of(&all, args));
    }
    let lines = all.workloads.iter().map(|line| {
        let OverviewRow { next, next_at, fate, delete, .. } = line;
        format!(" {} {next:?} {next_at:?} {fate:?} {delete:?}", line.workload.name)
    });
    let table = match args.output {
        Output::Markdown => view::overview::titled(&all, is_asked),
        _ => view::overview::table(&all, is_asked),
    };
    let names = Err(Error::new("-o name needs one workload").advise("Name it."));
    let forms = Forms { data: &all, tables: vec![table], names };
    Ok(Answer { text: forms.text(args.output, terminal)?, beside, gist: lines.collect() })
}

/// That there is no workload to tell of, and what was asked for.
fn nothing_in(args: &PreviewArgs) -> String {
    let labels = args.selector.as_ref().map(|selector| format!(" with the labels {selector}"));
    let place = match &args.namespace {
        Some(namespace) => format!(" in namespace {namespace}"),
        None if !args.filename.is_empty() => " in the file".to_owned(),
        None if args.all_namespaces => " in any namespace".to_owned(),
        None => " here".to_owned(),
    };
    let kinds: Vec<_> = args
        .subjects()
        .into_iter()
        .flatten()
        .filter_map(|subject| if let Subject::All(kind) = subject { Some(kind.to_string()) } else { None })
        .collect();
    let what = if kinds.is_empty() { "workload".to_owned() } else { kinds.join(" or ") };
    format!("no {what}{} has pods{place}", labels.unwrap_or_default())
}

/// What to type next.
fn next_of(all: &Overview<'_>, args: &PreviewArgs) -> Option<String> {
    let line = all.workloads.first()?;
    let (kind, name) = (line.workload.kind.short(), line.workload.name);
    let replicas = args.replicas.filter(|_| line.error.is_none());
    let replicas = replicas.map_or_else(String::new, |replicas| format!(" {replicas}"));
    let (namespace, source) = (line.namespace, args.of_file_and_decision());
    Some(format!("More about one: kubectl podrank {kind}/{name}{replicas} -n {namespace}{source}"))
}
