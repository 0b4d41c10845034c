//! Availability.
