//! Charts as SVG: lines over numbers, for the pages of results.
//!
//! A chart is made from the rows of a [`Table`]. Its text depends on nothing else, so that the same rows give the same
//! bytes.

use std::fmt::Write;

use super::report::{Cell, Table};

/// A chart of lines.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Chart {
    /// The name of its file, without extension.
    pub name: String,
    title: String,
    across: String,
    up: String,
    lines: Vec<(String, Vec<(f64, f64)>)>,
}

/// The most lines of a chart; each has a colour of its own.
const COLOURS: [&str; 8] = [
    "#1f6feb", "#d1242f", "#2da44e", "#9a6700", "#8250df", "#57606a", "#bf3989", "#0a7ea4",
];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
/// The room left of, above, right of and below the lines.
const MARGINS: (f64, f64, f64, f64) = (62.0, 40.0, 180.0, 44.0);
/// How many points a line has at most; of a longer one, means of neighbouring points are drawn.
const MOST_POINTS: usize = 400;
/// From which ratio of the largest to the least value on values are drawn by their logarithm.
const LOGARITHMIC: f64 = 200.0;

impl Chart {
    /// One line for each value of the column `by`: the column `up` over the column `across`.
    pub(crate) fn of(table: &Table, by: &[&str], across: &str, up: &str) -> Self {
        let mut chart = Self::empty(table, across, up);
        for row in 0..table.rows.len() {
            let name: Vec<String> = by.iter().map(|by| table.at(row, by).to_string()).collect();
            chart.add(&name.join(", "), &table.at(row, across), &table.at(row, up));
        }
        chart
    }

    /// One line for each of these columns, over the column `across`.
    pub(crate) fn columns(table: &Table, across: &str, columns: &[&str], up: &str) -> Self {
        let mut chart = Self::empty(table, across, up);
        for row in 0..table.rows.len() {
            for column in columns {
                chart.add(column, &table.at(row, across), &table.at(row, column));
            }
        }
        chart
    }

    fn empty(table: &Table, across: &str, up: &str) -> Self {
        Self {
            name: table.name.clone(),
            title: table.title.clone(),
            across: across.into(),
            up: up.into(),
            lines: Vec::new(),
        }
    }

    /// The chart under another name, with another title.
    pub(crate) fn named(mut self, name: &str, title: &str) -> Self {
        self.name = name.into();
        self.title = title.into();
        self
    }

    /// The chart with these titles of its axes, with units, instead of the names of columns.
    pub(crate) fn axes(mut self, across: &str, up: &str) -> Self {
        self.across = across.into();
        self.up = up.into();
        self
    }

    /// The title.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    /// Adds a point to a line. A place across may be a text that begins with a number.
    fn add(&mut self, line: &str, across: &Cell, up: &Cell) {
        let across = across.number().or_else(|| {
            let text = across.to_string();
            let digits = text.split([' ', '%']).next()?.to_owned();
            digits.parse().ok()
        });
        let (Some(x), Some(y)) = (across, up.number()) else {
            return;
        };
        if !x.is_finite() || !y.is_finite() {
            return;
        }
        match self.lines.iter_mut().find(|(name, _)| name == line) {
            Some((_, points)) => points.push((x, y)),
            None => self.lines.push((line.into(), vec![(x, y)])),
        }
    }

    /// The chart as SVG.
    pub(crate) fn svg(&self) -> String {
        let (left, top, right, bottom) = MARGINS;
        let (wide, high) = (WIDTH - left - right, HEIGHT - top - bottom);
        let lines: Vec<(&str, Vec<(f64, f64)>)> = self
            .lines
            .iter()
            .take(COLOURS.len())
            .map(|(name, points)| (name.as_str(), thinned(points)))
            .collect();
        let points = || lines.iter().flat_map(|(_, points)| points);
        let across = Axis::of(points().map(|point| point.0), false, wide);
        let up = Axis::of(points().map(|point| point.1), true, high);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"11\">\n\
             <style>text{{fill:#24292f}}.grid{{stroke:#d0d7de}}.back{{fill:#fff}}\
             @media(prefers-color-scheme:dark){{text{{fill:#d0d7de}}.grid{{stroke:#444c56}}.back{{fill:#161b22}}}}</style>\n\
             <rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n"
        );
        let text = |x: f64, y: f64, anchor: &str, text: &str| {
            let text = escaped(text);
            format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>\n")
        };
        svg += &text(left, 16.0, "start", &self.title);
        svg += &text(
            left + wide / 2.0,
            HEIGHT - 8.0,
            "middle",
            &across.title(&self.across),
        );
        svg += &text(left, top - 7.0, "start", &up.title(&self.up));
        for mark in up.marks() {
            let y = top + high - up.place(mark);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{left}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>",
                left + wide
            );
            svg += &text(left - 6.0, y + 4.0, "end", &short(mark));
        }
        for mark in across.marks() {
            let x = left + across.place(mark);
            svg += &text(x, top + high + 16.0, "middle", &short(mark));
        }
        for (number, ((name, points), colour)) in (0_u32..).zip(lines.iter().zip(COLOURS)) {
            let place = |(x, y): &(f64, f64)| {
                format!(
                    "{:.1},{:.1}",
                    left + across.place(*x),
                    top + high - up.place(*y)
                )
            };
            let places: Vec<String> = points.iter().map(place).collect();
            let _ = writeln!(
                svg,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" points=\"{}\"/>",
                places.join(" ")
            );
            if points.len() <= 12 {
                for place in &places {
                    let (x, y) = place.split_once(',').unwrap_or(("0", "0"));
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{x}\" cy=\"{y}\" r=\"2.5\" fill=\"{colour}\"/>"
                    );
                }
            }
            let y = top + 10.0 + 16.0 * f64::from(number);
            let x = left + wide + 10.0;
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"12\" height=\"3\" fill=\"{colour}\"/>",
                y - 5.0
            );
            svg += &text(x + 17.0, y, "start", name);
        }
        svg + "</svg>\n"
    }
}

