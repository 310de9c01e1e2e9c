"""Why TCP stalled: the chain of causes behind each stall, timeout and retransmission of a run.

The chains are made from the tables that ``umts run --timeline`` records.
"""

from umtslab.why.explanation import Explanation, explain
from umtslab.why.links import Chain, Link
from umtslab.why.stalls import Stall
from umtslab.why.timeline import MissingTimeline, recording_command

__all__ = ["Chain", "Explanation", "Link", "MissingTimeline", "Stall", "explain", "recording_command"]
