"""Routes that show and control running emulations. They start and end none."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI

from umtslab.serve.emulations import Emulations
from umtslab.serve.models import live as models


def add_emulation_routes(app: FastAPI, emulations: Emulations) -> None:
    """Add the routes of running emulations."""

    @app.get("/api/emulations/{identity}", response_model=models.LiveEmulation | None)
    def get_emulation(identity: str) -> Any:
        return json.loads(emulations.get(identity).latest[1])

    @app.post("/api/emulations/{identity}/control", response_model=models.LiveStarted)
    def control_emulation(identity: str, control: models.EmulationControl) -> dict[str, Any]:
        emulations.control(identity, control.control, control.choice)
        return {"id": identity}
