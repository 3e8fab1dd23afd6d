//! Curves on two logarithmic axes, as SVG.

use plotters::prelude::*;
use std::error::Error;
use std::path::Path;

/// One curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What it is of.
    pub name: String,
    /// Where it passes.
    pub points: Vec<(f64, f64)>,
}

/// What a chart shows.
#[derive(Clone, Debug)]
pub struct Chart {
    /// The file's name without its extension.
    pub name: &'static str,
    /// What stands above it.
    pub title: String,
    /// What stands below it.
    pub x: &'static str,
    /// What stands beside it.
    pub y: &'static str,
    /// The curves.
    pub curves: Vec<Curve>,
}

const SIZE: (u32, u32) = (800, 400);

/// How much of the width is for the names of the curves.
const LEGEND: u32 = 160;

const FONT: (&str, i32) = ("sans-serif", 13);

/// Colours that tell apart what is next to each other, for the colour-blind as well (Okabe and Ito's).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(0, 0, 0),
    RGBColor(150, 150, 150),
];

impl Chart {
    /// Draws it into a directory.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn draw(&self, directory: &Path) -> Result<(), Box<dyn Error>> {
        let path = directory.join(self.name).with_extension("svg");
        let area = SVGBackend::new(&path, SIZE).into_drawing_area();
        area.fill(&WHITE)?;
        let (area, legend) = area.split_horizontally(SIZE.0 - LEGEND);
        let points = || self.curves.iter().flat_map(|curve| &curve.points);
        let (left, right) = range(points().map(|point| point.0));
        let (low, high) = range(points().map(|point| point.1));
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(62)
            .build_cartesian_2d((left..right).log_scale(), (low / 1.3..high * 1.3).log_scale())?;
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .label_style(FONT)
            .x_desc(self.x)
            .y_desc(self.y)
            .x_label_formatter(&|x| label(*x))
            .y_label_formatter(&|y| label(*y))
            .draw()?;
        for ((curve, colour), y) in self.curves.iter().zip(COLOURS.iter().cycle()).zip((56..).step_by(22)) {
            let style = colour.stroke_width(2);
            chart.draw_series(LineSeries::new(curve.points.iter().copied(), style).point_size(2))?;
            legend.draw(&PathElement::new([(0, y), (16, y)], style))?;
            legend.draw(&Text::new(curve.name.as_str(), (22, y - 6), FONT))?;
        }
        Ok(area.present()?)
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(low, high), value| (low.min(value), high.max(value)))
}

/// A number on an axis: 10, 1k, 10M.
fn label(number: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (divisor, unit) = units.into_iter().find(|(unit, _)| number >= *unit).unwrap_or((1.0, ""));
    format!("{}{unit}", number / divisor)
}
