"""A laboratory for TCP over UMTS radio access.

Names are imported on first use: ``import umtslab`` loads neither the compiled core nor polars.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from umtslab._core import (
        CaptureReadError,
        CongestionControlError,
        OutputError,
        ScenarioError,
        SchedulerError,
    )
    from umtslab.campaign import run_campaign, sweep
    from umtslab.captures import CaptureAnalysis, analyse_captures
    from umtslab.comparison import compare
    from umtslab.plot import draw, save
    from umtslab.plot.campaign import draw_campaign
    from umtslab.progress import Progress
    from umtslab.python_congestion import CongestionControl
    from umtslab.python_scheduler import DschScheduler, Scheduler
    from umtslab.run import Run
    from umtslab.runs import Runs
    from umtslab.scenario import Scenario
    from umtslab.simulation import simulate
    from umtslab.store import Store, open_store, read_store

__all__ = [
    "CaptureAnalysis",
    "CaptureReadError",
    "CongestionControl",
    "CongestionControlError",
    "DschScheduler",
    "OutputError",
    "Progress",
    "Run",
    "Runs",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "SchedulerError",
    "Store",
    "analyse_captures",
    "compare",
    "draw",
    "draw_campaign",
    "open_store",
    "read_store",
    "run_campaign",
    "save",
    "simulate",
    "sweep",
]

# No module may have the name of one of these functions: importing the module would replace the
# function.
_HOME = {
    "CaptureAnalysis": "umtslab.captures",
    "CaptureReadError": "umtslab._core",
    "CongestionControl": "umtslab.python_congestion",
    "CongestionControlError": "umtslab._core",
    "DschScheduler": "umtslab.python_scheduler",
    "OutputError": "umtslab._core",
    "Progress": "umtslab.progress",
    "Run": "umtslab.run",
    "Runs": "umtslab.runs",
    "Scenario": "umtslab.scenario",
    "ScenarioError": "umtslab._core",
    "Scheduler": "umtslab.python_scheduler",
    "SchedulerError": "umtslab._core",
    "Store": "umtslab.store",
    "analyse_captures": "umtslab.captures",
    "compare": "umtslab.comparison",
    "draw": "umtslab.plot",
    "draw_campaign": "umtslab.plot.campaign",
    "open_store": "umtslab.store",
    "read_store": "umtslab.store",
    "save": "umtslab.plot",
    "simulate": "umtslab.simulation",
    "run_campaign": "umtslab.campaign",
    "sweep": "umtslab.campaign",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'umtslab' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
