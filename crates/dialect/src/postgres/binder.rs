//! The state of binding one statement: schema, scopes, parameters, and what is learnt on the way.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::parse::Parsed;
use super::types;
use super::with::Within;
use crate::access::{Needs, Privileges};
use crate::bind::inside::Inside;
pub(super) use crate::bind::query::{BoundQuery, computed, outputs};
use crate::bind::scope::Shown;
use crate::bind::view::Views;
use crate::collation::Collation;
use crate::ir::{self, CteId, Expr, ExprKind, Ids, RelId};
use crate::plan::{Context, Effects, ResultColumn};
use crate::schema::{QualifiedName, Relation, Schema};
use crate::uses::{NamedObject, Uses};
use crate::values::LiteralStyle;
use crate::{Condition, Error, Result, Type, budget, stack};

pub(super) struct Binder<'a> {
    /// Whose rules are followed.
    pub(super) language: crate::Language,
    pub(super) schema: &'a dyn Schema,
    pub(super) context: &'a Context,
    /// The statement whose offsets the tree has; `None` inside a view or a stored expression.
    pub(super) source: Option<&'a Parsed>,
    pub(super) ids: Ids,
    pub(super) params: Vec<Option<Type>>,
    pub(super) scopes: Vec<Scope>,
    pub(super) ctes: Vec<CteEntry>,
    pub(super) effects: Effects,
    /// A NUL stands in a literal.
    pub(super) has_nul: bool,
    pub(super) notices: Vec<Error>,
    /// Parameters where nothing tells their type, and where in the text.
    pub(super) open_params: Vec<(usize, i32)>,
    /// Parameters that the statement names.
    named_params: BTreeSet<usize>,
    /// What is being bound has no parameters: COPY is given none.
    pub(super) without_params: bool,
    pub(super) depth: u32,
    /// What is bound is kept as text and read again by other sessions.
    pub(super) stored: bool,
    /// Views on the way down, against views that contain themselves.
    pub(super) views: Vec<u32>,
    /// Inside a view: what the names in its text stand for.
    pub(super) pins: Option<Arc<crate::pins::Pins>>,
    /// The views that stand behind derived tables.
    pub(super) views_behind: std::collections::HashMap<RelId, Arc<Relation>>,
    /// The tables at the head of families whose rows are read or changed as one relation.
    pub(super) families: std::collections::HashMap<RelId, Arc<Relation>>,
    /// MySQL's decimals: the digits behind the point of columns of subqueries whose values have more.
    pub(super) scales: std::collections::HashMap<(RelId, usize), i16>,
    /// Columns of queries in FROM that are computed and have no sign, to MySQL.
    pub(super) unsigned: std::collections::HashSet<(RelId, usize)>,
    /// MySQL's: as what the user's variables are read that the statement sets first of all, and that were not there before.
    pub(super) set_first: std::collections::HashMap<String, &'static str>,
    /// A division by zero is an error: MySQL's, where its result is stored.
    pub(super) refuses_zero: bool,
    /// What becomes of values that do not fit the columns that they are stored in: MySQL's.
    pub(super) clips: Option<super::mysql::Clips>,
    /// How things are called, when the query is to be printed.
    pub(super) shown: Option<super::viewdef::Shown>,
    /// What the text itself names, when somebody wants to know.
    pub(super) uses: Option<Uses>,
    /// Names beside what is bound that not even LATERAL brings into reach, and why.
    pub(super) beyond: Vec<(String, Beyond)>,
    /// A member of WITH that was named before it was bound.
    pub(super) later: Option<CteId>,
    /// What the statement does with its relations.
    pub(super) needs: Needs,
    /// The schema along the search path, where views look for what they name.
    pub(super) path: &'a dyn Schema,
    /// Policies of tables become part of what is bound.
    pub(super) asks_policies: bool,
    /// Tables whose policies are bound, against policies that read their own tables.
    pub(super) policies_of: Vec<u32>,
    /// Tables of FROM with policies, and whose those are.
    pub(super) secured_relations: std::collections::HashMap<RelId, super::policies::Secured>,
    /// Tables with policies are read together with those that inherit from them.
    pub(super) secured_families: bool,
    /// The statement names a collation, or a relation with a column that has one of its own.
    pub(super) collated: bool,
    /// Inside a function: which scopes are those of its variables.
    pub(super) variables: Option<super::routine::VariableLevels>,
    /// What is bound is for the rules of what it changes, or because of such.
    pub(super) ruled: Option<super::rules::Ruled>,
    /// Relations whose rules are bound, and for which changes, against rules that come back to them.
    pub(super) rules_of: Vec<(u32, ir::TriggerEvent)>,
    /// The relation whose rule is bound: outside of views, its owner needs the privileges.
    pub(super) acts_for: Option<u32>,
    /// The schema of the operator whose operands are bound: `OPERATOR(schema.+)`.
    pub(super) operator_schema: Option<String>,
}

