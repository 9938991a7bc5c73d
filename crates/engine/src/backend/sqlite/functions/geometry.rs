//! Geometric types: one function, whose first argument says what it does.

use std::collections::HashMap;
use std::sync::LazyLock;

use rowferry_dialect::ir::Value;
use rowferry_dialect::values::float;
use rowferry_dialect::values::geometry::number::{divide, hypotenuse, loose, multiply};
use rowferry_dialect::values::geometry::text::{self, Shape};
use rowferry_dialect::values::geometry::{Circle, Line, Path, Point, Polygon, Rect, Segment};
use rowferry_dialect::{Condition, Error, Result};

use super::call::{boolean, integer};
use super::{Call, Row};

pub(super) const ROWS: &[Row] = &[
    Row::new("rf_geometry", 1, by_name).variadic(),
    // A shape has all of its parts: it stays as it is where NULL is assigned to one, and there is none without it.
    Row::new("rf_geometry_assigned", 4, |call| match (call.is_null(1), call.is_null(2), call.is_null(3)) {
        (.., true) => {
            let message = "array subscript in assignment must not be null";
            Err(Error::new(Condition::NullValueNotAllowed, message))
        }
        (true, ..) | (_, true, _) => Ok(call.owned(1)),
        _ => by_name(call),
    })
    .lenient(),
];

/// The function of a name (0), of the arguments behind it.
fn by_name(call: &Call<'_>) -> Result<Value> {
    let operation = call.prepared(0, || {
        let name = call.text(0)?;
        OPERATIONS.get(name).copied().ok_or_else(|| Error::internal(format!("no such geometric function: {name}")))
    })?;
    operation(&Shapes(call))
}

type Operation = fn(&Shapes<'_>) -> Result<Value>;

static OPERATIONS: LazyLock<HashMap<&'static str, Operation>> = LazyLock::new(|| {
    let families = [POINTS, LINES, SEGMENTS, RECTS, PATHS, POLYGONS, CIRCLES, DISTANCES, CLOSEST, PARTS];
    families.into_iter().flatten().copied().collect()
});

/// The shapes that a call is given, counted from 0.
struct Shapes<'a>(&'a Call<'a>);

impl Shapes<'_> {
    fn text(&self, at: usize) -> Result<&str> {
        self.0.text(at + 1)
    }

    fn point(&self, at: usize) -> Result<Point> {
        text::point(self.text(at)?)
    }

    fn line(&self, at: usize) -> Result<Line> {
        text::line(self.text(at)?)
    }

    fn segment(&self, at: usize) -> Result<Segment> {
        text::segment(self.text(at)?)
    }

    fn rect(&self, at: usize) -> Result<Rect> {
        text::rect(self.text(at)?)
    }

    fn path(&self, at: usize) -> Result<Path> {
        text::path(self.text(at)?)
    }

    fn polygon(&self, at: usize) -> Result<Polygon> {
        text::polygon(self.text(at)?)
    }

    fn circle(&self, at: usize) -> Result<Circle> {
        text::circle(self.text(at)?)
    }

    fn float(&self, at: usize) -> Result<f64> {
        self.0.float(at + 1)
    }

    fn integer(&self, at: usize) -> Result<i64> {
        self.0.integer(at + 1)
    }

    fn points(&self) -> Result<(Point, Point)> {
        Ok((self.point(0)?, self.point(1)?))
    }

    fn lines(&self) -> Result<(Line, Line)> {
        Ok((self.line(0)?, self.line(1)?))
    }

    fn segments(&self) -> Result<(Segment, Segment)> {
        Ok((self.segment(0)?, self.segment(1)?))
    }

    fn rects(&self) -> Result<(Rect, Rect)> {
        Ok((self.rect(0)?, self.rect(1)?))
    }

    fn paths(&self) -> Result<(Path, Path)> {
        Ok((self.path(0)?, self.path(1)?))
    }

    fn polygons(&self) -> Result<(Polygon, Polygon)> {
        Ok((self.polygon(0)?, self.polygon(1)?))
    }

    /// The rectangles around two polygons.
    fn bounds(&self) -> Result<(Rect, Rect)> {
        let (left, right) = self.polygons()?;
        Ok((left.bounds(), right.bounds()))
    }

    fn circles(&self) -> Result<(Circle, Circle)> {
        Ok((self.circle(0)?, self.circle(1)?))
    }

    fn lengths(&self) -> Result<(f64, f64)> {
        let (left, right) = self.segments()?;
        Ok((left.length()?, right.length()?))
    }

    fn rect_areas(&self) -> Result<(f64, f64)> {
        let (left, right) = self.rects()?;
        Ok((left.area()?, right.area()?))
    }

    fn circle_areas(&self) -> Result<(f64, f64)> {
        let (left, right) = self.circles()?;
        Ok((left.area()?, right.area()?))
    }

    fn counts(&self) -> Result<(usize, usize)> {
        let (left, right) = self.paths()?;
        Ok((left.points.len(), right.points.len()))
    }
}

