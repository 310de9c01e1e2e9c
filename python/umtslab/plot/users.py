"""Colours of users in figures with areas, and their legend, which names every colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from umtslab.plot.palette import OTHER_USERS, USERS

if TYPE_CHECKING:
    from matplotlib.patches import Patch


def colours_of(users: Sequence[int]) -> dict[int, str]:
    """Return a colour for each user, in the given order.

    The first twelve have colours of their own. All later ones share one colour.
    """
    return {ue: USERS[index] if index < len(USERS) else OTHER_USERS for index, ue in enumerate(users)}


def user_patches(colours: Mapping[int, str]) -> list[Patch]:
    """Return legend entries: users with a colour of their own, and the number of the others."""
    from matplotlib.patches import Patch

    with_colour = sorted(ue for ue, colour in colours.items() if colour != OTHER_USERS)
    patches = [Patch(facecolor=colours[ue], label=f"UE {ue}") for ue in with_colour]
    if others := len(colours) - len(with_colour):
        label = "1 other user" if others == 1 else f"{others} other users"
        patches.append(Patch(facecolor=OTHER_USERS, edgecolor="#777777", linewidth=0.4, label=label))
    return patches
