//! Sums of the cells of a layout.

use umts_units::Duration;

use super::Intervals;
use crate::metrics::cells::CellSupply;

/// The cells of a layout: sums over their TTIs and over grants.
#[derive(Debug, Default)]
pub(in crate::metrics) struct LayoutTotals {
    pub window: Duration,
    pub supply: CellSupply,
    pub cells: u32,
    /// TTIs of all cells.
    pub ttis: u64,
    /// TTIs in which the power was too low for all DCHs.
    pub scaled: u64,
    /// TTIs with a load factor of 1 or more.
    pub overloaded: u64,
    /// Transmit power in mW, summed over TTIs of cells.
    pub power: f64,
    /// Transmit power in dBm, summed over TTIs of cells.
    pub power_db: f64,
    /// Sum of the load factors.
    pub load: f64,
    /// Sum of the squares of the load factors.
    pub load_squares: f64,
    /// Number of calls, summed over TTIs of cells.
    pub calls: u64,
    /// Blocks of calls.
    pub call_blocks: u64,
    /// Blocks of calls that were lost.
    pub call_blocks_lost: u64,
    /// Grants of TTIs on DSCHs.
    pub grants: u64,
    /// Grants that continue in their second frame.
    pub held: u64,
    /// Grants with a larger spreading factor than requested.
    pub halved: u64,
    /// Blocks sent in grants.
    pub blocks: u64,
    /// Blocks that the transport formats of the grants could carry.
    pub room: u64,
    /// Spreading factors, summed over grants.
    pub factors: f64,
    /// Spreading factors, summed over blocks.
    pub block_factors: f64,
    /// Shares of the code tree, summed over grants and their second frames.
    pub codes: f64,
    /// Power in mW, summed over grants and their second frames.
    pub dsch_power: f64,
    /// Requests that were refused, by reason: codes, power, credit, handover.
    pub postponed: [u64; 4],
    pub handovers: u64,
    /// Octets of SDUs lost with the buffers of cells that their users left.
    pub handover_lost: u64,
    // ── TTIs of cells with recorded dedicated channels ──
    /// Number of these TTIs.
    pub dch_ttis: u64,
    /// Legs that the cell carries for calls of other cells (soft handover).
    pub further_legs: u64,
    /// Power of these legs, in mW.
    pub further_power: f64,
    /// Power of the DCHs associated with DSCHs and HS-DSCHs, in mW.
    pub associated_power: f64,
    /// Calls of the cell that had a gap (compressed mode).
    pub compressed: u64,
    /// Shares of the code tree that the dedicated channels use.
    pub dch_codes: f64,
    // ── TTIs in which users of DCH bearers received power, summed over users ──
    /// Number of these TTIs.
    pub dch_sent: u64,
    /// TTIs in which several cells sent to the user (soft handover).
    pub dch_soft: u64,
    /// Cells that sent to the user.
    pub dch_legs: u64,
    /// Power of the user's best cell, in mW.
    pub dch_power: f64,
    /// Maximum power of a user's best cell in a TTI, in mW.
    pub dch_power_max: f64,
    /// Power of the user's other cells, in mW.
    pub dch_further_power: f64,
    /// Eb/N0 of the user, in dB.
    pub dch_ebn0_db: f64,
    // ── TTIs in which users of the FACH had data, summed over users ──
    /// Number of these TTIs.
    pub fach_sent: u64,
    /// Eb/N0 of the user, in dB.
    pub fach_ebn0_db: f64,
    // ── TTIs of cells in which the S-CCPCH was sent ──
    /// Number of these TTIs.
    pub sccpch_sent: u64,
    /// Power of the S-CCPCH, in mW.
    pub sccpch_power: f64,
    /// Sum of the mean powers of HS-DSCHs.
    pub hs_power: f64,
    /// TTIs in which users of HS-DSCHs were served, and the sum of their mean SNRs in dB.
    pub hs_served: u64,
    pub hs_snr_db: f64,
    /// PDUs that were flushed, and that were lost in HARQ, at changes of the serving HS-DSCH cell.
    pub hs_cell_changes: u64,
    pub hs_flushed: u64,
    pub hs_lost: u64,
    // ── E-DCH users ──
    /// Transmissions of blocks, and the powers of the UEs in them, in mW.
    pub e_sent: u64,
    pub e_power: f64,
    /// New blocks: all of them, and those whose PDUs power or the serving grant limited.
    pub e_new: u64,
    pub e_power_limited: u64,
    pub e_grant_limited: u64,
    /// Time with blocks on the air, summed over cells, and the integral of the share of other cells.
    pub e_time: Duration,
    pub e_from_others: f64,
    // ── Cells, calls and SDUs ──
    pub cell_reselections: u64,
    /// Events of calls, indexed by their kind: begun, blocked, handed over, and so on.
    pub call_steps: [u64; 7],
    /// Octets of downlink SDUs that entered RLC.
    pub offered: u64,
    /// Octets of downlink SDUs that were delivered.
    pub delivered: u64,
    /// Absolute differences between the delays of consecutive SDUs of a user.
    pub delay_steps: Intervals,
}