fn stored(shape: &impl Shape) -> Result<Value> {
    Ok(Value::Text(shape.print()))
}

fn stored_if(shape: Option<impl Shape>) -> Result<Value> {
    shape.map_or(Ok(Value::Null), |shape| stored(&shape))
}

fn number(value: f64) -> Result<Value> {
    Ok(float::to_value(value))
}

fn number_if(value: Option<f64>) -> Result<Value> {
    value.map_or(Ok(Value::Null), number)
}

/// The point that is closest, unless nothing is.
fn closest((point, distance): (Point, f64)) -> Result<Value> {
    if distance.is_nan() { Ok(Value::Null) } else { stored(&point) }
}

const POINTS: &[(&str, Operation)] = &[
    ("construct_point", |s| stored(&Point::new(s.float(0)?, s.float(1)?))),
    ("point_add", |s| s.points().and_then(|(a, b)| stored(&a.plus(b)?))),
    ("point_sub", |s| s.points().and_then(|(a, b)| stored(&a.minus(b)?))),
    ("point_mul", |s| s.points().and_then(|(a, b)| stored(&a.times(b)?))),
    ("point_div", |s| s.points().and_then(|(a, b)| stored(&a.over(b)?))),
    ("point_below", |s| s.points().and_then(|(a, b)| boolean(loose::lt(a.y, b.y)))),
    ("point_left", |s| s.points().and_then(|(a, b)| boolean(loose::lt(a.x, b.x)))),
    ("point_horiz", |s| s.points().and_then(|(a, b)| boolean(loose::eq(a.y, b.y)))),
    ("point_vert", |s| s.points().and_then(|(a, b)| boolean(loose::eq(a.x, b.x)))),
    ("point_eq", |s| s.points().and_then(|(a, b)| boolean(a.same(b)))),
    ("point_slope", |s| s.points().and_then(|(a, b)| number(a.slope(b)?))),
    ("point_box", |s| s.point(0).and_then(|point| stored(&Rect::between(point, point)))),
    ("points_box", |s| s.points().and_then(|(a, b)| stored(&Rect::between(a, b)))),
];

const LINES: &[(&str, Operation)] = &[
    ("line_construct_pp", |s| s.points().and_then(|(a, b)| stored(&Line::through(a, b)?))),
    ("line_eq", |s| s.lines().and_then(|(a, b)| boolean(a.same(b)?))),
    ("line_horizontal", |s| boolean(loose::zero(s.line(0)?.a))),
    ("line_vertical", |s| boolean(loose::zero(s.line(0)?.b))),
    ("line_interpt", |s| s.lines().and_then(|(a, b)| stored_if(a.meeting(b)?))),
    ("line_intersect", |s| s.lines().and_then(|(a, b)| boolean(a.meeting(b)?.is_some()))),
    ("line_perp", |s| s.lines().and_then(|(a, b)| boolean(a.is_across(b)?))),
    ("on_pl", |s| boolean(s.line(1)?.contains(s.point(0)?)?)),
    ("on_sl", |s| {
        let (segment, line) = (s.segment(0)?, s.line(1)?);
        boolean(line.contains(segment.start)? && line.contains(segment.end)?)
    }),
    ("inter_lb", |s| boolean(s.rect(1)?.meets_line(s.line(0)?)?)),
    ("inter_sl", |s| boolean(s.segment(0)?.meeting_line(s.line(1)?)?.is_some())),
];

