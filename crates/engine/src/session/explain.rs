//! EXPLAIN: the back end's plan in PostgreSQL's shape, with what was counted when it ran.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use foldhash::HashMap;
use rowferry_dialect::ir::{
    Dml, DmlAction, Explain, ExplainFormat, Named, RelId, Statement as Ir, Value, named_relations,
};
use rowferry_dialect::plan::Bound;
use rowferry_dialect::schema::{Relation, RelationKind};
use rowferry_dialect::values::ValueRef;
use rowferry_dialect::{Error, Result, budget, optimise, postgres};
use serde_json::{Map, Value as Json, json};

use super::{Outcome, Prepared, Session};
use crate::backend::{Backend as _, Counted, InUse, Operation, PlanIndex, PlanStep, Target, Yield};
use crate::spool::Spool;

impl Session {
    /// EXPLAIN [ANALYZE].
    pub(super) fn explain(&mut self, prepared: &Arc<Prepared>, explain: &Explain, params: &[Value]) -> Result<Outcome> {
        let began = Instant::now();
        match &explain.statement {
            Ir::ExecutePrepared { name, args } => {
                let (plan, params) = self.prepared_with(name, args)?;
                let (statement, columns) = (plan.bound.statement.clone(), plan.bound.columns.clone());
                let explain = Explain { statement, columns, ..explain.clone() };
                self.explain_as(prepared, &plan, &explain, &params, began)
            }
            // What is run is the cursor's query.
            Ir::DeclareCursor { query, .. } if explain.analyze => {
                let explain = Explain { statement: Ir::Query(query.clone()), ..explain.clone() };
                self.explain_as(prepared, prepared, &explain, params, began)
            }
            _ => self.explain_as(prepared, prepared, explain, params, began),
        }
    }

    /// The same, of a statement that has been prepared as `of`.
    fn explain_as(
        &mut self,
        prepared: &Arc<Prepared>,
        of: &Arc<Prepared>,
        explain: &Explain,
        params: &[Value],
        began: Instant,
    ) -> Result<Outcome> {
        let (steps, ran) = if explain.analyze {
            self.run_counted(of, explain, params)?
        } else {
            (self.steps(explain, of.size)?, None)
        };
        let planning = ran.as_ref().map_or_else(|| began.elapsed(), |ran| ran.planning);
        let names = Names { relations: relations_of(&explain.statement)?, verbose: explain.verbose };
        let mut root = names.root(&steps, &explain.statement);
        if let Some(ran) = &ran {
            root.count(ran.took);
            root.counted = Some(Counted { loops: Some(1), rows: Some(ran.rows), share: Some(1.0) });
        }
        let told = Told {
            root,
            timing: explain.timing,
            took: ran.as_ref().map(|ran| ran.took),
            planning: explain.summary.then_some(planning),
        };
        let mut spool = Spool::new(1);
        let text = match explain.format {
            ExplainFormat::Text => told.text(),
            ExplainFormat::Json => serde_json::to_string_pretty(&told.json()).unwrap_or_default(),
            ExplainFormat::Xml => told.xml(),
            ExplainFormat::Yaml => told.yaml(),
        };
        let lines: Vec<&str> =
            if explain.format == ExplainFormat::Text { text.lines().collect() } else { vec![text.as_str()] };
        for line in lines {
            spool.push([ValueRef::Text(line.as_bytes())].into_iter())?;
        }
        self.rows(prepared, spool)
    }

