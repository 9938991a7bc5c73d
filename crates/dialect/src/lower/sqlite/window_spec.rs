//! What an aggregate of ours that computes windows is told: how rows are parted and sorted, and what is asked of them there. The
//! lowering writes it, as a text that stands in the statement; the engine reads it.

use std::fmt;

use super::spec::{Input, Spec};

/// What to do with all rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WindowSpec {
    /// Its keys are the arguments that are passed on as they are; its aggregates are those of the calls, in their order.
    pub rows: Spec,
    /// How rows are parted and sorted.
    pub windows: Vec<Window>,
    /// What is computed; the values stand behind the arguments that are passed on.
    pub calls: Vec<Call>,
}

/// How rows are parted, and sorted within their part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Rows that are alike in these belong together.
    pub partition: Vec<Input>,
    /// What sorts them.
    pub order: Vec<Key>,
}

/// What sorts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The value.
    pub input: Input,
    /// The greatest comes first.
    pub descending: bool,
    /// NULLs come first.
    pub nulls_first: bool,
}

/// A call of a function over a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Which window.
    pub window: usize,
    /// What is computed.
    pub what: What,
}

/// Which rows an aggregate, or the last of a frame, is of. All frames begin with the partition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Frame {
    /// All rows of the partition.
    Partition,
    /// Up to the last row that sorts alike.
    Peers,
    /// Up to the row itself.
    Rows,
}

/// What is computed of a row's window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum What {
    /// `row_number()`
    RowNumber,
    /// `rank()`
    Rank,
    /// `dense_rank()`
    DenseRank,
    /// `percent_rank()`
    PercentRank,
    /// `cume_dist()`
    CumeDist,
    /// `lag(value, rows, otherwise)`, `lead` where the number is below 0.
    Offset(Input, i64, Option<Input>),
    /// `first_value`
    First(Input),
    /// `last_value`
    Last(Input, Frame),
    /// The next of the aggregates.
    Aggregate(Frame),
}

impl Frame {
    const fn word(self) -> &'static str {
        match self {
            Self::Partition => "all",
            Self::Peers => "peers",
            Self::Rows => "rows",
        }
    }

    fn read(word: &str) -> Option<Self> {
        [Self::Partition, Self::Peers, Self::Rows].into_iter().find(|frame| frame.word() == word)
    }
}

impl fmt::Display for WindowSpec {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}", self.rows)?;
        for Window { partition, order } in &self.windows {
            out.write_str(";over")?;
            for input in partition {
                write!(out, " {input}")?;
            }
            for Key { input, descending, nulls_first } in order {
                let direction = if *descending { "desc" } else { "asc" };
                let nulls = if *nulls_first { "first" } else { "last" };
                write!(out, " {input}.{direction}.{nulls}")?;
            }
        }
        for Call { window, what } in &self.calls {
            write!(out, ";{window} ")?;
            match what {
                What::RowNumber => out.write_str("row_number")?,
                What::Rank => out.write_str("rank")?,
                What::DenseRank => out.write_str("dense_rank")?,
                What::PercentRank => out.write_str("percent_rank")?,
                What::CumeDist => out.write_str("cume_dist")?,
                What::Offset(input, rows, None) => write!(out, "offset {input} {rows}")?,
                What::Offset(input, rows, Some(otherwise)) => write!(out, "offset {input} {rows} {otherwise}")?,
                What::First(input) => write!(out, "first {input}")?,
                What::Last(input, frame) => write!(out, "last {input} {}", frame.word())?,
                What::Aggregate(frame) => write!(out, "aggregate {}", frame.word())?,
            }
        }
        Ok(())
    }
}

