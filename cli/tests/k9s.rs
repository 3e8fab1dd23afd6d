//! The plugin file for k9s: k9s accepts it, and it runs the preview.

use crate::common::kubectl::Kubectl;
use podrank_predict::WorkloadKind;
use serde_json::Value;
use std::env;
use std::process::Command;

fn plugin() -> Value {
    let file: Value = serde_norway::from_str(include_str!("../k9s/plugins.yaml")).expect("YAML");
    let plugins = file["plugins"].as_object().expect("plugins");
    assert_eq!((file.as_object().expect("an object").len(), plugins.len()), (1, 1));
    plugins["podrank"].clone()
}

/// The rules of k9s' own schema, which it holds its plugins against.
#[test]
fn k9s_accepts_the_plugin() {
    let plugin = plugin();
    let fields = plugin.as_object().expect("a plugin");
    for (name, value) in fields {
        let is_right = match name.as_str() {
            "shortCut" | "description" | "command" => value.is_string(),
            "background" => value.is_boolean(),
            "scopes" | "args" => value.as_array().is_some_and(|all| all.iter().all(Value::is_string)),
            _ => false,
        };
        assert!(is_right, "{name}: {value}");
    }
    for name in ["shortCut", "description", "scopes", "command"] {
        assert!(fields.contains_key(name), "{name} is required");
    }
}

/// What the plugin asks for a workload if the user types this.
fn asked(resource: &str, typed: &str) -> String {
    let plugin = plugin();
    let args = plugin["args"].as_array().expect("args").iter().map(|arg| {
        let arg = arg.as_str().expect("a text");
        // As k9s does: the longest names first.
        let values =
            [("$RESOURCE_NAME", resource), ("$NAMESPACE", "shop"), ("$CONTEXT", "c 1"), ("$NAME", "web")];
        let filled = values.iter().fold(arg.to_owned(), |arg, (name, value)| arg.replace(name, value));
        // What else looks like one of its variables would be an error there.
        assert!(!filled.replace("${", "").contains('$'), "{filled}");
        filled
    });
    let kubectl = Kubectl::with([]);
    let path = format!("{}/tests/fake:{}", env!("CARGO_MANIFEST_DIR"), env::var("PATH").expect("a PATH"));
    let mut command = Command::new(plugin["command"].as_str().expect("a command"));
    command.args(args).env("PATH", path).env("ANSWERS", kubectl.path(""));
    crate::common::output(&mut command, typed.as_bytes());
    kubectl.asked().join("\n")
}

#[test]
fn the_plugin_asks_about_every_kind() {
    let plugin = plugin();
    let scopes: Vec<_> =
        plugin["scopes"].as_array().expect("scopes").iter().filter_map(Value::as_str).collect();
    let kinds = WorkloadKind::ALL.map(|kind| kind.resource().split('.').next().expect("a type").to_owned());
    assert_eq!(scopes, kinds.iter().map(String::as_str).chain(["pods"]).collect::<Vec<_>>());
    for scope in scopes {
        let start = format!("podrank|{scope}/web|--namespace|shop|--context|c 1");
        assert_eq!(asked(scope, "\n"), start);
        let count = match scope {
            "pods" | "daemonsets" => "",
            "jobs" => "|--parallelism|3",
            _ => "|--replicas|3",
        };
        assert_eq!(asked(scope, "3\n"), format!("{start}{count}"));
    }
}
