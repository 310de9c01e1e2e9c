"""Importance of each parameter of an optimisation for its objective."""

from __future__ import annotations

from umtslab.campaign.errors import CampaignError
from umtslab.extras import missing_library_text
from umtslab.studies.optimise import Outcome, distribution

_MIN_TRIALS = 4
"""Minimum number of trials that measured the objective."""


def importance(outcome: Outcome) -> dict[str, float]:
    """Return the importance of each parameter for a trial to be among the better ones.

    The sum is 1.

    References
    ----------
    Watanabe, Bansal and Hutter (2023), PED-ANOVA: efficiently quantifying hyperparameter importance
    in arbitrary subspaces.

    Raises
    ------
    CampaignError
        If Optuna is not installed, or fewer than four trials measured the objective.
    """
    try:
        import optuna
    except ImportError as error:
        raise CampaignError(missing_library_text("optuna", error)) from None
    import warnings

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = outcome.study
    measured = [trial for trial in outcome.trials if trial.objective.mean is not None]
    if len(measured) < _MIN_TRIALS:
        raise CampaignError(
            f"{study.frame.name} has {len(measured)} trials with a value of {study.metric}: the "
            f"importance of parameters needs at least {_MIN_TRIALS}, and about 40 for a reliable "
            "result"
        )
    optuna_study = optuna.create_study(direction="maximize" if study.maximise else "minimize")
    spaces = {parameter.key: distribution(parameter) for parameter in study.frame.parameters}
    for trial in measured:
        values = {
            parameter.key: parameter.drawn(trial.parameters[parameter.key])
            for parameter in study.frame.parameters
        }
        optuna_study.add_trial(
            optuna.trial.create_trial(params=values, distributions=spaces, value=trial.objective.mean)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        evaluator = optuna.importance.PedAnovaImportanceEvaluator()
        shares = optuna.importance.get_param_importances(optuna_study, evaluator=evaluator)
    return {key: float(share) for key, share in shares.items()}