impl WindowSpec {
    /// What a text of ours says; `None` for any other.
    pub fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(';');
        let mut spec = Self { rows: Spec::read(parts.next()?)?, ..Self::default() };
        for part in parts {
            let words: Vec<&str> = part.split(' ').collect();
            match words.as_slice() {
                ["over", inputs @ ..] => spec.windows.push(window(inputs)?),
                [at, call @ ..] => {
                    let window = at.parse().ok().filter(|at| *at < spec.windows.len())?;
                    spec.calls.push(Call { window, what: what(call)? });
                }
                [] => return None,
            }
        }
        let aggregates = spec.calls.iter().filter(|call| matches!(call.what, What::Aggregate(_))).count();
        (aggregates == spec.rows.aggregates.len()).then_some(spec)
    }

    /// The window in whose order the rows come out where nobody asks for another: the first, or one that sorts by more behind
    /// what that sorts by, as PostgreSQL has it.
    pub fn shown(&self) -> usize {
        let keys: Vec<Vec<Key>> = self.windows.iter().map(Window::keys).collect();
        let mut shown = 0;
        for (at, longer) in keys.iter().enumerate().skip(1) {
            if longer.len() > keys[shown].len() && longer.starts_with(&keys[shown]) {
                shown = at;
            }
        }
        shown
    }

    /// So many arguments it speaks of.
    pub fn inputs(&self) -> usize {
        let of_windows = (self.windows.iter())
            .flat_map(|window| window.partition.iter().copied().chain(window.order.iter().map(|key| key.input)));
        let of_calls = self.calls.iter().flat_map(|call| match call.what {
            What::Offset(input, _, otherwise) => [Some(input), otherwise],
            What::First(input) | What::Last(input, _) => [Some(input), None],
            _ => [None, None],
        });
        of_windows.chain(of_calls.flatten()).fold(self.rows.inputs(), |most, input| most.max(input + 1))
    }
}

impl Window {
    /// What its rows are sorted by: its partitions first.
    pub fn keys(&self) -> Vec<Key> {
        let partition = self.partition.iter().map(|input| Key { input: *input, descending: false, nulls_first: false });
        partition.chain(self.order.iter().copied()).collect()
    }
}

fn window(words: &[&str]) -> Option<Window> {
    let mut window = Window::default();
    for word in words {
        let mut parts = word.split('.');
        let input = parts.next()?.parse().ok()?;
        match (parts.next(), parts.next(), parts.next()) {
            (None, ..) if window.order.is_empty() => window.partition.push(input),
            (Some(direction @ ("asc" | "desc")), Some(nulls @ ("first" | "last")), None) => {
                window.order.push(Key { input, descending: direction == "desc", nulls_first: nulls == "first" });
            }
            _ => return None,
        }
    }
    Some(window)
}

fn what(words: &[&str]) -> Option<What> {
    Some(match words {
        ["row_number"] => What::RowNumber,
        ["rank"] => What::Rank,
        ["dense_rank"] => What::DenseRank,
        ["percent_rank"] => What::PercentRank,
        ["cume_dist"] => What::CumeDist,
        ["offset", input, rows] => What::Offset(input.parse().ok()?, rows.parse().ok()?, None),
        ["offset", input, rows, otherwise] => {
            What::Offset(input.parse().ok()?, rows.parse().ok()?, Some(otherwise.parse().ok()?))
        }
        ["first", input] => What::First(input.parse().ok()?),
        ["last", input, frame] => What::Last(input.parse().ok()?, Frame::read(frame)?),
        ["aggregate", frame] => What::Aggregate(Frame::read(frame)?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let key = |input, descending, nulls_first| Key { input, descending, nulls_first };
        let call = |window, what| Call { window, what };
        let spec = WindowSpec {
            rows: Spec::read("2 i.4 rows sum.0:w5").unwrap(),
            windows: vec![
                Window::default(),
                Window { partition: vec![0, 3], order: vec![key(6, true, false), key(1, false, true)] },
            ],
            calls: vec![
                call(0, What::RowNumber),
                call(1, What::Rank),
                call(1, What::DenseRank),
                call(1, What::PercentRank),
                call(1, What::CumeDist),
                call(1, What::Offset(7, -2, None)),
                call(1, What::Offset(7, 1, Some(8))),
                call(1, What::First(7)),
                call(1, What::Last(9, Frame::Peers)),
                call(0, What::Aggregate(Frame::Partition)),
                call(1, What::Aggregate(Frame::Rows)),
            ],
        };
        assert_eq!(WindowSpec::read(&spec.to_string()), Some(spec.clone()));
        assert_eq!(spec.inputs(), 10);
        assert_eq!(spec.shown(), 1);
        assert_eq!(WindowSpec::read("1;over 1;over 2 3.asc.last;over 1 2.asc.last").unwrap().shown(), 2);
        for other in ["1;0 rank", "1;over;0 nothing", "1;over 0.asc;0 rank", "1 rows;over;0 rank", "x"] {
            assert_eq!(WindowSpec::read(other), None, "{other}");
        }
    }
}
