//! `-o html` and `-o link`: what they contain, what they never contain, and what they refuse.

#[cfg(unix)]
use crate::common::kubectl::answering;
use crate::common::link::decoded;
use crate::common::{
    CONTESTED, DAEMON_SET, JOB, ROLLOUT, STATEFUL_SET, autoscaler, changed, dump, fails, fine, items, list,
    pod, run, set, with,
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
    let autoscaler = autoscaler(("Deployment", "web"), Some(3), 20, Some(5));
    let with_hpa = dump(&[items(ROLLOUT), vec![autoscaler]].concat());
    for (asked, dump, title) in [
        ("deploy/web", ROLLOUT, ""),
        ("deploy/web --rollout", ROLLOUT, "deploy/web to 10: 2 of 13 pods go, all certainly; 11 are left"),
        ("deploy/web --replicas 20", ROLLOUT, ""),
        ("rs/web-7f6b9d5c48 --replicas 3", ROLLOUT, "rs/web-7f6b9d5c48 to 3: 6 of 9 pods go, all certainly"),
        ("--replicas 3", CONTESTED, ""),
        ("deploy", ROLLOUT, "Who goes first"),
        ("sts/db --replicas 1", STATEFUL_SET, ""),
        ("--rollout", DAEMON_SET, ""),
        ("--parallelism 1", JOB, ""),
        ("pod/api-6c9d8f7b5-8wz5c", CONTESTED, ""),
        ("pod/api-6c9d8f7b5-8wz5c --replicas 3", CONTESTED, ""),
        ("hpa/web", &with_hpa, "hpa/web (3 to 20): it wants 5"),
    ] {
        let texts = texts(&fine(&format!("{asked} -o html"), dump).0);
        // The first line of the table, if it is about one workload.
        let (table, _) = fine(asked, dump);
        let title = if title.is_empty() { table.lines().next().expect("an answer") } else { title };
        assert!(has(&texts, title), "{asked}: {title}: {texts:?}");
        for line in table.lines().filter(|line| line.starts_with("deploy/web to ")) {
            assert!(asked != "hpa/web" || has(&texts, line), "{line}: {texts:?}");
        }
        for row in table.lines().filter(|row| row.starts_with("yes ") || row.contains(" %  ")) {
            let pod = row.split_whitespace().find(|word| word.contains('-')).expect("a name");
            assert!(has(&texts, pod), "{asked}: {pod}");
        }
    }
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
    for evil in HOSTILE {
        let small = dump(&[with(set("web"), "spec replicas", json!(2)), pod(1), pod(2)]);
        let cost = json!({ "controller.kubernetes.io/pod-deletion-cost": "x<y" });
        let changes = [
            ("web", "metadata name", json!(evil)),
            ("ReplicaSet", "spec selector matchLabels app", json!(evil)),
            ("Pod", "metadata labels app", json!(evil)),
            ("Pod", "metadata ownerReferences 0 name", json!(evil)),
            ("Pod", "spec nodeName", json!(evil)),
            ("web-2", "metadata annotations", cost),
            ("web-1", "metadata name", json!(format!("{evil}-1"))),
            ("web-2", "metadata name", json!(format!("{evil}-2"))),
        ];
        let dump = changed(&small, &changes);
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

/// A set with this number of pods, named as clouds name nodes.
fn many(pods: u32) -> String {
    let pod = |number: u32| {
        let random = number.wrapping_mul(2_654_435_769);
        let square = u64::from(random).pow(2) >> 16;
        [
            ("metadata name", format!("web-7f6b9d5c48-{:05x}", random >> 12)),
            ("metadata uid", format!("{random:08x}-{:04x}-4000-8000-{square:012x}", random & 0xffff)),
            ("spec nodeName", format!("ip-10-0-{}-{}.eu-west-1.compute.internal", number % 4, number % 250)),
            ("metadata creationTimestamp", format!("2026-03-0{}T11:{:02}:00Z", 1 + number % 9, random % 60)),
        ]
        .into_iter()
        .fold(pod(number), |pod, (place, text)| with(pod, place, json!(text)))
    };
    dump(&(0..pods).map(pod).chain([set("web")]).collect::<Vec<_>>())
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

#[cfg(unix)]
#[test]
fn no_page_is_written_to_a_terminal() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../predict/examples/rollout.json");
    let on_terminal = |words: &str| {
        let words = format!("deploy/web --replicas 5 -f {file} {words}");
        answering(&[]).shown_at_terminal(&words.split_whitespace().collect::<Vec<_>>(), 40)
    };
    let said = on_terminal("-o html");
    let redirect = "error: -o html writes a page: redirect it to a file";
    assert!(said.starts_with(redirect) && !said.contains('<'), "{said}");
    // The other outputs are for terminals.
    assert!(on_terminal("-o link").starts_with(PAGE) && on_terminal("").starts_with("deploy/web to 5"));
}
