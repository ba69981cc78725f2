//! Statistics of measurements.
