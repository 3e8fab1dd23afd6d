//! Charts as SVG: each line has its name beside its end, in light and in dark.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

/// What a chart shows.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The file's name without its extension.
    pub name: &'static str,
    /// What follows from it.
    pub title: String,
    /// The axis below it.
    pub x: Axis,
    /// The axis on its left.
    pub y: Axis,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    /// What it measures, and in which unit.
    pub label: &'static str,
    /// Where values are on it.
    pub scale: Scale,
}

/// Where values are on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From a little below the lowest value to a little above the highest one, by their logarithms.
    Logarithmic,
    /// From 0 to the highest value.
    Linear,
    /// The same, for hours.
    Hours,
}

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is of.
    pub name: String,
    /// Where it passes.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub mark: Mark,
}

/// How a curve is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A line from point to point.
    Line,
    /// A thin grey line, for what the others are compared with.
    Reference,
    /// Points alone, each with what it may be off, up and down.
    Points(Vec<f64>),
}

const WIDTH: f64 = 820.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 76.0;
const BOTTOM: f64 = 52.0;

/// What a letter takes at most, of names and of titles, and how far lines of text are apart.
const LETTER: f64 = 7.0;
const TITLE_LETTER: f64 = 9.8;
const LINE: f64 = 17.0;

/// How far ticks must be apart, on each axis.
const APART: (f64, f64) = (46.0, 26.0);

/// With more points than this, a line has no circles.
const MOST_CIRCLES: usize = 24;

/// Colours that tell apart what is next to each other, for the colour-blind as well (after Okabe and Ito): in light, and in dark.
const COLOURS: [(&str, &str); 7] = [
    ("#0072b2", "#56a8e0"),
    ("#d55e00", "#ff8b3d"),
    ("#009e73", "#2fc79b"),
    ("#b0538c", "#e79fc8"),
    ("#8a6d00", "#e8c547"),
    ("#1f2328", "#e6edf3"),
    ("#6e7781", "#9aa4af"),
];

impl Chart {
    /// Draws it into a directory.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn draw(&self, directory: &Path) -> io::Result<()> {
        fs::write(directory.join(self.name).with_extension("svg"), self.svg())
    }

    /// Returns it as SVG.
    #[must_use]
    pub fn svg(&self) -> String {
        let longest = self.curves.iter().map(|curve| letters(&curve.name)).fold(0.0, f64::max);
        let right = WIDTH - LETTER * longest - 28.0;
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let x = Place::new(self.x.scale, points().map(|point| point.0), LEFT, right);
        let y = Place::new(self.y.scale, points().map(|point| point.1), HEIGHT - BOTTOM, TOP);
        let mut lines = vec![
            format!(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">"
            ),
            format!("<title>{}</title>", escape(&self.title)),
            style(),
            format!("<rect class=\"back\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>"),
        ];
        self.write_title(&mut lines);
        self.draw_axes(&mut lines, &x, &y);
        self.draw_curves(&mut lines, &x, &y);
        lines.push("</svg>\n".into());
        lines.join("\n")
    }

    fn write_title(&self, lines: &mut Vec<String>) {
        for (text, row) in wrap(&self.title, (WIDTH - 24.0) / TITLE_LETTER).iter().zip(0..) {
            lines.push(format!(
                "<text class=\"title\" x=\"12\" y=\"{}\">{}</text>",
                24.0 + 20.0 * f64::from(row),
                escape(text)
            ));
        }
    }

    /// Draws the axes, with a line of the grid at each number.
    fn draw_axes(&self, lines: &mut Vec<String>, x: &Place, y: &Place) {
        for tick in x.ticks(APART.0) {
            let at = round(x.at(tick));
            lines.push(format!("<path class=\"grid\" d=\"M{at} {TOP}V{}\"/>", HEIGHT - BOTTOM));
            lines.push(format!(
                "<text class=\"middle\" x=\"{at}\" y=\"{}\">{}</text>",
                HEIGHT - BOTTOM + 18.0,
                label(tick)
            ));
        }
        for tick in y.ticks(APART.1) {
            let at = round(y.at(tick));
            lines.push(format!("<path class=\"grid\" d=\"M{LEFT} {at}H{}\"/>", round(x.to)));
            lines.push(format!(
                "<text class=\"end\" x=\"{}\" y=\"{}\">{}</text>",
                LEFT - 6.0,
                at + 4.5,
                label(tick)
            ));
        }
        lines.push(format!(
            "<text class=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            round(f64::midpoint(LEFT, x.to)),
            HEIGHT - 10.0,
            self.x.label
        ));
        lines.push(format!("<text x=\"12\" y=\"{}\">{}</text>", TOP - 12.0, self.y.label));
    }

    /// Draws each curve, with its name beside its end.
    fn draw_curves(&self, lines: &mut Vec<String>, x: &Place, y: &Place) {
        let ends: Vec<_> = self.curves.iter().map(|curve| curve.end(x, y)).collect();
        let names = apart(&ends.iter().map(|end| end.1).collect::<Vec<_>>());
        let mut colour = 0;
        for ((curve, end), name) in self.curves.iter().zip(&ends).zip(names) {
            let class = if curve.mark == Mark::Reference {
                "reference".into()
            } else {
                colour += 1;
                format!("c{}", (colour - 1) % COLOURS.len())
            };
            lines.push(format!("<g class=\"{class}\">"));
            lines.push(curve.body(x, y));
            let (from, to) = (end.0 + 5.0, x.to + 12.0);
            lines.push(format!(
                "<path class=\"leader\" d=\"M{} {}L{} {}\"/>",
                round(from),
                round(end.1),
                round(to),
                round(name)
            ));
            lines.push(format!(
                "<text x=\"{}\" y=\"{}\">{}</text>",
                round(to + 4.0),
                round(name + 4.5),
                escape(&curve.name)
            ));
            lines.push("</g>".into());
        }
    }
}

