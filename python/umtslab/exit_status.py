"""Exit statuses of ``umts`` and of the processes that it starts."""

FAILED = 1
"""A run failed, a precision was missed, or results could not be written."""

WRONG = 2
"""Wrong usage or input; nothing was run."""

EMULATION_FAILED = 125
"""The emulation itself failed, not the command in it.

``env`` and ``timeout`` use the same status.
"""

INTERRUPTED = 130
"""Ctrl-C. Results that were finished are kept."""
