//! Reads one table or view.

use std::sync::Arc;

use rowferry_dialect::collation::Collation;
use rowferry_dialect::exclusion::{self, Exclusion};
use rowferry_dialect::foreign_key;
use rowferry_dialect::lower::sqlite::create_table::{ConstraintText, IndexText, Kind, TableText};
use rowferry_dialect::lower::sqlite::{ddl, quote, types};
use rowferry_dialect::mysql::FULLTEXT;
use rowferry_dialect::schema::{
    Check, Column, ColumnDefault, DroppedColumn, ForeignKey, Generated, Identity, Index, IndexKey, KeyPart, KeyRules,
    Physical, QualifiedName, ReferentialAction, Relation, RelationKind,
};
use rowferry_dialect::{Language, Type};
use rusqlite::Result;

use super::load::{Entry, count_row, pragma};
use super::metadata::derived_oid;
use super::objects::Source;
use super::stored::{ColumnRow, Object};
use crate::schema::{Details, PG_TEMP, PUBLIC, Snapshot};

/// The property of a constraint that nobody has checked against the rows that were there before it.
pub(crate) const NOT_VALID: &str = "constraint_not_valid";
/// The property of an index that stands for a deferrable UNIQUE: `immediate` or `deferred` says when it is asked at first.
pub const DEFERRABLE: &str = "index_deferrable";
/// The property of an index that stands for a deferrable primary key, beside [`DEFERRABLE`].
pub const PRIMARY: &str = "index_primary";
/// The property of an index in which NULLs are alike: `constraint` where it stands for a UNIQUE of the table.
pub const NULLS_ALIKE: &str = "index_nulls_alike";
/// The property of an index that stands for a UNIQUE of the same columns as another key: the back end keeps one of both.
pub const TWIN: &str = "index_twin";
/// The property of an index that says its access method, where that is not a B-tree.
pub const INDEX_METHOD: &str = "index_method";
/// The property of a check that children do not get.
pub(crate) const NO_INHERIT: &str = "constraint_no_inherit";

/// What the metadata tables call the table of a materialised view, whose query is its definition.
pub(crate) const MATERIALIZED_VIEW: &str = "materialized view";
/// The property of a materialised view that has no rows because nobody has refreshed it.
pub(crate) const UNPOPULATED: &str = "unpopulated";

/// One object on its way into the snapshot.
pub(super) struct Loader<'a> {
    pub(super) source: Source<'a>,
    /// What has been read before it.
    pub(super) known: &'a Snapshot,
    /// The rows of `sqlite_schema` that belong to it.
    pub(super) entries: &'a [Entry],
    /// Its own.
    pub(super) entry: &'a Entry,
}

/// A row of `PRAGMA table_xinfo`.
struct ColumnInfo {
    name: String,
    declared: String,
    not_null: bool,
    default: Option<String>,
    key: usize,
    hidden: i64,
}

