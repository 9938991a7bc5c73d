//! Which function or operator of PostgreSQL's catalog a call means, by the rules of its chapter "Type Conversion", over
//! object ids of types.

use std::borrow::Cow;

use rowferry_facts as facts;

/// The type of a literal that has none yet.
const UNKNOWN: u32 = 705;
/// `"any"`
const ANY: u32 = 2_276;
/// `anyenum`
pub(super) const ANY_ENUM: u32 = 3_500;

/// What a call may mean.
#[derive(Clone, Debug)]
struct Candidate<T> {
    of: T,
    /// The types that its arguments are declared with, one for each that is given.
    args: Cow<'static, [u32]>,
    /// How far it is from a function of just these arguments: by VARIADIC, by so many defaults.
    distance: (bool, usize),
}

/// What PostgreSQL would choose.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Choice<T> {
    /// None takes these arguments.
    None,
    /// This one.
    One(T),
    /// Several would do.
    Several,
}

/// The function that a call with arguments of some types means; `wanted` says which kinds (`prokind`) can be meant.
pub fn function(name: &str, given: &[u32], wanted: impl Fn(char) -> bool) -> Choice<&'static facts::Function> {
    let mut candidates: Vec<Candidate<&'static facts::Function>> = Vec::new();
    for fact in facts::Function::named(name).iter().filter(|fact| wanted(fact.kind)) {
        let Some(candidate) = applied(fact, given.len()) else { continue };
        // Of two with the same arguments the nearer one counts.
        match candidates.iter_mut().find(|known| known.args == candidate.args) {
            Some(known) if candidate.distance < known.distance => *known = candidate,
            Some(_) => {}
            None => candidates.push(candidate),
        }
    }
    if let Some(exact) = candidates.iter().find(|candidate| *candidate.args == *given) {
        return Choice::One(exact.of);
    }
    chosen(candidates, given)
}

/// The operator that stands between operands of some types, or before one.
pub fn operator(name: &str, given: &[u32]) -> Choice<&'static facts::Operator> {
    let wanted = if given.len() == 1 { 'l' } else { 'b' };
    let operators = facts::Operator::named(name).iter().filter(|operator| operator.kind == wanted);
    let candidates: Vec<Candidate<&'static facts::Operator>> = operators
        .map(|operator| {
            let args = match wanted {
                'l' => vec![operator.right_type],
                _ => vec![operator.left_type, operator.right_type],
            };
            Candidate { of: *operator, args: Cow::Owned(args), distance: (false, 0) }
        })
        .collect();
    // With one operand of unknown type, the other's is tried for it first.
    let assumed = match given {
        [UNKNOWN, known] | [known, UNKNOWN] => vec![*known, *known],
        given => given.to_vec(),
    };
    if let Some(exact) = candidates.iter().find(|candidate| *candidate.args == *assumed) {
        return Choice::One(exact.of);
    }
    chosen(candidates, given)
}

/// The function that a call with names for some of its arguments means, and which of these is which parameter's (`None`:
/// its default).
pub fn by_name(
    name: &str,
    names: &[Option<&str>],
    given: &[u32],
) -> Option<(&'static facts::Function, Vec<Option<usize>>)> {
    facts::Function::named(name).iter().find_map(|fact| {
        let places = places(fact, names)?;
        let pairs =
            places.iter().zip(&fact.arguments).filter_map(|(place, declared)| Some((*declared, given[(*place)?])));
        let (declared, given): (Vec<u32>, Vec<u32>) = pairs.unzip();
        accepts_all(&declared, &given).then_some((*fact, places))
    })
}