/// The names of one query level.
#[derive(Default)]
pub(super) struct Scope {
    pub(super) entries: Vec<Entry>,
    pub(super) clause: Clause,
    /// An aggregate of this level has been met.
    pub(super) aggregates: bool,
    /// A window function of this level has been met.
    pub(super) windowed: bool,
    /// The aggregates and windows in which is bound.
    pub(super) inside: Inside,
    /// Column references met outside aggregates, with their places, for messages about grouping.
    pub(super) uses: Vec<(ir::ColumnRef, i32)>,
    /// Columns in the aggregates of queries inside, which must be grouped here.
    pub(super) loose: Vec<ir::ColumnRef>,
    /// What the list of a SELECT of MySQL's calls its values, for HAVING and ORDER BY.
    pub(super) outputs: Vec<(String, Expr)>,
    /// Named windows.
    pub(super) windows: Vec<(String, pg_query::protobuf::WindowDef)>,
    /// Set-returning functions met in the select list.
    pub(super) set_returning: Vec<ir::From>,
    /// Relations of the statement that this clause cannot name.
    pub(super) out_of_reach: Vec<Entry>,
    /// What is being bound is a part of this construct, which has one value.
    pub(super) one_value_in: Option<&'static str>,
    /// Any set-returning function may stand here.
    pub(super) allow_set_returning: bool,
    /// In RETURNING: the table that is changed, and who has locked its rows.
    pub(super) lockers: Option<(ir::RelId, Locker)>,
}

/// Who has locked or deleted the rows that a change returns: their `xmax`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Locker {
    /// Nobody: they have just been written.
    Nobody,
    /// The transaction.
    Own,
    /// The transaction has locked those that ON CONFLICT has met.
    OwnIfMet,
}

/// Why a member of FROM cannot refer to one beside it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Beyond {
    /// It stands left of a RIGHT or FULL JOIN.
    Join,
    /// It is what the statement changes.
    Target,
}

/// Which clause is being bound: some things are not allowed in some clauses.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Clause {
    #[default]
    Select,
    From,
    FromQuery,
    Join,
    Where,
    GroupBy,
    Filter,
    Having,
    OrderBy,
    Limit,
    Values,
    Update,
    Returning,
    Default,
    Check,
    Generated,
    Index,
    Statistics,
    Predicate,
    Policy,
    TriggerWhen,
    Execute,
    PartitionKey,
    PartitionBound,
    CopyWhere,
}

impl Clause {
    /// The words of PostgreSQL's messages.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::From => "functions in FROM",
            Self::FromQuery => "FROM clause of their own query level",
            Self::Join => "JOIN conditions",
            Self::Where => "WHERE",
            Self::GroupBy => "GROUP BY",
            Self::Filter => "FILTER",
            Self::Having => "HAVING",
            Self::OrderBy => "ORDER BY",
            Self::Limit => "LIMIT",
            Self::Values => "VALUES",
            Self::Update => "UPDATE",
            Self::Returning => "RETURNING",
            Self::Default => "DEFAULT expressions",
            Self::Check => "check constraints",
            Self::Generated => "column generation expressions",
            Self::Index => "index expressions",
            Self::Statistics => "statistics expressions",
            Self::Predicate => "index predicates",
            Self::Policy => "policy expressions",
            Self::TriggerWhen => "trigger WHEN conditions",
            Self::Execute => "EXECUTE parameters",
            Self::PartitionKey => "partition key expressions",
            Self::PartitionBound => "partition bound",
            Self::CopyWhere => "COPY FROM WHERE conditions",
        }
    }

    /// Aggregates and window functions may stand here.
    pub(super) const fn aggregates(self) -> bool {
        matches!(self, Self::Select | Self::Having | Self::OrderBy)
    }

    /// Window functions may stand here.
    pub(super) const fn windows(self) -> bool {
        matches!(self, Self::Select | Self::OrderBy)
    }
}

