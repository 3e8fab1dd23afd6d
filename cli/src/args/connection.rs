//! The flags that say how to reach the cluster: kubectl's own, passed on to it as they are.

use clap::{Args, ValueHint};

/// kubectl refuses flags before the name of a plugin, so they come after it.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Connection (passed on to kubectl)")]
#[group(id = "connection", multiple = true)]
pub(crate) struct Connection {
    /// The context of the kubeconfig file
    #[arg(long, value_name = "NAME")]
    context: Option<String>,

    /// The kubeconfig file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    kubeconfig: Option<String>,

    /// The cluster of the kubeconfig file
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// The user of the kubeconfig file
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// The user to impersonate
    #[arg(long = "as", value_name = "USER")]
    impersonate: Option<String>,

    /// A group to impersonate; may be repeated
    #[arg(long, value_name = "GROUP")]
    as_group: Vec<String>,

    /// How long one request may take, such as 30s
    #[arg(long, value_name = "DURATION")]
    request_timeout: Option<String>,

    /// The address of the API server
    #[arg(short, long, value_name = "URL", value_hint = ValueHint::Url)]
    server: Option<String>,

    /// The bearer token
    #[arg(long, value_name = "TOKEN")]
    token: Option<String>,

    /// The name that the server's certificate must have
    #[arg(long, value_name = "NAME")]
    tls_server_name: Option<String>,

    /// Do not check the server's certificate
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    insecure_skip_tls_verify: Option<bool>,

    /// The certificate of the authority that signed the server's
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
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
