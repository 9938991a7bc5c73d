//! What a stored query is made of: the relations and columns that its own text names, and where.
//!
//! What stands behind a view that the query names is that view's affair and not listed. From this list come the
//! dependencies that the engine keeps, and the changes of a text when something that it names gets another name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::Type;
use crate::composite::relation_of_row_type;
use crate::ir::{RelId, Value};
use crate::schema::Relation;
use crate::values::{self, Settings};

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
    /// Tables of which columns follow from the primary key, since that is what rows are grouped by; by object id.
    pub keys: BTreeSet<u32>,
    /// Functions, types and collations of users and of extensions.
    pub names: Vec<NamedObject>,
    /// Operators of users.
    pub operators: Vec<NamedObject>,
    /// What literals name (`'numbers'::regclass`).
    pub literals: Vec<NamedInLiteral>,
    /// Constants of enum types, and of arrays of such.
    pub labels: Vec<NamedLabels>,
    /// Fields of values of types with a name.
    pub fields: Vec<NamedField>,
    /// Members of FROM that are functions which return rows of a type with a name: the type's object id, and its fields.
    pub row_functions: Vec<(RelId, u32, Vec<String>)>,
}

/// A field of a row, asked of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedField {
    /// Where the value begins, in bytes from the beginning of the text.
    pub place: usize,
    /// The row's type, by its object id.
    pub ty: u32,
    /// The field's name.
    pub name: String,
}

/// A constant that names labels of an enum type.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLabels {
    /// Where the literal begins, in bytes from the beginning of the text.
    pub place: usize,
    /// The type of the constant.
    pub ty: Type,
    /// What stands in the quotes.
    pub text: String,
}

impl NamedLabels {
    /// The literal when a label of an enum type is called otherwise; `None` where it does not name the label.
    fn renamed(&self, oid: u32, from: &str, to: &str) -> Option<String> {
        let of_enum = |ty: &Type| matches!(ty, Type::User(user) if user.oid == oid);
        let text = match &self.ty {
            Type::Array(element) if of_enum(element) => {
                // The new label is none yet.
                let texts = Type::Array(Box::new(Type::Text));
                let stored = values::input(&self.text, &texts, &Settings::default()).ok()?;
                let Value::Text(stored) = stored else { return None };
                let mut array = values::array::Array::read(stored.as_bytes()).ok()?;
                array.rename(from, to);
                let renamed = Value::Text(array.stored().ok()?);
                values::output(&renamed, &texts, &Settings::default()).ok().filter(|text| *text != self.text)?
            }
            ty if of_enum(ty) && self.text == from => to.to_owned(),
            _ => return None,
        };
        Some(format!("'{}'", text.replace('\'', "''")))
    }
}

/// Something of a schema that a text names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedObject {
    /// Where its name begins, in bytes from the beginning of the text.
    pub place: usize,
    /// Its object id; of what an extension has brought that of the extension. 0 where it has none.
    pub oid: u32,
    /// The schema that it is in.
    pub namespace: String,
}

/// A relation or sequence that a literal names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NamedInLiteral {
    /// Where the literal begins, in bytes from the beginning of the text.
    pub place: usize,
    /// Its object id.
    pub oid: u32,
    /// The schema that it is in.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The literal says the schema.
    pub qualified: bool,
}

impl NamedInLiteral {
    /// As a literal with the schema.
    fn literal(&self, to: &NewName, quote: &dyn Fn(&str) -> String) -> String {
        let name = to.name.as_deref().unwrap_or(&self.name);
        let name = format!("{}.{}", quote(&to.namespace), quote(name));
        format!("'{}'", name.replace('\'', "''"))
    }
}

/// How something is called from now on.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct NewName {
    /// The schema that it is in.
    pub namespace: String,
    /// Its name; `None` when it is what it was.
    pub name: Option<String>,
}

/// A change of a text: what stands in a span now.
pub type Edit = (Range<usize>, String);

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
    /// The whole row is named, and the column as one of it.
    pub whole: bool,
}

/// A `*` or `t.*`.
#[derive(Debug)]
pub struct Star {
    /// Where it begins.
    pub place: usize,
    /// The columns that it covers, with their qualifiers.
    pub columns: Vec<(Option<String>, String)>,
}

