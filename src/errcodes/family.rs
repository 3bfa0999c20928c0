//! Families of codes and the rows of their tables: types only, without the lookup.
//!
//! The overlay contains values of these types and the tables read the overlay, so the types depend
//! on neither.

use serde::{Deserialize, Serialize, Serializer};

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
    /// The form in which it writes its codes.
    pub kind: Kind,
    /// Heading.
    pub title: Text,
    /// The component that returns or prints such a code.
    pub says: Text,
    /// Texts that precede such a code in a log.
    pub context: Vec<String>,
    /// Words directly before a code of this family as people write it: letters and digits, in lower
    /// case, without the separators between them.
    #[serde(default, skip_serializing)]
    pub before: Vec<String>,
    /// Words, in the same form, that name the part of the stack anywhere in the sentence.
    #[serde(default, skip_serializing)]
    pub about: Vec<String>,
    /// Codes that report a result and not a fault.
    #[serde(default, skip_serializing)]
    pub answers: Vec<String>,
    /// Families to whose codes this one adds other texts: its rows are listed with theirs, not
    /// separately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub annotates: Vec<String>,
    /// The cause of its codes that have no cause in the table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Its values are parts of other codes: a number by itself never means one of them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
}

/// A code with the data of its source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    /// The first version of CANN that has it, according to public sources.
    pub since: String,
    /// The last version of CANN that has it; empty if the newest one does.
    pub until: String,
    /// Titles or messages that other versions of CANN give it.
    pub formerly: String,
    /// The official page about it.
    pub doc: String,
    /// The level that cluster management or the driver assigns to it.
    pub level: String,
    /// The file that it was read from.
    pub source: String,
}

/// A quotation in the languages of its source.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quotation {
    /// English.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub en: String,
    /// Chinese.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub zh: String,
}

/// A code with the data of its source. Members that the source does not state are empty.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct RowDocument<'a> {
    /// The code in the spelling of its family.
    code: &'a str,
    /// The name of the constant, or the title of the message.
    symbol: &'a str,
    /// The short official message.
    message: Quotation,
    /// The part of the stack, where one family serves several.
    component: &'a str,
    /// The names of the arguments of the message.
    arguments: &'a str,
    /// The codes that it turns into on its way to the user.
    becomes: &'a [String],
    /// The first version of CANN that has it, according to public sources.
    since: &'a str,
    /// The last version of CANN that has it; empty if the newest one does.
    until: &'a str,
    /// Titles or messages that other versions of CANN give it.
    formerly: &'a str,
    /// The official page about it.
    doc: &'a str,
    /// The level that cluster management or the driver assigns to it.
    level: &'a str,
    /// The file that it was read from.
    source: &'a str,
}

impl Row {
    /// The short official message.
    pub fn quotation(&self) -> Quotation {
        Quotation { en: self.message.clone(), zh: self.zh.clone() }
    }
}

impl Serialize for Row {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = RowDocument {
            code: &self.code,
            symbol: &self.symbol,
            message: self.quotation(),
            component: &self.component,
            arguments: &self.arguments,
            becomes: &self.becomes,
            since: &self.since,
            until: &self.until,
            formerly: &self.formerly,
            doc: &self.doc,
            level: &self.level,
            source: &self.source,
        };
        document.serialize(serializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Row {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Row".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        RowDocument::json_schema(generator)
    }
}
