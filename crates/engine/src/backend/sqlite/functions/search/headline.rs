//! `ts_headline`: a part of a text with the words of a query marked.

use rowferry_dialect::values::search::matching::{Found, Places, Words as Text, matches};
use rowferry_dialect::values::search::{Item, Query};
use rowferry_dialect::{Condition, Error, Result, work};

use super::dictionaries::Configuration;
use super::parser::{Tokens, kind};

/// What the last argument says.
struct Options {
    most: i64,
    least: i64,
    short: i64,
    fragments: i64,
    all: bool,
    start: String,
    stop: String,
    delimiter: String,
}

impl Options {
    fn parse(text: &str) -> Result<Self> {
        let mut options = Self {
            most: 35,
            least: 15,
            short: 3,
            fragments: 0,
            all: false,
            start: "<b>".to_owned(),
            stop: "</b>".to_owned(),
            delimiter: " ... ".to_owned(),
        };
        for (name, value) in pairs(text)? {
            let number = || rowferry_dialect::values::integer::parse(&value, &rowferry_dialect::Type::Int4);
            match name.to_ascii_lowercase().as_str() {
                "maxwords" => options.most = number()?,
                "minwords" => options.least = number()?,
                "shortword" => options.short = number()?,
                "maxfragments" => options.fragments = number()?,
                "startsel" => options.start = value,
                "stopsel" => options.stop = value,
                "fragmentdelimiter" => options.delimiter = value,
                "highlightall" => {
                    let value = value.to_ascii_lowercase();
                    options.all = matches!(value.as_str(), "1" | "on" | "true" | "t" | "y" | "yes");
                }
                _ => return Err(invalid(format!("unrecognized headline parameter: \"{name}\""))),
            }
        }
        if !options.all {
            if options.least >= options.most {
                return Err(invalid("MinWords should be less than MaxWords"));
            }
            if options.least <= 0 {
                return Err(invalid("MinWords should be positive"));
            }
            if options.short < 0 {
                return Err(invalid("ShortWord should be >= 0"));
            }
            if options.fragments < 0 {
                return Err(invalid("MaxFragments should be >= 0"));
            }
        }
        for (name, value) in
            [("StartSel", &options.start), ("StopSel", &options.stop), ("FragmentDelimiter", &options.delimiter)]
        {
            if value.len() > i16::MAX as usize {
                return Err(invalid(format!("value for \"{name}\" is too long")));
            }
        }
        Ok(options)
    }

    /// As many words are looked through for a match.
    fn reach(&self) -> i64 {
        let reach = (self.most.saturating_mul(10)).max(100);
        if self.fragments > 0 { reach.saturating_mul(self.fragments) } else { reach }
    }
}

fn invalid(message: impl Into<String>) -> Error {
    Error::new(Condition::InvalidParameterValue, message.into())
}

/// Fails for options that are no list, as they are refused of a document without any text, too.
pub(super) fn check_list(options: &str) -> Result<()> {
    pairs(options).map(drop)
}

/// `Name=value, Name="a value"`
fn pairs(text: &str) -> Result<Vec<(String, String)>> {
    let wrong = || Error::new(Condition::SyntaxError, format!("invalid parameter list format: \"{text}\""));
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (name, behind) = value(rest, |c| c.is_whitespace() || c == '=').ok_or_else(wrong)?;
        rest = behind.trim_start().strip_prefix('=').ok_or_else(wrong)?.trim_start();
        let (value, behind) = value(rest, |c| c.is_whitespace() || c == ',').ok_or_else(wrong)?;
        pairs.push((name, value));
        rest = behind.trim_start();
        if let Some(behind) = rest.strip_prefix(',') {
            rest = behind.trim_start();
            if rest.is_empty() {
                return Err(wrong());
            }
        } else if !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok(pairs)
}