impl Loader<'_> {
    /// Who the object is: oid, namespace, name, language, whether it has an entry.
    fn identity(&self, kind: &str) -> (u32, String, String, Language, Option<&Object>) {
        match self.source.metadata.object(kind, &self.entry.name) {
            Some((oid, object)) => (oid, object.namespace.clone(), object.name.clone(), object.language, Some(object)),
            None => {
                let oid = derived_oid("relation", self.source.database, &[&self.entry.name.to_lowercase()]);
                (oid, self.namespace().to_owned(), self.entry.name.clone(), Language::Native, None)
            }
        }
    }

    fn namespace(&self) -> &'static str {
        if self.source.database == "temp" { PG_TEMP } else { PUBLIC }
    }

    fn column_infos(&self) -> Result<Vec<ColumnInfo>> {
        let mut statement = pragma(self.source.connection, self.source.database, "table_xinfo", &self.entry.name)?;
        let mut rows = statement.query([])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let hidden = row.get(6)?;
            let name: String = row.get(1)?;
            // A hidden column of a virtual table, or that of a table without columns.
            if hidden == 1 || name == ddl::NO_COLUMN {
                continue;
            }
            count_row();
            found.push(ColumnInfo {
                name,
                declared: row.get::<_, Option<String>>(2)?.unwrap_or_default(),
                not_null: row.get(3)?,
                default: row.get(4)?,
                key: row.get::<_, i64>(5)? as usize,
                hidden,
            });
        }
        Ok(found)
    }

    pub(super) fn table(&self) -> Result<(Relation, Details)> {
        let query = self.source.metadata.object(MATERIALIZED_VIEW, &self.entry.name);
        let query = query.and_then(|(oid, object)| Some((oid, object.definition.clone()?)));
        let (oid, namespace, name, language, object) =
            self.identity(if query.is_some() { MATERIALIZED_VIEW } else { "table" });
        let kind = query.map_or(RelationKind::Table, |(oid, definition)| RelationKind::MaterializedView {
            definition,
            pins: self.source.metadata.pins(oid),
            populated: !self.source.metadata.properties(oid).has("", UNPOPULATED),
        });
        let text = self.entry.sql.as_deref().and_then(TableText::parse);
        let infos = self.column_infos()?;
        let without_identity = match &text {
            Some(text) => text.is_without_rowid(),
            None => self.source.connection.query_row(
                "SELECT wr FROM pragma_table_list(?2) WHERE schema = ?1",
                [self.source.database, self.entry.name.as_str()],
                |row| row.get(0),
            )?,
        };
        let mut details = Details {
            comment: object.and_then(|object| object.comment.clone()),
            sql: self.entry.sql.clone(),
            recorded: object.is_some(),
            triggers: self.triggers(),
            properties: self.source.metadata.properties(oid),
            needs: object.and_then(|_| self.source.metadata.needs.get(&oid).cloned()),
            ..Details::default()
        };
        let mut indexes = self.indexes(oid, &name, language, &infos, text.as_ref(), &mut details)?;
        let key: Vec<usize> = {
            let mut key: Vec<(usize, usize)> = infos.iter().enumerate().map(|(at, info)| (info.key, at)).collect();
            key.retain(|(place, _)| *place > 0);
            key.sort_unstable();
            key.into_iter().map(|(_, at)| at).collect()
        };
        let row_identity =
            (key.len() == 1 && !without_identity && !indexes.iter().any(|index| index.primary)).then(|| key[0]);
        if !key.is_empty() && !indexes.iter().any(|index| index.primary) {
            let constraint = text.as_ref().and_then(|text| named(text, Kind::PrimaryKey, &[]));
            let name = constraint.unwrap_or_else(|| format!("{name}_pkey"));
            let keys = key.iter().map(|&at| IndexKey { text: infos[at].name.clone(), descending: false }).collect();
            let oid = derived_oid("index", self.source.database, &[&oid.to_string(), &name]);
            let columns = key.iter().copied().map(Some).collect();
            let primary = Index {
                oid,
                name,
                columns,
                keys,
                unique: true,
                primary: true,
                constraint: true,
                predicate: None,
                deferred: None,
                nulls_alike: false,
                twin: false,
                fulltext: false,
                exclusion: None,
            };
            indexes.insert(0, primary);
            details.index_names.insert(0, String::new());
        }
        let mut columns = Vec::with_capacity(infos.len());
        for (at, info) in infos.iter().enumerate() {
            let recorded = self.source.metadata.column(oid, &info.name);
            if let Some(comment) = recorded.and_then(|row| row.comment.clone()) {
                details.column_comments.insert(at, comment);
            }
            columns.push(column(info, recorded, language, text.as_ref(), row_identity == Some(at), without_identity));
        }
        add_collations(&mut columns, &details, &self.known.collations);
        let foreign_keys = self.foreign_keys(oid, &name, &namespace, &columns, text.as_ref(), &mut details)?;
        let checks = self.checks(oid, &name, text.as_ref(), &foreign_keys, &mut details);
        let relation = Relation {
            oid,
            namespace,
            name,
            physical: Physical { database: self.source.database, name: self.entry.name.clone() },
            language,
            kind,
            columns,
            dropped: details
                .properties
                .get("", DroppedColumn::PROPERTY)
                .map_or_else(Vec::new, DroppedColumn::of_property),
            indexes,
            foreign_keys,
            checks,
            without_identity,
            triggers: Vec::new(),
            heritage: details.properties.heritage(),
            partitioning: details.properties.partitioning(),
            security: None,
            rules: Vec::new(),
        };
        Ok((relation, details))
    }

    /// Columns of a view that have no type. SQLite shows them as BLOB, like those that are declared so.
    fn typeless_columns(&self, infos: &[ColumnInfo]) -> Result<Vec<usize>> {
        let shown: Vec<usize> = (0..infos.len()).filter(|at| infos[*at].declared == "BLOB").collect();
        if shown.is_empty() {
            return Ok(shown);
        }
        let sql = format!("SELECT * FROM {}.{}", quote(self.source.database), quote(&self.entry.name));
        let statement = self.source.connection.prepare(&sql)?;
        let declared: Vec<bool> = statement.columns().map(|column| column.decl_type().is_some()).collect();
        Ok(shown.into_iter().filter(|at| declared.get(*at) == Some(&false)).collect())
    }

    pub(super) fn view(&self) -> Result<(Relation, Details)> {
        let (oid, namespace, name, language, object) = self.identity("view");
        let mut details = Details {
            comment: object.and_then(|object| object.comment.clone()),
            sql: self.entry.sql.clone(),
            recorded: object.is_some(),
            native_view: true,
            triggers: self.triggers(),
            properties: self.source.metadata.properties(oid),
            needs: self.source.metadata.needs.get(&oid).cloned(),
            ..Details::default()
        };
        let definition = object.and_then(|object| object.definition.clone());
        let mut columns = match &definition {
            Some(_) => view_columns(self.source.metadata.columns(oid), language),
            None => {
                let mut infos = self.column_infos()?;
                for at in self.typeless_columns(&infos)? {
                    infos[at].declared.clear();
                }
                infos.iter().map(|info| column(info, None, Language::Native, None, false, false)).collect()
            }
        };
        add_collations(&mut columns, &details, &self.known.collations);
        for (at, row) in self.source.metadata.columns(oid).iter().enumerate() {
            if let Some(comment) = &row.comment {
                details.column_comments.insert(at, comment.clone());
            }
        }
        let kind = definition.map_or(RelationKind::NativeView, |definition| RelationKind::View {
            definition,
            options: self.source.metadata.view_options(oid),
            pins: self.source.metadata.pins(oid),
        });
        let relation = Relation {
            oid,
            namespace,
            name,
            physical: Physical { database: self.source.database, name: self.entry.name.clone() },
            language,
            kind,
            columns,
            dropped: Vec::new(),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            without_identity: false,
            triggers: Vec::new(),
            heritage: None,
            partitioning: None,
            security: None,
            rules: Vec::new(),
        };
        Ok((relation, details))
    }

    fn triggers(&self) -> Vec<(String, String)> {
        let of_table = self.entries.iter().filter(|entry| entry.kind == "trigger");
        of_table.map(|entry| (entry.name.clone(), entry.sql.clone().unwrap_or_default())).collect()
    }

    /// The table's indexes, the primary key's first; a rowid has none.
    fn indexes(
        &self,
        oid: u32,
        table: &str,
        language: Language,
        infos: &[ColumnInfo],
        text: Option<&TableText>,
        details: &mut Details,
    ) -> Result<Vec<Index>> {
        struct Listed {
            name: String,
            unique: bool,
            origin: String,
        }
        let (connection, database) = (self.source.connection, self.source.database);
        let mut statement = pragma(connection, database, "index_list", &self.entry.name)?;
        let mut listed: Vec<Listed> = statement
            .query_map([], |row| {
                count_row();
                Ok(Listed { name: row.get(1)?, unique: row.get(2)?, origin: row.get(3)? })
            })?
            .collect::<Result<_>>()?;
        // The newest comes first there.
        listed.reverse();
        let mut indexes: Vec<(Index, String)> = Vec::with_capacity(listed.len());
        for entry in listed {
            let mut statement = pragma(connection, database, "index_xinfo", &entry.name)?;
            let mut rows: Vec<(i64, Option<String>, bool, bool)> = statement
                .query_map([], |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?, row.get(5)?)))?
                .collect::<Result<_>>()?;
            // What is no key is there for SQLite to find the row.
            rows.retain(|(.., key)| *key);
            let sql = self.entries.iter().find(|other| other.kind == "index" && other.name == entry.name);
            let declared = sql.and_then(|other| other.sql.as_deref()).and_then(IndexText::parse);
            let recorded = self.source.metadata.object("index", &entry.name);
            let texts: &[ColumnRow] = recorded.map_or(&[], |(oid, _)| self.source.metadata.columns(oid));
            let plain_name = recorded.map_or(entry.name.as_str(), |(_, object)| object.name.as_str());
            let alike = details.properties.get(plain_name, NULLS_ALIKE).map(|word| word == "constraint");
            let mut columns = Vec::with_capacity(rows.len());
            let mut keys = Vec::with_capacity(rows.len());
            for (at, (_, name, descending, _)) in rows.into_iter().enumerate() {
                // Positions count visible columns, SQLite's numbers all of them: the name decides.
                let column = name.as_ref().and_then(|name| infos.iter().position(|info| info.name == *name));
                let ours = texts.get(at).and_then(|row| row.generated.clone());
                let native = || declared.as_ref().and_then(|d| d.keys.get(at).map(|key| d.text(key).to_owned()));
                let unwrapped = || native().and_then(|key| column_in(&key, infos));
                let (column, text) = match name {
                    // An expression that SQLite cannot compute has an index on its column.
                    Some(name) => match ours.filter(|text| !is_name(text)) {
                        Some(expression) => (None, expression),
                        None => (column, name),
                    },
                    None if alike.is_some()
                        && let Some(at) = unwrapped() =>
                    {
                        (Some(at), infos[at].name.clone())
                    }
                    None => (None, ours.or_else(native).unwrap_or_default()),
                };
                columns.push(column);
                keys.push(IndexKey { text, descending });
            }
            let constraint = entry.origin != "c";
            let own_key = entry.origin == "pk";
            let column_names: Vec<String> = keys.iter().map(|key| key.text.clone()).collect();
            let name = if constraint {
                let kind = if own_key { Kind::PrimaryKey } else { Kind::Unique };
                let given = text.and_then(|text| named(text, kind, &column_names));
                given.unwrap_or_else(|| {
                    if own_key { format!("{table}_pkey") } else { format!("{table}_{}_key", column_names.join("_")) }
                })
            } else {
                recorded.map_or_else(|| entry.name.clone(), |(_, object)| object.name.clone())
            };
            let primary = own_key || details.properties.has(&name, PRIMARY);
            let deferred = details.properties.get(&name, DEFERRABLE).map(|word| word == "deferred");
            let exclusion = details.properties.get(&name, exclusion::PROPERTY).and_then(Exclusion::from_property);
            if let Some(exclusion) = &exclusion {
                exclusion.as_declared(&mut columns);
                exclusion.as_declared(&mut keys);
            }
            let twin = details.properties.has(&name, TWIN);
            let fulltext = details.properties.get(&name, INDEX_METHOD) == Some(FULLTEXT);
            let constraint = constraint || deferred.is_some() || alike == Some(true) || twin || exclusion.is_some();
            let predicate = match recorded {
                Some((_, object)) if object.definition.is_some() => object.definition.clone(),
                _ => declared.as_ref().and_then(|d| d.predicate.as_ref().map(|span| d.text(span).to_owned())),
            };
            let index_oid = match recorded {
                Some((oid, _)) => oid,
                None => derived_oid("index", self.source.database, &[&oid.to_string(), &name]),
            };
            let index = Index {
                oid: index_oid,
                name,
                columns,
                keys,
                unique: entry.unique,
                primary,
                constraint,
                predicate,
                deferred,
                nulls_alike: alike.is_some(),
                twin,
                fulltext,
                exclusion: exclusion.map(Box::new),
            };
            indexes.push((index, entry.name));
        }
        let _ = language;
        indexes.sort_by_key(|(index, _)| !index.primary);
        let (indexes, names) = indexes.into_iter().unzip();
        details.index_names = names;
        Ok(indexes)
    }

    fn foreign_keys(
        &self,
        oid: u32,
        table: &str,
        namespace: &str,
        columns: &[Column],
        text: Option<&TableText>,
        details: &mut Details,
    ) -> Result<Vec<ForeignKey>> {
        struct Part {
            id: i64,
            target: String,
            from: String,
            to: Option<String>,
            on_update: String,
            on_delete: String,
        }
        let mut statement = pragma(self.source.connection, self.source.database, "foreign_key_list", &self.entry.name)?;
        let mut parts: Vec<Part> = statement
            .query_map([], |row| {
                count_row();
                Ok(Part {
                    id: row.get(0)?,
                    target: row.get(2)?,
                    from: row.get(3)?,
                    to: row.get(4)?,
                    on_update: row.get(5)?,
                    on_delete: row.get(6)?,
                })
            })?
            .collect::<Result<_>>()?;
        // The columns of a key are in order; the newest key comes first there.
        parts.sort_by_key(|part| std::cmp::Reverse(part.id));
        let mut declared: Vec<&ConstraintText> = text
            .into_iter()
            .flat_map(|text| text.all_constraints())
            .map(|(_, constraint)| constraint)
            .filter(|constraint| constraint.kind == Kind::ForeignKey)
            .collect();
        let mut keys = Vec::new();
        for group in parts.chunk_by(|a, b| a.id == b.id) {
            let names: Vec<String> = group.iter().map(|part| part.from.clone()).collect();
            let place = declared.iter().position(|constraint| same_names(&constraint.columns, &names));
            let constraint = place.map(|place| declared.remove(place));
            let name = constraint
                .and_then(|constraint| constraint.name.clone())
                .unwrap_or_else(|| format!("{table}_{}_fkey", names.join("_")));
            let words = constraint.zip(text).map(|(constraint, text)| text.text(&constraint.span).to_ascii_uppercase());
            let says = |phrase: &str| words.as_ref().is_some_and(|words| words.contains(phrase));
            let target = self.target(&group[0].target, namespace);
            keys.push(ForeignKey {
                oid: derived_oid("constraint", self.source.database, &[&oid.to_string(), &name]),
                columns: names
                    .iter()
                    .filter_map(|name| columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)))
                    .collect(),
                target,
                target_columns: group.iter().filter_map(|part| part.to.clone()).collect(),
                rules: KeyRules {
                    on_delete: action(&group[0].on_delete),
                    on_update: action(&group[0].on_update),
                    full: says(" MATCH FULL"),
                    deferrable: says(" DEFERRABLE") && !says("NOT DEFERRABLE"),
                    deferred: says("INITIALLY DEFERRED"),
                },
                valid: !details.properties.has(&name, NOT_VALID),
                by_engine: false,
                set_columns: Vec::new(),
                parts: Vec::new(),
                disabled: Default::default(),
                name,
            });
            details.foreign_key_ids.push(group[0].id);
        }
        keys.extend(self.keys_by_engine(oid, columns, details));
        Ok(keys)
    }

    /// Foreign keys that SQLite knows nothing of.
    fn keys_by_engine(&self, oid: u32, columns: &[Column], details: &Details) -> Vec<ForeignKey> {
        let constraint = |name: &str| derived_oid("constraint", self.source.database, &[&oid.to_string(), name]);
        let place = |name: &String| columns.iter().position(|column| column.name == *name);
        let places = |names: &[String]| names.iter().map(place).collect::<Option<Vec<usize>>>();
        let read = |(name, text): (&str, &str)| {
            let stored = foreign_key::Stored::from_property(text)?;
            Some(ForeignKey {
                oid: constraint(name),
                name: name.to_owned(),
                columns: places(&stored.columns)?,
                target: self.name_of(stored.target)?,
                target_columns: stored.target_columns,
                rules: stored.rules,
                valid: !details.properties.has(name, NOT_VALID),
                by_engine: true,
                set_columns: places(&stored.set_columns)?,
                parts: (stored.parts.into_iter())
                    .map(|(partition, name)| KeyPart { oid: constraint(&name), name, partition })
                    .collect(),
                disabled: stored.disabled,
            })
        };
        let noted = details.properties.all().filter(|(_, name, _)| *name == foreign_key::PROPERTY);
        let mut found = Vec::new();
        for (name, _, text) in noted {
            match read((name, text)) {
                Some(key) => found.push(key),
                None => tracing::warn!(table = self.entry.name, key = name, "a foreign key that cannot be read"),
            }
        }
        found
    }

    /// The name of the relation with an object id.
    fn name_of(&self, oid: u32) -> Option<QualifiedName> {
        if let Some(object) = self.source.metadata.objects.get(&oid) {
            return Some(QualifiedName::new(object.namespace.clone(), object.name.clone()));
        }
        let known = self.known.relation_by_oid(oid)?;
        Some(QualifiedName::new(known.namespace.clone(), known.name.clone()))
    }

    /// The name of the table that SQLite knows by this one.
    fn target(&self, physical_name: &str, namespace: &str) -> QualifiedName {
        if let Some((_, object)) = self.source.metadata.object("table", physical_name) {
            return QualifiedName::new(object.namespace.clone(), object.name.clone());
        }
        let known = self.known.relation_by_physical_name(physical_name);
        match known.filter(|table| self.known.details(table.oid).is_some_and(|details| details.recorded)) {
            Some(table) => QualifiedName::new(table.namespace.clone(), table.name.clone()),
            None => QualifiedName::new(namespace, physical_name),
        }
    }

    fn checks(
        &self,
        oid: u32,
        table: &str,
        text: Option<&TableText>,
        keys: &[ForeignKey],
        details: &mut Details,
    ) -> Vec<Check> {
        let mut checks: Vec<Check> = Vec::new();
        let recorded = self.source.metadata.constraints(oid);
        let mut add = |name: String, native_text: Option<String>| {
            let row = recorded.iter().find(|row| row.name.eq_ignore_ascii_case(&name) && row.kind == "check");
            let native = native_text.is_some();
            let text = row.and_then(|row| row.text.clone()).or(native_text).unwrap_or_default();
            let oid = derived_oid("constraint", self.source.database, &[&oid.to_string(), &name]);
            let valid = !details.properties.has(&name, NOT_VALID);
            let no_inherit = details.properties.has(&name, NO_INHERIT);
            checks.push(Check { oid, name, text, native, valid, no_inherit });
        };
        let mut unnamed = 0_usize;
        for (column, constraint) in text.into_iter().flat_map(|text| text.all_constraints()) {
            if constraint.kind != Kind::Check {
                continue;
            }
            let name = constraint.name.clone().unwrap_or_else(|| {
                unnamed += 1;
                let base = column.map_or_else(|| format!("{table}_check"), |c| format!("{table}_{}_check", c.name));
                if unnamed == 1 { base } else { format!("{base}{unnamed}") }
            });
            // What a foreign key's MATCH FULL needs has the key's name.
            if keys.iter().any(|key| key.rules.full && key.name == name) {
                continue;
            }
            add(name, text.map(|text| text.text(&constraint.inner).trim().to_owned()));
        }
        for row in recorded.iter().filter(|row| row.kind == "check") {
            if let Some(sql) = &row.sql {
                add(row.name.clone(), None);
                details.engine_checks.push((row.name.clone(), sql.clone()));
            }
        }
        checks
    }
}

