//! Window functions.

use super::spec::*;

/// The rows.
pub(super) static ROWS: &[Function] = rows! { BOTH;
    Window "row_number" () -> I8, F("row_number");
    Window "rank" () -> I8, F("rank");
    Window "dense_rank" () -> I8, F("dense_rank");
    Window "percent_rank" () -> F8, F("percent_rank");
    Window "cume_dist" () -> F8, F("cume_dist");
    Window "ntile" (I4) -> I4, F("ntile");
    Window "lag" (ELEM, I4, ELEM) -> ELEM, F("lag"), optional(2), lenient;
    Window "lead" (ELEM, I4, ELEM) -> ELEM, F("lead"), optional(2), lenient;
    Window "first_value" (ELEM) -> ELEM, F("first_value"), lenient;
    Window "last_value" (ELEM) -> ELEM, F("last_value"), lenient;
    Window "nth_value" (ELEM, I4) -> ELEM, F("nth_value"), lenient;
};
