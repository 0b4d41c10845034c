//! Common.