fn column(
    info: &ColumnInfo,
    recorded: Option<&ColumnRow>,
    language: Language,
    text: Option<&TableText>,
    row_identity: bool,
    without_identity: bool,
) -> Column {
    let words = recorded.and_then(|row| row.ty.as_deref()).unwrap_or(&info.declared);
    let mut ty = types::parse(words, language);
    // SQLite stores what comes under a type of no known name; only its own rule tells how it then compares.
    if language == Language::Native && words.is_empty() {
        ty = Type::Text;
    }
    let ours = recorded.and_then(|row| row.generated.clone());
    let generated = if matches!(info.hidden, 2 | 3) {
        let native = || {
            let text = text?;
            let constraints = &text.column(&info.name)?.constraints;
            let generated = constraints.iter().find(|constraint| constraint.kind == Kind::Generated)?;
            Some(text.text(&generated.inner).trim().to_owned())
        };
        Some(Generated { text: ours.or_else(native).unwrap_or_default(), native: true })
    } else {
        ours.map(|text| Generated { text, native: false })
    };
    let identity = match recorded.and_then(|row| row.identity.as_deref()) {
        Some(kind) => Some(Identity {
            always: kind == "always",
            zero_is_next: kind == "serial",
            sequence: recorded.and_then(|row| row.sequence.as_deref()).map(split_name),
        }),
        // SQLite numbers every rowid that is left out, so its own tables behave like this.
        None if row_identity && language == Language::Native => {
            Some(Identity { always: false, zero_is_next: false, sequence: None })
        }
        None => None,
    };
    let sequence = recorded.and_then(|row| row.sequence.as_deref()).filter(|_| identity.is_none()).map(split_name);
    let default = match (sequence, recorded.and_then(|row| row.default_text.clone()), &info.default) {
        // The sequence may have got another name since.
        (Some(sequence), ..) => Some(ColumnDefault {
            text: rowferry_dialect::postgres::next_text(&sequence),
            native: false,
            next_of: Some(sequence),
        }),
        // SQLite gives a rowid that is left out a number, whatever its default says.
        (None, Some(text), native) => {
            Some(ColumnDefault { text, native: native.is_some() && !row_identity, next_of: None })
        }
        (None, None, Some(text)) => Some(ColumnDefault { text: text.clone(), native: true, next_of: None }),
        (None, None, None) => None,
    };
    Column {
        name: info.name.clone(),
        ty,
        not_null: info.not_null || row_identity || (without_identity && info.key > 0),
        default: default.filter(|_| generated.is_none()),
        identity,
        generated,
        row_identity,
        collation: None,
    }
}

