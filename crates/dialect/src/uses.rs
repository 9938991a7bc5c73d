//! What a stored query is made of: the relations and columns that its own text names, and where.
//!
//! What stands behind a view that the query names is that view's affair and not listed. From this list come the
//! dependencies that the engine keeps, and the changes of a text when something that it names gets another name.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::ir::RelId;
use crate::schema::Relation;

/// The names in a stored query.
#[derive(Debug, Default)]
pub struct Uses {
    /// Relations of FROM, in the order in which they were met.
    pub relations: Vec<NamedRelation>,
    /// Columns of those relations, and of other members of FROM.
    pub columns: Vec<NamedColumn>,
    /// Every `*`, with what it covers.
    pub stars: Vec<Star>,
    /// Routines of users that are called, and their objects of text search, by object id.
    pub routines: BTreeSet<u32>,
    /// Sequences that are named, by object id.
    pub sequences: BTreeSet<u32>,
    /// Types of users that are named, by object id.
    pub types: BTreeSet<u32>,
    /// Collations of users that are named, by object id.
    pub collations: BTreeSet<u32>,
    /// Where functions, types and collations of users and of extensions are named, with the schemas that they are in.
    pub names: Vec<(usize, String)>,
    /// Where operators of users stand, with the schemas that they are in.
    pub operators: Vec<(usize, String)>,
    /// Where a literal names a relation without its schema (`'numbers'::regclass`), with the name in its schema.
    pub literals: Vec<(usize, String)>,
}

/// A relation in FROM.
#[derive(Debug)]
pub struct NamedRelation {
    /// Its id in the query.
    pub id: RelId,
    /// The relation.
    pub relation: Arc<Relation>,
    /// Where its name begins, in bytes from the beginning of the text.
    pub place: Option<usize>,
    /// It has an alias.
    pub aliased: bool,
}

/// A column.
#[derive(Debug)]
pub struct NamedColumn {
    /// Its relation's id in the query.
    pub id: RelId,
    /// Its position there.
    pub position: usize,
    /// Where its (qualified) name begins; `None` where the text does not spell it as a value (USING, NATURAL).
    pub place: Option<usize>,
}

/// A `*` or `t.*`.
#[derive(Debug)]
pub struct Star {
    /// Where it begins.
    pub place: usize,
    /// The columns that it covers, with their qualifiers.
    pub columns: Vec<(Option<String>, String)>,
}

/// Something that another object needs: a relation, routine or sequence as a whole, or one column.
pub type Dependency = (u32, Option<String>);

impl Uses {
    /// For an expression over one table, whose id is [`Text::TABLE`](crate::ir::Text::TABLE).
    pub(crate) fn of_table(relation: &Arc<Relation>) -> Self {
        let id = crate::ir::Text::TABLE;
        let named = NamedRelation { id, relation: relation.clone(), place: None, aliased: true };
        Self { relations: vec![named], ..Self::default() }
    }

    /// For an expression over several rows of one table.
    pub(crate) fn of_rows(relation: &Arc<Relation>, ids: &[RelId]) -> Self {
        let named = |id: &RelId| NamedRelation { id: *id, relation: relation.clone(), place: None, aliased: true };
        Self { relations: ids.iter().map(named).collect(), ..Self::default() }
    }

    /// True when a column of a relation is named.
    pub fn names_column(&self, oid: u32, position: usize) -> bool {
        self.columns.iter().any(|column| {
            column.position == position && self.relation(column.id).is_some_and(|named| named.relation.oid == oid)
        })
    }

    /// What the query needs.
    pub fn dependencies(&self) -> BTreeSet<Dependency> {
        let wholes = self.relations.iter().map(|named| named.relation.oid).chain(self.routines.iter().copied());
        let mut all: BTreeSet<Dependency> = wholes
            .chain(self.sequences.iter().chain(&self.types).chain(&self.collations).copied())
            .map(|oid| (oid, None))
            .collect();
        for column in &self.columns {
            if let Some(named) = self.relation(column.id)
                && let Some(found) = named.relation.columns.get(column.position)
            {
                all.insert((named.relation.oid, Some(found.name.clone())));
            }
        }
        all
    }

    fn relation(&self, id: RelId) -> Option<&NamedRelation> {
        self.relations.iter().find(|named| named.id == id)
    }

    /// True when two texts name the same things in the same order.
    pub fn means_the_same(&self, other: &Self) -> bool {
        let relations = |uses: &Self| uses.relations.iter().map(|n| (n.id, n.relation.oid)).collect::<Vec<_>>();
        let columns = |uses: &Self| uses.columns.iter().map(|c| (c.id, c.position)).collect::<Vec<_>>();
        relations(self) == relations(other) && columns(self) == columns(other)
    }

    /// The text with every `*` spelled out, so that columns which a table gets later stay out of it.
    pub fn without_stars(&self, text: &str, quote: &dyn Fn(&str) -> String) -> Option<String> {
        let mut edits = Vec::new();
        for star in &self.stars {
            let end = star_end(text, star.place)?;
            let names: Vec<String> = star
                .columns
                .iter()
                .map(|(table, column)| match table {
                    Some(table) => format!("{}.{}", quote(table), quote(column)),
                    None => quote(column),
                })
                .collect();
            edits.push((star.place..end, names.join(", ")));
        }
        Some(edited(text, edits))
    }

