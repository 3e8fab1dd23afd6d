//! `-o html` and `-o link`: what they contain, what they never contain, and what they refuse.

use crate::common::link::decoded;
use crate::common::{
    self, CONTESTED, DAEMON_SET, JOB, ROLLOUT, STATEFUL_SET, autoscaler, dump, fails, fine, items, list, pod,
    put, run, set, uid, with,
};
use kubectl_podrank::link::{LONGEST, PAGE};
use podrank_laws::vectors;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn state(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// The one link in a page.
fn link_in(page: &str) -> String {
    let [_, link] = *page.split("<a href=\"").collect::<Vec<_>>() else { panic!("one link: {page}") };
    unescaped(link.split_once('"').expect("its end").0)
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The texts of a page between its tags. It has no tags but those that this program writes, each with those attributes alone.
#[track_caller]
fn texts(page: &str) -> Vec<String> {
    const TAGS: &str = "!doctype html|html lang=\"en\"|/html|meta charset=\"utf-8\"|title|/title|style|/style|main|/main|h1|/h1|\
        h2|/h2|p|/p|ul|/ul|li|/li|table|/table|thead|tr|th scope=\"col\"|tbody|td|footer|/footer|/a|/div|\
        div tabindex=\"0\" role=\"region\" aria-label=\"Table\"|\
        meta name=\"viewport\" content=\"width=device-width\"";
    let mut texts = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        let is_known = TAGS.split('|').any(|known| tag == known)
            || tag.starts_with("meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline';")
            || ["delete", "contested", "blocked", "later", "keep"].iter().any(|verdict| tag == format!("tr class={verdict}"))
            || tag.starts_with(&format!("a href=\"{PAGE}")) && tag.matches('"').count() == 2;
        assert!(is_known, "<{tag}>");
        assert!(tag == "style" || !text.contains('>'), "{text}");
        texts.push(unescaped(text));
    }
    texts
}

fn has(texts: &[String], text: &str) -> bool {
    texts.iter().any(|one| one.trim_end() == text)
}

#[test]
fn a_page_has_the_answer_without_a_script() {
    let asked = "deploy/web --replicas 5";
    let (page, notes) = fine(&format!("{asked} -o html"), ROLLOUT);
    let texts = texts(&page);
    let headline = "deploy/web to 5: 8 of 13 pods go, all certainly";
    assert_eq!(texts.iter().filter(|text| *text == headline).count(), 2, "the title and the heading");
    let (json, _) = fine(&format!("{asked} -o json"), ROLLOUT);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let sets: Vec<_> = list(&json["sets"]).collect();
    let pods: Vec<_> = sets.iter().flat_map(|set| list(&set["pods"])).collect();
    assert_eq!(pods.len(), 13);
    for pod in pods {
        for cell in ["name", "why"] {
            assert!(has(&texts, pod[cell].as_str().expect("a text")), "{pod}");
        }
    }
    for cell in ["web-5d8c7f9b64", "web-7f6b9d5c48"] {
        assert!(has(&texts, cell), "{cell} has a row among the sets");
    }
    // What standard error has is on the page.
    assert!(notes.lines().count() > 0 && notes.lines().all(|note| has(&texts, note)), "{notes}");
    // Both colours, and nothing from elsewhere but the link.
    assert!(page.contains("color-scheme:light dark") && page.contains("prefers-color-scheme:dark"));
    assert_eq!(page.matches("://").count(), 1);
    assert!(!["url(", "@import", "src="].iter().any(|word| page.contains(word)));
    // The link is that of -o link.
    let (link, _) = fine(&format!("{asked} -o link"), ROLLOUT);
    assert_eq!(link_in(&page) + "\n", link);
}

#[test]
fn whatever_the_table_answers_has_a_page() {
    for (asked, dump, title) in [
        ("deploy/web", ROLLOUT, "deploy/web: 2 of 13 pods go now (its count is 10)"),
        ("deploy/web --rollout", ROLLOUT, "deploy/web to 10: 2 of 13 pods go, all certainly; 11 are left"),
        ("deploy/web --replicas 20", ROLLOUT, ""),
        ("rs/web-7f6b9d5c48 --replicas 3", ROLLOUT, "rs/web-7f6b9d5c48 to 3: 6 of 9 pods go, all certainly"),
        ("--replicas 3", CONTESTED, "rs/api-6c9d8f7b5 to 3: 1 of 4 pods goes (1 of 3 by chance)"),
        ("deploy", ROLLOUT, "Who goes first"),
        ("sts/db --replicas 1", STATEFUL_SET, ""),
        ("sts", STATEFUL_SET, "Who goes first"),
        ("--rollout", DAEMON_SET, ""),
        ("--parallelism 1", JOB, ""),
        ("pod/api-6c9d8f7b5-8wz5c", CONTESTED, ""),
        ("pod/api-6c9d8f7b5-8wz5c --replicas 3", CONTESTED, ""),
    ] {
        let (page, _) = fine(&format!("{asked} -o html"), dump);
        let texts = texts(&page);
        // The first line of the table, if it is about more than one workload.
        let (table, _) = fine(asked, dump);
        let title = if title.is_empty() { table.lines().next().expect("an answer") } else { title };
        assert_eq!(texts.iter().filter(|text| *text == title).count(), 2, "{asked}: {title}: {page}");
        for row in table.lines().filter(|row| row.starts_with("yes ") || row.contains(" %  ")) {
            let pod = row.split_whitespace().find(|word| word.contains('-')).expect("a name");
            assert!(has(&texts, pod), "{asked}: {pod}");
        }
    }
    let autoscaler = autoscaler(("Deployment", "web"), Some(3), 20, Some(5));
    let dump = dump(&[items(ROLLOUT), vec![autoscaler]].concat());
    let texts = texts(&fine("hpa/web -o html", &dump).0);
    let (table, _) = fine("hpa/web", &dump);
    let titles: Vec<_> = table.lines().filter(|line| line.contains(" to ")).collect();
    assert!(titles.len() == 3 && titles.iter().all(|title| has(&texts, title)), "{titles:?} {texts:?}");
}

/// Names that no cluster has, but a file may.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "</title></style><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "--><svg onload=alert(1)>",
    "&lt;b&gt;&#60;",
    "x&replicas=0&dump=#<",
    "\u{202e}txt.exe\u{2066}",
    "a\nb\u{1b}[31m\0c",
];