/// Tells columns their collations.
pub(super) fn add_collations(columns: &mut [Column], details: &Details, made: &[Arc<Collation>]) {
    for column in columns {
        let named = details.properties.get(&column.name, rowferry_dialect::collation::PROPERTY);
        column.collation =
            named.and_then(|named| match named.strip_prefix('#').and_then(|oid| oid.parse::<u32>().ok()) {
                Some(oid) => made.iter().find(|made| made.oid == oid).cloned(),
                None => Collation::named(named).cloned(),
            });
    }
}

/// `namespace.name` of a sequence as the metadata tables write it.
fn split_name(text: &str) -> QualifiedName {
    match text.split_once('.') {
        Some((namespace, name)) => QualifiedName::new(namespace, name),
        None => QualifiedName::bare(text),
    }
}
pub(super) fn view_columns(rows: &[ColumnRow], language: Language) -> Vec<Column> {
    rows.iter()
        .map(|row| Column {
            name: row.name.clone(),
            ty: row.ty.as_deref().map_or(Type::Text, |words| types::parse(words, language)),
            not_null: false,
            default: row.default_text.clone().map(|text| ColumnDefault { text, native: false, next_of: None }),
            identity: None,
            generated: None,
            row_identity: false,
            collation: None,
        })
        .collect()
}
/// The name that a constraint of a kind on these columns was given (any columns, when none are named).
fn named(text: &TableText, kind: Kind, columns: &[String]) -> Option<String> {
    text.all_constraints()
        .map(|(_, constraint)| constraint)
        .find(|constraint| constraint.kind == kind && (columns.is_empty() || same_names(&constraint.columns, columns)))?
        .name
        .clone()
}

fn same_names(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.eq_ignore_ascii_case(b))
}

fn action(words: &str) -> ReferentialAction {
    let is_it = |action: &ReferentialAction| action.words().eq_ignore_ascii_case(words);
    ReferentialAction::EACH.into_iter().find(is_it).unwrap_or_default()
}

/// The column of a key in an index in which NULLs are alike; `None` for another expression.
fn column_in(key: &str, infos: &[ColumnInfo]) -> Option<usize> {
    let (name, _) = key.strip_prefix(ddl::NULLS_ALIKE)?.rsplit_once(", ")?;
    let name = match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => name.to_owned(),
    };
    infos.iter().position(|info| info.name == name)
}

/// True for a column's name, quoted or not; what is no expression.
fn is_name(text: &str) -> bool {
    match text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => !inner.replace("\"\"", "").contains('"'),
        None => text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$'),
    }
}
