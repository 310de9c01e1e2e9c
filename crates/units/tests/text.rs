//! Parsing and printing of quantities as users write them.

use proptest::prelude::*;
use umts_units::{
    Angle, BitRate, Bytes, Db, Dbm, Duration, Frequency, Length, Octets, Probability, Speed, UnitError,
};

#[test]
fn times_are_read_exactly() {
    for (text, ns) in
        [("10 ms", 10_000_000), ("0.1 s", 100_000_000), ("20us", 20_000), ("1 h", 3_600_000_000_000)]
    {
        assert_eq!(text.parse::<Duration>().unwrap().as_nanos(), ns, "{text}");
    }
}

#[test]
fn parse_errors_name_the_wrong_part() {
    assert!(matches!("10".parse::<Duration>(), Err(UnitError::MissingUnit { .. })));
    assert!(matches!("10 kbit".parse::<Duration>(), Err(UnitError::UnknownUnit { .. })));
    assert!(matches!("ten ms".parse::<Duration>(), Err(UnitError::NotANumber { .. })));
    assert!(matches!("-32 kbit/s".parse::<BitRate>(), Err(UnitError::Negative { .. })));
    assert!(matches!("0 kbit/s".parse::<BitRate>(), Err(UnitError::OutOfRange { .. })));
    assert!(matches!("0.5 B".parse::<Bytes>(), Err(UnitError::OutOfRange { .. })));
    assert!(matches!("1.2.3 s".parse::<Duration>(), Err(UnitError::NotANumber { .. })));
}

#[test]
fn packet_sizes_have_sixteen_bits() {
    assert_eq!("1.5 kB".parse::<Octets>(), Ok(Octets(1500)));
    assert_eq!("65535 B".parse::<Octets>().unwrap().to_string(), "65.535 kB");
    let error = "65536 B".parse::<Octets>().unwrap_err().to_string();
    assert_eq!(error, "`65536 B` is out of range: the size of a packet must be 65535 B or less");
    assert!(matches!("40".parse::<Octets>(), Err(UnitError::MissingUnit { .. })));
}

#[test]
fn lengths_speeds_angles_and_frequencies_have_their_units() {
    let length = |text: &str| text.parse::<Length>().map(Length::metres);
    assert_eq!([length("500 m"), length("1.5 km"), length("0.25m")], [Ok(500.0), Ok(1500.0), Ok(0.25)]);
    assert_eq!("1500 m".parse::<Length>().unwrap().to_string(), "1.5 km");
    assert_eq!("36 km/h".parse::<Speed>().unwrap().metres_per_second(), 10.0);
    assert_eq!("10 m/s".parse::<Speed>().unwrap().to_string(), "36 km/h");
    assert_eq!("0.5 km/h".parse::<Speed>().unwrap().to_string(), "0.5 km/h");
    assert_eq!("180 deg".parse::<Angle>().unwrap().radians(), std::f64::consts::PI);
    assert_eq!("2000 MHz".parse::<Frequency>().unwrap().to_string(), "2 GHz");
    assert_eq!("1.95 GHz".parse::<Frequency>().unwrap().megahertz(), 1950.0);
    assert!(matches!("50 mph".parse::<Speed>(), Err(UnitError::UnknownUnit { .. })));
    assert!(matches!("-1 m".parse::<Length>(), Err(UnitError::Negative { .. })));
}

#[test]
fn level_differences_are_ratios() {
    let level: Dbm = "-104 dBm".parse().unwrap();
    assert_eq!(level - Dbm(-110.0), Db(6.0));
    assert_eq!("6.8 dB".parse::<Db>().unwrap().to_string(), "6.8 dB");
    assert_eq!(Probability::new(1.5), None);
    assert_eq!(Probability::new(f64::NAN), None);
}

#[test]
fn sending_time_follows_from_rate_and_size() {
    let rate: BitRate = "10 Mbit/s".parse().unwrap();
    assert_eq!(rate.time_to_send(Bytes(1040)), Duration::from_micros(832));
    let fach: BitRate = "32 kbit/s".parse().unwrap();
    assert_eq!(fach.bits_in(Duration::from_millis(10)), 320);
}

proptest! {
    #[test]
    fn printed_quantities_parse_to_the_same_value(ns in any::<u64>(), bytes in any::<u64>(), bps in 1u64..) {
        let duration = Duration::from_nanos(ns);
        prop_assert_eq!(duration.to_string().parse::<Duration>().unwrap(), duration);
        let size = Bytes(bytes);
        prop_assert_eq!(size.to_string().parse::<Bytes>().unwrap(), size);
        let rate = BitRate::from_bps(bps).unwrap();
        prop_assert_eq!(rate.to_string().parse::<BitRate>().unwrap(), rate);
    }

    #[test]
    fn printed_lengths_and_speeds_parse_to_the_same_value(number in any::<u64>()) {
        let (length, speed) = (Length::from_millimetres(number), Speed::from_metres_per_hour(number));
        prop_assert_eq!(length.to_string().parse::<Length>().unwrap(), length);
        prop_assert_eq!(speed.to_string().parse::<Speed>().unwrap(), speed);
    }

    #[test]
    fn any_text_is_a_value_or_an_error(text in ".{0,24}") {
        let _ = text.parse::<Duration>();
        let _ = text.parse::<BitRate>();
        let _ = text.parse::<Bytes>();
        let _ = text.parse::<Dbm>();
    }
}