/// Which argument is which parameter's; `None` when the names are not the function's, or one that must be there is not.
fn places(fact: &facts::Function, names: &[Option<&str>]) -> Option<Vec<Option<usize>>> {
    let count = fact.arguments.len();
    let is_input = |at: &usize| fact.modes.get(*at).is_none_or(|mode| matches!(mode, 'i' | 'b' | 'v'));
    let inputs: Vec<&str> = (0..fact.names.len()).filter(is_input).map(|at| fact.names[at]).collect();
    if names.len() > count {
        return None;
    }
    let mut places = vec![None; count];
    for (at, name) in names.iter().enumerate() {
        let place = match name {
            None => at,
            Some(name) => inputs.iter().position(|input| input == name)?,
        };
        let slot: &mut Option<usize> = places.get_mut(place)?;
        if slot.replace(at).is_some() {
            return None;
        }
    }
    let required = count - fact.defaults as usize;
    places.iter().take(required).all(Option::is_some).then_some(places)
}

/// A function as it takes so many arguments.
fn applied(fact: &'static facts::Function, count: usize) -> Option<Candidate<&'static facts::Function>> {
    let declared = &*fact.arguments;
    if fact.variadic != 0 {
        let single = declared.len() - 1;
        if count > single {
            let mut args = declared[..single].to_vec();
            args.resize(count, fact.variadic);
            return Some(Candidate { of: fact, args: Cow::Owned(args), distance: (true, 0) });
        }
    }
    let left_out = declared.len().checked_sub(count).filter(|left_out| *left_out <= fact.defaults as usize)?;
    Some(Candidate { of: fact, args: Cow::Borrowed(&declared[..count]), distance: (false, left_out) })
}

fn chosen<T: Copy>(mut left: Vec<Candidate<T>>, given: &[u32]) -> Choice<T> {
    left.retain(|candidate| accepts_all(&candidate.args, given));
    let only = |left: &[Candidate<T>]| match left {
        [only] => Some(Choice::One(only.of)),
        [] => Some(Choice::None),
        _ => None,
    };
    if let Some(found) = only(&left) {
        return found;
    }
    let known = |candidate: &Candidate<T>, fits: &dyn Fn(u32, u32) -> bool| {
        let pairs = candidate.args.iter().zip(given);
        pairs.filter(|(declared, given)| **given != UNKNOWN && fits(**declared, **given)).count()
    };
    keep_best(&mut left, |candidate| known(candidate, &|declared, given| declared == given));
    if let Some(found) = only(&left) {
        return found;
    }
    keep_best(&mut left, |candidate| {
        known(candidate, &|declared, given| declared == given || category(declared) == (category(given).0, true))
    });
    if let Some(found) = only(&left) {
        return found;
    }
    if !given.contains(&UNKNOWN) {
        return Choice::Several;
    }
    by_category(&mut left, given);
    if let Some(found) = only(&left) {
        return found;
    }
    by_known_type(&left, given)
}

fn keep_best<T>(left: &mut Vec<Candidate<T>>, score: impl Fn(&Candidate<T>) -> usize) {
    let best = left.iter().map(&score).max().unwrap_or(0);
    left.retain(|candidate| score(candidate) == best);
}

/// A type's category, and whether it is preferred there.
fn category(oid: u32) -> (char, bool) {
    facts::Type::by_oid(oid).map_or(('U', false), |ty| (ty.category, ty.preferred))
}

/// Unknown arguments are of the category that all candidates have there; of strings where one takes these.
fn by_category<T>(left: &mut Vec<Candidate<T>>, given: &[u32]) {
    let mut slots = Vec::new();
    for (at, _) in given.iter().enumerate().filter(|(_, given)| **given == UNKNOWN) {
        let mut categories = left.iter().filter_map(|candidate| candidate.args.get(at)).map(|oid| category(*oid).0);
        let Some(first) = categories.next() else { return };
        let (mut chosen, mut alike) = (first, true);
        for next in categories {
            alike &= next == first;
            if next == 'S' {
                chosen = 'S';
            }
        }
        if !alike && chosen != 'S' {
            return;
        }
        let preferred = left.iter().any(|candidate| category(candidate.args[at]) == (chosen, true));
        slots.push((at, chosen, preferred));
    }
    let keeps = |candidate: &Candidate<T>| {
        slots.iter().all(|&(at, wanted, preferred)| {
            let (category, is_preferred) = category(candidate.args[at]);
            category == wanted && (is_preferred || !preferred)
        })
    };
    if left.iter().any(&keeps) {
        left.retain(keeps);
    }
}

/// Unknown arguments are of the type that all others have, where one candidate takes that.
fn by_known_type<T: Copy>(left: &[Candidate<T>], given: &[u32]) -> Choice<T> {
    let mut known = given.iter().copied().filter(|oid| *oid != UNKNOWN);
    let Some(first) = known.next().filter(|first| known.all(|other| other == *first)) else { return Choice::Several };
    let assumed = vec![first; given.len()];
    let mut fitting = left.iter().filter(|candidate| accepts_all(&candidate.args, &assumed));
    match (fitting.next(), fitting.next()) {
        (Some(found), None) => Choice::One(found.of),
        _ => Choice::Several,
    }
}

/// True when values of some types can be given where others are declared, without being told to.
fn accepts_all(declared: &[u32], given: &[u32]) -> bool {
    declared.iter().zip(given).all(|(declared, given)| accepts(*declared, *given)) && agree(declared, given)
}

fn accepts(declared: u32, given: u32) -> bool {
    declared == given || declared == ANY || given == UNKNOWN || is_polymorphic(declared) || implicit(given, declared)
}

/// True when a value becomes another type's by itself.
fn implicit(given: u32, wanted: u32) -> bool {
    if let Some(cast) = facts::Cast::between(given, wanted) {
        return cast.context == 'i';
    }
    match (element(given), element(wanted)) {
        (Some(given), Some(wanted)) => given == wanted || implicit(given, wanted),
        _ => false,
    }
}

/// The type of an array's members.
fn element(oid: u32) -> Option<u32> {
    let ty = facts::Type::by_oid(oid)?;
    // The vectors of the catalogs are no arrays of any length.
    (ty.category == 'A' && ty.element != 0 && ty.storage != 'p').then_some(ty.element)
}

fn pseudo(oid: u32) -> &'static str {
    facts::Type::by_oid(oid).filter(|ty| ty.kind == 'p').map_or("", |ty| ty.name)
}