/// A relation name in scope, with its columns.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Alias, or the relation's name.
    pub(super) name: String,
    /// The schema, for references by schema and table; none behind an alias.
    pub(super) schema: Option<String>,
    pub(super) columns: Vec<EntryColumn>,
    /// The columns can be named by `name.column`.
    pub(super) qualified: bool,
    /// The columns can be named alone, and `*` covers them.
    pub(super) unqualified: bool,
    /// It is a function that returns one value a row: its name alone means that value.
    pub(super) row_is_value: bool,
    /// The type with a name that its rows are of, where no relation tells.
    pub(super) row: Option<Type>,
    /// An outer join may yield no row of it.
    pub(super) nullable: bool,
    /// Its row as one value, where there is such a thing.
    pub(super) value: Option<Expr>,
    /// The table behind it, for system columns and functional dependency.
    pub(super) relation: Option<(RelId, Arc<Relation>)>,
    /// So many columns at its end do not belong to `*`.
    pub(super) hidden: usize,
}

/// A column in scope.
#[derive(Clone, Debug)]
pub(super) struct EntryColumn {
    pub(super) name: String,
    pub(super) expr: Expr,
    pub(super) origin: Option<(u32, usize)>,
    pub(super) not_null: bool,
    pub(super) identity: bool,
}

/// A member of WITH in scope.
#[derive(Clone, Debug)]
pub(super) struct CteEntry {
    pub(super) name: String,
    pub(super) id: CteId,
    pub(super) columns: Vec<ResultColumn>,
    pub(super) referenced: bool,
    /// It is a change without RETURNING, so that it has no rows.
    pub(super) silent: bool,
    /// Where the statement names it.
    pub(super) place: i32,
    /// While it is bound itself, or not yet: in which part.
    pub(super) within: Option<Within>,
    /// So many columns at its end do not belong to `*`.
    pub(super) hidden: usize,
}

impl CteEntry {
    /// A member that is not bound yet.
    pub(super) fn within(name: &str, id: CteId, place: i32, within: Within) -> Self {
        let (columns, within) = (Vec::new(), Some(within));
        Self { name: name.to_owned(), id, columns, referenced: false, silent: false, place, within, hidden: 0 }
    }
}

impl<'a> Binder<'a> {
    pub(super) fn new(
        parsed: &'a Parsed,
        schema: &'a dyn Schema,
        context: &'a Context,
        params: &[Option<Type>],
    ) -> Self {
        let params = params.to_vec();
        let asks_policies = context.asks_policies;
        let language = parsed.language();
        let collated = language == crate::Language::Mysql;
        Self { source: Some(parsed), params, asks_policies, language, collated, ..Self::detached(schema, context) }
    }

    /// Follows the rules of a language from now on; those of before.
    pub(super) fn follow(&mut self, language: crate::Language) -> crate::Language {
        let rules = if language == crate::Language::Mysql { language } else { crate::Language::Postgres };
        self.collated |= rules == crate::Language::Mysql;
        std::mem::replace(&mut self.language, rules)
    }

    /// A binder for what stands in no statement.
    pub(super) fn detached(schema: &'a dyn Schema, context: &'a Context) -> Self {
        Self {
            language: crate::Language::Postgres,
            schema,
            context,
            source: None,
            ids: Ids::default(),
            params: Vec::new(),
            scopes: Vec::new(),
            ctes: Vec::new(),
            effects: Effects::default(),
            has_nul: false,
            notices: Vec::new(),
            open_params: Vec::new(),
            named_params: BTreeSet::new(),
            without_params: false,
            depth: 0,
            stored: false,
            views: Vec::new(),
            pins: None,
            views_behind: std::collections::HashMap::new(),
            families: std::collections::HashMap::new(),
            scales: std::collections::HashMap::new(),
            unsigned: std::collections::HashSet::new(),
            set_first: std::collections::HashMap::new(),
            refuses_zero: false,
            clips: None,
            shown: None,
            uses: None,
            path: schema,
            asks_policies: false,
            policies_of: Vec::new(),
            secured_relations: std::collections::HashMap::new(),
            secured_families: false,
            collated: false,
            variables: None,
            operator_schema: None,
            ruled: None,
            rules_of: Vec::new(),
            acts_for: None,
            beyond: Vec::new(),
            later: None,
            needs: Needs::default(),
        }
    }

    /// Notes that a relation is used, for the check of privileges: by the user, or by the owner of the view behind which
    /// it stands.
    pub(super) fn need(&mut self, id: RelId, relation: &Arc<Relation>, privileges: Privileges) {
        self.collated |=
            relation.columns.iter().any(|column| column.collation.is_some() || Collation::is_within(&column.ty));
        let behind = self.stands_behind();
        self.needs.add(id, relation, behind, privileges);
    }

    /// The relation whose owner needs the privileges for what is bound; none where the user does.
    pub(super) fn stands_behind(&self) -> Option<u32> {
        if self.views.is_empty() { self.acts_for } else { crate::access::behind(self.schema, &self.views) }
    }

