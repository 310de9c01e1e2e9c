"""Dependencies: lower bounds, tested by `make lowest`, and exact versions for this tree."""

import re
import sys
import tomllib
from pathlib import Path

import pytest
from umtslab.campaign.cluster import LOCAL, cluster
from umtslab.campaign.errors import CampaignError
from umtslab.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]


def versions(name: str) -> dict[str, str]:
    """Read exact versions from a file, by package."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(re.findall(r"^(.+)==(.+)$", "\n".join(lines), re.MULTILINE))


def lower_bounds() -> dict[str, str]:
    """Read the lower bounds of all dependencies, including extras for users."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    of_extras = [dependency for name in extras if name != "dev" for dependency in extras[name]]
    return dict(dependency.split(">=") for dependency in (*project["dependencies"], *of_extras))


def test_the_lower_bounds_are_the_tested_versions() -> None:
    lowest = versions("constraints-lowest.txt")
    assert lower_bounds() == {package: lowest[package] for package in lower_bounds()}


def test_the_tested_versions_satisfy_the_lower_bounds() -> None:
    exact = {package.lower(): version for package, version in versions("constraints.txt").items()}
    for package, lower_bound in lower_bounds().items():
        tested, minimum = (
            [int(part) for part in version.split(".")] for version in (exact[package.lower()], lower_bound)
        )
        assert tested >= minimum, package


def test_the_error_for_a_missing_extra_installs_it_from_the_source_tree(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {extra for _, extra in EXTRAS.values()} <= project["optional-dependencies"].keys()
    monkeypatch.setitem(sys.modules, "distributed", None)
    # The package is not on PyPI: the message must not suggest installing it by name.
    message = r"umts sweep --dask needs distributed.*: pip install '\.\[dask\]' in umtslab's source tree"
    with pytest.raises(CampaignError, match=message), cluster(LOCAL):
        pass