    /// The text with the schemas of what it names; `None` when it names something in a way that cannot be changed.
    pub fn with_schemas(&self, text: &str, quote: &dyn Fn(&str) -> String) -> Option<String> {
        let mut edits = self.schema_edits(text, quote)?;
        let relations = self.relations.iter().filter_map(|named| Some((named.place?, &named.relation.namespace)));
        for (place, namespace) in relations.filter(|(_, namespace)| *namespace != "pg_catalog") {
            edits.extend(schema_edit(text, place, namespace, quote)?);
        }
        Some(edited(text, edits))
    }

    /// The same without the relations of FROM: where these are found by what is noted of them.
    pub fn with_schemas_of_objects(&self, text: &str, quote: &dyn Fn(&str) -> String) -> Option<String> {
        Some(edited(text, self.schema_edits(text, quote)?))
    }

    fn schema_edits(&self, text: &str, quote: &dyn Fn(&str) -> String) -> Option<Vec<(Range<usize>, String)>> {
        let mut edits = Vec::new();
        for (place, namespace) in &self.names {
            edits.extend(schema_edit(text, *place, namespace, quote)?);
        }
        for (place, namespace) in &self.operators {
            edits.extend(operator_edit(text, *place, namespace, quote)?);
        }
        for (place, name) in &self.literals {
            edits.push((*place..literal_end(text, *place)?, format!("'{}'", name.replace('\'', "''"))));
        }
        // What is bound more than once is named once.
        edits.sort_by_key(|(span, _): &(Range<usize>, String)| span.start);
        edits.dedup();
        Some(edits)
    }

    /// The text of an expression over one table after that table has got another name: its columns may be said with it.
    pub fn with_own_table_renamed(&self, text: &str, to: &str, quote: &dyn Fn(&str) -> String) -> String {
        let mut edits = Vec::new();
        for column in self.columns.iter().filter(|column| column.id == crate::ir::Text::TABLE) {
            let Some(place) = column.place else { continue };
            if let [.., table, _] = names_at(text, place).as_slice()
                && !edits.iter().any(|(known, _)| known == table)
            {
                edits.push((table.clone(), quote(to)));
            }
        }
        edited(text, edits)
    }

    /// The text after a relation has got another name; it goes on under its old one as an alias, so that what is said
    /// of its columns stays true. `None` when the text names it in a way that cannot be changed.
    pub fn with_relation_renamed(
        &self,
        text: &str,
        oid: u32,
        to: &str,
        quote: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let mut edits = Vec::new();
        let of_table = |named: &&NamedRelation| named.id == crate::ir::Text::TABLE;
        for named in self.relations.iter().filter(|named| named.relation.oid == oid && !of_table(named)) {
            let names = names_at(text, named.place?);
            let last = names.last()?;
            // A synonym's name stays what it is.
            if !plain(&text[last.clone()]).eq_ignore_ascii_case(&named.relation.name) {
                continue;
            }
            let alias = if named.aliased { String::new() } else { format!(" AS {}", &text[last.clone()]) };
            edits.push((last.clone(), format!("{}{alias}", quote(to))));
        }
        Some(edited(text, edits))
    }

    /// The text after a column has got another name. `None` when the text names it in a way that cannot be changed.
    pub fn with_column_renamed(
        &self,
        text: &str,
        oid: u32,
        position: usize,
        to: &str,
        quote: &dyn Fn(&str) -> String,
    ) -> Option<String> {
        let mut edits: Vec<(Range<usize>, String)> = Vec::new();
        for column in self.columns.iter().filter(|column| column.position == position) {
            let Some(named) = self.relation(column.id).filter(|named| named.relation.oid == oid) else { continue };
            let name = &named.relation.columns.get(position)?.name;
            let place = column.place?;
            if self.stars.iter().any(|star| star.place == place) {
                continue;
            }
            let found = names_at(text, place);
            let span = found.iter().rev().find(|span| plain(&text[(*span).clone()]).eq_ignore_ascii_case(name))?;
            if !edits.iter().any(|(known, _)| known == span) {
                edits.push((span.clone(), quote(to)));
            }
        }
        Some(edited(text, edits))
    }
}

/// What puts a schema before the name at a place, unless one stands there; `None` where no name begins.
fn schema_edit(
    text: &str,
    place: usize,
    namespace: &str,
    quote: &dyn Fn(&str) -> String,
) -> Option<Option<(Range<usize>, String)>> {
    let mut names = names_at(text, place);
    // The place of a collation is that of the word before its name.
    if let [word] = names.as_slice()
        && text[word.clone()].eq_ignore_ascii_case("collate")
    {
        names = names_at(text, skip_blanks(text, word.end));
    }
    let first = names.first()?.clone();
    let qualified = || format!("{}.{}", quote(namespace), &text[first.clone()]);
    Some((names.len() == 1).then(|| (first.clone(), qualified())))
}

