//! How the parent passes an order to the child: the hidden subcommand and the variable.

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "verify-child";

/// The variable with the order, if other users must not read it: arguments are public.
pub const ORDER: &str = "ASCEND_DOCTOR_ORDER";