    /// The plan of a statement that has run, as `auto_explain` writes it.
    pub(super) fn explained(&mut self, prepared: &Arc<Prepared>, explain: &Explain, query: &str) -> Result<String> {
        let steps = self.steps(explain, prepared.size)?;
        let names = Names { relations: relations_of(&explain.statement)?, verbose: explain.verbose };
        let told = Told { root: names.root(&steps, &explain.statement), timing: false, took: None, planning: None };
        let whole = || {
            let mut whole = Map::new();
            whole.insert("Query Text".to_owned(), json!(query));
            whole.insert("Plan".to_owned(), told.node(&told.root));
            Json::Object(whole)
        };
        Ok(match explain.format {
            ExplainFormat::Text => format!("Query Text: {query}\n{}", told.text().trim_end()),
            ExplainFormat::Json => serde_json::to_string_pretty(&whole()).unwrap_or_default(),
            ExplainFormat::Xml => {
                let mut text = String::from("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
                if let Json::Object(members) = whole() {
                    members.iter().for_each(|(name, value)| xml(name, value, 1, &mut text));
                }
                text.push_str("</explain>");
                text
            }
            ExplainFormat::Yaml => {
                let mut text = String::new();
                yaml(&whole(), 0, &mut text);
                text.trim_end().to_owned()
            }
        })
    }

    /// The steps in which a statement would be run.
    fn steps(&mut self, explain: &Explain, size: usize) -> Result<Vec<PlanStep>> {
        let _budget = budget::begin(size);
        let _passes = optimise::choose(self.passes());
        let program = match &explain.statement {
            Ir::Query(query) => InUse::lower_query(query, Yield::Sent)?,
            Ir::CreateTableAs(create) => InUse::lower_query(&create.query, Yield::Sent)?,
            Ir::DeclareCursor { query, .. } => InUse::lower_query(query, Yield::Sent)?,
            Ir::Dml(dml) if dml.view.is_some() => {
                return Err(Error::unsupported("EXPLAIN of a change that INSTEAD OF triggers make"));
            }
            // The rows of all its tables that are to be changed.
            Ir::Dml(dml) if is_of_several(dml) => InUse::lower_query(&InUse::by_rows(dml)?.rows, Yield::Sent)?,
            Ir::Dml(dml) => InUse::lower_change(dml, Yield::Sent)?,
            // The rows of the source, each beside those of the target that it meets.
            Ir::Merge(merge) => InUse::lower_query(&InUse::merge_by_rows(merge)?.rows, Yield::Sent)?,
            _ => return Err(Error::unsupported("EXPLAIN of this statement")),
        };
        self.open_read()?;
        let handle = self.handle()?;
        let guard = handle.lock();
        let steps = guard.make_known(&program.catalogs, &self.state).and_then(|()| guard.plan(&guard.faster(program)));
        drop(guard);
        self.checked(steps)
    }

    /// Runs a statement to its end, what it changes included.
    fn run_counted(
        &mut self,
        prepared: &Arc<Prepared>,
        explain: &Explain,
        params: &[Value],
    ) -> Result<(Vec<PlanStep>, Option<Ran>)> {
        if !matches!(explain.statement, Ir::Query(_) | Ir::Dml(_) | Ir::Merge(_) | Ir::CreateTableAs(_)) {
            return Err(Error::unsupported("EXPLAIN ANALYZE of this statement"));
        }
        let began = Instant::now();
        let bound =
            Bound { statement: explain.statement.clone(), columns: explain.columns.clone(), ..prepared.bound.clone() };
        let budget = budget::begin(prepared.size);
        let plan = Arc::new(self.lower(bound, &prepared.parsed, &prepared.declared)?);
        drop(budget);
        let planning = began.elapsed();
        let handle = self.handle()?;
        let on = handle.lock().count_steps(true);
        self.checked(on)?;
        let began = Instant::now();
        let outcome = self.dispatch(&plan, params).and_then(drained);
        let took = began.elapsed();
        let handle = self.handle()?;
        let off = handle.lock().count_steps(false);
        let rows = outcome?;
        self.checked(off)?;
        let mut steps = handle.lock().counted(plan.id);
        if steps.is_empty() {
            // It ran in parts, or by its rows: what is known is the whole.
            steps = self.steps(explain, prepared.size).unwrap_or_default();
        }
        Ok((steps, Some(Ran { rows, planning, took })))
    }
}

/// A change of the rows of several tables, which its query of rows names.
fn is_of_several(dml: &Dml) -> bool {
    dml.family.is_some() || dml.routing.is_some()
}

/// What the relations are that a statement's plan names.
fn relations_of(statement: &Ir) -> Result<HashMap<RelId, Named>> {
    Ok(match statement {
        Ir::Dml(dml) if is_of_several(dml) => {
            let mut relations = named_relations(statement);
            relations.extend(named_relations(&Ir::Query(Box::new(InUse::by_rows(dml)?.rows))));
            relations
        }
        _ => named_relations(statement),
    })
}

/// Pulls all rows; how many there are that the client would have got.
fn drained(outcome: Outcome) -> Result<u64> {
    match outcome {
        Outcome::Rows(mut cursor) => {
            let mut rows = 0;
            while cursor.next()?.is_some() {
                rows += 1;
            }
            Ok(rows)
        }
        Outcome::Done { .. } => Ok(0),
    }
}

/// How a statement ran.
struct Ran {
    rows: u64,
    planning: Duration,
    took: Duration,
}

/// A node of the plan as PostgreSQL tells it.
#[derive(Debug, Default)]
struct Node {
    kind: String,
    /// What stands behind the kind in the form of lines.
    on: String,
    /// Further facts: a name, a value, and whether they have a line of their own in the form of lines.
    facts: Vec<(&'static str, String, bool)>,
    counted: Option<Counted>,
    took: Duration,
    plans: Vec<Node>,
}

impl Node {
    fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), ..Self::default() }
    }

    fn over(kind: &str, plans: Vec<Self>) -> Self {
        Self { kind: kind.to_owned(), plans, ..Self::default() }
    }

    fn fact(mut self, name: &'static str, value: impl Into<String>, line: bool) -> Self {
        self.facts.push((name, value.into(), line));
        self
    }

    /// Gives each node its part of the time.
    fn count(&mut self, took: Duration) {
        self.took = took;
        for plan in &mut self.plans {
            plan.count(took);
        }
    }
}

