//! Charts of every kind and of odd figures: texts keep apart, lines stay inside.

use super::*;
use crate::drawing::{Drawing, Shape, assert_texts_keep_apart};

fn curves(count: usize, scale: Scale) -> LineChart {
    let point = |index: usize, step: usize| {
        let x = 40_960.0 * 1.3f64.powi(step as i32);
        let y = 0.9 / (1.0 + (step as f64 / 12.0).powi(2)) + 0.02 * index as f64;
        LinePoint { x, y, low: y - 0.03, high: y + 0.03 }
    };
    let series = |index| Series {
        name: format!("policy-{index}@variant"),
        points: (0..40).map(|step| point(index, step)).collect(),
    };
    LineChart {
        title: "Miss ratio by cache size".into(),
        x: Axis { label: "cache size".into(), scale, unit: Unit::Bytes },
        y: Axis::linear("miss ratio", Unit::Percent),
        series: (0..count).map(series).collect(),
        caption: "113,872 requests; bands hold the full run's value 95 times in 100".into(),
    }
}

fn bars(groups: usize, series: usize) -> BarChart {
    let values = |index: usize| (0..groups).map(|group| 0.9 / (1 + group + index) as f64).collect();
    BarChart {
        title: "Miss ratio by policy and cache size".into(),
        x_label: "cache size".into(),
        y: Axis::linear("miss ratio", Unit::Percent),
        groups: (0..groups).map(|group| format!("{}.5 MB", 10 * group)).collect(),
        series: (0..series).map(|index| (format!("policy-{index}"), values(index))).collect(),
        caption: "per cent of requests".into(),
    }
}

fn assert_sound(drawing: &Drawing) {
    assert_texts_keep_apart(drawing);
    let svg = drawing.svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    for shape in drawing.shapes() {
        if let Shape::Line { points, .. } | Shape::Area { points, .. } = shape {
            assert!(
                points.iter().all(|point| point.0 >= 0.0 && point.0 <= 760.0 && point.1 >= 0.0),
                "{shape:?}"
            );
        }
    }
}

#[test]
fn line_charts_of_many_series_and_both_scales_are_sound() {
    for count in [0, 1, 3, 20] {
        assert_sound(&curves(count, Scale::Log).draw());
        assert_sound(&curves(count, Scale::Linear).draw());
    }
}

#[test]
fn names_at_the_ends_of_lines_keep_apart() {
    for count in [0, 1, 3, 12] {
        assert_sound(&curves(count, Scale::Log).draw_labelled());
    }
    // All lines end at one height: at the bottom, and in the middle.
    for height in [0.0, 0.5] {
        let mut flat = curves(6, Scale::Linear);
        let points = flat.series.iter_mut().flat_map(|series| &mut series.points);
        points.for_each(|point| *point = LinePoint::exact(point.x, height));
        flat.series[0].points[0].y = 1.0;
        let drawing = flat.draw_labelled();
        assert_sound(&drawing);
        let texts = drawing.texts();
        assert!(flat.series.iter().all(|series| texts.iter().any(|at| at.words == series.name)));
    }
}

#[test]
fn any_number_is_named_with_the_digits_that_it_needs() {
    let words = [1.02, 0.1 + 0.2, 42.0].map(|value| Unit::Number.words(value));
    assert_eq!(words, ["1.02", "0.3", "42"]);
}

#[test]
fn bar_charts_of_few_and_many_are_sound() {
    for (groups, series) in [(0, 0), (1, 1), (3, 4), (12, 9), (40, 3)] {
        assert_sound(&bars(groups, series).draw());
    }
}

#[test]
fn odd_values_do_no_harm() {
    let mut chart = curves(2, Scale::Log);
    chart.series[0].points =
        vec![LinePoint::exact(0.0, f64::NAN), LinePoint::exact(f64::INFINITY, 1.0)];
    chart.series[1].points = vec![LinePoint::exact(0.0, 0.0)];
    assert_sound(&chart.draw());
    let mut chart = bars(2, 2);
    chart.series[0].1 = vec![f64::NAN, 0.0];
    assert_sound(&chart.draw());
}

#[test]
fn a_band_is_drawn_only_where_a_line_may_be_off() {
    let areas = |chart: &LineChart| {
        chart.draw().shapes().iter().filter(|shape| matches!(shape, Shape::Area { .. })).count()
    };
    let mut chart = curves(2, Scale::Log);
    assert_eq!(areas(&chart), 2);
    chart.series[0].points.iter_mut().for_each(|point| *point = LinePoint::exact(point.x, point.y));
    assert_eq!(areas(&chart), 1);
}

#[test]
fn dots_stay_in_their_panels_and_one_is_drawn_at_a_place() {
    let chart = |dots: Vec<(f64, f64)>| DotChart {
        title: "Where a run finds its files".into(),
        x_label: "first load to last load".into(),
        y: Axis::linear("place in the archive", Unit::Bytes),
        panels: vec!["by name".into(), "best".into()],
        series: vec![DotSeries { name: "run".into(), panels: vec![dots.clone(), dots] }],
        caption: "each dot is a load".into(),
    };
    let drawn = |dots| {
        let drawing = chart(dots).draw();
        assert_sound(&drawing);
        let dots = drawing.shapes().iter().filter_map(|shape| match *shape {
            Shape::Rectangle { x, y, .. } => Some((x, y)),
            _ => None,
        });
        dots.collect::<Vec<_>>()
    };
    assert_eq!(drawn(vec![(0.5, 1e6), (0.5, 1e6), (0.500_01, 1e6)]).len(), 2, "one a panel");
    let many = drawn((0..100).map(|at| (f64::from(at) / 99.0, f64::from(at) * 1e6)).collect());
    let across = || many.iter().map(|dot| dot.0);
    let middle = across().sum::<f64>() / many.len() as f64;
    let (left, right): (Vec<f64>, Vec<f64>) = across().partition(|&x| x < middle);
    let last = left.iter().copied().fold(f64::MIN, f64::max);
    let first = right.iter().copied().fold(f64::MAX, f64::min);
    assert!(left.len() == right.len() && last + 10.0 < first, "{last} {first}");
    assert_eq!(drawn(vec![(f64::NAN, 1.0), (2.0, f64::INFINITY)]).len(), 0);
    assert_eq!(drawn(Vec::new()).len(), 0);
}

#[test]
fn a_picture_below_another_keeps_its_texts_apart() {
    let one = curves(3, Scale::Log).draw();
    let two = one.clone().above(bars(3, 4).draw());
    assert_sound(&two);
    assert_eq!(two.shapes().len(), one.shapes().len() + bars(3, 4).draw().shapes().len());
}
