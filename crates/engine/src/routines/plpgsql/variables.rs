//! Variables: what they hold, and the names under which statements see them.

use std::sync::Arc;

use rowferry_dialect::ir::Value;
use rowferry_dialect::postgres::plpgsql::{DeclaredType, Function, Sql, VariableKind};
use rowferry_dialect::postgres::polymorphic::Standing;
use rowferry_dialect::postgres::routine::{VariableEntry, VariableScope, Variables};
use rowferry_dialect::postgres::types;
use rowferry_dialect::scalar::cursors::REFCURSOR;
use rowferry_dialect::values::record::Row;
use rowferry_dialect::{Condition, Error, Result, Schema, Type};

use super::frame::Frame;
use crate::routines::stored::{Shape, record_of, row_of_type, settled, shape_of_type};
use crate::session::Prepared;

/// The type of the variables that hold cursors' names.
pub(in crate::routines) const CURSOR_NAME: Type = Type::Scalar(&REFCURSOR, None);

/// What a variable can hold.
#[derive(Clone, Debug)]
pub(in crate::routines) enum SlotKind {
    /// Values of a type.
    Value(Type),
    /// Rows of a type with a name.
    Row(Shape, Type),
    /// Rows of any shape.
    Record,
}

/// What a variable holds.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// A value.
    Value { ty: Type, value: Value },
    /// A row; `fixed` says that its shape is the variable's.
    Row { shape: Shape, values: Vec<Value>, null: bool, fixed: bool },
    /// A record that nobody has assigned.
    Unassigned,
}

impl Slot {
    fn new(kind: &SlotKind) -> Self {
        match kind {
            SlotKind::Value(ty) => Self::Value { ty: ty.clone(), value: Value::Null },
            SlotKind::Row(shape, _) => {
                Self::Row { shape: shape.clone(), values: vec![Value::Null; shape.len()], null: true, fixed: true }
            }
            SlotKind::Record => Self::Unassigned,
        }
    }

    /// A row of a shape of its own.
    pub(super) fn row(shape: Shape, values: Vec<Value>) -> Self {
        Self::Row { shape, values, null: false, fixed: false }
    }

    /// NULL as a row of a shape.
    pub(super) fn null_row(shape: Shape) -> Self {
        let values = vec![Value::Null; shape.len()];
        Self::Row { shape, values, null: true, fixed: false }
    }
}

/// A value that a statement needs: a variable, or a field of one.
type Source = (usize, Option<usize>);

/// A plan of a statement inside a function, with what it needs.
#[derive(Debug)]
pub(in crate::routines) struct CachedPlan {
    plan: Arc<Prepared>,
    uses: Vec<Use>,
    /// What its columns are assigned to by MySQL's rules.
    becomes: Vec<Type>,
}

/// A variable, or a field, that a plan needs, as it was when the plan was made.
#[derive(Debug)]
struct Use {
    source: Source,
    ty: Type,
    /// The field's name: a record of another shape may have another one in its place.
    field: Option<String>,
}

impl CachedPlan {
    /// It reads tables, so that its rows come while it runs.
    pub(super) fn reads_tables(&self) -> bool {
        !self.plan.uses.tables.is_empty()
    }
}

/// What the variables of a function hold.
pub(in crate::routines) fn slot_kinds(
    function: &Function,
    schema: &dyn Schema,
    standing: Option<&Standing>,
) -> Result<Vec<SlotKind>> {
    let mut kinds: Vec<SlotKind> = Vec::with_capacity(function.variables.len());
    for variable in &function.variables {
        let kind = match &variable.kind {
            VariableKind::Record => SlotKind::Record,
            VariableKind::Cursor(_) => SlotKind::Value(CURSOR_NAME),
            VariableKind::Declared(DeclaredType::Like(slot)) => kinds[*slot].clone(),
            VariableKind::Declared(DeclaredType::Column(table, column)) => {
                SlotKind::Value(column_type(schema, table, column)?)
            }
            VariableKind::Declared(DeclaredType::Is(ty)) => {
                match ty.looked_up(schema)?.unwrap_or_else(|| settled(ty, standing)) {
                    Type::Record(_) => SlotKind::Record,
                    ty if ty.is_row() => SlotKind::Row(shape_of_type(&ty), ty),
                    ty => SlotKind::Value(ty),
                }
            }
        };
        kinds.push(kind);
    }
    Ok(kinds)
}

