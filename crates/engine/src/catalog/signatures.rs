//! How PostgreSQL prints arguments and results of its own functions: `pg_get_function_arguments` and its kin.

use rowferry_dialect::postgres::{quote_ident, regtype};
use rowferry_facts as facts;

fn type_words(oid: u32) -> String {
    regtype::shown(oid, None).unwrap_or_else(|| "???".to_owned())
}

/// Arguments with their modes, names and types, and with defaults when these are wanted.
pub fn arguments(fact: &facts::Function, defaults: bool) -> String {
    let types = if fact.all_arguments.is_empty() { &fact.arguments } else { &fact.all_arguments };
    let aggregate = facts::Aggregate::all().iter().find(|row| fact.kind == 'a' && row.function == fact.oid);
    // Behind its direct arguments an aggregate says what it sorts by.
    let direct = aggregate.filter(|row| row.kind != 'n').map(|row| row.direct_arguments as usize);
    let mut values = fact.default_values.split(", ");
    let required = fact.arguments.len() - fact.defaults as usize;
    let (mut given, mut printed) = (0, Vec::new());
    for (at, oid) in types.iter().enumerate() {
        let mode = fact.modes.get(at).copied().unwrap_or('i');
        let is_given = matches!(mode, 'i' | 'b' | 'v');
        given += usize::from(is_given);
        if mode == 't' {
            continue;
        }
        let mut words = String::from(match mode {
            'b' => "INOUT ",
            'o' => "OUT ",
            'v' => "VARIADIC ",
            _ => "",
        });
        if let Some(name) = fact.names.get(at).filter(|name| !name.is_empty()) {
            words.push_str(&quote_ident(name));
            words.push(' ');
        }
        words.push_str(&type_words(*oid));
        if defaults
            && is_given
            && given > required
            && let Some(value) = values.next()
        {
            words.push_str(" DEFAULT ");
            words.push_str(value);
        }
        printed.push(words);
    }
    match direct {
        Some(direct) if direct < printed.len() => {
            let (first, rest) = printed.split_at(direct);
            let space = if first.is_empty() { "" } else { " " };
            format!("{}{space}ORDER BY {}", first.join(", "), rest.join(", "))
        }
        // The last direct argument repeats, and what is sorted by repeats with it.
        Some(_) => match printed.last() {
            Some(last) => format!("{} ORDER BY {last}", printed.join(", ")),
            None => String::new(),
        },
        None => printed.join(", "),
    }
}

/// What a function returns; a procedure returns nothing.
pub fn result(fact: &facts::Function) -> Option<String> {
    if fact.kind == 'p' {
        return None;
    }
    let set = if fact.returns_set { "SETOF " } else { "" };
    Some(format!("{set}{}", type_words(fact.result)))
}

/// A function of PostgreSQL's own as `pg_get_functiondef` prints it; none for one whose body is not in its catalogs as text.
pub fn definition(fact: &facts::Function) -> Option<String> {
    if fact.language != "internal" || !matches!(fact.kind, 'f' | 'w') {
        return None;
    }
    let (name, arguments, returned) = (quote_ident(fact.name), arguments(fact, true), result(fact)?);
    let mut attributes = String::new();
    if fact.kind == 'w' {
        attributes.push_str(" WINDOW");
    }
    attributes.push_str(match fact.volatility {
        'i' => " IMMUTABLE",
        's' => " STABLE",
        _ => "",
    });
    attributes.push_str(match fact.parallel {
        's' => " PARALLEL SAFE",
        'r' => " PARALLEL RESTRICTED",
        _ => "",
    });
    if fact.strict {
        attributes.push_str(" STRICT");
    }
    if fact.leakproof {
        attributes.push_str(" LEAKPROOF");
    }
    if fact.cost != 1.0 {
        attributes.push_str(&format!(" COST {}", fact.cost));
    }
    if fact.rows != 0.0 && fact.rows != 1000.0 {
        attributes.push_str(&format!(" ROWS {}", fact.rows));
    }
    if let Some(support) = facts::Function::by_oid(fact.support) {
        attributes.push_str(&format!(" SUPPORT {}", quote_ident(support.name)));
    }
    if !attributes.is_empty() {
        attributes.push('\n');
    }
    let head = format!("CREATE OR REPLACE FUNCTION pg_catalog.{name}({arguments})\n RETURNS {returned}\n");
    Some(format!("{head} LANGUAGE internal\n{attributes}AS $function${}$function$\n", fact.source))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> &'static facts::Function {
        facts::Function::named(name)[0]
    }

    #[test]
    fn arguments_are_printed_as_postgresql_prints_them() {
        assert_eq!(
            arguments(of("make_interval"), true),
            "years integer DEFAULT 0, months integer DEFAULT 0, weeks integer DEFAULT 0, days integer DEFAULT 0, \
             hours integer DEFAULT 0, mins integer DEFAULT 0, secs double precision DEFAULT 0.0"
        );
        assert_eq!(arguments(of("parse_ident"), false), "str text, strict boolean");
        assert_eq!(arguments(of("json_each"), true), "from_json json, OUT key text, OUT value json");
        assert_eq!(arguments(of("concat"), true), "VARIADIC \"any\"");
        assert_eq!(arguments(of("mode"), true), "ORDER BY anyelement");
        assert_eq!(arguments(of("percentile_cont"), true), "double precision ORDER BY double precision");
        let of_aggregate = |fact: &&&facts::Function| fact.kind == 'a';
        let rank = facts::Function::named("rank").iter().find(of_aggregate).unwrap();
        assert_eq!(arguments(rank, true), "VARIADIC \"any\" ORDER BY VARIADIC \"any\"");
    }

    #[test]
    fn definitions_are_printed_as_postgresql_prints_them() {
        assert_eq!(
            definition(of("now")).as_deref(),
            Some(
                "CREATE OR REPLACE FUNCTION pg_catalog.now()\n RETURNS timestamp with time zone\n LANGUAGE internal\n \
                 STABLE PARALLEL SAFE STRICT\nAS $function$now$function$\n"
            )
        );
        assert!(definition(of("row_number")).is_some_and(|text| text.contains("\n WINDOW IMMUTABLE")));
        // Its body is SQL, of which the catalogs hold a tree.
        let in_sql = facts::Function::all().iter().find(|fact| fact.language == "sql").unwrap();
        assert_eq!(definition(in_sql), None);
    }

    #[test]
    fn results_are_printed_as_postgresql_prints_them() {
        assert_eq!(result(of("json_each")).as_deref(), Some("SETOF record"));
        assert_eq!(result(of("now")).as_deref(), Some("timestamp with time zone"));
        assert_eq!(result(of("inet_in")).as_deref(), Some("inet"));
    }
}
