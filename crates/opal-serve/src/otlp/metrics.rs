//! Metrics of one run: how long it took, and its errors by target. Each is a difference (delta): a run is a
//! process that ends, so nobody counts on.

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, NumberDataPoint,
    ResourceMetrics, ScopeMetrics, Sum, number_data_point,
};

use super::attributes::{ERROR_TYPE, PIPELINE, TARGET, maybe, resource, scope, text};
use super::spans::Reported;

/// Upper bounds of buckets, in seconds.
const BOUNDS: [f64; 12] =
    [0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1_800.0, 3_600.0];

const DELTA: i32 = AggregationTemporality::Delta as i32;

/// How many data points there are, and the message.
pub(super) fn of(reported: &Reported) -> (usize, ExportMetricsServiceRequest) {
    let errors = errors(reported);
    let points = 1 + errors.len();
    let mut metrics = vec![Metric {
        name: "cicd.pipeline.run.duration".to_owned(),
        description: "Duration of a pipeline run grouped by pipeline, state and result.".to_owned(),
        unit: "s".to_owned(),
        data: Some(Data::Histogram(Histogram {
            data_points: vec![duration(reported)],
            aggregation_temporality: DELTA,
        })),
        ..Metric::default()
    }];
    if !errors.is_empty() {
        metrics.push(Metric {
            name: "cicd.pipeline.run.errors".to_owned(),
            description: "The number of errors encountered in pipeline runs.".to_owned(),
            unit: "{error}".to_owned(),
            data: Some(Data::Sum(Sum {
                data_points: errors,
                aggregation_temporality: DELTA,
                is_monotonic: true,
            })),
            ..Metric::default()
        });
    }
    let scope_metrics = vec![ScopeMetrics {
        scope: Some(scope(&reported.run)),
        metrics,
        ..ScopeMetrics::default()
    }];
    let resource = Some(resource(&reported.run));
    let resource_metrics =
        vec![ResourceMetrics { resource, scope_metrics, ..ResourceMetrics::default() }];
    (points, ExportMetricsServiceRequest { resource_metrics })
}

fn duration(reported: &Reported) -> HistogramDataPoint {
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds of one run, to six digits")]
    let seconds = reported.end.saturating_sub(reported.start) as f64 / 1e9;
    let bucket = BOUNDS.iter().position(|bound| seconds <= *bound).unwrap_or(BOUNDS.len());
    let mut bucket_counts = vec![0; BOUNDS.len() + 1];
    bucket_counts[bucket] = 1;
    let mut attributes = vec![text(PIPELINE, reported.run.target())];
    attributes.push(text("cicd.pipeline.result", reported.result.name));
    attributes.push(text("cicd.pipeline.run.state", "executing"));
    attributes.extend(maybe(ERROR_TYPE, reported.result.error.as_deref()));
    HistogramDataPoint {
        attributes,
        start_time_unix_nano: reported.start,
        time_unix_nano: reported.end,
        count: 1,
        sum: Some(seconds),
        bucket_counts,
        explicit_bounds: BOUNDS.to_vec(),
        min: Some(seconds),
        max: Some(seconds),
        ..HistogramDataPoint::default()
    }
}

fn errors(reported: &Reported) -> Vec<NumberDataPoint> {
    let point = |((target, error), count): (&(String, String), &u64)| {
        let mut attributes = vec![text(PIPELINE, reported.run.target()), text(ERROR_TYPE, error)];
        attributes.extend(maybe(TARGET, Some(target)));
        let count = i64::try_from(*count).unwrap_or(i64::MAX);
        NumberDataPoint {
            attributes,
            start_time_unix_nano: reported.start,
            time_unix_nano: reported.end,
            value: Some(number_data_point::Value::AsInt(count)),
            ..NumberDataPoint::default()
        }
    };
    reported.errors.iter().map(point).collect()
}
