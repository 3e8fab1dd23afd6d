//! Answers as a page: one file of text and tables that needs neither a script nor a network. Computes text and reads nothing.
//!
//! Whatever comes from an input passes through `escaped`, so that no name becomes markup.

use crate::link::PAGE;
use crate::look::{Grid, plain};

/// What stands on the page besides the answers.
#[derive(Default)]
pub struct Beside {
    /// Notes and warnings, a line each.
    pub notes: Vec<String>,
    /// Where the answers come from, a sentence each.
    pub sources: Vec<String>,
    /// The link to the page that also answers other questions about the same pods. `None` if there is none, or if it is too long.
    pub link: Option<String>,
}

/// Nothing is loaded, sent or run, whatever else the file contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--dim:#57606a;--line:#d0d7de;--delete:#b3261e;--contested:#7a5200;--blocked:#7b2d8b}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#0d1117;--dim:#9da7b3;--line:#3d444d;--delete:#ff8a80;--contested:#e3b341;--blocked:#d2a8ff}}
body{margin:0 auto;max-width:80rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1,h2{font-size:1.375rem;line-height:1.3}h2{font-size:1.125rem;margin-top:2rem}a{color:inherit}
div{overflow-x:auto}table{border-collapse:collapse;font-size:.875rem}
th,td{padding:.25rem .75rem .25rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);unicode-bidi:isolate}
td:nth-child(2),td:nth-child(3){white-space:nowrap}
.delete td:first-child{color:var(--delete);font-weight:600}.contested td:first-child{color:var(--contested);font-weight:600}
.blocked td:first-child{color:var(--blocked);font-weight:600}
.later td:first-child,footer{color:var(--dim)}footer{margin-top:2rem;font-size:.875rem}code,li,p,h1,h2{overflow-wrap:anywhere}
@media(max-width:40rem){td{white-space:nowrap}}
@media print{:root{--ink:#000;--paper:#fff;--dim:#444;--line:#999;--delete:#900;--contested:#640;--blocked:#606}div{overflow:visible}}";

/// Returns the page. The first sentence of the first answer is its title.
pub fn page(answers: &[Grid], beside: &Beside) -> String {
    let title = answers.iter().flat_map(|answer| &answer.sentences).next();
    let title = title.map_or_else(String::new, |title| escaped(title));
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n{STYLE}\n</style>\n<main>\n"
    );
    for (place, answer) in answers.iter().enumerate() {
        let heading = if place == 0 { "h1" } else { "h2" };
        if let [first, rest @ ..] = &*answer.sentences {
            text.extend(["<", heading, ">", &escaped(first), "</", heading, ">\n"]);
            elements(&mut text, "p", rest);
        }
        table(&mut text, answer);
        elements(&mut text, "p", &answer.below);
    }
    if !beside.notes.is_empty() {
        text += "<h2>Notes</h2>\n<ul>\n";
        elements(&mut text, "li", &beside.notes);
        text += "</ul>\n";
    }
    text += "</main>\n<footer>\n";
    elements(&mut text, "p", &beside.sources);
    let more = match &beside.link {
        Some(link) => format!(
            "<p><a href=\"{}\">Ask about another count or moment.</a> The link contains what the decision reads, behind its # sign, and \
             browsers send nothing of that to a server.</p>\n",
            escaped(link)
        ),
        None => format!(
            "<p>To ask about another count or moment, give the same dump to <a href=\"{PAGE}\">podrank's page</a>.</p>\n"
        ),
    };
    text + &more + "</footer>\n</html>\n"
}

fn table(text: &mut String, answer: &Grid) {
    if answer.rows.is_empty() {
        return;
    }
    // What scrolls must be reachable without a mouse.
    *text += "<div tabindex=\"0\" role=\"region\" aria-label=\"Table\"><table>\n<thead><tr>";
    answer.header.iter().for_each(|name| text.extend(["<th scope=\"col\">", name]));
    *text += "\n<tbody>\n";
    for (verdict, cells) in &answer.rows {
        text.extend(["<tr class=", verdict.name(), ">"]);
        for cell in cells {
            text.extend(["<td>", &escaped(cell)]);
        }
        text.push('\n');
    }
    *text += "</table></div>\n";
}

fn elements(text: &mut String, name: &str, contents: &[String]) {
    for content in contents {
        text.extend(["<", name, ">", &escaped(content), "</", name, ">\n"]);
    }
}

/// The text as text, between tags and in quoted attributes.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in plain(text).chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            char => escaped.push(char),
        }
    }
    escaped
}
