//! Points, lines, segments, rectangles, paths, polygons, circles: what PostgreSQL's functions and operators on them
//! compute.
//!
//! Most comparisons are loose: numbers that differ by no more than [`number::TOLERANCE`] are equal ([`number::loose`]).
//! The results are those of PostgreSQL to the last bit, so that each sum and product stands in the order in which
//! PostgreSQL has it. A result that is no `double precision` is `22003`.

mod circle;
pub mod number;
mod path;
mod point;
mod polygon;
mod rect;
mod segment;
pub mod text;

pub use circle::Circle;
pub use path::Path;
pub use point::Point;
pub use polygon::Polygon;
pub use rect::Rect;
pub use segment::{Line, Segment};