/// At most [`MOST_POINTS`] points: means of neighbours, where there are more.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let mean = |points: &[(f64, f64)]| {
        let count = points.len() as f64;
        let sum = points
            .iter()
            .fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
        (sum.0 / count, sum.1 / count)
    };
    points.chunks(every).map(mean).collect()
}

/// An axis: from which value to which, and how long it is.
struct Axis {
    least: f64,
    most: f64,
    length: f64,
    logarithmic: bool,
}

impl Axis {
    /// An axis with room for these values. One that goes up begins at zero, unless values differ by orders of magnitude.
    fn of(values: impl Iterator<Item = f64>, upwards: bool, length: f64) -> Self {
        let (least, most) = values.fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most), value| (least.min(value), most.max(value)),
        );
        let (least, most) = match least <= most {
            true => (least, most),
            false => (0.0, 1.0),
        };
        // A share is easier to read from 0 to 100 % than by its order of magnitude.
        let logarithmic = least > 0.0 && most > 1.0 && most / least > LOGARITHMIC;
        let least = match upwards && !logarithmic {
            true => least.min(0.0),
            false => least,
        };
        let most = match most > least {
            true => most,
            false => least + 1.0,
        };
        Self {
            least,
            most,
            length,
            logarithmic,
        }
    }

    /// The title, with a word on the scale.
    fn title(&self, name: &str) -> String {
        match self.logarithmic {
            true => format!("{name} (log)"),
            false => name.into(),
        }
    }

    /// How far from the beginning a value is drawn.
    fn place(&self, value: f64) -> f64 {
        let part = match self.logarithmic {
            true => (value / self.least).ln() / (self.most / self.least).ln(),
            false => (value - self.least) / (self.most - self.least),
        };
        self.length * part
    }

    /// Round values to be marked, about five of them.
    fn marks(&self) -> Vec<f64> {
        if self.logarithmic {
            let from = self.least.log10().ceil() as i32;
            let until = self.most.log10().floor() as i32;
            return (from..=until).map(|power| 10_f64.powi(power)).collect();
        }
        let rough = (self.most - self.least) / 5.0;
        let power = 10_f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
        let step = steps
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        let first = (self.least / step).ceil() as i64;
        let marks = (first..).map(|number| number as f64 * step);
        marks
            .take_while(|mark| *mark <= self.most + step * 1e-9)
            .collect()
    }
}

/// A number as short as can be: 1500000 is 1.5M.
fn short(number: f64) -> String {
    let (value, unit) = match number.abs() {
        many if many >= 1e9 => (number / 1e9, "G"),
        many if many >= 1e6 => (number / 1e6, "M"),
        many if many >= 1e4 => (number / 1e3, "k"),
        _ => (number, ""),
    };
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{}{unit}", if text == "-0" { "0" } else { text })
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::data("d", "waits <s>", "scheme | hour | wait");
        for hour in 0..3_u64 {
            table.push(["a".into(), hour.into(), (100 * hour).into()]);
            table.push(["b".into(), hour.into(), Cell::Empty]);
        }
        table
    }

    #[test]
    fn each_name_has_a_line_and_what_is_no_number_has_none() {
        let chart = Chart::of(&table(), &["scheme"], "hour", "wait");
        assert_eq!(chart.lines.len(), 1);
        let svg = chart.svg();
        assert_eq!(svg.matches("<polyline").count(), 1);
        assert!(svg.contains("waits &lt;s&gt;"), "{svg}");
        assert_eq!(svg, chart.svg());
    }

    #[test]
    fn an_empty_chart_is_whole() {
        let mut empty = table();
        empty.rows.clear();
        let svg = Chart::of(&empty, &["scheme"], "hour", "wait").svg();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn marks_are_round_and_within_the_axis() {
        let axis = Axis::of([3.0, 47.0].into_iter(), true, 100.0);
        assert_eq!(axis.marks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        let axis = Axis::of([2.0, 900.0].into_iter(), true, 100.0);
        assert_eq!(axis.marks(), [10.0, 100.0]);
        assert_eq!(short(1_500_000.0), "1.5M");
        assert_eq!(short(0.25), "0.25");
    }

    #[test]
    fn shares_are_drawn_from_zero() {
        let axis = Axis::of([1e-5, 0.9].into_iter(), true, 100.0);
        assert_eq!((axis.least, axis.logarithmic), (0.0, false));
    }

    #[test]
    fn a_place_may_be_a_text_that_begins_with_a_number() {
        let mut table = Table::data("d", "waits", "between | wait");
        table.push(["2.50 s".into(), 7_u64.into()]);
        table.push(["40 %".into(), 8_u64.into()]);
        let chart = Chart::columns(&table, "between", &["wait"], "s");
        assert_eq!(chart.lines[0].1, [(2.5, 7.0), (40.0, 8.0)]);
    }

    #[test]
    fn a_long_line_is_drawn_by_means_of_neighbours() {
        let points: Vec<(f64, f64)> = (0..1000).map(|n| (f64::from(n), 1.0)).collect();
        let thin = thinned(&points);
        assert!(thin.len() <= MOST_POINTS);
        assert!(thin.iter().all(|point| point.1 == 1.0));
    }
}