/// Something that another object needs: a relation, routine or sequence as a whole, or one column, or [`PRIMARY_KEY`].
pub type Dependency = (u32, Option<String>);

/// Stands for a table's primary key where a dependency names a column: longer than any name is.
pub const PRIMARY_KEY: &str = "(the primary key, be it one column or several and whatever it is called)";

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
            .chain(self.keys.iter().map(|oid| (*oid, Some(PRIMARY_KEY.to_owned()))))
            .collect();
        // Whoever names the whole row needs none of its columns.
        for column in self.columns.iter().filter(|column| !column.whole) {
            if let Some(named) = self.relation(column.id)
                && let Some(found) = named.relation.columns.get(column.position)
            {
                all.insert((named.relation.oid, Some(found.name.clone())));
            }
        }
        for (id, ty, fields) in &self.row_functions {
            let Some((table, _)) = relation_of_row_type(*ty) else { continue };
            let named = self.columns.iter().filter(|column| column.id == *id && !column.whole);
            all.extend(named.filter_map(|column| Some((table, Some(fields.get(column.position)?.clone())))));
        }
        // A field that is asked of a row of a table is its column.
        for field in &self.fields {
            if let Some((table, _)) = relation_of_row_type(field.ty) {
                all.insert((table, Some(field.name.clone())));
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

    fn schema_edits(&self, text: &str, quote: &dyn Fn(&str) -> String) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        for named in &self.names {
            edits.extend(schema_edit(text, named.place, &named.namespace, quote)?);
        }
        for named in &self.operators {
            edits.extend(operator_edit(text, named.place, &named.namespace, quote)?);
        }
        for named in self.literals.iter().filter(|named| !named.qualified) {
            let same = NewName { namespace: named.namespace.clone(), name: None };
            edits.push((named.place..literal_end(text, named.place)?, named.literal(&same, quote)));
        }
        Some(in_order(edits))
    }

    /// What changes in a text when objects get other names; relations of FROM are left out where what is noted of them
    /// finds them. `None` when the text names one in a way that cannot be changed.
    pub fn renaming(
        &self,
        text: &str,
        to: &BTreeMap<u32, NewName>,
        pinned: bool,
        quote: &dyn Fn(&str) -> String,
    ) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        let objects = self.names.iter().map(|named| (named, false));
        for (named, is_operator) in objects.chain(self.operators.iter().map(|named| (named, true))) {
            let Some(new) = to.get(&named.oid) else { continue };
            edits.push(match is_operator {
                true => renamed_operator(text, named.place, new, quote)?,
                false => renamed_object(text, named.place, new, quote)?,
            });
        }
        for named in &self.literals {
            if let Some(new) = to.get(&named.oid) {
                edits.push((named.place..literal_end(text, named.place)?, named.literal(new, quote)));
            }
        }
        let of_table = |named: &NamedRelation| named.id == crate::ir::Text::TABLE || named.place.is_none();
        for named in self.relations.iter().filter(|named| !pinned && !of_table(named)) {
            let Some(new) = to.get(&named.relation.oid) else { continue };
            let (span, mut name) = renamed_object(text, named.place?, new, quote)?;
            if new.name.is_some() && !named.aliased {
                name = format!("{name} AS {}", quote(&named.relation.name));
            }
            edits.push((span, name));
        }
        Some(in_order(edits))
    }

    /// What changes in a text when a label of an enum type gets another name. `None` when the text names it in a way that
    /// cannot be changed.
    pub fn relabelling(&self, text: &str, oid: u32, from: &str, to: &str) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        for named in &self.labels {
            if let Some(new) = named.renamed(oid, from, to) {
                edits.push((named.place..literal_end(text, named.place)?, new));
            }
        }
        Some(in_order(edits))
    }

    /// What changes in a text when a field of a type gets another name. `None` when the text names it in a way that cannot be
    /// changed.
    pub fn renaming_field(
        &self,
        text: &str,
        (ty, from, to): (u32, &str, &str),
        quote: &dyn Fn(&str) -> String,
    ) -> Option<Vec<Edit>> {
        let mut edits = Vec::new();
        for named in self.fields.iter().filter(|named| named.ty == ty && named.name == from) {
            edits.push((field_name_at(text, named.place, from)?, quote(to)));
        }
        Some(in_order(edits))
    }

    /// A field of a type is named in a text, of a value or as a column of a function.
    pub fn names_field(&self, text: &str, ty: u32, name: &str) -> bool {
        self.fields.iter().any(|named| named.ty == ty && named.name == name)
            || self.names_field_as_column(text, ty, name)
    }

    /// A field of a type is named in a text as a column of a function.
    pub fn names_field_as_column(&self, text: &str, ty: u32, name: &str) -> bool {
        // Whoever names the function's row names none of its columns.
        let differs = |place: usize| {
            names_at(text, place).last().is_none_or(|last| !plain(&text[last.clone()]).eq_ignore_ascii_case(name))
        };
        let of_function = |column: &NamedColumn| {
            let asks = |(id, of, fields): &(RelId, u32, Vec<String>)| {
                *id == column.id && *of == ty && fields.get(column.position).is_some_and(|own| own == name)
            };
            self.row_functions.iter().any(asks) && !column.place.is_some_and(differs)
        };
        self.columns.iter().any(of_function)
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
        let mut edits: Vec<Edit> = Vec::new();
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

/// Changes in the order of their places. What is bound more than once is named once.
fn in_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|(span, _)| span.start);
    edits.dedup();
    edits
}

