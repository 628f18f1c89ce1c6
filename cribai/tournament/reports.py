"""What a run leaves: results.json for programs, summary.md and report.html for people."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from cribai.errors import ConfigError
from cribai.tournament.store import RESULTS_FILE, Store

SUMMARY_FILE: Final = "summary.md"
REPORT_FILE: Final = "report.html"


def save_reports(store: Store, summary: Mapping[str, Any]) -> None:
    """Writes the results and draws the reports.

    Raises:
        OSError: A file cannot be written.
    """
    store.write(RESULTS_FILE, json.dumps(summary, allow_nan=False, indent=2) + "\n")
    redraw(store, summary)


def redraw(store: Store, summary: Mapping[str, Any]) -> None:
    """Draws the reports.

    Raises:
        OSError: A file cannot be written.
    """
    from cribai.tournament.html import report_html
    from cribai.tournament.markdown import summary_markdown

    store.write(SUMMARY_FILE, summary_markdown(summary))
    store.write(REPORT_FILE, report_html(summary))


def _upgrade(match: dict[str, Any]) -> None:
    """Counts the wins of a match in half-wins, if cribai 0.1.0 wrote it."""
    if "pairs_by_wins" in match:
        none, one, both = match.pop("pairs_by_wins")
        match["pairs_by_half_wins"] = [none, 0, one, 0, both]


def read_results(folder: Path) -> dict[str, Any]:
    """Returns the results of a run that has ended.

    Raises:
        ConfigError: The folder holds none.
    """
    path = folder / RESULTS_FILE
    try:
        results: dict[str, Any] = json.loads(path.read_text())
        results["convergence"], results["hash"]
        for match in results["matches"]:
            _upgrade(match)
    except (OSError, ValueError, KeyError, TypeError):
        raise ConfigError(
            f"The folder {str(folder)!r} holds no results; name the folder of a run that has ended,"
            " or go on with it by cribai tournament --resume."
        ) from None
    return results