/// A name or a value, bare or in quotes of either kind.
fn value(text: &str, ends: fn(char) -> bool) -> Option<(String, &str)> {
    let first = text.chars().next()?;
    if !matches!(first, '"' | '\'') {
        let end = text.find(ends).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    }
    let mut out = String::new();
    let mut chars = text[1..].char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == first {
            if chars.peek().is_some_and(|(_, next)| *next == first) {
                chars.next();
            } else {
                return Some((out, &text[1 + at + c.len_utf8()..]));
            }
        }
        out.push(c);
    }
    None
}

/// A token of the text.
#[derive(Clone, Debug)]
struct Word<'a> {
    text: &'a str,
    kind: u8,
    position: i64,
    /// The query's item that it is.
    item: Option<usize>,
    /// It stands there again for another item.
    repeated: bool,
    selected: bool,
    inside: bool,
    replaced: bool,
    skipped: bool,
}

impl Word<'_> {
    fn is_interesting(&self) -> bool {
        self.item.is_some() && !self.repeated
    }

    fn is_compound(&self) -> bool {
        matches!(self.kind, kind::URL | kind::NUMHWORD | kind::ASCIIHWORD | kind::HWORD)
    }

    fn counts(&self) -> bool {
        !(matches!(self.kind, kind::BLANK | kind::TAG) || self.is_compound())
    }

    fn is_bad_end(&self, short: i64) -> bool {
        let number = matches!(self.kind, kind::SFLOAT | kind::VERSION | kind::FLOAT | kind::INT | kind::UINT);
        let ignored = matches!(self.kind, kind::PROTOCOL | kind::ENTITY);
        (!self.counts() || number || ignored || self.text.len() as i64 <= short) && !self.is_interesting()
    }
}

/// A stretch of words.
struct Stretch<'a, 'b>(&'a [Word<'b>]);

impl Text for Stretch<'_, '_> {
    fn find(&self, _: &Query, at: usize, places: Option<&mut Places>) -> Found {
        let mut found = self.0.iter().filter(|word| word.item == Some(at)).map(|word| word.position);
        match places {
            None if found.next().is_some() => Found::Yes,
            None => Found::No,
            Some(places) => {
                for position in found {
                    if places.at.last().is_none_or(|last| *last < position) {
                        places.at.push(position);
                    }
                }
                if places.at.is_empty() { Found::No } else { Found::Yes }
            }
        }
    }
}

fn words<'a>(configuration: &Configuration, text: &'a str, query: &Query) -> Result<Vec<Word<'a>>> {
    let mut words: Vec<Word<'a>> = Vec::new();
    let mut position = 0;
    let mut tokens = Tokens::new(text);
    while let Some((kind, token)) = tokens.next()? {
        let mut word = Word {
            text: token,
            kind,
            position: 0,
            item: None,
            repeated: false,
            selected: false,
            inside: false,
            replaced: false,
            skipped: false,
        };
        let lexeme = configuration.lexize(kind, token)?;
        position += u32::from(lexeme.is_some());
        let Some(lexeme) = lexeme.flatten() else {
            words.push(word);
            continue;
        };
        word.position = i64::from(rowferry_dialect::values::search::Position::new(position, 0).at());
        let items = query.items().iter().enumerate().filter(|(_, item)| match item {
            Item::Word { word, prefix: true, .. } => lexeme.starts_with(word.as_str()),
            Item::Word { word, .. } => *word == lexeme,
            _ => false,
        });
        let items: Vec<usize> = items.map(|(at, _)| at).collect();
        word.item = items.first().copied();
        words.push(word.clone());
        for item in items.into_iter().skip(1) {
            words.push(Word { item: Some(item), repeated: true, ..word.clone() });
        }
    }
    Ok(words)
}