/// The names at a place; of a collation the place is that of the word before its name.
fn object_names_at(text: &str, place: usize) -> Vec<Range<usize>> {
    let names = names_at(text, place);
    match names.as_slice() {
        [word] if text[word.clone()].eq_ignore_ascii_case("collate") => names_at(text, skip_blanks(text, word.end)),
        _ => names,
    }
}

/// What gives the object that is named at a place its new name.
fn renamed_object(text: &str, place: usize, new: &NewName, quote: &dyn Fn(&str) -> String) -> Option<Edit> {
    let names = object_names_at(text, place);
    let (first, last) = (names.first()?, names.last()?);
    let name = new.name.as_deref().map_or_else(|| text[last.clone()].to_owned(), quote);
    Some((first.start..last.end, format!("{}.{name}", quote(&new.namespace))))
}

/// What gives the operator at a place its new schema.
fn renamed_operator(text: &str, place: usize, new: &NewName, quote: &dyn Fn(&str) -> String) -> Option<Edit> {
    let rest = text.get(place..)?;
    let length = sign_length(rest);
    if length > 0 {
        return Some((place..place + length, format!("OPERATOR({}.{})", quote(&new.namespace), &rest[..length])));
    }
    let open = place + rest.find('(')?;
    let names = names_at(text, skip_blanks(text, open + 1));
    let sign = text.get(names.last()?.end..)?.strip_prefix('.')?;
    let sign = &sign[..sign_length(sign)];
    let end = names.last()?.end + 1 + sign.len();
    Some((names.first()?.start..end, format!("{}.{sign}", quote(&new.namespace))))
}

/// How many bytes of a text are signs of an operator.
fn sign_length(text: &str) -> usize {
    let signs = |c: char| "+-*/<>=~!@#%^&|`?".contains(c);
    text.find(|c| !signs(c)).unwrap_or(text.len())
}

/// What puts a schema before the name at a place, unless one stands there; `None` where no name begins.
fn schema_edit(text: &str, place: usize, namespace: &str, quote: &dyn Fn(&str) -> String) -> Option<Option<Edit>> {
    let names = object_names_at(text, place);
    let first = names.first()?.clone();
    let qualified = || format!("{}.{}", quote(namespace), &text[first.clone()]);
    Some((names.len() == 1).then(|| (first.clone(), qualified())))
}