#[test]
fn no_name_becomes_markup_or_a_parameter() {
    for (number, evil) in HOSTILE.into_iter().enumerate() {
        let number = u32::try_from(number).expect("few");
        let mut set = with(set("web"), "spec replicas", json!(2));
        put(&mut set, "metadata name", json!(evil));
        put(&mut set, "spec selector matchLabels app", json!(evil));
        let mut first = pod(2 * number);
        put(&mut first, "metadata name", json!(format!("{evil}-1")));
        put(&mut first, "spec nodeName", json!(evil));
        put(&mut first, "metadata ownerReferences 0 name", json!(evil));
        put(&mut first, "metadata labels", json!({ "app": evil }));
        let mut second = first.clone();
        put(&mut second, "metadata name", json!(format!("{evil}-2")));
        put(&mut second, "metadata uid", json!(uid(2 * number + 1)));
        put(
            &mut second,
            "metadata annotations",
            json!({ "controller.kubernetes.io/pod-deletion-cost": "x<y" }),
        );
        let dump = dump(&[set, first, second]);
        let shown = kubectl_podrank::look::plain(evil);
        for asked in ["--partial --replicas 1", "--partial", "rs --partial"] {
            let (page, _) = fine(&format!("{asked} -o html"), &dump);
            let texts = texts(&page);
            let is_shown = texts.iter().any(|text| text.contains(&*shown));
            assert!(is_shown, "{asked}: {shown}: {page}");
        }
        let (link, _) = fine("--partial --replicas 1 -o link", &dump);
        let (dump, options, its) = decoded(link.trim_end());
        assert_eq!(options["workload"], format!("rs/{evil}"));
        assert_eq!(its, state(&[("replicas", "1"), ("now", "2026-03-10T12:00:00Z")]));
        assert!(dump["items"].to_string().contains(&json!(evil).to_string()));
        assert!(
            link.trim_end().chars().all(|char| char.is_ascii_graphic() && !"<>\"'".contains(char)),
            "{link}"
        );
    }
}

