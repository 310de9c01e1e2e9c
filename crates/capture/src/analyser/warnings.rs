//! Warnings about a capture.

use crate::analyser::Analyser;

impl Analyser {
    /// Warnings to read before the numbers are trusted.
    pub(super) fn warnings(&self) -> Vec<String> {
        let counts = &self.counts;
        let without_tcp = if counts.tcp == 0 { counts.packets } else { 0 };
        let general = [
            (counts.unknown_link, "packets have an unsupported link type"),
            (counts.fragments, "packets are IP fragments and were ignored"),
            (
                counts.unreadable,
                "packets are cut off or invalid before the end of the TCP or UDP header and were ignored",
            ),
            (counts.too_deep, "packets have too many nested headers and were ignored"),
            (
                counts.beyond_frame,
                "packets have headers with a length beyond the end of the frame: only the octets of the frame count",
            ),
            (counts.captured_twice, "packets were captured twice and count once"),
            (
                counts.not_believed,
                "segments acknowledge or reset data that their connection cannot have sent and were ignored",
            ),
            (
                self.totals.ambiguous,
                "segments filled holes more than 3 ms late and count as retransmitted; without timestamps they cannot be \
                 distinguished from reordered first copies",
            ),
            (
                self.limits.dropped_one_sided,
                "connections with packets of one end only were dropped early, because too many were open at the same \
                 time: their later packets count as another connection",
            ),
            (
                self.limits.dropped_open,
                "connections were dropped while they were open, the least active first, because too many were open at the \
                 same time: their later packets count as another connection",
            ),
            (
                self.rest.connections,
                "connections have no separate rows, because there are too many: they are summed in one row",
            ),
            (
                self.udp.rest.packets,
                "datagrams belong to UDP flows without separate rows, because there are too many flows",
            ),
            (
                self.watched.thinned_connections(),
                "connections have fewer points in their time series than were captured, to limit memory: delays are less exact",
            ),
            (
                counts.out_of_time,
                "packets are earlier than the packet before and get the time of that packet",
            ),
            (without_tcp, "packets, but none of them is TCP"),
        ];
        let unread = self.passed_over.iter().filter(|(kind, _)| kind.may_carry_tcp());
        let unread = unread
            .map(|(kind, number)| format!("{number} packets are {}, which is not decoded", kind.name()));
        general
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, text)| format!("{number} {text}"))
            .chain(unread)
            .collect()
    }
}