/// What the names of a plan stand for.
struct Names {
    relations: HashMap<RelId, Named>,
    verbose: bool,
}

impl Names {
    /// The plan as a tree.
    fn root(&self, steps: &[PlanStep], statement: &Ir) -> Node {
        let below = self.below(steps, 0);
        match statement {
            Ir::Dml(dml) => {
                let kind = match dml.action {
                    DmlAction::Insert { .. } => "Insert",
                    DmlAction::Update { .. } => "Update",
                    DmlAction::Delete { .. } => "Delete",
                };
                self.change(kind, &dml.target, below)
            }
            Ir::Merge(merge) => self.change("Merge", &merge.target, below),
            _ => single(below),
        }
    }

    fn change(&self, operation: &'static str, table: &Relation, plans: Vec<Node>) -> Node {
        let mut node = self.of_relation(Node::new("ModifyTable").fact("Operation", operation, false), table);
        node.plans = plans;
        node
    }

    /// The nodes of the steps below one: what is read side by side is one join.
    fn below(&self, steps: &[PlanStep], parent: i64) -> Vec<Node> {
        let mut joined: Option<Node> = None;
        let (mut made, mut others, mut sorts) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps.iter().filter(|step| step.parent == parent && step.id != parent) {
            let mut plans = self.below(steps, step.id);
            let mut node = match &step.operation {
                Operation::Read { of, by } => {
                    let mut node = self.read(of, by.as_ref());
                    if let Some(at) = made.iter().position(|(name, _)| *name == of) {
                        node.kind = "Subquery Scan".to_owned();
                        plans.push(made.remove(at).1);
                    }
                    node
                }
                Operation::Either => Node::new("BitmapOr"),
                Operation::Rows { name, kept } => {
                    let node = single(std::mem::take(&mut plans));
                    let node = if *kept { Node::over("Materialize", vec![node]) } else { node };
                    made.push((name, node));
                    continue;
                }
                Operation::Sort(what) => {
                    sorts
                        .push(Node { counted: step.counted, ..Node::new("Sort").fact("Sort For", what.clone(), true) });
                    continue;
                }
                Operation::Hash => Node::over("HashAggregate", vec![single(std::mem::take(&mut plans))]),
                Operation::Gather => Node::over("Aggregate", vec![single(std::mem::take(&mut plans))]),
                Operation::Windows => Node::over("WindowAgg", vec![single(std::mem::take(&mut plans))]),
                Operation::Fetch { of } => {
                    for plan in &mut plans {
                        plan.kind = "Bitmap Index Scan".to_owned();
                    }
                    Node { kind: "Bitmap Heap Scan".to_owned(), ..self.read(of, None) }
                }
                Operation::Compound => compound(std::mem::take(&mut plans)),
                Operation::Merge(word) => merged(word, std::mem::take(&mut plans)),
                Operation::Arm(word) => Node::new("").fact("Arm", word.clone(), false),
                Operation::Beginning => Node::new("").fact("Arm", "", false),
                Operation::Recursion => Node::new("").fact("Arm", "RECURSIVE", false),
                Operation::Subquery { number, correlated } => {
                    let (relationship, word) =
                        if *correlated { ("SubPlan", "SubPlan") } else { ("InitPlan", "InitPlan") };
                    single(std::mem::take(&mut plans)).fact("Parent Relationship", relationship, false).fact(
                        "Subplan Name",
                        format!("{word} {number}"),
                        true,
                    )
                }
                Operation::Other(words) => Node::new(words.clone()),
            };
            node.counted = step.counted.or(node.counted);
            node.plans.extend(plans);
            match &step.operation {
                // Tables by their own names are those of foreign keys that a change is asked about.
                Operation::Read { of: Target::Named(_), .. } if joined.is_some() && node.kind != "Subquery Scan" => {
                    others.push(node);
                }
                Operation::Read { .. }
                | Operation::Hash
                | Operation::Gather
                | Operation::Windows
                | Operation::Fetch { .. }
                | Operation::Compound
                | Operation::Merge(_)
                | Operation::Either => {
                    joined = Some(match joined {
                        None => node,
                        Some(outer) => Node::over("Nested Loop", vec![outer, node]),
                    });
                }
                _ => others.push(node),
            }
        }
        others.extend(made.into_iter().map(|(_, node)| node));
        let mut top = match joined {
            Some(node) => vec![node],
            None => Vec::new(),
        };
        for mut sort in sorts {
            sort.plans = top;
            top = vec![sort];
        }
        match top.first_mut() {
            Some(node) => {
                node.plans.extend(others);
                top
            }
            None => others,
        }
    }

