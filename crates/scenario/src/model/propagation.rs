//! Propagation between antennas and users of a layout: `[propagation]`.

pub use umts_stack::environment::{
    Antenna, PathLoss, PropagationConfig as Propagation, ShadowingConfig as Shadowing,
    StreetLossConfig as StreetLoss,
};

/// Sets the street losses if the model needs them.
pub(crate) fn complete(propagation: &mut Propagation) {
    if propagation.model == PathLoss::Manhattan {
        propagation.streets.get_or_insert_default();
    }
}
