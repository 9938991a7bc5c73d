//! How values are written: dates' styles, spans of time, lists of names.

use std::time::Duration;

use rowferry_dialect::values::{DateOrder, DateStyle};

pub(super) fn on_off(value: bool) -> &'static str {
    if value { "on" } else { "off" }
}

/// A name as it stands in a list of names.
pub(super) fn quote_name(name: &str) -> String {
    let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && name.starts_with(|c: char| !c.is_ascii_digit()) {
        name.to_owned()
    } else {
        format!("\"{}\"", name.replace('"', "\"\""))
    }
}

/// `ISO, MDY` in any order and case; what is left out stays as it is by default.
pub(crate) fn date_style(value: &str) -> Option<(DateStyle, DateOrder)> {
    let (mut style, mut order) = (None, None);
    for word in value.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty()) {
        match word.as_str() {
            "iso" => style = Some(DateStyle::Iso),
            "sql" => style = Some(DateStyle::Sql),
            "postgres" | "postgresql" => style = Some(DateStyle::Postgres),
            "german" => style = Some(DateStyle::German),
            "dmy" | "euro" | "european" => order = Some(DateOrder::Dmy),
            "mdy" | "us" | "noneuro" | "noneuropean" => order = Some(DateOrder::Mdy),
            "ymd" => order = Some(DateOrder::Ymd),
            "default" => (style, order) = (Some(DateStyle::Iso), Some(DateOrder::Mdy)),
            _ => return None,
        }
    }
    let german = style == Some(DateStyle::German);
    Some((style.unwrap_or_default(), order.unwrap_or(if german { DateOrder::Dmy } else { DateOrder::Mdy })))
}

/// DateStyle with what a new value leaves out as it is now.
pub(super) fn complete_date_style(value: &str, now: &str) -> String {
    let words = || value.split(',').map(|word| word.trim().to_ascii_lowercase());
    let is_style = |word: &str| matches!(word, "iso" | "sql" | "postgres" | "postgresql" | "german" | "default");
    let (style, order) = now.split_once(',').unwrap_or((now, ""));
    let has_style = words().any(|word| is_style(&word));
    let has_order = words().any(|word| !is_style(&word) || word == "default" || word == "german");
    match (has_style, has_order) {
        (true, false) if !order.is_empty() => format!("{value}, {}", order.trim()),
        (false, true) if !style.is_empty() => format!("{style}, {value}"),
        _ => value.to_owned(),
    }
}

/// Milliseconds from which on something is done; -1 is never.
pub(super) fn at_least(value: &str) -> Option<Duration> {
    value.parse().ok().map(Duration::from_millis)
}

pub(super) fn milliseconds(value: &str) -> Duration {
    Duration::from_millis(value.parse().unwrap_or(0))
}

/// Names between commas, perhaps in double quotes.
pub(super) fn split_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let (mut quoted, mut any) = (false, false);
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                name.push('"');
            }
            '"' => {
                quoted = !quoted;
                any = true;
            }
            ',' if !quoted => {
                names.push(std::mem::take(&mut name));
                any = false;
            }
            c if c.is_whitespace() && !quoted => {}
            c if quoted => name.push(c),
            c => name.extend(c.to_lowercase()),
        }
    }
    if any || !name.is_empty() {
        names.push(name);
    }
    names.retain(|name| !name.is_empty());
    names
}
