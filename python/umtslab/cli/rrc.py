"""``umts rrc``: radio resource control of real networks by name."""

from __future__ import annotations

import json as json_text

from umtslab.cli.failures import UsageError


def rrc(containing: str = "", /, *, json: bool = False) -> int:
    """The profiles that `rrc.profile` can name, with the keys of `[rrc]` that they set and their sources.

    What a profile does not name keeps its default (`umts params rrc`); what a scenario writes beside it
    goes on top.

    Parameters
    ----------
    containing
        Only profiles whose name contains this.
    json
        Print one JSON list on standard output and nothing else there.
    """
    from umtslab import _core

    found = [profile for profile in _core.rrc_profiles() if containing in profile["name"]]
    if not found:
        raise UsageError(f"no profile's name contains {containing!r}")
    if json:
        print(json_text.dumps(found, indent=1))
        return 0
    from umtslab.terminal import output, rows_table

    headings = {"profile": "name", "what it is": "description", "keys of [rrc]": "keys", "source": "source"}
    output().print(
        rows_table([{title: profile[key] for title, key in headings.items()} for profile in found])
    )
    return 0
