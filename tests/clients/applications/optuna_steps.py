"""A study of forty trials by four threads, read again, listed and deleted."""

import sys

import optuna

url = sys.argv[1]
optuna.logging.set_verbosity(optuna.logging.WARNING)


def objective(trial):
    x = trial.suggest_float("x", -10, 10)
    kind = trial.suggest_categorical("kind", ["a", "b", None])
    n = trial.suggest_int("n", 1, 5)
    trial.set_user_attr("note", {"é": "ü😀", "kinds": [1, 2, None], "kind": kind})
    for step in range(3):
        trial.report(x * x + step, step)
    if x > 9:
        raise optuna.TrialPruned
    return float("inf") if n == 5 and x < -9 else x * x + n


storage = optuna.storages.RDBStorage(url)
study = optuna.create_study(study_name="s", storage=storage, directions=["minimize"], load_if_exists=True)
study.optimize(objective, n_trials=40, n_jobs=4)
again = optuna.load_study(study_name="s", storage=url)
assert again.best_value < 1000
assert again.trials[0].user_attrs["note"]["é"] == "ü😀"
assert again.trials_dataframe().shape[0] == 40
assert [summary.study_name for summary in optuna.get_all_study_summaries(storage)] == ["s"]
count = len(again.trials)
optuna.delete_study(study_name="s", storage=storage)
assert optuna.get_all_study_names(storage) == []
print(f"{count} trials")