fn is_polymorphic(oid: u32) -> bool {
    let name = pseudo(oid);
    name.starts_with("any") && name != "any"
}

/// True when all polymorphic arguments can be of one type: the same, or one that the others become.
fn agree(declared: &[u32], given: &[u32]) -> bool {
    let (mut exact, mut common): (Option<u32>, Option<u32>) = (None, None);
    for (declared, given) in declared.iter().zip(given) {
        let name = pseudo(*declared);
        if *given == UNKNOWN || name == "any" || !name.starts_with("any") {
            continue;
        }
        let fact = facts::Type::by_oid(*given);
        let kind = fact.map_or('b', |ty| ty.kind);
        let plain = name.trim_start_matches("anycompatible").trim_start_matches("any");
        let member = match plain {
            "array" => element(*given),
            "range" => facts::Range::all().iter().find(|range| range.range == *given).map(|range| range.subtype),
            "multirange" => {
                facts::Range::all().iter().find(|range| range.multirange == *given).map(|range| range.subtype)
            }
            "nonarray" => element(*given).is_none().then_some(*given),
            "enum" => (kind == 'e' || *given == ANY_ENUM).then_some(*given),
            _ => Some(*given),
        };
        let Some(member) = member else { return false };
        let slot = if name.starts_with("anycompatible") { &mut common } else { &mut exact };
        match *slot {
            None => *slot = Some(member),
            Some(known) if known == member => {}
            Some(known) if name.starts_with("anycompatible") && implicit(member, known) => {}
            Some(known) if name.starts_with("anycompatible") && implicit(known, member) => *slot = Some(member),
            Some(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oids(types: &[&str]) -> Vec<u32> {
        types.iter().map(|name| facts::Type::named(name).expect("a type").oid).collect()
    }

    fn call(name: &str, types: &[&str]) -> String {
        match function(name, &oids(types), |_| true) {
            Choice::One(fact) => {
                let words = fact.arguments.iter().map(|oid| facts::Type::by_oid(*oid).map_or("?", |ty| ty.name));
                words.collect::<Vec<_>>().join(" ")
            }
            other => format!("{other:?}"),
        }
    }

    fn between(name: &str, types: &[&str]) -> String {
        match operator(name, &oids(types)) {
            Choice::One(row) => {
                let words =
                    [row.left_type, row.right_type].map(|oid| facts::Type::by_oid(oid).map_or("", |ty| ty.name));
                words.join(" ").trim().to_owned()
            }
            other => format!("{other:?}"),
        }
    }

    /// What PostgreSQL 15 does with the same calls.
    #[test]
    fn functions_are_chosen_as_postgresql_chooses() {
        assert_eq!(call("abs", &["unknown"]), "float8");
        assert_eq!(call("abs", &["int2"]), "int2");
        assert_eq!(call("lower", &["unknown"]), "text");
        assert_eq!(call("lower", &["varchar"]), "text");
        assert_eq!(call("lower", &["int4range"]), "anyrange");
        assert_eq!(call("lower", &["int4"]), "None");
        assert_eq!(call("octet_length", &["bpchar"]), "bpchar");
        assert_eq!(call("sqrt", &["int4"]), "float8");
        assert_eq!(call("round", &["int4"]), "float8");
        assert_eq!(call("date_part", &["unknown", "unknown"]), "Several");
        assert_eq!(call("date_part", &["unknown", "date"]), "text date");
        assert_eq!(call("make_interval", &["int4", "int4"]), "int4 int4 int4 int4 int4 int4 float8");
        assert_eq!(call("concat", &["int4", "bool", "unknown"]), "any");
        assert_eq!(call("array_append", &["_int4", "int8"]), "anycompatiblearray anycompatible");
        assert_eq!(call("array_position", &["text", "text"]), "None");
        assert_eq!(call("unnest", &["unknown"]), "Several");
        assert_eq!(call("generate_series", &["int4", "int8"]), "int8 int8");
        assert_eq!(call("num_nulls", &[]), "None");
    }

    #[test]
    fn arguments_by_name_find_their_places() {
        let int4 = oids(&["int4", "int4"]);
        let found = |name, names: &[Option<&str>]| by_name(name, names, &int4[..names.len()]).map(|(_, places)| places);
        let years = [Some(0), None, None, Some(1), None, None, None];
        assert_eq!(found("make_interval", &[None, Some("days")]), Some(years.to_vec()));
        assert_eq!(found("make_interval", &[None, Some("years")]), None, "given twice");
        assert_eq!(found("make_interval", &[Some("foo")]), None);
        assert_eq!(found("make_date", &[Some("day"), Some("month")]), None, "the year has no default");
        assert_eq!(found("lower", &[Some("x")]), None);
    }

    #[test]
    fn operators_are_chosen_as_postgresql_chooses() {
        assert_eq!(between("+", &["int4", "unknown"]), "int4 int4");
        assert_eq!(between("+", &["unknown", "unknown"]), "Several");
        assert_eq!(between("+", &["int4", "numeric"]), "numeric numeric");
        assert_eq!(between("+", &["bool", "bool"]), "None");
        assert_eq!(between("||", &["unknown", "unknown"]), "text text");
        assert_eq!(between("||", &["int4", "text"]), "anynonarray text");
        assert_eq!(between("||", &["int4", "int4"]), "None");
        assert_eq!(between("||", &["_int4", "int4"]), "anycompatiblearray anycompatible");
        assert_eq!(between("=", &["varchar", "varchar"]), "text text");
        assert_eq!(between("=", &["json", "json"]), "None");
        assert_eq!(between("-", &["date", "unknown"]), "date date");
        assert_eq!(between("-", &["unknown"]), "Several");
        assert_eq!(between("~", &["int4"]), "int4");
        assert_eq!(between("<->", &["unknown", "unknown"]), "Several");
    }
}
