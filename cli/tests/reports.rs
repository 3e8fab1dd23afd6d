//! The words of answers to public reports, which are in `predict/tests/reports`: what the program prints has all of `has`, and
//! nothing of `lacks`.

use crate::common::{NOON, PROGRAM, output, ran, run};
use serde_json::Value;
use std::fs;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../predict/tests/reports");

fn reports() -> Vec<(String, Value)> {
    let read = |file: fs::DirEntry| {
        let report = serde_json::from_slice(&fs::read(file.path()).expect("a report")).expect("JSON");
        (file.file_name().to_string_lossy().into_owned(), report)
    };
    fs::read_dir(FOLDER).expect("a folder").map(|file| read(file.expect("a file"))).collect()
}

#[test]
fn answers_to_public_reports_have_fitting_words() {
    let (mut wrong, mut texts) = (Vec::new(), 0);
    for (name, report) in reports() {
        for question in report["questions"].as_array().expect("questions") {
            let (command, input) =
                (question["command"].as_str().expect("a command"), report["input"].to_string());
            let (status, stdout, stderr) = run(command, &input);
            assert!(status == Some(0) || stderr.starts_with("error: "), "{name}: {command}: {stderr}");
            let printed = stdout + &stderr;
            let words = |key: &str| question[key].as_array().cloned().unwrap_or_default();
            let is_printed = |words: &Value| printed.contains(words.as_str().expect("words"));
            let mut check =
                |key: &str, is_wrong: &dyn Fn(&Value) -> bool| {
                    texts += words(key).len();
                    wrong.extend(words(key).iter().filter(|words| is_wrong(words)).map(|words| {
                        format!("{name}: {command}: {key} {words}, but the answer is:\n{printed}")
                    }));
                };
            check("has", &|words| !is_printed(words));
            check("lacks", &|words| is_printed(words));
        }
    }
    assert!(texts > 40, "only {texts} texts are compared");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each file of the folder has an answer about all workloads, and so has the folder, whose files are read as one input.
#[test]
fn a_folder_of_files_of_others_has_an_answer() {
    let mut command = Command::new(PROGRAM);
    let (status, stdout, stderr) = ran(output(command.args(["-A", "-f", FOLDER]).args(NOON), b""));
    // A report is not an object of Kubernetes.
    assert_eq!((status, &*stdout), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("the object has no kind"), "{stderr}");
    for (name, report) in reports() {
        let (status, _, stderr) = run("-A", report["input"].to_string());
        assert_eq!(status, Some(0), "{name}: {stderr}");
    }
}