/// A Deployment's set with this number of pods, named as clouds name nodes.
fn many(pods: u32) -> String {
    let owner = "web-7f6b9d5c48";
    let mut set = with(set("web"), "spec replicas", json!(pods));
    put(&mut set, "metadata name", json!(owner));
    let pod = |number: u32| {
        let random = number.wrapping_mul(2_654_435_769);
        let square = u64::from(random).pow(2) >> 16;
        let uid = format!("{random:08x}-{:04x}-4000-8000-{square:012x}", random & 0xffff);
        let node = format!("ip-10-0-{}-{}.eu-west-1.compute.internal", number % 4, number % 250);
        let [day, hour, minute, second] = [1 + number % 9, number % 24, random % 60, number % 60];
        let mut pod = pod(number);
        for (place, text) in [
            ("metadata name", format!("{owner}-{:05x}", random >> 12)),
            ("metadata uid", uid),
            ("metadata ownerReferences 0 name", owner.to_owned()),
            ("spec nodeName", node),
            ("metadata creationTimestamp", format!("2026-03-{day:02}T{hour:02}:{minute:02}:{second:02}Z")),
        ] {
            put(&mut pod, place, json!(text));
        }
        pod
    };
    let pods: Vec<_> = (0..pods).map(pod).collect();
    dump(&[vec![set], pods].concat())
}

#[test]
fn a_page_of_a_thousand_pods_is_small_and_its_link_too() {
    let (page, _) = fine("--partial --replicas 500 -o html", many(1_000));
    assert_eq!(page.matches("<tr class=").count(), 1_000);
    assert!(page.len() <= 300_000, "{} bytes", page.len());
    assert!(link_in(&page).len() <= LONGEST);
    // Of more pods, the link is too long. The page then leads to the address alone, and -o link says what there is.
    let (page, _) = fine("--partial --replicas 500 -o html", many(4_000));
    assert_eq!(link_in(&page), PAGE);
    let error = format!(
        "the link would have … characters, and not every browser opens more than {LONGEST}: -o html > page.html writes a page"
    );
    fails("--partial --replicas 500 -o link", many(4_000), &error);
}

#[test]
fn a_link_has_what_decides_and_nothing_else() {
    let asked = "deploy/web --replicas 5 --feature-gates PodDeletionCost=false --burst-replicas 2";
    let (link, said) = fine(&format!("{asked} -o link"), ROLLOUT);
    let (dump, options, its) = decoded(link.trim_end());
    assert_eq!(
        options,
        json!({
            "namespace": "default",
            "workload": "deploy/web",
            "replicas": 5,
            "now": "2026-03-10T12:00:00Z",
            "order": "kubernetes",
            "featureGates": { "PodDeletionCost": false },
            "burstReplicas": 2,
            "partial": false,
        })
    );
    let expected = [("replicas", "5"), ("now", "2026-03-10T12:00:00Z"), ("PodDeletionCost", "false")];
    assert_eq!(its, state(&expected));
    // What it has of the dump leads to the same answer.
    let as_json = format!("{asked} -o json");
    let json = fine(&as_json, ROLLOUT);
    assert_eq!(fine(&as_json, dump.to_string()), json);
    let contents = "note: the link contains names (pods, nodes, ReplicaSets, the workload), UIDs, the labels that selectors read, zones, times, \
        restarts and deletion costs with who wrote them; no containers, environment variables or volumes. Whoever has the link can read \
        them, but browsers send them to no server\n";
    assert_eq!(said, json.1 + contents);
    for word in ["registry.example.com", "serviceaccount", "resources"] {
        assert!(ROLLOUT.contains(word), "{word} is in the example");
        assert!(!dump.to_string().contains(word), "{word}");
    }
    // The options that are not Kubernetes' own.
    let asked =
        "rs/web-7f6b9d5c48 --replicas 3 --order total --feature-gates PreferForScaleDown=true --partial";
    let (link, _) = fine(&format!("{asked} -o link"), ROLLOUT);
    let (_, options, its) = decoded(link.trim_end());
    assert_eq!((&options["partial"], &options["workload"]), (&json!(true), &json!("rs/web-7f6b9d5c48")));
    for (name, value) in [("order", "total"), ("PreferForScaleDown", "true")] {
        assert_eq!(its.get(name).map(String::as_str), Some(value), "{name}");
    }
    // Without a count, the page chooses it.
    let (link, _) = fine("deploy/web -o link", ROLLOUT);
    let (_, options, its) = decoded(link.trim_end());
    assert!(options["replicas"].is_null() && !its.contains_key("replicas"));
}

