//! What happens at the counts that an autoscaler may set: the one that it wants now, and its least one.

use crate::answer::autoscaled::Autoscaled;
use crate::decide::workload::preview_workload;
use crate::question::options::Options;
use crate::snapshot::autoscaler::Autoscaler;
use crate::snapshot::read::Input;
use crate::snapshot::surrounding::{Surrounding, SurroundingEntry, SurroundingKind};
use crate::text;
use crate::text::error::Error;
use std::collections::BTreeSet;

/// Says what happens to the options' workload at the counts that its autoscaler may set.
///
/// # Errors
/// As [`preview_workload`], and if there is no such autoscaler in the options' namespace.
pub fn autoscaled<'a>(input: &'a Input, options: &Options, name: &str) -> Result<Autoscaled<'a>, Error> {
    let (entry, autoscaler) = find(input, name, options.namespace.as_deref())?;
    let Autoscaler { min_replicas, max_replicas, desired_replicas, .. } = *autoscaler;
    let counts = desired_replicas.into_iter().chain([min_replicas]).collect::<BTreeSet<_>>();
    let preview =
        |count: &u32| preview_workload(input, &Options { replicas: Some(*count), ..options.clone() });
    let [name, namespace] = [&*entry.name, &*entry.namespace];
    Ok(Autoscaled {
        api_version: "podrank/v1",
        kind: "AutoscalerPreview",
        namespace,
        name,
        min_replicas,
        max_replicas,
        desired_replicas,
        previews: counts.iter().rev().map(preview).collect::<Result<_, _>>()?,
    })
}

/// The error for a name that none of these has.
fn missing<'a>(name: &str, known: impl Iterator<Item = &'a SurroundingEntry>) -> Error {
    let known: Vec<_> = known.map(|entry| text::name(&entry.name)).collect();
    let hint = match &*known {
        [] => "the input has none; get it with kubectl get hpa -o json".to_owned(),
        known => format!("the input has: {}", text::list(known)),
    };
    Error::new(format!("no HorizontalPodAutoscaler is named {name}; {hint}"))
}

/// The autoscaler of this name.
pub(crate) fn find<'a>(
    input: &'a Input,
    name: &str,
    namespace: Option<&str>,
) -> Result<(&'a SurroundingEntry, &'a Autoscaler), Error> {
    let name_in_words = text::name(name);
    let all = || input.surroundings_in(namespace).filter(|entry| entry.kind == SurroundingKind::Autoscaler);
    let mut found = all().filter(|entry| entry.name == name);
    let entry = found.next().ok_or_else(|| missing(&name_in_words, all()))?;
    if let Some(other) = found.find(|other| other.namespace != entry.namespace) {
        let [one, other] = [&entry.namespace, &other.namespace].map(|namespace| text::name(namespace));
        return Err(Error::new(format!(
            "HorizontalPodAutoscaler {name_in_words} is in the namespaces {one} and {other}: name one"
        )));
    }
    match &entry.object {
        Ok(Surrounding::Autoscaler(autoscaler)) => Ok((entry, autoscaler)),
        Ok(_) => Err(Error::new(format!("{name_in_words} is no HorizontalPodAutoscaler"))),
        Err(error) => Err(Error::new(format!("HorizontalPodAutoscaler {name_in_words}: {error}"))),
    }
}
