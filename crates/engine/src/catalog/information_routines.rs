//! `information_schema.routines` and `parameters`.

use rowferry_dialect::Schema as _;
use rowferry_dialect::access::{ObjectClass, Privileges, Rights};
use rowferry_facts as facts;

use super::information_schema::yes;
use super::information_types::Names;
use super::{Cell, Context, NULL, Row, Table, names, pg_proc, row};

pub(super) const TABLES: &[Table] =
    &[Table::information_schema("parameters", parameters), Table::information_schema("routines", routines)];

/// A name that no other routine has.
pub(super) fn specific(name: &str, oid: u32) -> String {
    let number = format!("_{oid}");
    let mut end = name.len().min(63 - number.len());
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{number}", &name[..end])
}

/// A routine, as `pg_proc` has it.
pub(super) struct Routine {
    row: Row,
    /// Its object id.
    pub oid: u32,
    /// Its name.
    pub name: String,
    /// Its schema's.
    pub schema: String,
}

impl Routine {
    fn of(context: &Context<'_>, row: Row) -> Option<Self> {
        let (Cell::Integer(oid), Cell::Integer(namespace)) = (&row[0], &row[2]) else { return None };
        let schema = names::namespace_name(context.schema, u32::try_from(*namespace).ok()?)?;
        Some(Self { oid: u32::try_from(*oid).ok()?, name: text(&row[1])?.to_owned(), schema, row })
    }

    /// A name that no other routine has.
    pub fn specific(&self) -> String {
        specific(&self.name, self.oid)
    }

    /// Called by CALL.
    pub fn is_procedure(&self) -> bool {
        self.kind() == "p"
    }

    /// The object id of the type that it returns.
    pub fn result(&self) -> u32 {
        self.number(18)
    }

    /// The object ids of the types of its parameters, those that it gives back among them.
    pub fn parameters(&self) -> Vec<u32> {
        let every = self.numbers(20);
        if every.is_empty() { self.numbers(19) } else { every }
    }

    fn kind(&self) -> &str {
        text(&self.row[9]).unwrap_or_default()
    }

    fn is(&self, column: usize) -> bool {
        matches!(self.row[column], Cell::Integer(1))
    }

    fn number(&self, column: usize) -> u32 {
        match self.row[column] {
            Cell::Integer(number) => u32::try_from(number).unwrap_or_default(),
            _ => 0,
        }
    }

    /// The members of an array of the row; none where it has no array.
    fn members(&self, column: usize) -> Vec<serde_json::Value> {
        text(&self.row[column]).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    fn words(&self, column: usize) -> Vec<String> {
        self.members(column).iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
    }

    fn numbers(&self, column: usize) -> Vec<u32> {
        self.members(column).iter().filter_map(|number| u32::try_from(number.as_u64()?).ok()).collect()
    }

    fn language(&self) -> &'static str {
        let oid = self.number(4);
        if oid == pg_proc::PLPGSQL {
            return "plpgsql";
        }
        facts::Language::all().iter().find(|language| language.oid == oid).map_or("", |language| language.name)
    }

    /// What stands for a parameter that is not given, by its place among those that can be.
    fn default(&self, context: &Context<'_>, input: usize) -> Option<String> {
        if let Some(stored) = context.schema.function_by_oid(self.oid) {
            return stored.definition.inputs().nth(input)?.default.clone();
        }
        let required = self.number(16).checked_sub(self.number(17))? as usize;
        let at = input.checked_sub(required)?;
        text(&self.row[23])?.split(", ").nth(at).map(str::to_owned)
    }
}

fn text(cell: &Cell) -> Option<&str> {
    match cell {
        Cell::Text(text) => Some(text),
        Cell::Word(word) => Some(word),
        _ => None,
    }
}

/// Every routine that the reader may know of.
pub(super) fn all(context: &Context<'_>, rights: &Rights) -> Vec<Routine> {
    let rows = super::fixed::functions().into_iter().chain(pg_proc::procedures(context));
    let routines = rows.filter_map(|row| Routine::of(context, row));
    let may = |routine: &Routine| {
        rights.may(ObjectClass::Routine, routine.oid, Privileges::EXECUTE) || rights.owns(routine.oid)
    };
    routines.filter(may).collect()
}

fn routines(context: &Context<'_>) -> Vec<Row> {
    let rights = context.schema.rights();
    all(context, &rights).iter().map(|routine| shown(context, &rights, routine)).collect()
}

fn shown(context: &Context<'_>, rights: &Rights, routine: &Routine) -> Row {
    let catalog = &context.database.name;
    let (kind, language) = (routine.kind(), routine.language());
    let procedure = routine.is_procedure();
    let result = Names::of_oid(context.schema, routine.result()).filter(|_| !procedure);
    let source = text(&routine.row[25]);
    let mut row = row![
        catalog,
        &routine.schema,
        routine.specific(),
        catalog,
        &routine.schema,
        &routine.name,
        match kind {
            "f" => Some("FUNCTION"),
            "p" => Some("PROCEDURE"),
            _ => None,
        },
    ];
    row.extend(std::iter::repeat_n(NULL, 6));
    row.push(result.as_ref().map(|names| names.words.as_str()).into());
    row.extend(std::iter::repeat_n(NULL, 14));
    match &result {
        Some(names) => row.extend(row![catalog, &names.schema, &names.name]),
        None => row.extend([NULL, NULL, NULL]),
    }
    row.extend(std::iter::repeat_n(NULL, 4));
    row.extend(row![
        (!procedure).then_some("0"),
        if language == "sql" { "SQL" } else { "EXTERNAL" },
        source.filter(|_| rights.owns(routine.oid)),
        source.filter(|_| language == "c"),
        language.to_uppercase(),
        "GENERAL",
        yes(text(&routine.row[14]) == Some("i")),
        "MODIFIES",
        (!procedure).then(|| yes(routine.is(12))),
        NULL,
        "YES",
        0,
        NULL,
        NULL,
        if routine.is(10) { "DEFINER" } else { "INVOKER" },
        NULL,
        NULL,
        NULL,
        "NO",
        NULL,
        NULL,
        NULL,
        "NO",
    ]);
    row.extend(std::iter::repeat_n(NULL, 24));
    row
}

fn parameters(context: &Context<'_>) -> Vec<Row> {
    let catalog = &context.database.name;
    let rights = context.schema.rights();
    let mut rows = Vec::new();
    for routine in all(context, &rights) {
        let (modes, given) = (routine.words(21), routine.words(22));
        let mut inputs = 0;
        for (at, ty) in routine.parameters().into_iter().enumerate() {
            let Some(ty) = Names::of_oid(context.schema, ty) else { continue };
            let (mode, is_input) = match modes.get(at).map(String::as_str) {
                Some("o") => ("OUT", false),
                Some("b") => ("INOUT", true),
                Some("t") => ("OUT", false),
                _ => ("IN", true),
            };
            let default = is_input.then(|| routine.default(context, inputs)).flatten();
            inputs += usize::from(is_input);
            let name = given.get(at).filter(|name| !name.is_empty());
            let mut row = row![catalog, &routine.schema, routine.specific(), at + 1, mode, "NO", "NO", name, ty.words,];
            row.extend(std::iter::repeat_n(NULL, 14));
            row.extend(row![catalog, ty.schema, ty.name, NULL, NULL, NULL, NULL, (at + 1).to_string()]);
            row.push(default.filter(|_| rights.owns(routine.oid)).into());
            rows.push(row);
        }
    }
    rows
}