/// The fields of a row that is one value; `None` is NULL.
pub(super) fn taken_apart(value: &Value, ty: &Type) -> Result<Option<(Shape, Vec<Value>)>> {
    let Value::Text(stored) = value else { return Ok(None) };
    let row = Row::read(stored.as_bytes(), ty)?;
    let live = row.live()?;
    let mut shape: Shape = live.iter().map(|(field, _)| (field.name.clone(), field.ty.clone())).collect();
    shape.named = match ty.through_domains() {
        Type::Record(_) => row.named().cloned(),
        ty => Some(ty.clone()),
    };
    Ok(Some((shape, live.into_iter().map(|(_, value)| value).collect())))
}

fn column_type(schema: &dyn Schema, table: &rowferry_dialect::schema::QualifiedName, column: &str) -> Result<Type> {
    let relation = schema
        .relation(table)
        .ok_or_else(|| Error::new(Condition::UndefinedTable, format!("relation \"{table}\" does not exist")))?;
    let at = relation.columns.iter().position(|known| known.name == column).ok_or_else(|| {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", table.name);
        Error::new(Condition::UndefinedColumn, message)
    })?;
    Ok(types::import(&relation.columns[at].ty))
}

impl Frame<'_, '_> {
    /// Everything that a variable holds at its beginning.
    pub(super) fn fresh_slots(kinds: &[SlotKind]) -> Vec<Slot> {
        kinds.iter().map(Slot::new).collect()
    }

    /// What a variable holds when its block begins.
    pub(super) fn reset(&mut self, slot: usize) {
        self.slots[slot] = Slot::new(&self.compiled.kinds[slot]);
    }

    fn type_of(&self, (slot, field): Source) -> Option<Type> {
        match (&self.slots[slot], field) {
            (Slot::Value { ty, .. }, None) => Some(ty.clone()),
            (Slot::Row { shape, .. }, None) => Some(match &self.compiled.kinds[slot] {
                SlotKind::Row(_, ty) => ty.clone(),
                // What the record holds may have a type with a name; of one that has none no field can be asked for.
                _ => shape.named.clone().unwrap_or(Type::RECORD),
            }),
            (Slot::Row { shape, .. }, Some(field)) => shape.get(field).map(|(_, ty)| ty.clone()),
            (Slot::Unassigned, None) => Some(Type::RECORD),
            _ => None,
        }
    }

    fn field_name(&self, (slot, field): Source) -> Option<&str> {
        match &self.slots[slot] {
            Slot::Row { shape, .. } => field.and_then(|field| shape.get(field)).map(|(name, _)| name.as_str()),
            _ => None,
        }
    }

    /// What a plan needs is what it was when the plan was made.
    fn is_still(&self, known: &Use) -> bool {
        self.type_of(known.source).as_ref() == Some(&known.ty)
            && self.field_name(known.source) == known.field.as_deref()
    }

    fn value_of(&self, (slot, field): Source) -> Value {
        match (&self.slots[slot], field) {
            // What is too large to be a value is none.
            (Slot::Row { .. }, None) => self.whole(slot).map_or(Value::Null, |(value, _)| value),
            (Slot::Value { value, .. }, None) => value.clone(),
            (Slot::Row { values, .. }, Some(field)) => values.get(field).cloned().unwrap_or(Value::Null),
            _ => Value::Null,
        }
    }

    /// The plan of a statement for what the variables are now, and the values that it needs.
    pub(super) fn plan(&mut self, sql: &Sql) -> Result<(Arc<Prepared>, Vec<Value>)> {
        self.plan_for(sql, &[])
    }

