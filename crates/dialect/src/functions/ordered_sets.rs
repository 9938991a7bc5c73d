//! Ordered-set and hypothetical-set aggregates: `f(direct arguments) WITHIN GROUP (ORDER BY …)`. The signature has the
//! direct arguments first, then those that the group is ordered by. Each hypothetical-set aggregate takes as many of the
//! one as of the other.

use super::TypeSpec::{self, ArrayOf};
use super::spec::*;
use crate::Type;

const F8S: TypeSpec = ArrayOf(Type::Float8);
const INTERVALS: TypeSpec = ArrayOf(Type::Interval(None));

/// The rows.
pub(super) static ROWS: &[Function] = rows! { PG;
    Aggregate "mode" (ELEM) -> ELEM, Special("within mode"), lenient;
    Aggregate "percentile_disc" (F8, ELEM) -> ELEM, Special("within percentile_disc"), lenient;
    Aggregate "percentile_disc" (F8S, ELEM) -> ARRAY, Special("within percentile_disc"), lenient;
    Aggregate "percentile_cont" (F8, F8) -> F8, Special("within percentile_cont"), lenient;
    Aggregate "percentile_cont" (F8, INTERVAL) -> INTERVAL, Special("within percentile_cont"), lenient;
    Aggregate "percentile_cont" (F8S, F8) -> F8S, Special("within percentile_cont"), lenient;
    Aggregate "percentile_cont" (F8S, INTERVAL) -> INTERVALS, Special("within percentile_cont"), lenient;
    Aggregate "rank" (ANY) -> I8, Special("within rank"), lenient, variadic;
    Aggregate "dense_rank" (ANY) -> I8, Special("within dense_rank"), lenient, variadic;
    Aggregate "percent_rank" (ANY) -> F8, Special("within percent_rank"), lenient, variadic;
    Aggregate "cume_dist" (ANY) -> F8, Special("within cume_dist"), lenient, variadic;
};
