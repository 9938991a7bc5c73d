//! SQL in, plan out: front ends, typed relational IR, back ends; no database linked.
