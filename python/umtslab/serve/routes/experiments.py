"""Routes of campaigns, studies and reproductions."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from umtslab.campaign.record import load_record
from umtslab.serve.experiments import campaign, study_page
from umtslab.serve.files import NoSuchFile
from umtslab.serve.models.experiments import CampaignPage, ReproductionPage, StudyPage
from umtslab.serve.reproductions import reproduction
from umtslab.serve.routes.stored import opened_store
from umtslab.serve.settings import Settings


def add_experiment_routes(app: FastAPI, settings: Settings) -> None:
    """Add the routes for campaigns, studies and reproductions."""

    @app.get("/api/campaigns/{name}", response_model=CampaignPage)
    def get_campaign(name: str, metric: str | None = None, over: str | None = None) -> dict[str, Any]:
        with opened_store(settings) as store:
            record = load_record(store, name)
            if record is None:
                raise NoSuchFile("the store has no campaign of this name")
            return campaign(record, metric, over)

    @app.get("/api/studies/{name}", response_model=StudyPage)
    def get_study(name: str) -> dict[str, Any]:
        # Imported here because it takes long to import.
        from umtslab.studies.record import load_study

        with opened_store(settings) as store:
            study = load_study(store, name)
            if study is None:
                raise NoSuchFile("the store has no study of this name")
            return study_page(study, store)

    @app.get("/api/reproductions/{paper}", response_model=ReproductionPage)
    def get_reproduction(paper: str) -> dict[str, Any]:
        return reproduction(settings, paper)