/// What puts the operator at a place into its schema, unless it stands there; `None` where no operator begins.
fn operator_edit(text: &str, place: usize, namespace: &str, quote: &dyn Fn(&str) -> String) -> Option<Option<Edit>> {
    let rest = text.get(place..)?;
    if rest.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("operator")) {
        return Some(None);
    }
    let length = sign_length(rest);
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
pub fn edited(text: &str, mut edits: Vec<Edit>) -> String {
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

/// Where the name of a field stands that is asked of the value which begins at a place: behind a point behind the brackets or
/// parentheses that the value ends with.
fn field_name_at(text: &str, mut at: usize, field: &str) -> Option<Range<usize>> {
    let called = |name: &str| match name.starts_with('"') {
        true => plain(name) == field,
        false => name.to_lowercase() == field,
    };
    let (mut depth, mut behind_value) = (0_i32, false);
    while let Some(next) = text.get(at..)?.chars().next() {
        match next {
            '\'' => at = literal_end(text, at)?,
            '(' | '[' => (depth, at) = (depth + 1, at + 1),
            ')' | ']' => {
                (depth, at) = (depth - 1, at + 1);
                behind_value = depth <= 0;
                continue;
            }
            '.' if behind_value => {
                let begin = skip_blanks(text, at + 1);
                let end = name_end(text, begin)?;
                if called(&text[begin..end]) {
                    return Some(begin..end);
                }
                at = end;
                continue;
            }
            ' ' | '\t' | '\n' | '\r' => {
                at += 1;
                continue;
            }
            '$' => return None,
            _ => at = name_end(text, at).unwrap_or(at + next.len_utf8()),
        }
        behind_value = false;
    }
    None
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
    fn fields_stand_behind_the_values_that_have_them() {
        let found = |text: &'static str, at: usize, field: &str| field_name_at(text, at, field).map(|span| &text[span]);
        assert_eq!(found("(r).p + (s).q", 1, "p"), Some("p"));
        assert_eq!(found("(r).p + (s).q", 9, "q"), Some("q"));
        assert_eq!(found("((r).a).\"B\"", 2, "B"), Some("\"B\""));
        assert_eq!(found("(f(1, (x).q)).Q > 0", 1, "q"), Some("Q"));
        assert_eq!(found("(x[1]) . a", 1, "a"), Some("a"));
        assert_eq!(found("(r).a.b", 1, "b"), Some("b"));
        assert_eq!(found("(r || ').q').b", 1, "q"), None);
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
        let names = vec![object(7, 1, "a"), object(7, 1, "a")];
        let uses = Uses { names, literals: vec![literal(12, 2, "d", false)], ..Uses::default() };
        assert_eq!(uses.with_schemas_of_objects("SELECT f(x, 'd')", &quote).as_deref(), Some("SELECT a.f(x, 'c.d')"));
        assert_eq!(uses.with_schemas_of_objects("SELECT q.f(x, d)", &quote), None);
        assert_eq!(literal_end("'it''s' x", 0), Some(7));
        assert_eq!(literal_end("E'x'", 0), None);
        assert_eq!(literal_end("'open", 0), None);
    }

    fn object(place: usize, oid: u32, namespace: &str) -> NamedObject {
        NamedObject { place, oid, namespace: namespace.to_owned() }
    }

    fn literal(place: usize, oid: u32, name: &str, qualified: bool) -> NamedInLiteral {
        NamedInLiteral { place, oid, namespace: "c".to_owned(), name: name.to_owned(), qualified }
    }

    #[test]
    fn objects_get_their_new_names() {
        let text = "SELECT s.f(x COLLATE s.co, 's.q') OPERATOR(s.##) y ## z";
        let names = vec![object(7, 1, "s"), object(13, 2, "s")];
        let operators = vec![object(34, 3, "s"), object(51, 3, "s")];
        let uses = Uses { names, operators, literals: vec![literal(27, 4, "q", true)], ..Uses::default() };
        let quote = |name: &str| name.to_owned();
        let named = |to: &[(u32, &str, Option<&str>)]| {
            let new = |namespace: &str, name: Option<&str>| NewName {
                namespace: namespace.to_owned(),
                name: name.map(str::to_owned),
            };
            let to = to.iter().map(|(oid, namespace, name)| (*oid, new(namespace, *name))).collect();
            edited(text, uses.renaming(text, &to, true, &quote).expect("can be changed"))
        };
        assert_eq!(named(&[(9, "n", None)]), text);
        assert_eq!(named(&[(1, "n", Some("g"))]), "SELECT n.g(x COLLATE s.co, 's.q') OPERATOR(s.##) y ## z");
        assert_eq!(
            named(&[(2, "n", None), (3, "n", None), (4, "n", Some("r"))]),
            "SELECT s.f(x COLLATE n.co, 'n.r') OPERATOR(n.##) y OPERATOR(n.##) z"
        );
    }

    #[test]
    fn edits_are_made_from_front_to_back() {
        assert_eq!(edited("select a, b", vec![(10..11, "y".into()), (7..8, "x".into())]), "select x, y");
    }
}