/// What puts the operator at a place into its schema, unless it stands there; `None` where no operator begins.
fn operator_edit(
    text: &str,
    place: usize,
    namespace: &str,
    quote: &dyn Fn(&str) -> String,
) -> Option<Option<(Range<usize>, String)>> {
    let rest = text.get(place..)?;
    if rest.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("operator")) {
        return Some(None);
    }
    let signs = |c: char| "+-*/<>=~!@#%^&|`?".contains(c);
    let length = rest.find(|c| !signs(c)).unwrap_or(rest.len());
    let sign = &rest[..length];
    (length > 0).then(|| Some((place..place + length, format!("OPERATOR({}.{sign})", quote(namespace)))))
}

/// Where the plain literal that begins at a place ends.
fn literal_end(text: &str, at: usize) -> Option<usize> {
    let inside = text.get(at..)?.strip_prefix('\'')?;
    let mut chars = inside.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        if c == '\'' && chars.next_if(|(_, next)| *next == '\'').is_none() {
            return Some(at + 1 + index + 1);
        }
    }
    None
}

/// A text with some spans replaced.
fn edited(text: &str, mut edits: Vec<(Range<usize>, String)>) -> String {
    edits.sort_by_key(|(span, _)| span.start);
    let mut result = String::with_capacity(text.len());
    let mut at = 0;
    for (span, new) in edits {
        if span.start >= at {
            result.push_str(&text[at..span.start]);
            result.push_str(&new);
            at = span.end;
        }
    }
    result.push_str(&text[at..]);
    result
}

/// A name without its quotes.
fn plain(name: &str) -> String {
    match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

/// The end of the name that begins at a place, if one does.
fn name_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    if let Some(quoted) = rest.strip_prefix('"') {
        let mut chars = quoted.char_indices().peekable();
        while let Some((index, c)) = chars.next() {
            if c == '"' && chars.next_if(|(_, next)| *next == '"').is_none() {
                return Some(at + 1 + index + 1);
            }
        }
        return None;
    }
    let starts = |c: char| c.is_alphabetic() || c == '_';
    if !rest.starts_with(starts) {
        return None;
    }
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
    Some(at + length)
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + (rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len())
}

/// The end of a separator of names (`.`, Informix's `:` and `@`), if one stands there.
fn separator_end(text: &str, at: usize) -> Option<usize> {
    let at = skip_blanks(text, at);
    let rest = text.get(at..)?;
    let separates = rest.starts_with(['.', '@']) || (rest.starts_with(':') && !rest.starts_with("::"));
    separates.then(|| skip_blanks(text, at + 1))
}

/// The spans of the names of a qualified name.
fn names_at(text: &str, mut at: usize) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    while let Some(end) = name_end(text, at) {
        names.push(at..end);
        match separator_end(text, end) {
            Some(next) => at = next,
            None => break,
        }
    }
    names
}

/// Where the `*` or `t.*` at a place ends.
fn star_end(text: &str, mut at: usize) -> Option<usize> {
    loop {
        if text.get(at..)?.starts_with('*') {
            return Some(at + 1);
        }
        at = separator_end(text, name_end(text, at)?)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_with_quotes_and_qualifiers() {
        let spans = |text: &'static str| names_at(text, 0).into_iter().map(|span| &text[span]).collect::<Vec<_>>();
        assert_eq!(spans("a.b, c"), ["a", "b"]);
        assert_eq!(spans("\"A \"\"x\"\"\".\"B\" = 1"), ["\"A \"\"x\"\"\"", "\"B\""]);
        assert_eq!(spans("stores:informix.t x"), ["stores", "informix", "t"]);
        assert_eq!(spans("x::int"), ["x"]);
        assert_eq!(spans("'text'"), [""; 0]);
        assert_eq!(plain("\"A \"\"x\"\"\""), "A \"x\"");
    }

    #[test]
    fn stars_end_where_they_end() {
        assert_eq!(star_end("* from t", 0), Some(1));
        assert_eq!(star_end("a.\"B\".* from t", 0), Some(7));
        assert_eq!(star_end("a + 1", 0), None);
    }

    #[test]
    fn objects_get_their_schemas_once() {
        let quote = |name: &str| name.to_owned();
        let names = vec![(7, "a".into()), (7, "a".into())];
        let uses = Uses { names, literals: vec![(12, "c.d".into())], ..Uses::default() };
        assert_eq!(uses.with_schemas_of_objects("SELECT f(x, 'd')", &quote).as_deref(), Some("SELECT a.f(x, 'c.d')"));
        assert_eq!(uses.with_schemas_of_objects("SELECT q.f(x, d)", &quote), None);
        assert_eq!(literal_end("'it''s' x", 0), Some(7));
        assert_eq!(literal_end("E'x'", 0), None);
        assert_eq!(literal_end("'open", 0), None);
    }

    #[test]
    fn edits_are_made_from_front_to_back() {
        assert_eq!(edited("select a, b", vec![(10..11, "y".into()), (7..8, "x".into())]), "select x, y");
    }
}
