//! What to type instead of a flag that is for another task. Computes text and reads nothing.

use super::quoted::quoted;
use super::steer::PREFERENCES;
use super::{PROGRAM, command};
use clap::Command;
use std::ffi::OsString;

/// The command for a preference of `scale`, which the preview does not accept, if these words make a command. `None` if
/// `flag` is not a preference.
pub(super) fn scale(flag: &str, words: &[OsString]) -> Option<String> {
    let name = flag.strip_prefix("--").map(|name| name.split_once('=').map_or(name, |(name, _)| name))?;
    let command = command();
    let scale = command.find_subcommand("scale")?;
    let mut wishes = scale.get_arguments().filter(|arg| arg.get_help_heading() == Some(PREFERENCES));
    // A pod may also be what is asked about.
    let wish = wishes.find(|arg| arg.get_long() == Some(name) && name != "pod")?;
    let typed = words.get(1..).unwrap_or_default().iter().map(|word| word.to_str());
    let typed = typed.collect::<Option<Vec<_>>>().and_then(|typed| plan(&command, typed));
    let value = if wish.is_require_equals_set() { "" } else { " ..." };
    let usual = || format!("TYPE/NAME --replicas N --{name}{value} --dry-run");
    Some(format!("use kubectl podrank scale {}", typed.unwrap_or_else(usual)))
}

/// The words of a dry run of `scale` with these words. `None` if it does not take them.
fn plan(command: &Command, typed: Vec<&str>) -> Option<String> {
    let is = |word: &str, flag: &str| word == flag || word.starts_with(&format!("{flag}="));
    let has = |flag: &str| typed.iter().any(|word| is(word, flag));
    // A command that holds a token is not shown again.
    if has("--token") {
        return None;
    }
    let count = (!has("--replicas") && !has("--to")).then_some(["--replicas", "N"]).into_iter().flatten();
    let dry_run = (!has("--dry-run")).then_some("--dry-run");
    let words: Vec<_> = typed.into_iter().chain(count).chain(dry_run).collect();
    let counted = words.iter().map(|word| if *word == "N" { "0" } else { word });
    command.clone().try_get_matches_from([PROGRAM, "scale"].into_iter().chain(counted)).ok()?;
    Some(words.into_iter().map(quoted).collect::<Vec<_>>().join(" "))
}