const SEGMENTS: &[(&str, Operation)] = &[
    ("lseg_construct", |s| s.points().and_then(|(a, b)| stored(&Segment::new(a, b)))),
    ("lseg_center", |s| stored(&s.segment(0)?.middle()?)),
    ("lseg_length", |s| number(s.segment(0)?.length()?)),
    ("lseg_eq", |s| s.segments().and_then(|(a, b)| boolean(a.same(b)))),
    ("lseg_lt", |s| s.lengths().and_then(|(a, b)| boolean(loose::lt(a, b)))),
    ("lseg_le", |s| s.lengths().and_then(|(a, b)| boolean(loose::le(a, b)))),
    ("lseg_horizontal", |s| s.segment(0).and_then(|a| boolean(loose::eq(a.start.y, a.end.y)))),
    ("lseg_vertical", |s| s.segment(0).and_then(|a| boolean(loose::eq(a.start.x, a.end.x)))),
    ("lseg_interpt", |s| s.segments().and_then(|(a, b)| stored_if(a.meeting(b)?))),
    ("lseg_intersect", |s| s.segments().and_then(|(a, b)| boolean(a.meeting(b)?.is_some()))),
    ("lseg_parallel", |s| s.segments().and_then(|(a, b)| boolean(loose::eq(a.slope()?, b.slope()?)))),
    ("lseg_perp", |s| s.segments().and_then(|(a, b)| boolean(loose::eq(a.slope()?, b.slope_across()?)))),
    ("on_ps", |s| boolean(s.segment(1)?.contains(s.point(0)?)?)),
];

const RECTS: &[(&str, Operation)] = &[
    ("box_add", |s| moved_rect(s, Point::plus)),
    ("box_sub", |s| moved_rect(s, Point::minus)),
    ("box_mul", |s| moved_rect(s, Point::times)),
    ("box_div", |s| moved_rect(s, Point::over)),
    ("box_area", |s| number(s.rect(0)?.area()?)),
    ("box_width", |s| number(s.rect(0)?.width()?)),
    ("box_height", |s| number(s.rect(0)?.height()?)),
    ("box_center", |s| stored(&s.rect(0)?.center()?)),
    ("box_diagonal", |s| stored(&s.rect(0)?.diagonal())),
    ("box_circle", |s| stored(&Circle::around(s.rect(0)?)?)),
    ("box_poly", |s| stored(&Polygon::from(s.rect(0)?))),
    ("box_below", |s| s.rects().and_then(|(a, b)| boolean(loose::lt(a.high.y, b.low.y)))),
    ("box_below_eq", |s| s.rects().and_then(|(a, b)| boolean(loose::le(a.high.y, b.low.y)))),
    ("box_left", |s| s.rects().and_then(|(a, b)| boolean(loose::lt(a.high.x, b.low.x)))),
    ("box_overabove", |s| s.rects().and_then(|(a, b)| boolean(loose::ge(a.low.y, b.low.y)))),
    ("box_overbelow", |s| s.rects().and_then(|(a, b)| boolean(loose::le(a.high.y, b.high.y)))),
    ("box_overleft", |s| s.rects().and_then(|(a, b)| boolean(loose::le(a.high.x, b.high.x)))),
    ("box_overright", |s| s.rects().and_then(|(a, b)| boolean(loose::ge(a.low.x, b.low.x)))),
    ("box_overlap", |s| s.rects().and_then(|(a, b)| boolean(a.overlaps(b)))),
    ("box_contain", |s| s.rects().and_then(|(a, b)| boolean(a.contains(b)))),
    ("box_same", |s| s.rects().and_then(|(a, b)| boolean(a.same(b)))),
    ("box_eq", |s| s.rect_areas().and_then(|(a, b)| boolean(loose::eq(a, b)))),
    ("box_lt", |s| s.rect_areas().and_then(|(a, b)| boolean(loose::lt(a, b)))),
    ("box_le", |s| s.rect_areas().and_then(|(a, b)| boolean(loose::le(a, b)))),
    ("box_intersect", |s| s.rects().and_then(|(a, b)| stored_if(a.common(b)))),
    ("boxes_bound_box", |s| s.rects().and_then(|(a, b)| stored(&a.union(b)))),
    ("on_pb", |s| boolean(s.rect(1)?.contains_point(s.point(0)?))),
    ("on_sb", |s| boolean(s.rect(1)?.contains_segment(s.segment(0)?))),
    ("inter_sb", |s| boolean(s.rect(1)?.meets(s.segment(0)?)?)),
];