    /// Notes that a column is read, for the check of privileges.
    pub(super) fn read_column(&mut self, column: &EntryColumn) {
        if let Some(origin) = column.origin {
            self.needs.read(origin, super::expr::columns::column_of(&column.expr).map(|column| column.relation));
        }
    }

    /// Notes what the text names; nothing of what stands behind a view.
    pub(super) fn note(&mut self, add: impl FnOnce(&mut Uses)) {
        if self.views.is_empty()
            && let Some(uses) = &mut self.uses
        {
            add(uses);
        }
    }

    /// Notes where something of a schema is named.
    pub(super) fn note_place(&mut self, location: i32, oid: u32, namespace: &str) {
        // Temporary objects are the session's own.
        if let Ok(place) = usize::try_from(location)
            && namespace != "pg_temp"
        {
            let namespace = namespace.to_owned();
            self.note(|uses| uses.names.push(NamedObject { place, oid, namespace }));
        }
    }

    /// How literals are to be read. What is stored is read alike by everybody.
    pub(super) fn literal_style(&self) -> LiteralStyle {
        if self.source.is_some() { self.context.literals } else { LiteralStyle::default() }
    }

    /// True where the text that is bound is kept: a view, a default, a check.
    pub(super) fn is_stored(&self) -> bool {
        use Clause::{Check, Default, Generated, Index, Policy, Predicate, TriggerWhen};
        let kept = |scope: &Scope| {
            matches!(scope.clause, Default | Check | Generated | Index | Predicate | Policy | TriggerWhen)
        };
        self.stored || self.scopes.iter().any(kept)
    }

    /// Adds the place of a node to an error.
    pub(super) fn at(&self, error: Error, location: i32) -> Error {
        match self.source.and_then(|source| source.position(location)) {
            Some(position) => error.at(position),
            None => error,
        }
    }

    /// An error with a place.
    pub(super) fn error(&self, condition: Condition, message: impl Into<String>, location: i32) -> Error {
        self.at(Error::new(condition, message), location)
    }

    /// An honest gap with a place.
    pub(super) fn unsupported(&self, feature: impl std::fmt::Display, location: i32) -> Error {
        self.at(Error::unsupported(feature), location)
    }

    /// Binds what stands one level deeper.
    pub(super) fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= stack::MAX_DEPTH {
            return Err(too_deep());
        }
        self.depth += 1;
        let result = budget::deeper(|| bind(self));
        self.depth -= 1;
        result
    }

    /// The innermost scope; there is one whenever an expression is bound.
    pub(super) fn scope(&mut self) -> &mut Scope {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// Binds within a clause of the innermost scope.
    pub(super) fn within<T>(&mut self, clause: Clause, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let before = std::mem::replace(&mut self.scope().clause, clause);
        let result = bind(self);
        self.scope().clause = before;
        result
    }

    /// Binds with another innermost scope, and gives the scope back.
    pub(super) fn with_scope<T>(
        &mut self,
        scope: Scope,
        bind: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Scope)> {
        self.scopes.push(scope);
        let result = bind(self);
        let scope = self.scopes.pop().unwrap_or_default();
        Ok((result?, scope))
    }

    /// The first parameter that nobody names, and of which the client says nothing, before one that somebody does.
    pub(super) fn untold_param(&self) -> Option<usize> {
        let untold = |(index, ty): &(usize, &Option<Type>)| ty.is_none() && !self.named_params.contains(index);
        self.params.iter().enumerate().find(untold).map(|(index, _)| index)
    }

    /// Parameter `$number` as an expression, of its type as far as it is known.
    pub(super) fn param(&mut self, number: i32, location: i32) -> Result<Expr> {
        if self.without_params || !(1..=65_535).contains(&number) {
            return Err(self.error(
                Condition::UndefinedParameter,
                format!("there is no parameter ${number}"),
                location,
            ));
        }
        let index = match self.positional(number, location)? {
            Some(index) => index,
            None => number as usize - 1,
        };
        if self.params.len() <= index {
            self.params.resize(index + 1, None);
        }
        self.named_params.insert(index);
        match self.params[index].clone() {
            Some(ty) => self.param_of(index, ty),
            None => Ok(Expr::new(ExprKind::Param(index), Type::Unknown)),
        }
    }

    /// Refuses a schema that the user may not look into. Whoever made what is stored was asked then.
    pub(super) fn check_schema(&self, name: &QualifiedName, location: i32) -> Result<()> {
        match self.source {
            Some(_) => self.schema.check_usage(name).map_err(|error| match self.is_mysql() {
                // MySQL tells of what is looked for there.
                true => error.table(name.schema.as_deref().unwrap_or_default(), &name.name),
                false => self.at(error, location),
            }),
            None => Ok(()),
        }
    }

    /// What a view's text names at a place.
    pub(super) fn pinned(&self, place: i32) -> Option<crate::pins::Pin> {
        self.pins.as_ref()?.at(usize::try_from(place).ok()?).cloned()
    }

    /// Finds a relation by its name in a statement.
    pub(super) fn relation(&mut self, range: &pg_query::protobuf::RangeVar) -> Result<Arc<Relation>> {
        if !range.catalogname.is_empty() && range.catalogname != self.context.database {
            return Err(self.unsupported(
                format!(
                    "a reference to another database (\"{}.{}.{}\")",
                    range.catalogname, range.schemaname, range.relname
                ),
                range.location,
            ));
        }
        let name = QualifiedName {
            schema: (!range.schemaname.is_empty()).then(|| range.schemaname.clone()),
            name: range.relname.clone(),
        };
        self.check_schema(&name, range.location)?;
        self.schema.relation(&name).ok_or_else(|| {
            if let Some(database) = name.schema.as_deref().filter(|schema| self.is_mysql_unknown(schema)) {
                let message = format!("schema \"{database}\" does not exist");
                return crate::Error::new(Condition::InvalidSchemaName, message);
            }
            self.error(Condition::UndefinedTable, format!("relation \"{name}\" does not exist"), range.location)
        })
    }
}

