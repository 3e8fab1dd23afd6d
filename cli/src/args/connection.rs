//! The flags that say how to reach the cluster. They are kubectl's own, and are passed on to it unchanged.

use super::quoted::quoted;
use clap::{Arg, Args, Command, ValueHint};
use std::ffi::OsString;

/// The flags that name a cluster and a user.
const PLACE: [&str; 5] = ["--context=", "--kubeconfig=", "--cluster=", "--user=", "--server="];

/// Those of these flags that name the cluster and the user, behind a command to copy. A token is not shown again.
pub(crate) fn place(arguments: &[String]) -> String {
    let is_place = |flag: &&String| PLACE.iter().any(|name| flag.starts_with(name));
    arguments.iter().filter(is_place).flat_map(|flag| [" ".to_owned(), quoted(flag)]).collect()
}

/// Their heading in the help.
pub(crate) const CONNECTION: &str = "Connection (passed on to kubectl)";

/// kubectl refuses flags before the name of a plugin, so they come after it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = CONNECTION)]
#[group(id = "connection", multiple = true)]
pub(crate) struct Connection {
    /// Context in the kubeconfig file
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    context: Option<String>,

    /// Kubeconfig file
    #[arg(long, hide_short_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<String>,

    /// Cluster in the kubeconfig file
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    cluster: Option<String>,

    /// User in the kubeconfig file
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    user: Option<String>,

    /// User to impersonate
    #[arg(long = "as", hide_short_help = true, value_name = "USER")]
    impersonate: Option<String>,

    /// Group to impersonate (you can repeat it)
    #[arg(long, hide_short_help = true, value_name = "GROUP")]
    as_group: Vec<String>,

    /// Time limit for one request, such as 30s
    #[arg(long, hide_short_help = true, value_name = "DURATION")]
    request_timeout: Option<String>,

    /// Address of the API server
    #[arg(short, long, hide_short_help = true, value_name = "URL", value_hint = ValueHint::Url)]
    server: Option<String>,

    /// Bearer token
    #[arg(long, hide_short_help = true, value_name = "TOKEN")]
    token: Option<String>,

    /// Host name that the server's certificate must have
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    tls_server_name: Option<String>,

    /// Don't check the server's certificate
    #[arg(long, hide_short_help = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_skip_tls_verify: Option<bool>,

    /// Certificate of the authority that signed the server's certificate
    #[arg(long, hide_short_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    certificate_authority: Option<String>,
}

/// Puts the flags of the connection and the namespace that stand before a subcommand behind it, where clap looks for them. `words`
/// start with the program. They stay as they are if another word stands before the subcommand, or if it has no such flags.
pub(crate) fn behind_subcommand(command: &Command, mut words: Vec<OsString>) -> Vec<OsString> {
    let text = |at: usize| words.get(at).and_then(|word| word.to_str());
    let mut at = 1;
    while let Some(width) = text(at).and_then(|word| width(command, word)) {
        at += width;
    }
    let task = text(at).and_then(|word| command.find_subcommand(word));
    if task.is_some_and(|task| task.get_arguments().any(|arg| arg.get_id() == "context")) {
        words[1..=at].rotate_right(1);
    }
    words
}

/// How many words this flag takes with its value. `None` if it is none of these flags.
fn width(command: &Command, word: &str) -> Option<usize> {
    let is_ours = |arg: &&Arg| arg.get_help_heading() == Some(CONNECTION) || arg.get_id() == "namespace";
    let mut ours = command.get_arguments().filter(is_ours);
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split_once('=').map_or(long, |(name, _)| name);
        let arg = ours.find(|arg| arg.get_long() == Some(name))?;
        return Some(if name == long && !arg.is_require_equals_set() { 2 } else { 1 });
    }
    let mut letters = word.strip_prefix('-')?.chars();
    let letter = letters.next()?;
    ours.find(|arg| arg.get_short() == Some(letter))?;
    Some(if letters.next().is_some() { 1 } else { 2 })
}

impl Connection {
    /// The flags for kubectl, without those of the namespace.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let skip = self.insecure_skip_tls_verify.map(|skip| skip.to_string());
        let single = [
            ("context", &self.context),
            ("kubeconfig", &self.kubeconfig),
            ("cluster", &self.cluster),
            ("user", &self.user),
            ("as", &self.impersonate),
            ("request-timeout", &self.request_timeout),
            ("server", &self.server),
            ("token", &self.token),
            ("tls-server-name", &self.tls_server_name),
            ("insecure-skip-tls-verify", &skip),
            ("certificate-authority", &self.certificate_authority),
        ];
        let single = single.into_iter().filter_map(|(flag, value)| Some((flag, value.as_ref()?)));
        let groups = self.as_group.iter().map(|group| ("as-group", group));
        single.chain(groups).map(|(flag, value)| format!("--{flag}={value}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;

    #[test]
    fn flags_of_the_connection_may_stand_before_a_subcommand() {
        for (words, moved) in [
            ("-n shop scale web", "scale -n shop web"),
            ("-nshop drop a", "drop -nshop a"),
            ("-n=shop undo web", "undo -n=shop web"),
            ("--context c --token=t -s u scale web -n a", "scale --context c --token=t -s u web -n a"),
            ("--insecure-skip-tls-verify scale web", "scale --insecure-skip-tls-verify web"),
            // A value of a flag, or a word after another flag or after a name, is not a subcommand.
            ("-n scale web", "-n scale web"),
            ("-n shop web scale", "-n shop web scale"),
            ("--replicas 3 scale", "--replicas 3 scale"),
            ("-o json scale web", "-o json scale web"),
            // These reach no cluster.
            ("-n shop version", "-n shop version"),
            ("-n", "-n"),
            ("", ""),
        ] {
            let words = ["kubectl-podrank"].into_iter().chain(words.split_whitespace());
            let words = behind_subcommand(&command(), words.map(OsString::from).collect());
            let words: Vec<_> = words[1..].iter().map(|word| word.to_str().expect("UTF-8")).collect();
            assert_eq!(words.join(" "), moved);
        }
    }
}