    fn read(&self, of: &Target, by: Option<&crate::backend::PlanWay>) -> Node {
        let kind = match (of, by.map(|way| (&way.index, way.covering))) {
            (Target::OneRow, _) => "Result",
            (Target::Values, _) => "Values Scan",
            (Target::Relation(id), _) if matches!(self.relations.get(id), Some(Named::Cte(_))) => "CTE Scan",
            (_, None) => "Seq Scan",
            (Target::Relation(id), Some((PlanIndex::Function, _))) => match self.relations.get(id) {
                Some(Named::Relation(_)) => "Seq Scan",
                _ => "Function Scan",
            },
            (_, Some((PlanIndex::Function, _))) => "Function Scan",
            (_, Some((_, true))) => "Index Only Scan",
            (_, Some((_, false))) => "Index Scan",
        };
        let mut node = Node::new(kind);
        let table = match of {
            Target::Relation(id) => match self.relations.get(id) {
                Some(Named::Relation(relation)) => Some(relation),
                _ => None,
            },
            _ => None,
        };
        if let Some(way) = by {
            let name = match &way.index {
                PlanIndex::Named(name) => Some(name.clone()),
                PlanIndex::Row => Some(table.and_then(|table| key_of_rows(table)).unwrap_or("rowid").to_owned()),
                PlanIndex::Automatic => Some("an index made for this statement".to_owned()),
                PlanIndex::Function => None,
            };
            if let Some(name) = name {
                node.on = format!(" using {}", postgres::quote_ident(&name));
                node = node.fact("Index Name", name, false);
            }
        }
        node = match (of, table) {
            (_, Some(table)) => self.of_relation(node, table),
            (Target::Relation(id), None) => match self.relations.get(id) {
                Some(Named::Cte(name)) => on(node.fact("CTE Name", name.clone(), false), name),
                Some(Named::Function(name)) => on(node.fact("Function Name", *name, false), name),
                _ => on(node, "a subquery"),
            },
            (Target::Named(name), None) => on(node.fact("Alias", name.clone(), false), name),
            (Target::OneRow | Target::Values, None) => node,
        };
        let Some(way) = by else { return node };
        match (&way.condition, &way.index, table.and_then(|table| column_of_rows(table))) {
            (Some(condition), PlanIndex::Row, Some(column)) => node.fact(
                "Index Cond",
                format!("({})", condition.replace("rowid", &postgres::quote_ident(column))),
                true,
            ),
            (Some(condition), ..) => node.fact("Index Cond", format!("({condition})"), true),
            (None, ..) => node,
        }
    }

    fn of_relation(&self, node: Node, table: &Relation) -> Node {
        let mut node = node.fact("Relation Name", table.name.clone(), false);
        let mut name = postgres::quote_ident(&table.name);
        if self.verbose {
            name = format!("{}.{name}", postgres::quote_ident(&table.namespace));
            node = node.fact("Schema", table.namespace.clone(), false);
        }
        node.on = format!("{} on {name}", node.on);
        node
    }
}

fn on(mut node: Node, name: &str) -> Node {
    node.on = format!("{} on {}", node.on, postgres::quote_ident(name));
    node
}

/// The name of the primary key that is the rows' own number.
fn key_of_rows(table: &Relation) -> Option<&str> {
    if table.kind == RelationKind::Catalog {
        return None;
    }
    table.indexes.iter().find(|index| index.primary).map(|index| index.name.as_str())
}

