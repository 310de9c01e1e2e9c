"""Exit statuses of ``umts`` and of the processes that it starts."""

FAILED = 1
"""A run failed, a precision was missed, or results could not be written."""

WRONG = 2
"""Wrong usage or input; nothing was run."""

EMULATION_FAILED = 125
"""An emulation failed itself, not the command in it; as ``env`` and ``timeout`` have it."""

INTERRUPTED = 130
"""Ctrl-C; what was finished by then is kept."""
