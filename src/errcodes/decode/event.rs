//! Events of a chip: `0x80E01801`.
//!
//! Environment 31:30, black box 29:28, node 27:17, sensor 16:9, state 8:0.

use super::decoding::{Decoding, Part};
use crate::table::find_row;
use crate::{Link, cause_of};
use base::text::Text;
use data::ui;

/// A decoded chip event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipEvent {
    /// The complete value.
    pub id: u32,
    /// The side that detected it: 1 the host, 2 the device.
    pub environment: u32,
    /// Not 0 for the codes of the black box, whose other parts are unknown.
    pub black_box: u32,
    /// The part of the chip.
    pub node: u32,
    /// The kind of sensor.
    pub sensor: u32,
    /// The state that the sensor reports.
    pub state: u32,
}

/// Decodes an event.
pub fn parse_chip_event(id: u32) -> ChipEvent {
    let bits = |from: u32, count: u32| id >> from & ((1 << count) - 1);
    ChipEvent {
        id,
        environment: bits(30, 2),
        black_box: bits(28, 2),
        node: bits(17, 11),
        sensor: bits(9, 8),
        state: bits(0, 9),
    }
}

impl ChipEvent {
    /// Whether the value can be an event of the driver: of the host or a device, with a known
    /// sensor or node. Any other 32-bit value is an address or a checksum.
    pub fn is_plausible(self) -> bool {
        matches!(self.environment, 1 | 2)
            && self.black_box == 0
            && (self.find_row("dms_sensor").is_some() || self.find_row("dms_node").is_some())
    }

    fn find_row(self, family: &str) -> Option<crate::Row> {
        match family {
            "dms_node" => find_row(family, &format!("{:#x}", self.node)),
            "dms_sensor" => find_row(family, &format!("{:#x}", self.sensor)),
            _ => find_row(family, &format!("{:#x}+{:#04x}", self.sensor, self.state)),
        }
    }

    fn find_links(self) -> Vec<Link> {
        cause_of("chip", &format!("0x{:08X}", self.id)).into_iter().collect()
    }

    pub(super) fn to_decoding(self) -> Decoding {
        let environment = match self.environment {
            1 => Some(ui::PART_HOST),
            2 => Some(ui::PART_DEVICE),
            _ => None,
        };
        let symbol = |family| self.find_row(family).map(|row| Text::same(row.symbol));
        let level = self.find_row("dms_state").map(|row| match row.level.as_str() {
            "0" => ui::PART_LEVEL_0,
            "1" => ui::PART_LEVEL_1,
            "2" => ui::PART_LEVEL_2,
            _ => ui::PART_LEVEL_3,
        });
        let parts = vec![
            Part::part_with_label(ui::PART_ENVIRONMENT, self.environment.to_string(), environment),
            Part::new(ui::PART_NODE, format!("{:#x}", self.node), symbol("dms_node")),
            Part::new(ui::PART_SENSOR, format!("{:#x}", self.sensor), symbol("dms_sensor")),
            Part::part_with_label(ui::PART_STATE, self.state.to_string(), level),
        ];
        Decoding { scheme: ui::SCHEME_EVENT, parts, links: self.find_links() }
    }
}
