//! The flags that say how to reach the cluster. They are kubectl's own, and are passed on to it unchanged.

use clap::{Args, ValueHint};

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

    /// Group to impersonate; may be repeated
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

    /// Do not check the server's certificate
    #[arg(long, hide_short_help = true, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_skip_tls_verify: Option<bool>,

    /// Certificate of the authority that signed the server's certificate
    #[arg(long, hide_short_help = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    certificate_authority: Option<String>,
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