    /// The same, its columns as values of these types where MySQL's rules assign them.
    pub(super) fn plan_for(&mut self, sql: &Sql, becomes: &[Type]) -> Result<(Arc<Prepared>, Vec<Value>)> {
        self.session.refresh_schema();
        let generation = self.session.generation();
        let known = self.compiled.plans.lock().get(&sql.id).cloned();
        if let Some(known) = known
            && known.plan.bound.generation == generation
            && known.uses.iter().all(|known| self.is_still(known))
            && known.becomes == becomes
        {
            let values = known.uses.iter().map(|known| self.value_of(known.source)).collect();
            return Ok((known.plan.clone(), values));
        }
        let (mut variables, sources) = self.variables(sql);
        variables.becomes = becomes.to_vec();
        variables.in_mysql = self.is_mysql();
        let plan = self.session.prepare_inside(&sql.text, Arc::new(variables))?;
        let uses: Vec<Use> = plan
            .bound
            .inside
            .iter()
            // COPY FROM has parameters of its own.
            .filter_map(|index| sources.get(*index))
            .map(|source| Use {
                source: *source,
                ty: self.type_of(*source).unwrap_or(Type::Text),
                field: self.field_name(*source).map(str::to_owned),
            })
            .collect();
        let values = uses.iter().map(|known| self.value_of(known.source)).collect();
        self.compiled
            .plans
            .lock()
            .insert(sql.id, Arc::new(CachedPlan { plan: plan.clone(), uses, becomes: becomes.to_vec() }));
        Ok((plan, values))
    }

    /// The names that a statement sees.
    fn variables(&self, sql: &Sql) -> (Variables, Vec<Source>) {
        let collation = self.compiled.collation.clone();
        let mut variables = Variables { conflict: self.body.conflict, collation, ..Variables::default() };
        let mut sources: Vec<Source> = Vec::new();
        let mut known: Vec<(Source, usize)> = Vec::new();
        let mut types: Vec<Type> = Vec::new();
        let mut index_of = |source: Source, ty: &Type| match known.iter().find(|(known, _)| *known == source) {
            Some((_, index)) => *index,
            None => {
                known.push((source, sources.len()));
                sources.push(source);
                types.push(ty.clone());
                sources.len() - 1
            }
        };
        for slot in &self.body.inputs {
            if let Some(ty) = self.type_of((*slot, None)) {
                variables.positional.push(index_of((*slot, None), &ty));
            }
        }
        let mut scope = Some(sql.scope);
        while let Some(at) = scope {
            let defined = &self.body.scopes[at];
            let mut seen = VariableScope { label: defined.label.clone(), ..VariableScope::default() };
            // A declaration does not see those behind it.
            let names = if at == sql.scope { sql.names } else { defined.names.len() };
            for (name, slot) in &defined.names[..names] {
                match &self.slots[*slot] {
                    Slot::Value { ty, .. } => seen.values.push((name.clone(), index_of((*slot, None), ty))),
                    Slot::Row { shape, .. } => {
                        let fields = shape.iter().enumerate();
                        let fields = fields
                            .map(|(field, (name, ty))| (name.clone(), index_of((*slot, Some(field)), ty)))
                            .collect();
                        let whole = (*slot, None);
                        let whole = self.type_of(whole).map(|ty| index_of(whole, &ty));
                        seen.rows.push(VariableEntry { name: name.clone(), fields: Some(fields), whole });
                    }
                    Slot::Unassigned => {
                        // NULL as a whole; of fields nothing is known.
                        let whole = Some(index_of((*slot, None), &Type::RECORD));
                        seen.rows.push(VariableEntry { name: name.clone(), fields: None, whole });
                    }
                }
            }
            variables.scopes.insert(0, seen);
            scope = defined.parent;
        }
        variables.types = types;
        let declared = &self.compiled.collations;
        if declared.iter().any(Option::is_some) {
            // Fields of rows have those of their own types.
            let own = |(slot, field): &Source| declared.get(*slot).filter(|_| field.is_none()).cloned().flatten();
            variables.collations = sources.iter().map(own).collect();
        }
        (variables, sources)
    }

