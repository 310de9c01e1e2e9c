//! Warnings about a capture.

use crate::analyser::Analyser;

impl Analyser {
    /// Warnings to read before the numbers are trusted.
    pub(super) fn warnings(&self) -> Vec<String> {
        let counts = &self.counts;
        let without_tcp = if counts.tcp == 0 { counts.packets } else { 0 };
        let general = [
            (counts.unknown_link, "packets are of a link type that is not read here"),
            (counts.fragments, "packets are IP fragments, and were left out"),
            (
                counts.unreadable,
                "packets are cut off or wrong before the end of the header of TCP or UDP, and were left out",
            ),
            (counts.too_deep, "packets have more nested headers than are read, and were left out"),
            (
                counts.beyond_frame,
                "packets have headers that promise more octets than their frames had: only those of the frame count",
            ),
            (counts.captured_twice, "packets were captured twice, and count once"),
            (
                counts.not_believed,
                "segments acknowledge or reset what their connection cannot have sent, and were not believed",
            ),
            (
                self.totals.ambiguous,
                "segments filled holes more than 3 ms late and count as sent again; without timestamps they cannot be \
                 distinguished from first copies that were overtaken",
            ),
            (
                self.half_open.one_sided,
                "connections of which one end was heard only were let go of early, since there were too many at a \
                 time: what came of them later counts as another connection",
            ),
            (
                self.half_open.open,
                "connections were let go of while they were open, the quietest first, since there were too many at a \
                 time: what came of them later counts as another connection",
            ),
            (
                self.rest.connections,
                "connections have no rows of their own, since there are too many: they are summed in one row",
            ),
            (
                self.udp.rest.packets,
                "datagrams are of UDP flows that have no rows of their own, since there are too many",
            ),
            (
                self.watched.thinned(),
                "connections have fewer steps in their courses than were seen, to bound memory: delays are less exact",
            ),
            (
                counts.out_of_time,
                "packets have earlier times than those before them, and count as of the same time",
            ),
            (without_tcp, "packets, and no TCP among them"),
        ];
        let unread = self.passed_over.iter().filter(|(kind, _)| kind.may_carry_tcp());
        let unread = unread.map(|(kind, number)| {
            format!("{number} packets are {}, whose contents are not read here", kind.name())
        });
        general
            .into_iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, text)| format!("{number} {text}"))
            .chain(unread)
            .collect()
    }
}