impl Curve {
    /// Where it ends: its name stands beside that.
    fn end(&self, x: &Place, y: &Place) -> (f64, f64) {
        self.points.last().map_or((x.to, y.from), |point| (x.at(point.0), y.at(point.1)))
    }

    fn body(&self, x: &Place, y: &Place) -> String {
        let mut text = String::new();
        let at = |point: &(f64, f64)| (round(x.at(point.0)), round(y.at(point.1)));
        if !matches!(self.mark, Mark::Points(_)) {
            let points: Vec<_> = self.points.iter().map(at).map(|(x, y)| format!("{x},{y}")).collect();
            let _ = write!(text, "<polyline points=\"{}\"/>", points.join(" "));
        }
        if let Mark::Points(off) = &self.mark {
            for ((point_x, point_y), off) in self.points.iter().zip(off) {
                let [x, from, to] = [x.at(*point_x), y.at(point_y - off), y.at(point_y + off)].map(round);
                let _ = write!(text, "<path d=\"M{x} {from}V{to}\"/>");
            }
        }
        if self.mark != Mark::Reference && self.points.len() <= MOST_CIRCLES {
            for (x, y) in self.points.iter().map(at) {
                let _ = write!(text, "<circle cx=\"{x}\" cy=\"{y}\" r=\"3.5\"/>");
            }
        }
        text
    }
}

/// What a value's place on the picture is.
struct Place {
    scale: Scale,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Place {
    fn new(scale: Scale, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        // Without a value, any range will do.
        let (low, high) = if low <= high && high > 0.0 { (low, high) } else { (1.0, 10.0) };
        let (low, high) = match scale {
            Scale::Logarithmic => (low / 1.15, high * 1.15),
            Scale::Linear | Scale::Hours => (0.0, high),
        };
        Self { scale, low, high, from, to }
    }

    fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Linear | Scale::Hours => (value - self.low) / (self.high - self.low),
        }
    }

    fn at(&self, value: f64) -> f64 {
        self.from + (self.to - self.from) * self.share(value)
    }

    /// The most ticks that are so far apart.
    fn ticks(&self, apart: f64) -> Vec<f64> {
        let is_apart = |ticks: &Vec<f64>| {
            ticks.windows(2).all(|pair| (self.at(pair[1]) - self.at(pair[0])).abs() >= apart)
        };
        let fits = |tick: &f64| *tick >= self.low * (1.0 - 1e-9) && *tick <= self.high * (1.0 + 1e-9);
        let powers = || (-12..=12).map(|power| 10_f64.powi(power));
        let choices: Vec<Vec<f64>> = match self.scale {
            Scale::Logarithmic => {
                let fine = powers().flat_map(|power| [power, 2.0 * power, 5.0 * power]).collect();
                let by = |step| powers().step_by(step).collect();
                vec![fine, by(1), by(2), by(3), by(6)]
            }
            Scale::Linear => {
                let steps = powers().flat_map(|power| [power, 2.0 * power, 5.0 * power]);
                steps
                    .filter(|step| self.high / step < 1_000.0)
                    .map(|step| multiples(step, self.high))
                    .collect()
            }
            Scale::Hours => {
                [1.0, 3.0, 6.0, 12.0, 24.0, 48.0, 168.0].map(|step| multiples(step, self.high)).into()
            }
        };
        let mut choices = choices
            .into_iter()
            .map(|ticks| ticks.into_iter().filter(fits).collect::<Vec<_>>())
            .filter(is_apart);
        choices.next().unwrap_or_default()
    }
}

