//! Whole texts.