/// A rectangle with both corners changed.
fn moved_rect(s: &Shapes<'_>, change: fn(Point, Point) -> Result<Point>) -> Result<Value> {
    let (rect, by) = (s.rect(0)?, s.point(1)?);
    stored(&Rect::between(change(rect.high, by)?, change(rect.low, by)?))
}

const PATHS: &[(&str, Operation)] = &[
    ("path_add", |s| s.paths().and_then(|(a, b)| stored_if(a.joined(b)))),
    ("path_add_pt", |s| moved_path(s, Point::plus)),
    ("path_sub_pt", |s| moved_path(s, Point::minus)),
    ("path_mul_pt", |s| moved_path(s, Point::times)),
    ("path_div_pt", |s| moved_path(s, Point::over)),
    ("path_area", |s| number_if(s.path(0)?.area()?)),
    ("path_length", |s| number(s.path(0)?.length()?)),
    ("path_npoints", |s| integer(s.path(0)?.points.len() as i64)),
    ("path_isclosed", |s| boolean(!s.path(0)?.open)),
    ("path_isopen", |s| boolean(s.path(0)?.open)),
    ("path_close", |s| stored(&Path { open: false, ..s.path(0)? })),
    ("path_open", |s| stored(&Path { open: true, ..s.path(0)? })),
    ("path_poly", |s| stored(&s.path(0)?.into_polygon()?)),
    ("path_inter", |s| s.paths().and_then(|(a, b)| boolean(a.meets(&b)?))),
    ("path_n_eq", |s| s.counts().and_then(|(a, b)| boolean(a == b))),
    ("path_n_lt", |s| s.counts().and_then(|(a, b)| boolean(a < b))),
    ("path_n_le", |s| s.counts().and_then(|(a, b)| boolean(a <= b))),
    ("on_ppath", |s| boolean(s.path(1)?.contains(s.point(0)?)?)),
];

fn moved_path(s: &Shapes<'_>, change: fn(Point, Point) -> Result<Point>) -> Result<Value> {
    let by = s.point(1)?;
    stored(&s.path(0)?.with_points(|point| change(point, by))?)
}

const POLYGONS: &[(&str, Operation)] = &[
    ("poly_box", |s| stored(&s.polygon(0)?.bounds())),
    ("poly_center", |s| stored(&s.polygon(0)?.circle()?.center)),
    ("poly_circle", |s| stored(&s.polygon(0)?.circle()?)),
    ("poly_path", |s| stored(&s.polygon(0)?.into_path())),
    ("poly_npoints", |s| integer(s.polygon(0)?.points.len() as i64)),
    ("poly_below", |s| s.bounds().and_then(|(a, b)| boolean(a.high.y < b.low.y))),
    ("poly_left", |s| s.bounds().and_then(|(a, b)| boolean(a.high.x < b.low.x))),
    ("poly_overabove", |s| s.bounds().and_then(|(a, b)| boolean(a.low.y >= b.low.y))),
    ("poly_overbelow", |s| s.bounds().and_then(|(a, b)| boolean(a.high.y <= b.high.y))),
    ("poly_overleft", |s| s.bounds().and_then(|(a, b)| boolean(a.high.x <= b.high.x))),
    ("poly_overright", |s| s.bounds().and_then(|(a, b)| boolean(a.low.x >= b.low.x))),
    ("poly_overlap", |s| s.polygons().and_then(|(a, b)| boolean(a.overlaps(&b)?))),
    ("poly_contain", |s| s.polygons().and_then(|(a, b)| boolean(a.contains(&b)?))),
    ("poly_same", |s| s.polygons().and_then(|(a, b)| boolean(a.same(&b)))),
    ("pt_contained_poly", |s| boolean(s.polygon(1)?.contains_point(s.point(0)?)?)),
];