impl Views for Binder<'_> {
    fn views(&mut self) -> &mut Vec<u32> {
        &mut self.views
    }

    fn needs(&mut self) -> &mut Needs {
        &mut self.needs
    }

    fn ids(&mut self) -> &mut Ids {
        &mut self.ids
    }

    fn reads_view(&mut self, view: &Arc<Relation>) {
        self.need(ir::Text::TABLE, view, Privileges::SELECT);
    }
}

impl Shown for Entry {
    fn column_names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }
}

impl Entry {
    /// An entry for a table or catalog table under an id.
    pub(super) fn of_relation(relation: &Arc<Relation>, id: RelId, alias: Option<&str>) -> Self {
        let columns = relation
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| {
                let ty = types::import(&column.ty);
                let expr = Expr::column(id, position, column.ty.clone()).cast(ty, ir::CastContext::Implicit);
                EntryColumn {
                    name: column.name.clone(),
                    expr,
                    origin: Some((relation.oid, position)),
                    not_null: column.not_null,
                    identity: column.identity.is_some(),
                }
            })
            .collect();
        Self {
            name: alias.unwrap_or(&relation.name).to_owned(),
            schema: alias.is_none().then(|| relation.namespace.clone()),
            columns,
            qualified: true,
            unqualified: true,
            row_is_value: false,
            row: None,
            nullable: false,
            hidden: 0,
            value: None,
            relation: Some((id, relation.clone())),
        }
    }

    /// Shows the columns of a relation as a view's text knows them: those of then, by their names of then or by those that
    /// an alias gives.
    pub(super) fn pin(&mut self, pin: &crate::pins::Pin, given: &[&str]) {
        let mut columns = Vec::with_capacity(pin.columns.len());
        for (at, pinned) in pin.columns.iter().enumerate() {
            let Some(now) = &pinned.now else { continue };
            let same = |column: &&EntryColumn| column.name == *now;
            let found = self.columns.get(at).filter(same).or_else(|| self.columns.iter().find(same));
            if let Some(column) = found {
                let name = given.get(at).copied().unwrap_or(&pinned.name).to_owned();
                columns.push(EntryColumn { name, ..column.clone() });
            }
        }
        self.columns = columns;
    }

    /// An entry for the result of a query.
    pub(super) fn of_columns(name: &str, id: RelId, columns: &[ResultColumn]) -> Self {
        Self {
            name: name.to_owned(),
            schema: None,
            columns: columns
                .iter()
                .enumerate()
                .map(|(position, column)| EntryColumn {
                    name: column.name.clone(),
                    expr: Expr::column(id, position, column.ty.clone()),
                    origin: column.origin,
                    not_null: column.not_null,
                    identity: column.identity,
                })
                .collect(),
            qualified: true,
            unqualified: true,
            row_is_value: false,
            row: None,
            nullable: false,
            hidden: 0,
            value: None,
            relation: None,
        }
    }
}

fn too_deep() -> Error {
    Error::new(Condition::StatementTooComplex, "stack depth limit exceeded")
        .hint("Split the statement: it nests too deeply.")
}
