"""`python -m benchmarks`: measure, print a report, keep it under benchmarks/results/."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import compare, harness, machine, page, report
from .scenarios import SCENARIOS
from .targets import Targets

_RESULTS = Path(__file__).parent / "results"


def main() -> int:
    """Run what the command line asks for; 1 when a contestant failed, 2 when the arguments make no sense."""
    arguments = _parse()
    if arguments.list:
        for scenario in SCENARIOS.values():
            print(f"{scenario.name:24} {scenario.title}")
            for contestant in scenario.contestants:
                print(f"{'':24}   {contestant.name}")
        return 0
    described = machine.describe()
    pinnings = arguments.pin
    runs = []
    with Targets() as targets, harness.Foreigners() as foreigners:
        for name in _chosen(arguments):
            for pinning in pinnings:
                scenario = SCENARIOS[name]
                _say(f"{scenario.title} (pinning: {pinning})")
                runs.append(
                    harness.run(
                        scenario,
                        targets,
                        foreigners,
                        rounds=arguments.rounds,
                        pinning=pinning,
                        only=arguments.peer,
                        say=_say,
                    )
                )
    markdown = report.as_markdown(described, runs)
    print(markdown)
    arguments.output.mkdir(parents=True, exist_ok=True)
    stem = arguments.output / described["when"].replace(":", "").replace("+0000", "Z")
    stem.with_suffix(".md").write_text(markdown)
    stem.with_suffix(".json").write_text(json.dumps(report.as_json(described, runs), indent=1) + "\n")
    stem.with_suffix(".html").write_text(page.as_html(described, runs))
    _say(f"written: {stem}.md, .json and .html")
    if arguments.write_baseline:
        compare.write_baseline(runs)
    regressions = compare.regressions(runs, compare.read_baseline()) if arguments.gate else []
    for regression in regressions:
        _say(f"regression: {regression}")
    failed = [outcome for run in runs for outcome in run.outcomes if outcome.failed is not None]
    for outcome in failed:
        _say(f"failed: {outcome.contestant.name}: {outcome.failed}")
    return 1 if failed or regressions else 0


def _chosen(arguments: argparse.Namespace) -> list[str]:
    """The scenarios that were asked for; all by default."""
    suites = [name for name in SCENARIOS if any(name.startswith(f"{suite}_") for suite in arguments.suite)]
    return [*suites, *arguments.scenario] or list(SCENARIOS)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--scenario",
        action="append",
        default=[],
        choices=SCENARIOS,
        metavar="NAME",
        help="only this one; may be repeated",
    )
    parser.add_argument(
        "--suite",
        action="append",
        default=[],
        choices=sorted({name.partition("_")[0] for name in SCENARIOS}),
        help="all scenarios of this suite; may be repeated",
    )
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME", help="only this driver; may be repeated (see --list)"
    )
    parser.add_argument("--rounds", type=_rounds, default=12, metavar="N", help="rounds per scenario, at least 3")
    parser.add_argument(
        "--pin",
        type=_pinnings,
        default=["one", "none"],
        metavar="HOW",
        help="CPUs of client and server: one (shared), two (one each) or none (not pinned), or several of them as in "
        "`one,two`; both is one,none, the default",
    )
    parser.add_argument("--output", type=Path, default=_RESULTS, metavar="DIR", help="where the reports go")
    parser.add_argument(
        "--gate",
        action="store_true",
        help=f"end with 1 when a ratio of CPU times is {compare.TOLERANCE} times that of the committed baseline",
    )
    parser.add_argument("--write-baseline", action="store_true", help="make this run the baseline")
    parser.add_argument("--list", action="store_true", help="list scenarios and contestants")
    return parser.parse_args()


def _rounds(text: str) -> int:
    number = int(text)
    if number < 3:
        raise argparse.ArgumentTypeError("fewer than 3 rounds say nothing")
    return number


def _pinnings(text: str) -> list[str]:
    names = ["one", "none"] if text == "both" else text.split(",")
    unknown = set(names) - {"one", "two", "none"}
    if unknown:
        raise argparse.ArgumentTypeError(f"`{sorted(unknown)[0]}` is none of one, two, none and both")
    return names


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