const CIRCLES: &[(&str, Operation)] = &[
    ("cr_circle", |s| stored(&Circle { center: s.point(0)?, radius: s.float(1)? })),
    ("circle_add_pt", |s| moved_circle(s, Point::plus)),
    ("circle_sub_pt", |s| moved_circle(s, Point::minus)),
    ("circle_mul_pt", |s| {
        let (circle, by) = (s.circle(0)?, s.point(1)?);
        let radius = multiply(circle.radius, hypotenuse(by.x, by.y)?)?;
        stored(&Circle { center: circle.center.times(by)?, radius })
    }),
    ("circle_div_pt", |s| {
        let (circle, by) = (s.circle(0)?, s.point(1)?);
        let center = circle.center.over(by)?;
        stored(&Circle { center, radius: divide(circle.radius, hypotenuse(by.x, by.y)?)? })
    }),
    ("circle_area", |s| number(s.circle(0)?.area()?)),
    ("circle_center", |s| stored(&s.circle(0)?.center)),
    ("circle_diameter", |s| number(multiply(s.circle(0)?.radius, 2.0)?)),
    ("circle_radius", |s| number(s.circle(0)?.radius)),
    ("circle_box", |s| stored(&s.circle(0)?.inner_rect()?)),
    ("circle_poly", |s| stored(&s.circle(1)?.polygon(s.integer(0)?)?)),
    ("circle_below", |s| s.circles().and_then(|(a, b)| boolean(loose::lt(a.top()?, b.bottom()?)))),
    ("circle_left", |s| s.circles().and_then(|(a, b)| boolean(loose::lt(a.right()?, b.left()?)))),
    ("circle_overabove", |s| s.circles().and_then(|(a, b)| boolean(loose::ge(a.bottom()?, b.bottom()?)))),
    ("circle_overbelow", |s| s.circles().and_then(|(a, b)| boolean(loose::le(a.top()?, b.top()?)))),
    ("circle_overleft", |s| s.circles().and_then(|(a, b)| boolean(loose::le(a.right()?, b.right()?)))),
    ("circle_overright", |s| s.circles().and_then(|(a, b)| boolean(loose::ge(a.left()?, b.left()?)))),
    ("circle_overlap", |s| s.circles().and_then(|(a, b)| boolean(a.overlaps(b)?))),
    ("circle_contain", |s| s.circles().and_then(|(a, b)| boolean(a.contains(b)?))),
    ("circle_same", |s| s.circles().and_then(|(a, b)| boolean(a.same(b)))),
    ("circle_eq", |s| s.circle_areas().and_then(|(a, b)| boolean(loose::eq(a, b)))),
    ("circle_ne", |s| s.circle_areas().and_then(|(a, b)| boolean(loose::ne(a, b)))),
    ("circle_lt", |s| s.circle_areas().and_then(|(a, b)| boolean(loose::lt(a, b)))),
    ("circle_le", |s| s.circle_areas().and_then(|(a, b)| boolean(loose::le(a, b)))),
    ("pt_contained_circle", |s| boolean(s.circle(1)?.contains_point(s.point(0)?)?)),
];

fn moved_circle(s: &Shapes<'_>, change: fn(Point, Point) -> Result<Point>) -> Result<Value> {
    let circle = s.circle(0)?;
    stored(&Circle { center: change(circle.center, s.point(1)?)?, radius: circle.radius })
}

