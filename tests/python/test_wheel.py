"""The wheel, installed in an environment without access to this checkout."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
"""The first test waits for the build of the wheel, and for the network."""

ROOT = Path(__file__).resolve().parents[2]
CONSTRAINTS = ROOT / "constraints.txt"


def sh(*command: str | Path, cwd: Path = ROOT) -> str:
    """Run a command and return its output. A failure shows both output streams."""
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}
    }
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a virtual environment: only the wheel and its pinned dependencies."""
    wheels = tmp_path_factory.mktemp("wheels")
    home = tmp_path_factory.mktemp("clean")
    sh(sys.executable, "-m", "maturin", "build", "--release", "--locked", "--out", wheels)
    (wheel,) = wheels.glob("umtslab-*.whl")
    assert "-cp311-abi3-" in wheel.name
    venv.create(home / "venv", with_pip=True)
    sh(home / "venv/bin/python", "-m", "pip", "install", "--quiet", "--constraint", CONSTRAINTS, wheel)
    return home


def test_umts_runs_a_scenario_from_the_wheel(clean: Path) -> None:
    out = sh(clean / "venv/bin/umts", "run", "ftp-on-fach", "--duration", "30 s", "--json", cwd=clean)
    printed = json.loads(out)
    (run,) = printed["runs"]
    # Goodput over the 32 kbit/s channel: positive and below the channel rate.
    assert 0 < run["metrics"]["goodput_kbps"] < 32


def test_the_installed_wheel_is_imported(clean: Path) -> None:
    file = sh(clean / "venv/bin/python", "-c", "import umtslab._core as c; print(c.__file__)", cwd=clean)
    assert Path(file.strip()).is_relative_to(clean)


def test_umts_reproduces_without_a_source_tree(clean: Path) -> None:
    out = sh(
        clean / "venv/bin/umts", "reproduce", "dubois2005/tab5_1", "--json", "--out", "report", cwd=clean
    )
    [chapter] = json.loads(out)["chapters"]
    assert chapter["claims"]
    assert (clean / "report/report.html").read_text().startswith("<!doctype html>")
    print_folder = "import umtslab.reproduce as r; print(r.find_data())"
    share = Path(sh(clean / "venv/bin/python", "-c", print_folder, cwd=clean).strip())
    assert share.is_relative_to(clean)
    for folder in ("reproductions", "scenarios", "campaigns"):
        source = {path.relative_to(ROOT) for path in (ROOT / folder).rglob("*") if path.is_file()}
        assert {path.relative_to(share) for path in (share / folder).rglob("*") if path.is_file()} == source


def test_every_installed_package_is_pinned(clean: Path) -> None:
    def names(freeze: str) -> set[str]:
        lines = (line.split("#")[0].strip() for line in freeze.splitlines())
        return {line.lower().replace("_", "-") for line in lines if line and not line.startswith("umtslab")}

    installed = names(sh(clean / "venv/bin/python", "-m", "pip", "freeze"))
    assert installed <= names(CONSTRAINTS.read_text())


def test_the_wheel_has_the_page_and_the_licences_of_its_parts(clean: Path) -> None:
    if not (ROOT / "python/umtslab/serve/page/index.html").exists():
        pytest.skip("the page is not built: `make page` says why")
    words = "import umtslab.serve as s; print(s.__path__[0])"
    page = Path(sh(clean / "venv/bin/python", "-c", words, cwd=clean).strip()) / "page"
    assert "/assets/" in (page / "index.html").read_text()
    assert any(path.suffix == ".js" for path in (page / "assets").iterdir())
    assert "preact" in (page / "licences.txt").read_text()