/// The earliest shortest stretch that matches, from a word on.
fn cover(words: &[Word<'_>], query: &Query, reach: i64, from: usize) -> Result<Option<(usize, usize)>> {
    if query.is_empty() {
        return Ok(None);
    }
    let next = |from: usize| (from..words.len()).find(|at| words[*at].item.is_some());
    let mut first = next(from);
    while let Some(start) = first {
        work::check()?;
        let mut last = Some(start);
        while let Some(end) = last.filter(|end| ((end - start) as i64) < reach || *end == start) {
            if matches(query, &Stretch(&words[start..=end]))? {
                return Ok(Some((start, end)));
            }
            last = next(end + 1);
        }
        first = next(start + 1);
    }
    Ok(None)
}

fn mark(words: &mut [Word<'_>], all: bool, range: std::ops::Range<usize>) {
    for word in words.get_mut(range).unwrap_or_default() {
        word.selected |= word.item.is_some();
        if !all && word.kind == kind::TAG {
            word.replaced = true;
        } else if word.is_compound() {
            word.skipped = true;
        }
        word.inside = !word.repeated;
    }
}

/// The first words, as many as must be.
fn mark_beginning(words: &mut [Word<'_>], options: &Options) {
    let (mut count, mut end) = (0, 0);
    while end < words.len() && count < options.least {
        count += i64::from(words[end].counts());
        end += 1;
    }
    mark(words, options.all, 0..end);
}

/// One stretch of the text.
fn mark_words(words: &mut [Word<'_>], query: &Query, options: &Options) -> Result<()> {
    if options.all {
        mark(words, true, 0..words.len());
        return Ok(());
    }
    let mut best: Option<(usize, usize, i64, bool)> = None;
    let mut from = 0;
    while let Some((p, q)) = cover(words, query, options.reach(), from)? {
        from = p + 1;
        let (begin, end, interesting) = around(words, options, p, q);
        let whole = begin <= p && end >= q;
        let bad = |at: usize| words[at].is_bad_end(options.short);
        let better = best.is_none_or(|(_, best_end, best_count, best_whole)| {
            (whole && !best_whole)
                || (whole == best_whole
                    && (interesting > best_count || (interesting == best_count && !bad(end) && bad(best_end))))
        });
        if better {
            best = Some((begin, end, interesting, whole));
        }
    }
    match best {
        Some((begin, end, ..)) => mark(words, false, begin..end + 1),
        None => mark_beginning(words, options),
    }
    Ok(())
}

/// A stretch made longer or shorter until it has as many words as are wanted: its first word, its last, and how many of
/// the query are in it.
fn around(words: &[Word<'_>], options: &Options, p: usize, q: usize) -> (usize, usize, i64) {
    let bad = |at: usize| words[at].is_bad_end(options.short);
    let (mut count, mut interesting) = (0_i64, 0_i64);
    let (mut begin, mut end) = (p, p);
    let mut at = p;
    while at <= q && count < options.most {
        count += i64::from(words[at].counts());
        interesting += i64::from(words[at].is_interesting());
        end = at;
        at += 1;
    }
    if count < options.most {
        at -= 1;
        while at < words.len() && count < options.most {
            if at > q {
                count += i64::from(words[at].counts());
                interesting += i64::from(words[at].is_interesting());
            }
            end = at;
            if !bad(at) && count >= options.least {
                break;
            }
            at += 1;
        }
        if count < options.least {
            begin = 0;
            for at in (0..p).rev() {
                count += i64::from(words[at].counts());
                interesting += i64::from(words[at].is_interesting());
                if count >= options.most || (!bad(at) && count >= options.least) {
                    begin = at;
                    break;
                }
            }
        }
    } else {
        let mut at = at.min(q);
        while count > options.least && bad(at) {
            count -= i64::from(words[at].counts());
            interesting -= i64::from(words[at].is_interesting());
            let Some(before) = at.checked_sub(1) else { break };
            end = before;
            at = before;
        }
    }
    (begin, end, interesting)
}

/// A fragment that may be shown.
struct Fragment {
    begin: usize,
    end: usize,
    interesting: i64,
    count: i64,
    gone: bool,
}

/// The first part of a stretch that is short enough and ends with words of the query.
fn first_fragment(words: &[Word<'_>], begin: usize, end: usize, most: i64) -> Fragment {
    let begin = (begin..=end).find(|at| words[*at].is_interesting()).unwrap_or(end);
    let (mut count, mut interesting) = (0, 0);
    let mut at = begin;
    while at <= end && count < most {
        count += i64::from(words[at].counts());
        interesting += i64::from(words[at].is_interesting());
        at += 1;
    }
    let mut last = end;
    if end > at {
        last = at;
        loop {
            if words[last].is_interesting() || last == begin {
                break;
            }
            count -= i64::from(words[last].counts());
            last -= 1;
        }
    }
    Fragment { begin, end: last, interesting, count, gone: false }
}

/// Several stretches of the text.
fn mark_fragments(words: &mut [Word<'_>], query: &Query, options: &Options) -> Result<()> {
    let mut fragments = Vec::new();
    let mut from = 0;
    while let Some((p, q)) = cover(words, query, options.reach(), from)? {
        from = p + 1;
        let mut begin = p;
        while begin <= q {
            let fragment = first_fragment(words, begin, q, options.most);
            begin = fragment.end + 1;
            fragments.push(fragment);
        }
    }
    let mut marked = 0;
    while marked < options.fragments {
        let mut best: Option<usize> = None;
        for (at, fragment) in fragments.iter().enumerate().filter(|(_, fragment)| !fragment.gone) {
            let (interesting, count) = match best {
                Some(best) => (fragments[best].interesting, fragments[best].count),
                None => (0, i64::from(i32::MAX)),
            };
            if interesting < fragment.interesting || (interesting == fragment.interesting && count > fragment.count) {
                best = Some(at);
            }
        }
        let Some(best) = best else { break };
        let (begin, end) = stretched(words, &fragments[best], options);
        mark(words, options.all, begin..end + 1);
        marked += 1;
        fragments[best].gone = true;
        for fragment in &mut fragments {
            fragment.gone |= (begin..=end).contains(&fragment.begin)
                || (begin..=end).contains(&fragment.end)
                || (fragment.begin < begin && fragment.end > end);
        }
    }
    if marked == 0 {
        mark_beginning(words, options);
    }
    Ok(())
}

/// A fragment made longer on both sides.
fn stretched(words: &[Word<'_>], fragment: &Fragment, options: &Options) -> (usize, usize) {
    let (mut begin, mut end, mut count) = (fragment.begin, fragment.end, fragment.count);
    if count >= options.most {
        return (begin, end);
    }
    let bad = |at: usize| words[at].is_bad_end(options.short);
    let room = (options.most - count) / 2;
    let mut stretch = 0;
    let mut mark = begin;
    for at in (0..begin).rev() {
        if stretch >= room || words[at].inside {
            break;
        }
        count += i64::from(words[at].counts());
        stretch += i64::from(words[at].counts());
        mark = at;
    }
    while mark < begin && bad(mark) {
        count -= i64::from(words[mark].counts());
        mark += 1;
    }
    begin = mark;
    let mut mark = end;
    for (at, word) in words.iter().enumerate().skip(end + 1) {
        if count >= options.most || word.inside {
            break;
        }
        count += i64::from(word.counts());
        mark = at;
    }
    while mark > end && bad(mark) {
        mark -= 1;
    }
    end = mark;
    (begin, end)
}

fn print(words: &[Word<'_>], options: &Options) -> String {
    let mut out = String::new();
    let (mut fragments, mut inside) = (0, false);
    for word in words.iter().filter(|word| !word.repeated) {
        if !word.inside {
            inside = false;
            continue;
        }
        if !inside {
            inside = true;
            fragments += 1;
            if fragments > 1 {
                out.push_str(&options.delimiter);
            }
        }
        if word.replaced {
            out.push(' ');
        } else if !word.skipped {
            if word.selected {
                out.push_str(&options.start);
            }
            out.push_str(word.text);
            if word.selected {
                out.push_str(&options.stop);
            }
        }
    }
    out
}

/// The headline of a text.
pub(super) fn headline(configuration: &Configuration, text: &str, query: &Query, options: &str) -> Result<String> {
    let options = Options::parse(options)?;
    let mut words = words(configuration, text, query)?;
    if options.fragments == 0 {
        mark_words(&mut words, query, &options)?;
    } else {
        mark_fragments(&mut words, query, &options)?;
    }
    Ok(print(&words, &options))
}