fn multiples(step: f64, most: f64) -> Vec<f64> {
    (0..1_000)
        .map(|number| f64::from(number) * step)
        .take_while(|value| *value <= most * (1.0 + 1e-9))
        .collect()
}

/// Moves names apart that would stand on each other, and keeps their order and all of them on the picture.
fn apart(wanted: &[f64]) -> Vec<f64> {
    let mut order: Vec<_> = (0..wanted.len()).collect();
    order.sort_by(|a, b| wanted[*a].total_cmp(&wanted[*b]));
    let mut places = wanted.to_vec();
    let mut least = TOP;
    for &name in &order {
        places[name] = places[name].max(least);
        least = places[name] + LINE;
    }
    let mut most = HEIGHT - BOTTOM;
    for &name in order.iter().rev() {
        places[name] = places[name].min(most);
        most = places[name] - LINE;
    }
    places
}

/// Breaks a text into lines of at most so many letters.
fn wrap(text: &str, most: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a line");
        if line.is_empty() {
            line.push_str(word);
        } else if letters(line) + 1.0 + letters(word) <= most {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.into());
        }
    }
    lines
}

#[expect(clippy::cast_precision_loss, reason = "short texts")]
fn letters(text: &str) -> f64 {
    text.chars().count() as f64
}

/// A place, to a tenth of a pixel.
fn round(place: f64) -> f64 {
    (place * 10.0).round() / 10.0
}

/// A number on an axis: 10, 1k, 10M.
fn label(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (divisor, unit) = units.into_iter().find(|(unit, _)| number >= *unit).unwrap_or((1.0, ""));
    let digits = format!("{:.3}", number / divisor);
    format!("{}{unit}", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn style() -> String {
    let colours = |dark: bool| {
        let mut text = String::new();
        for (number, (light, in_dark)) in COLOURS.iter().enumerate() {
            let _ = write!(text, ".c{number}{{color:{}}}", if dark { in_dark } else { light });
        }
        text
    };
    format!(
        "<style>\n\
         text{{font:13px system-ui,sans-serif;fill:#59636e}}\n\
         .title{{font-size:16px;font-weight:600;fill:#1f2328}}\n\
         .middle{{text-anchor:middle}}.end{{text-anchor:end}}\n\
         .back{{fill:#fff}}.grid{{stroke:#dfe3e8}}.reference{{color:#8c959f}}{}\n\
         g text,circle{{fill:currentColor}}\n\
         polyline,g path{{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}}\n\
         .reference polyline{{stroke-width:1}}g .leader{{stroke-width:1;stroke-opacity:.5}}\n\
         @media (prefers-color-scheme:dark){{\n\
         text{{fill:#9198a1}}.title{{fill:#f0f6fc}}.back{{fill:#0d1117}}.grid{{stroke:#2b313a}}{}\n\
         }}\n\
         </style>",
        colours(false),
        colours(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(scale: Scale, low: f64, high: f64) -> Place {
        Place::new(scale, [low, high].into_iter(), 0.0, 600.0)
    }

    #[test]
    fn ticks_are_round_and_apart() {
        let labels = |place: Place| place.ticks(APART.0).into_iter().map(label).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(place(Scale::Logarithmic, 1_000.0, 1e7)), "1k 10k 100k 1M 10M");
        assert_eq!(labels(place(Scale::Logarithmic, 0.5, 12.0)), "0.5 1 2 5 10");
        assert_eq!(labels(place(Scale::Logarithmic, 1.0, 1e6)), "1 10 100 1k 10k 100k 1M");
        assert_eq!(labels(place(Scale::Linear, 3.0, 100.0)), "0 10 20 30 40 50 60 70 80 90 100");
        assert_eq!(labels(place(Scale::Hours, 0.0, 48.0)), "0 6 12 18 24 30 36 42 48");
    }

    #[test]
    fn names_stand_apart_in_their_order() {
        let places = apart(&[300.0, 100.0, 101.0, 1_000.0, 999.0]);
        assert_eq!(places, [300.0, 100.0, 117.0, HEIGHT - BOTTOM, HEIGHT - BOTTOM - LINE]);
    }

    #[test]
    fn titles_are_broken_between_words() {
        assert_eq!(wrap("one two three", 7.0), ["one two", "three"]);
    }

    /// Every class that is used has a colour in the style, and every colour of the light is replaced in the dark.
    #[test]
    fn it_has_a_dark_form_of_every_colour() {
        let (light, dark) =
            style().split_once("@media").map(|(a, b)| (a.to_string(), b.to_string())).unwrap();
        for class in (0..COLOURS.len()).map(|number| format!(".c{number}{{")).chain([
            ".back{".into(),
            ".grid{".into(),
            ".title{".into(),
        ]) {
            assert!(light.contains(&class) && dark.contains(&class), "{class}");
        }
    }
}
