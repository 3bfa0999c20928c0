//! The operator tables and their readers against the dispatchers of published wheels.

mod installed;
mod operators;
