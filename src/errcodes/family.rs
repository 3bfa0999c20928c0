//! Families of codes and the rows of their tables, as types without the look-up.
//!
//! The overlay holds values of these types and the tables read the overlay, so that the types
//! depend on neither.

use serde::{Deserialize, Serialize};

use base::text::Text;

/// How a family writes its codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A decimal number.
    Decimal,
    /// A hexadecimal number with `0x`.
    Hex,
    /// 32 bits as eight hexadecimal digits, with `0x` or without.
    Event,
    /// Letters and digits, such as `EI0006`.
    Name,
}

/// A family of codes.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// The id, also the name of its file.
    pub id: String,
    /// How it writes its codes.
    pub kind: Kind,
    /// Heading.
    pub title: Text,
    /// Who returns or prints such a code.
    pub says: Text,
    /// What stands before such a code in a log.
    pub context: Vec<String>,
    /// Families whose codes this one has other words for: it stands beside them, not alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotates: Vec<String>,
    /// What its codes speak for where nothing is said of a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its values are parts of other codes: no number by itself means one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
}

/// A code and what its source says about it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The code in the spelling of its family.
    pub code: String,
    /// The name of the constant, or the title of the message.
    pub symbol: String,
    /// The short official message.
    pub message: String,
    /// The same in Chinese, where the source has it.
    pub zh: String,
    /// The part of the stack, where one family serves several.
    pub component: String,
    /// The names of the arguments of the message.
    pub arguments: String,
    /// The codes that it turns into on its way to the user.
    pub becomes: Vec<String>,
    /// The first version of CANN that has it, as far as public sources tell.
    pub since: String,
    /// The last version of CANN that has it; empty if the newest one does.
    pub until: String,
    /// Titles or messages that other versions of CANN give it.
    pub formerly: String,
    /// The official page about it.
    pub doc: String,
    /// How the management of a cluster, or the driver, rates it.
    pub level: String,
    /// The file that it was read from.
    pub source: String,
}