    /// A parameter's value at the beginning.
    pub(super) fn set_argument(&mut self, slot: usize, value: Value, ty: &Type) -> Result<()> {
        match &mut self.slots[slot] {
            Slot::Value { value: held, ty: own } => {
                *own = ty.clone();
                *held = value;
                Ok(())
            }
            _ => {
                let row = taken_apart(&value, ty)?;
                self.assign_row(slot, row)
            }
        }
    }

    /// Converts a value as an assignment does in the routine's language.
    pub(super) fn converted(&mut self, value: &Value, from: &Type, to: &Type) -> Result<Value> {
        if from == to || *value == Value::Null || !self.is_mysql() {
            return self.session.converted(value, from, to);
        }
        self.session.assigned_in_mysql(value, from, to)
    }

    /// Gives a variable of one value a value of a type, converted to its own.
    pub(super) fn assign_value(&mut self, slot: usize, value: &Value, from: &Type) -> Result<()> {
        let Slot::Value { ty, .. } = &self.slots[slot] else {
            if from.is_row() || *value == Value::Null {
                let row = if from.is_row() { taken_apart(value, from)? } else { None };
                return self.assign_row(slot, row);
            }
            return Err(Error::new(
                Condition::DatatypeMismatch,
                "cannot assign non-composite value to a record variable",
            ));
        };
        let ty = ty.clone();
        let converted = self.converted(value, from, &ty)?;
        if converted == Value::Null {
            self.check_may_be_null(slot)?;
        }
        self.slots[slot] = Slot::Value { ty, value: converted };
        Ok(())
    }

    fn check_may_be_null(&self, slot: usize) -> Result<()> {
        let variable = &self.body.variables[slot];
        if !variable.not_null {
            return Ok(());
        }
        let message = format!("null value cannot be assigned to variable \"{}\" declared NOT NULL", variable.name);
        Err(Error::new(Condition::NullValueNotAllowed, message))
    }

    /// What a variable of rows holds must be a value of its type, which may be a domain.
    pub(super) fn check_row(&self, slot: usize) -> Result<()> {
        match &self.compiled.kinds[slot] {
            SlotKind::Row(_, ty) if ty.is_constrained() => self.session.check_domains(&self.whole(slot)?.0, ty),
            _ => Ok(()),
        }
    }

    /// Gives a variable of rows a row; `None` is NULL.
    pub(super) fn assign_row(&mut self, slot: usize, row: Option<(Shape, Vec<Value>)>) -> Result<()> {
        if row.is_none() {
            self.check_may_be_null(slot)?;
        }
        self.put_row(slot, row)?;
        self.check_row(slot)
    }

    fn put_row(&mut self, slot: usize, row: Option<(Shape, Vec<Value>)>) -> Result<()> {
        let fixed = match &self.compiled.kinds[slot] {
            SlotKind::Row(shape, _) => Some(shape.clone()),
            _ => None,
        };
        let Some((shape, values)) = row else {
            self.slots[slot] = match (&fixed, &self.slots[slot]) {
                (Some(shape), _) => {
                    let values = vec![Value::Null; shape.len()];
                    Slot::Row { shape: shape.clone(), values, null: true, fixed: true }
                }
                (None, Slot::Row { shape, .. }) => Slot::null_row(shape.nameless()),
                (None, _) => Slot::Unassigned,
            };
            return Ok(());
        };
        let Some(own) = fixed else {
            self.slots[slot] = Slot::row(shape, values);
            return Ok(());
        };
        self.check_fields(own.len(), shape.len())?;
        // Fields without a column stay NULL, columns without a field are dropped.
        let mut held = Vec::with_capacity(own.len());
        for (at, (_, ty)) in own.iter().enumerate() {
            held.push(match (values.get(at), shape.get(at)) {
                (Some(value), Some((_, from))) => self.converted(value, from, ty)?,
                _ => Value::Null,
            });
        }
        self.slots[slot] = Slot::Row { shape: own, values: held, null: false, fixed: true };
        Ok(())
    }