#[test]
fn thirteen_pods_are_a_short_link() {
    let (link, _) = fine("deploy/web --replicas 5 -o link", ROLLOUT);
    assert!(link.len() < 2_400, "{}", link.len());
}

/// `SHARE=write` makes the file anew.
#[test]
fn the_vectors_are_links_that_lead_to_their_dumps() {
    let mut links: Value = serde_json::from_str(&vectors::read("links.json")).expect("JSON");
    let link = |case: &Value| {
        fine(&format!("{} -o link", case["asked"].as_str().expect("words")), example(case))
            .0
            .trim_end()
            .to_owned()
    };
    let opened = |case: &mut Value, link: &str| {
        let (dump, options, state) = decoded(link);
        for (name, value) in [("dump", dump), ("options", options), ("state", json!(state))] {
            case[name] = value;
        }
    };
    if std::env::var_os("SHARE").is_some_and(|wish| wish == "write") {
        for case in links.as_array_mut().expect("cases") {
            let link = link(case);
            opened(case, &link);
            case["fragment"] = link[PAGE.len()..].into();
        }
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/links.json");
        return std::fs::write(file, format!("{links:#}\n")).expect("a file");
    }
    let cases = links.as_array().expect("cases");
    assert!(cases.len() > 1);
    for case in cases {
        // Another release of the compressor may give another fragment, but it means the same.
        for link in [format!("{PAGE}{}", case["fragment"].as_str().expect("a text")), link(case)] {
            let mut again = case.clone();
            opened(&mut again, &link);
            assert_eq!(&again, case);
        }
    }
}

fn example(case: &Value) -> &'static str {
    match case["example"].as_str() {
        Some("rollout.json") => ROLLOUT,
        Some("contested.yaml") => CONTESTED,
        other => panic!("{other:?}"),
    }
}

/// The page decides at one moment, and to the end.
#[test]
fn a_link_says_if_the_page_has_another_verdict() {
    let warning = |words: &str| {
        let (_, said) = fine(&format!("{words} -o link"), ROLLOUT);
        said.lines().find(|line| line.starts_with("warning: ")).map(str::to_owned)
    };
    assert_eq!(warning("deploy/web --replicas 5"), None);
    let said = warning("deploy/web --replicas 5 --next-step").expect("a warning");
    assert!(said.contains(" on the page (web-") && said.contains(" at 2026-03-10T12:00:00Z alone"), "{said}");
}

#[test]
fn what_has_no_link_is_refused() {
    for (asked, dump) in
        [("sts/db --replicas 1", STATEFUL_SET), ("--rollout", DAEMON_SET), ("--parallelism 1", JOB)]
    {
        fails(
            &format!("{asked} -o link"),
            dump,
            "…: a link can hold only Deployments, ReplicaSets and ReplicationControllers; -o html writes a page",
        );
    }
    fails("deploy -o link", ROLLOUT, "this output is about one workload: name it");
    let (status, _, said) = run("deploy/web --watch -o html", ROLLOUT);
    assert_eq!(status, Some(2), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_page_is_written_to_a_terminal() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../preview/examples/rollout.json");
    let on_terminal = |words: &str| {
        let command = format!("{} deploy/web --replicas 5 -f {file} {}", common::PROGRAM, words);
        let ran = std::process::Command::new("script")
            .args(["-qec", &command, "/dev/null"])
            .output()
            .expect("script");
        (ran.status.code(), String::from_utf8(ran.stdout).expect("UTF-8").replace("\r\n", "\n"))
    };
    let (status, said) = on_terminal("-o html");
    assert_eq!(status, Some(1));
    assert!(
        said.starts_with("error: -o html writes a page: redirect it to a file") && !said.contains('<'),
        "{said}"
    );
    // The other outputs are for terminals.
    assert!(on_terminal("-o link").1.starts_with(PAGE) && on_terminal("").1.starts_with("deploy/web to 5"));
}
