//! The templates of the manifests for krew and Homebrew.

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
    let manifest: Value = serde_norway::from_str(&filled).expect("YAML");
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

/// Homebrew's own checks need a tap: here, that each archive has its platform, and that nothing stays to be filled in.
#[test]
fn the_formula_has_an_archive_for_each_platform() {
    let formula = include_str!("../homebrew/kubectl-podrank.rb");
    let lines: Vec<_> = formula.lines().map(str::trim).collect();
    let (mut system, mut processor, mut platforms) = ("", "", Vec::new());
    for (number, line) in lines.iter().enumerate() {
        match *line {
            "on_macos do" => system = "darwin",
            "on_linux do" => system = "linux",
            "on_intel do" => processor = "amd64",
            "on_arm do" => processor = "arm64",
            _ => {}
        }
        if let Some(url) = line.strip_prefix("url ") {
            let archive = format!("/{{{{ .TagName }}}}/kubectl-podrank-{system}-{processor}.tar.gz\"");
            assert!(url.ends_with(&archive), "{url} is not {archive}");
            assert_eq!(lines[number + 1], "sha256 \"{{ .Sha256 }}\"");
            platforms.push(format!("{system}/{processor}"));
        }
    }
    assert_eq!(platforms, ["darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64"]);
    // Homebrew's own rules for the sentence.
    let about =
        lines.iter().find_map(|line| line.strip_prefix("desc \"")).expect("a sentence").trim_end_matches('"');
    assert!(about.len() <= 80 && !about.ends_with('.') && !about.contains("kubectl-podrank"), "{about}");
    let rest =
        formula.replace("{{ .TagName }}", "").replace("{{ .Sha256 }}", "").replace("{{ .Version }}", "");
    assert!(!rest.contains("{{"), "{rest}");
}