    /// Gives a field of a row a value.
    pub(super) fn assign_field(&mut self, slot: usize, field: &str, value: &Value, from: &Type) -> Result<()> {
        let name = self.body.variables[slot].name.clone();
        let Slot::Row { shape, .. } = &self.slots[slot] else { return Err(unassigned(&name)) };
        let exact = !self.is_mysql();
        let same = |known: &str| if exact { known == field } else { known.eq_ignore_ascii_case(field) };
        let Some(at) = shape.iter().position(|(known, _)| same(known)) else {
            let message = format!("record \"{name}\" has no field \"{field}\"");
            return Err(Error::new(Condition::UndefinedColumn, message));
        };
        let ty = shape[at].1.clone();
        let value = self.converted(value, from, &ty)?;
        if let Slot::Row { values, null, .. } = &mut self.slots[slot] {
            values[at] = value;
            *null = false;
        }
        self.check_row(slot)
    }

    /// What a variable of one value holds.
    pub(super) fn held(&self, slot: usize) -> Value {
        self.value_of((slot, None))
    }

    /// The row that a variable holds; `None` is NULL.
    pub(super) fn held_row(&self, slot: usize) -> Result<Option<(Shape, Vec<Value>)>> {
        match &self.slots[slot] {
            Slot::Row { null: true, .. } => Ok(None),
            Slot::Row { shape, values, .. } => Ok(Some((shape.clone(), values.clone()))),
            Slot::Unassigned => Ok(None),
            Slot::Value { ty, value } => {
                let shape = Shape::from([(self.body.variables[slot].name.clone(), ty.clone())]);
                Ok(Some((shape, vec![value.clone()])))
            }
        }
    }

    /// A record without a shape is no row that a set of rows could have.
    pub(super) fn check_is_assigned(&self, slot: usize) -> Result<()> {
        match &self.slots[slot] {
            Slot::Unassigned => Err(unassigned(&self.body.variables[slot].name)),
            Slot::Row { .. } | Slot::Value { .. } => Ok(()),
        }
    }

    /// What a variable holds as one value, with its type.
    pub(super) fn whole(&self, slot: usize) -> Result<(Value, Type)> {
        if !self.holds_rows(slot) {
            return Ok((self.held(slot), self.slot_type(slot)));
        }
        let ty = match &self.compiled.kinds[slot] {
            SlotKind::Row(_, ty) => ty.clone(),
            _ => self.slot_type(slot),
        };
        let value = match &self.slots[slot] {
            Slot::Row { shape, values, null: false, .. } if ty == Type::RECORD => {
                Value::Text(record_of(shape.iter().map(|(name, ty)| (name.as_str(), ty)), values)?)
            }
            Slot::Row { values, null: false, .. } => Value::Text(row_of_type(values, &ty)?),
            _ => Value::Null,
        };
        Ok((value, ty))
    }

    /// The type of a variable of one value.
    pub(super) fn slot_type(&self, slot: usize) -> Type {
        self.type_of((slot, None)).unwrap_or(Type::RECORD)
    }

    /// The type of a field.
    pub(super) fn field(&self, slot: usize, field: &str) -> Option<(Value, Type)> {
        let Slot::Row { shape, values, .. } = &self.slots[slot] else { return None };
        let exact = !self.is_mysql();
        let same = |known: &str| if exact { known == field } else { known.eq_ignore_ascii_case(field) };
        let at = shape.iter().position(|(known, _)| same(known))?;
        Some((values[at].clone(), shape[at].1.clone()))
    }

    /// A variable of rows has been given one, or NULL as a row.
    pub(super) fn is_assigned(&self, slot: usize) -> bool {
        !matches!(self.slots[slot], Slot::Unassigned)
    }

    /// Whether a type is a row's, for those who assign to it.
    pub(super) fn holds_rows(&self, slot: usize) -> bool {
        !matches!(self.slots[slot], Slot::Value { .. })
    }
}

fn unassigned(name: &str) -> Error {
    Error::new(Condition::ObjectNotInPrerequisiteState, format!("record \"{name}\" is not assigned yet"))
        .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}