/// The column that is the rows' own number.
fn column_of_rows(table: &Relation) -> Option<&str> {
    table.columns.iter().find(|column| column.row_identity).map(|column| column.name.as_str())
}

fn single(mut nodes: Vec<Node>) -> Node {
    if nodes.iter().any(|node| node.facts.iter().any(|(name, ..)| *name == "Arm")) {
        return compound(nodes);
    }
    match nodes.len() {
        1 => nodes.swap_remove(0),
        0 => Node::new("Result"),
        _ => Node::over("Append", nodes),
    }
}

/// A set operation over its arms.
fn compound(arms: Vec<Node>) -> Node {
    let mut made: Option<Node> = None;
    for mut arm in arms {
        let at = arm.facts.iter().position(|(name, ..)| *name == "Arm");
        let word = at.map_or_else(String::new, |at| arm.facts.remove(at).1);
        let arm = if arm.kind.is_empty() { single(std::mem::take(&mut arm.plans)) } else { arm };
        made = Some(match made {
            None => arm,
            Some(before) => match word.as_str() {
                "UNION" => Node::over("HashAggregate", vec![append(before, arm)]),
                "INTERSECT" => Node::over("HashSetOp", vec![before, arm]).fact("Command", "Intersect", true),
                "EXCEPT" => Node::over("HashSetOp", vec![before, arm]).fact("Command", "Except", true),
                "RECURSIVE" => Node::over("Recursive Union", vec![before, arm]),
                _ => append(before, arm),
            },
        });
    }
    made.unwrap_or_else(|| Node::new("Result"))
}

/// A set operation over sorted arms.
fn merged(word: &str, arms: Vec<Node>) -> Node {
    let mut plain = Vec::new();
    for mut arm in arms {
        // Each is a part without a word of its own.
        let inner = if arm.kind.is_empty() { single(std::mem::take(&mut arm.plans)) } else { arm };
        plain.push(inner);
    }
    match word {
        "INTERSECT" => Node::over("SetOp", plain).fact("Command", "Intersect", true),
        "EXCEPT" => Node::over("SetOp", plain).fact("Command", "Except", true),
        "UNION" => Node::over("Unique", vec![Node::over("Merge Append", plain)]),
        _ => Node::over("Merge Append", plain),
    }
}

fn append(mut before: Node, arm: Node) -> Node {
    if before.kind == "Append" {
        before.plans.push(arm);
        return before;
    }
    Node::over("Append", vec![before, arm])
}

/// What is told of a plan.
struct Told {
    root: Node,
    timing: bool,
    took: Option<Duration>,
    planning: Option<Duration>,
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1000.0
}

impl Told {
    fn text(&self) -> String {
        let mut text = String::new();
        self.lines(&self.root, 0, &mut text);
        if let Some(planning) = self.planning {
            let _ = writeln!(text, "Planning Time: {:.3} ms", milliseconds(planning));
            if let Some(took) = self.took {
                let _ = writeln!(text, "Execution Time: {:.3} ms", milliseconds(took));
            }
        }
        text
    }

    /// A line for the node and for each of its facts, then those of its parts, indented as PostgreSQL's are.
    fn lines(&self, node: &Node, indent: usize, text: &mut String) {
        let mut indent = indent;
        if let Some((_, name, _)) = node.facts.iter().find(|(name, ..)| *name == "Subplan Name") {
            let _ = writeln!(text, "{}{name}", "  ".repeat(indent));
            indent += 1;
        }
        if indent > 0 {
            let _ = write!(text, "{}->  ", "  ".repeat(indent));
            indent += 2;
        }
        let operation = node.facts.iter().find(|(name, ..)| *name == "Operation");
        let kind = operation.map_or(node.kind.as_str(), |(_, value, _)| value.as_str());
        let _ = writeln!(text, "{kind}{}{}", node.on, self.actual(node));
        indent += 1;
        for (name, value, _) in node.facts.iter().filter(|(name, _, line)| *line && *name != "Subplan Name") {
            let _ = writeln!(text, "{}{name}: {value}", "  ".repeat(indent));
        }
        for plan in &node.plans {
            self.lines(plan, indent, text);
        }
    }

    fn actual(&self, node: &Node) -> String {
        let Some(counted) = node.counted else { return String::new() };
        let mut parts = Vec::new();
        if self.timing
            && let Some(share) = counted.share
        {
            parts.push(format!("time=0.000..{:.3}", milliseconds(node.took.mul_f64(share)) / loops(counted)));
        }
        if let Some(rows) = rows(counted) {
            parts.push(format!("rows={rows}"));
        }
        if let Some(loops) = counted.loops {
            parts.push(format!("loops={loops}"));
        }
        if parts.is_empty() { String::new() } else { format!(" (actual {})", parts.join(" ")) }
    }