const DISTANCES: &[(&str, Operation)] = &[
    ("point_distance", |s| s.points().and_then(|(a, b)| number(a.distance(b)?))),
    ("line_distance", |s| s.lines().and_then(|(a, b)| number(a.distance(b)?))),
    ("lseg_distance", |s| s.segments().and_then(|(a, b)| number(a.closest_to(b)?.1))),
    ("box_distance", |s| s.rects().and_then(|(a, b)| number(a.center()?.distance(b.center()?)?))),
    ("path_distance", |s| s.paths().and_then(|(a, b)| number_if(a.distance(&b)?))),
    ("poly_distance", |s| s.polygons().and_then(|(a, b)| number_if(a.distance(&b)?))),
    ("circle_distance", |s| s.circles().and_then(|(a, b)| number(a.distance(b)?))),
    ("dist_pl", |s| number(s.line(1)?.closest(s.point(0)?)?.1)),
    ("dist_ps", |s| number(s.segment(1)?.closest(s.point(0)?)?.1)),
    ("dist_pb", |s| number(s.rect(1)?.closest(s.point(0)?)?.1)),
    ("dist_ppath", |s| number(s.path(1)?.distance_to_point(s.point(0)?)?)),
    ("dist_ppoly", |s| number(s.polygon(1)?.distance_to_point(s.point(0)?)?)),
    ("dist_pc", |s| number(s.circle(1)?.distance_to_point(s.point(0)?)?)),
    ("dist_sl", |s| number(s.segment(0)?.closest_to_line(s.line(1)?)?.1)),
    ("dist_sb", |s| number(s.rect(1)?.closest_to(s.segment(0)?)?.1)),
    ("dist_polyc", |s| number(s.circle(1)?.distance_to_polygon(&s.polygon(0)?)?)),
];

const CLOSEST: &[(&str, Operation)] = &[
    ("close_pl", |s| closest(s.line(1)?.closest(s.point(0)?)?)),
    ("close_ps", |s| closest(s.segment(1)?.closest(s.point(0)?)?)),
    ("close_pb", |s| closest(s.rect(1)?.closest(s.point(0)?)?)),
    ("close_sb", |s| closest(s.rect(1)?.closest_to(s.segment(0)?)?)),
    ("close_ls", |s| {
        let (line, segment) = (s.line(0)?, s.segment(1)?);
        if segment.slope()? == line.slope()? { Ok(Value::Null) } else { closest(segment.closest_to_line(line)?) }
    }),
    ("close_lseg", |s| {
        let (to, on) = s.segments()?;
        if to.slope()? == on.slope()? { Ok(Value::Null) } else { closest(on.closest_to(to)?) }
    }),
];

const PARTS: &[(&str, Operation)] = &[
    ("point_part", |s| {
        let Point { x, y } = s.point(0)?;
        number_if(part(&[x, y], s.integer(1)?))
    }),
    ("line_part", |s| {
        let Line { a, b, c } = s.line(0)?;
        number_if(part(&[a, b, c], s.integer(1)?))
    }),
    ("lseg_part", |s| {
        let Segment { start, end } = s.segment(0)?;
        stored_if(part(&[start, end], s.integer(1)?))
    }),
    ("box_part", |s| {
        let Rect { high, low } = s.rect(0)?;
        stored_if(part(&[high, low], s.integer(1)?))
    }),
    ("point_with_part", |s| {
        let Point { x, y } = s.point(0)?;
        let [x, y] = with_part([x, y], s.float(1)?, s.integer(2)?)?;
        stored(&Point { x, y })
    }),
    ("line_with_part", |s| {
        let Line { a, b, c } = s.line(0)?;
        let [a, b, c] = with_part([a, b, c], s.float(1)?, s.integer(2)?)?;
        stored(&Line { a, b, c })
    }),
    ("lseg_with_part", |s| {
        let Segment { start, end } = s.segment(0)?;
        let [start, end] = with_part([start, end], s.point(1)?, s.integer(2)?)?;
        stored(&Segment { start, end })
    }),
    ("box_with_part", |s| {
        let Rect { high, low } = s.rect(0)?;
        let [high, low] = with_part([high, low], s.point(1)?, s.integer(2)?)?;
        stored(&Rect { high, low })
    }),
];

fn part<T: Copy>(parts: &[T], at: i64) -> Option<T> {
    usize::try_from(at).ok().and_then(|at| parts.get(at).copied())
}

fn with_part<T, const N: usize>(mut parts: [T; N], part: T, at: i64) -> Result<[T; N]> {
    match usize::try_from(at).ok().and_then(|at| parts.get_mut(at)) {
        Some(place) => *place = part,
        None => return Err(Error::new(Condition::ArraySubscriptError, "array subscript out of range")),
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_of_the_function_table_is_here() {
        let named = crate::functions::tests::operations_of("rf_geometry");
        assert!(named.len() > 300);
        for name in named {
            assert!(OPERATIONS.contains_key(name), "{name}");
        }
    }
}
