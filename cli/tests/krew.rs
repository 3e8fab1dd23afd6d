//! The template of the manifest for krew.

use serde_json::Value;

/// krew-release-bot fills in the manifest at a release; here for one platform after the other.
#[test]
fn the_krew_manifest_is_sound() {
    let mut filled = String::new();
    for line in include_str!("../krew/podrank.yaml").lines() {
        if let Some((indent, rest)) = line.split_once("{{addURIAndSha \"") {
            let (uri, rest) = rest.split_once('"').expect("a URI");
            assert_eq!(rest, " .TagName }}");
            filled.extend([indent, "uri: ", uri, "\n", indent, "sha256: ", &"0".repeat(64), "\n"]);
        } else {
            filled.extend([line, "\n"]);
        }
    }
    let filled = filled.replace("{{ .TagName }}", concat!("v", env!("CARGO_PKG_VERSION")));
    assert!(!filled.contains("{{"), "{filled}");
    let manifest: Value = serde_saphyr::from_str(&filled).expect("YAML");
    assert_eq!(manifest["apiVersion"], "krew.googlecontainertools.github.com/v1alpha2");
    assert_eq!((&manifest["kind"], &manifest["metadata"]["name"]), (&"Plugin".into(), &"podrank".into()));
    assert_eq!(manifest["spec"]["version"], concat!("v", env!("CARGO_PKG_VERSION")));
    // krew's own rule for the list that `kubectl krew search` prints.
    assert!(manifest["spec"]["shortDescription"].as_str().is_some_and(|text| text.len() <= 50));
    let platforms = manifest["spec"]["platforms"].as_array().expect("platforms");
    let names: Vec<_> = platforms
        .iter()
        .map(|platform| {
            let labels = &platform["selector"]["matchLabels"];
            let [os, arch] = ["os", "arch"].map(|label| labels[label].as_str().expect("a label"));
            let uri = platform["uri"].as_str().expect("a URI");
            assert!(uri.ends_with(&format!("/kubectl-podrank-{os}-{arch}.tar.gz")), "{uri}");
            let suffix = if os == "windows" { ".exe" } else { "" };
            assert_eq!(platform["bin"], format!("kubectl-podrank{suffix}"));
            format!("{os}/{arch}")
        })
        .collect();
    assert_eq!(names, ["linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"]);
}