    fn json(&self) -> Json {
        let mut query = Map::new();
        query.insert("Plan".to_owned(), self.node(&self.root));
        if let Some(planning) = self.planning {
            query.insert("Planning Time".to_owned(), json!(milliseconds(planning)));
        }
        if let Some(took) = self.took {
            query.insert("Triggers".to_owned(), json!([]));
            if self.planning.is_some() {
                query.insert("Execution Time".to_owned(), json!(milliseconds(took)));
            }
        }
        json!([query])
    }

    fn node(&self, node: &Node) -> Json {
        let mut told = Map::new();
        told.insert("Node Type".to_owned(), json!(node.kind));
        for (name, value, _) in &node.facts {
            told.insert((*name).to_owned(), json!(value));
        }
        if let Some(counted) = node.counted {
            if self.timing
                && let Some(share) = counted.share
            {
                let total = milliseconds(node.took.mul_f64(share)) / loops(counted);
                told.insert("Actual Startup Time".to_owned(), json!(0.0));
                told.insert("Actual Total Time".to_owned(), json!((total * 1000.0).round() / 1000.0));
            }
            if let Some(rows) = rows(counted) {
                told.insert("Actual Rows".to_owned(), json!(rows));
            }
            if let Some(loops) = counted.loops {
                told.insert("Actual Loops".to_owned(), json!(loops));
            }
        }
        if !node.plans.is_empty() {
            let plans: Vec<Json> = node.plans.iter().map(|plan| self.node(plan)).collect();
            told.insert("Plans".to_owned(), Json::Array(plans));
        }
        Json::Object(told)
    }

    fn xml(&self) -> String {
        let mut text = String::from("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n");
        for query in self.json().as_array().into_iter().flatten() {
            xml("Query", query, 1, &mut text);
        }
        text.push_str("</explain>");
        text
    }

    fn yaml(&self) -> String {
        let mut text = String::new();
        yaml(&self.json(), 0, &mut text);
        text.trim_end().to_owned()
    }
}

fn loops(counted: Counted) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a mean")]
    let loops = counted.loops.unwrap_or(1).max(1) as f64;
    loops
}

/// PostgreSQL tells the mean of all loops.
fn rows(counted: Counted) -> Option<u64> {
    let rows = counted.rows?;
    let loops = counted.loops.unwrap_or(1).max(1);
    Some((rows + loops / 2) / loops)
}

/// The name of the members of a list, in XML.
fn member(name: &str) -> &str {
    match name {
        "Plans" => "Plan",
        "Triggers" => "Trigger",
        name => name,
    }
}

fn xml(name: &str, value: &Json, indent: usize, text: &mut String) {
    let (tag, space) = (name.replace(' ', "-"), "  ".repeat(indent));
    match value {
        Json::Object(members) => {
            let _ = writeln!(text, "{space}<{tag}>");
            members.iter().for_each(|(name, value)| xml(name, value, indent + 1, text));
            let _ = writeln!(text, "{space}</{tag}>");
        }
        Json::Array(members) => {
            let _ = writeln!(text, "{space}<{tag}>");
            members.iter().for_each(|value| xml(member(name), value, indent + 1, text));
            let _ = writeln!(text, "{space}</{tag}>");
        }
        Json::String(value) => {
            let value = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            let _ = writeln!(text, "{space}<{tag}>{value}</{tag}>");
        }
        value => {
            let _ = writeln!(text, "{space}<{tag}>{value}</{tag}>");
        }
    }
}

fn yaml(value: &Json, indent: usize, text: &mut String) {
    let space = "  ".repeat(indent);
    match value {
        Json::Array(members) => {
            for member in members {
                let mut inner = String::new();
                yaml(member, indent + 1, &mut inner);
                let _ = write!(text, "{space}- {}", inner.trim_start());
            }
        }
        Json::Object(members) => {
            for (name, value) in members {
                match value {
                    Json::Object(_) | Json::Array(_) => {
                        let _ = writeln!(text, "{space}{name}: ");
                        yaml(value, indent + 1, text);
                    }
                    value => {
                        let _ = writeln!(text, "{space}{name}: {value}");
                    }
                }
            }
        }
        value => {
            let _ = writeln!(text, "{space}{value}");
        }
    }
}
