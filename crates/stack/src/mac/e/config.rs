//! Options of the E-DCH: of a cell, and of a UE.

use umts_units::{Db, Dbm, Duration, Probability};

#[cfg(feature = "schema")]
use crate::options::Auto;
use crate::options::options;

options! {
    /// Enhanced uplink (E-DCH) of a cell: its scheduler and MAC-e at the Node B, and MAC-es at the RNC.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EDchConfig as "EDch" {
        /// Largest noise rise by E-DCH users: interference at the Node B relative to its thermal noise. The
        /// scheduler grants no more. In a layout the interference from users of other cells is part of it.
        [label = "Noise rise budget", min = "0.1 dB", max = "20 dB", source = "radio network planning; none in 3GPP"]
        pub noise_rise: Db = Db(6.0),
        /// Ec/N0 of the DPCCH of a UE at the Node B, which power control maintains. Grants are relative to it.
        [label = "Ec/N0 of the DPCCH", min = "-40 dB", max = "0 dB",
            source = "an assumption, with which the highest grant carries the largest block of category 6"]
        pub dpcch_ec_n0: Db = Db(-25.0),
        /// Eb/N0 of blocks at the Node B. With the Ec/N0 of the DPCCH it determines the size of a block for
        /// a grant, and with the rate the load of a UE.
        [label = "Eb/N0 of the E-DCH", min = "-5 dB", max = "20 dB", source = "an assumption"]
        pub eb_n0: Db = Db(2.0),
        /// Thermal noise of the Node B, for the power headroom of UEs.
        [label = "Noise of the Node B", min = "-120 dBm", max = "-50 dBm", source = "-108 dBm in 3.84 MHz, and a noise figure of 5 dB"]
        pub noise: Dbm = Dbm(-103.0),
        /// Time between two decisions of the scheduler: a multiple of 2 ms.
        [label = "Interval of grants", min = "2 ms", max = "1 s", source = "the standard leaves the scheduler to the implementation"]
        pub scheduling_interval: Duration = Duration::from_millis(10),
        /// Time from a decision of the scheduler to the first use of the grant by the UE.
        [label = "Latency of grants", max = "100 ms", source = "an assumption; TS 25.214 §6B.3 has the timing"]
        pub grant_latency: Duration = Duration::from_millis(10),
        /// Largest number of absolute grants in a decision: the number of E-AGCHs. Other UEs get relative
        /// grants, of one step.
        [label = "E-AGCHs", min = 1, max = 16, source = "TS 25.211 §5.3.2.7; the number is an operator's choice"]
        pub absolute_grants: u8 = 1,
        /// Time without a block after which the scheduler withdraws the grant of a UE.
        [label = "Withdrawal of unused grants", min = "10 ms", max = "10 s",
            source = "the standard leaves the scheduler to the implementation"]
        pub grant_timeout: Duration = Duration::from_millis(200),
        /// Happy_Bit_Delay_Condition: a UE is unhappy if its buffer would take longer than this time at its
        /// grant. 2, 10, 20, 50, 100, 200, 500 or 1000 ms.
        [label = "Happy bit delay condition", min = "2 ms", max = "1 s", source = "TS 25.331 §10.3.6.99, TS 25.321 §11.8.1.5"]
        pub happy_bit_delay: Duration = Duration::from_millis(50),
        /// Time between two reports of scheduling information by a UE with a grant (T_SIG).
        [label = "Scheduling information with a grant", min = "2 ms", max = "1 s", source = "TS 25.331 §10.3.6.99"]
        pub si_period: Duration = Duration::from_millis(100),
        /// Time between two reports of scheduling information by a UE whose grant carries no PDU (T_SING).
        [label = "Scheduling information without a grant", min = "2 ms", max = "1 s", source = "TS 25.331 §10.3.6.99"]
        pub si_period_no_grant: Duration = Duration::from_millis(20),
        /// Largest number of transmissions of a block, the first one included.
        [label = "HARQ transmissions of the E-DCH", min = 1, max = 16, source = "TS 25.331 §10.3.5.7d: 0 to 15 retransmissions"]
        pub max_transmissions: u8 = 4,
        /// Size of the window of a reordering queue of the RNC in blocks: 4, 6, 8, 12, 16, 24 or 32.
        [label = "MAC-es window", min = 4, max = 32, source = "as for MAC-hs; TS 25.321 §11.6.3 leaves it to the implementation"]
        pub window: u8 = 32,
        /// Timer T1 of the RNC: how long a reordering queue waits for a missing block.
        [label = "T1 of MAC-es", min = "10 ms", max = "1 s", source = "as for MAC-hs; TS 25.321 §11.6.3 leaves it to the implementation"]
        pub t1: Duration = Duration::from_millis(200),
    }
}

options! {
    /// E-DCH of a UE: its category, its power, and the errors of its blocks.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EUeConfig as "EUe" {
        /// E-DCH category: largest block in each TTI. `"auto"`: the category of the bearer.
        [label = "E-DCH category", keyword = "Auto::<u8>", min = 1, max = 6, source = "TS 25.306 table 5.1g"]
        pub category: Option<u8> = None,
        /// TTI: 2 ms or 10 ms. `"auto"`: the TTI of the bearer.
        [label = "TTI of the E-DCH", keyword = "Auto::<Duration>", min = "2 ms", max = "10 ms", source = "TS 25.211 §5.2.1.3"]
        pub tti: Option<Duration> = None,
        /// Path loss to the Node B, antenna gains included. `"auto"`: 110 dB, in a layout the path loss between
        /// the UE and its cell.
        [label = "Path loss of the E-DCH", keyword = "Auto::<Db>", min = "40 dB", max = "180 dB",
            source = "a property of the place; none in 3GPP"]
        pub path_loss: Option<Db> = None,
        /// Largest transmit power of the UE.
        [label = "UE power", min = "-20 dBm", max = "33 dBm", source = "TS 25.101 §6.2.1: 24 dBm in power class 3"]
        pub max_power: Dbm = Dbm(24.0),
        /// Non-scheduled grant: bits that the UE may send in each TTI beyond its serving grant, headers included.
        [label = "Non-scheduled bits", max = 20000, source = "TS 25.331 §10.3.5.1b"]
        pub non_scheduled: u32 = 0,
        /// Error probability of the first, second, … transmission of a block, which the outer loop of power
        /// control maintains. The last one also holds for all further transmissions.
        [label = "Error probability by transmission on the E-DCH", default = "0.1, then 0.01",
            source = "an assumption: 10 % of the first transmissions"]
        pub attempt_errors: Vec<Probability> = vec![
            Probability::new(0.1).expect("it is a probability"),
            Probability::new(0.01).expect("it is a probability"),
        ],
        /// Probability that the UE reads a NACK as an ACK. The block is lost.
        [label = "NACK read as ACK on the E-HICH", source = "TS 25.101 §10.2 bounds it by tests"]
        pub nack_to_ack: Probability = Probability::ZERO,
        /// Probability that the UE reads an ACK as a NACK. The block is repeated needlessly.
        [label = "ACK read as NACK on the E-HICH", source = "TS 25.101 §10.2 bounds it by tests"]
        pub ack_to_nack: Probability = Probability::ZERO,
    }
}

/// Path loss of a UE with `path_loss = "auto"` outside a layout, where it has no place.
pub const DEFAULT_PATH_LOSS: Db = Db(110.0);
