"""An experiment with runs, metrics and parameters, searched by each; a registry of models; traces."""

import math
import sys
import warnings

import mlflow
from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

url, scratch = sys.argv[1:]
warnings.simplefilter("ignore")
mlflow.set_tracking_uri(url)
mlflow.set_registry_uri(url)
client = MlflowClient()
experiment = client.create_experiment("ex é", artifact_location=f"{scratch}/artifacts")
run = client.create_run(experiment, tags={"a": "1"}).info.run_id
for step in range(5):
    client.log_metric(run, "loss", 1 / (step + 1), step=step)
metrics = [Metric("acc", 0.5, 1000, 1), Metric("acc", math.nan, 1001, 2)]
client.log_batch(run, metrics, [Param("p", "q" * 200)], [RunTag("t", "ü")])
client.set_terminated(run)
assert [metric.step for metric in client.get_metric_history(run, "loss")] == [0, 1, 2, 3, 4]
for wanted in (
    "metrics.loss < 0.5",
    "params.p LIKE 'q%'",
    "tags.t = 'ü'",
    "attributes.status = 'FINISHED' and tags.a ILIKE '1'",
):
    found = client.search_runs([experiment], wanted, order_by=["metrics.acc DESC", "start_time ASC"])
    assert len(found) == 1, wanted
assert [found.name for found in client.search_experiments(filter_string="name LIKE 'ex%'")] == ["ex é"]
client.create_registered_model("m1", tags={"k": "v"})
version = client.create_model_version("m1", f"{scratch}/artifacts/m", run)
client.set_registered_model_alias("m1", "champion", version.version)
assert client.get_model_version_by_alias("m1", "champion").version == version.version
client.rename_registered_model("m1", "m2")
assert [model.name for model in client.search_registered_models("name LIKE 'm%'")] == ["m2"]
client.delete_registered_model("m2")
client.delete_run(run)
client.delete_experiment(experiment)

mlflow.set_experiment("traces")


@mlflow.trace
def traced(x):
    return x + 1


traced(1)
traced(2)
mlflow.flush_trace_async_logging()
found = mlflow.get_experiment_by_name("traces").experiment_id
count = len(mlflow.search_traces(experiment_ids=[found], return_type="list"))
# What is said at the end is the last line.
print(f"{count} traces", flush=True)
