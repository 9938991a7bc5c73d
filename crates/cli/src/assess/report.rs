//! The answer: for people, for programs, as a page.

use std::fmt::Write as _;

use serde_json::json;

use super::judge::{Finding, Judged, Verdict};
use super::source::Source;

/// Places of a finding that are shown to people; all of them are in the other forms.
const SHOWN: usize = 5;

/// For people.
pub(super) fn text(source: &Source, judged: &Judged) -> String {
    let mut out = format!("{}: {}\n", source.name, summary(source, judged));
    for verdict in &Verdict::ALL[1..] {
        let mut findings = of(judged, *verdict).peekable();
        if findings.peek().is_some() {
            let _ = writeln!(out, "\n{}: {}", verdict.word(), verdict.meaning());
        }
        for finding in findings {
            let _ = writeln!(out, "\n  {} ({})", finding.message, finding.code);
            if let Some(hint) = &finding.hint {
                let _ = writeln!(out, "  hint: {hint}");
            }
            for (line, beginning) in finding.places.iter().take(SHOWN) {
                let _ = writeln!(out, "    line {line}: {beginning}");
            }
            if let Some(more) = finding.places.len().checked_sub(SHOWN).filter(|more| *more > 0) {
                let lines: Vec<String> =
                    finding.places[SHOWN..].iter().take(20).map(|(line, _)| line.to_string()).collect();
                let dots = if more > 20 { ", …" } else { "" };
                let _ = writeln!(out, "    and {more} more: lines {}{dots}", lines.join(", "));
            }
        }
    }
    if !source.commands.is_empty() {
        let lines: Vec<String> = source.commands.iter().take(20).map(|(line, _)| line.to_string()).collect();
        let _ = writeln!(out, "\nnot looked at: commands to psql, lines {}", lines.join(", "));
    }
    out
}

fn summary(source: &Source, judged: &Judged) -> String {
    let all: usize = judged.counts.values().sum();
    let mut said = format!("{all} statement{} in {}'s SQL", if all == 1 { "" } else { "s" }, source.dialect.name());
    for verdict in Verdict::ALL {
        let count = judged.count(verdict);
        if count > 0 {
            let _ = write!(said, ", {count} {}", words(verdict, count));
        }
    }
    said
}

const fn words(verdict: Verdict, count: usize) -> &'static str {
    match (verdict, count) {
        (Verdict::Works, 1) => "works",
        (Verdict::Works, _) => "work",
        (Verdict::Differs, 1) => "differs",
        (Verdict::Differs, _) => "differ",
        (Verdict::Refused, _) => "refused",
        (Verdict::Missing, 1) => "names what is missing",
        (Verdict::Missing, _) => "name what is missing",
        (Verdict::Wrong, _) => "wrong",
    }
}

fn of(judged: &Judged, verdict: Verdict) -> impl Iterator<Item = &Finding> {
    judged.findings.iter().filter(move |finding| finding.verdict == verdict)
}

/// For programs.
pub(super) fn json(source: &Source, judged: &Judged) -> String {
    let counts: serde_json::Map<_, _> =
        Verdict::ALL.iter().map(|verdict| (verdict.word().to_owned(), judged.count(*verdict).into())).collect();
    let findings: Vec<_> = judged
        .findings
        .iter()
        .map(|finding| {
            let places: Vec<_> = finding
                .places
                .iter()
                .map(|(line, beginning)| json!({ "line": line, "statement": beginning }))
                .collect();
            json!({
                "verdict": finding.verdict.word(), "code": finding.code, "message": finding.message,
                "hint": finding.hint, "places": places,
            })
        })
        .collect();
    let commands: Vec<_> =
        source.commands.iter().map(|(line, command)| json!({ "line": line, "command": command })).collect();
    let object = json!({
        "source": source.name, "dialect": source.dialect.name(), "statements": judged.counts.values().sum::<usize>(),
        "counts": counts, "findings": findings, "not_looked_at": commands,
    });
    format!("{object}\n")
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\
    h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse}td,th{padding:.2rem .8rem;\
    text-align:left;border-bottom:1px solid #ddd}.n{text-align:right}code,pre{font:14px ui-monospace,monospace}\
    section{margin:1rem 0;padding:.5rem 1rem;border-left:4px solid #888}.differs{border-color:#c90}\
    .refused,.wrong{border-color:#c33}.missing{border-color:#888}.hint{color:#555}ul{margin:.3rem 0}\
    @media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}td,th{border-color:#444}.hint{color:#aaa}}";

/// A page, which needs nothing beside it.
pub(super) fn html(source: &Source, judged: &Judged) -> String {
    let title = escaped(&format!("{}: what works", source.name));
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>{title}</h1>\n<p>{}.</p>\n<table><tr><th>answer</th><th class=\"n\">statements</th><th></th></tr>\n",
        escaped(&summary(source, judged)),
    );
    for verdict in Verdict::ALL {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>",
            verdict.word(),
            judged.count(verdict),
            verdict.meaning()
        );
    }
    out.push_str("</table>\n");
    for verdict in &Verdict::ALL[1..] {
        if of(judged, *verdict).next().is_some() {
            let _ = writeln!(out, "<h2>{}: {}</h2>", verdict.word(), verdict.meaning());
        }
        for finding in of(judged, *verdict) {
            let _ = writeln!(
                out,
                "<section class=\"{}\"><b>{}</b> <code>{}</code>",
                verdict.word(),
                escaped(&finding.message),
                escaped(&finding.code)
            );
            if let Some(hint) = &finding.hint {
                let _ = writeln!(out, "<div class=\"hint\">{}</div>", escaped(hint));
            }
            out.push_str("<ul>\n");
            for (line, beginning) in &finding.places {
                let _ = writeln!(out, "<li>line {line}: <code>{}</code></li>", escaped(beginning));
            }
            out.push_str("</ul></section>\n");
        }
    }
    out.push_str("</body></html>\n");
    out
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn a_page_shows_statements_and_runs_none_of_them() {
        assert_eq!(escaped("<script>'&\"</script>"), "&lt;script&gt;&#39;&amp;&quot;&lt;/script&gt;");
    }
}
