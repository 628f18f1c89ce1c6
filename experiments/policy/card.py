"""Writes the figures of the model card, docs/policy.md, and draws its plot.

    python experiments/policy/card.py

What stands between the card's marks is written anew: the weights from the shipped file, the matches
from results.json and the calibration from calibration.json, which also is drawn.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from cribai.training.checkpoint import read_weights
from cribai_agents.policy import SHIPPED

HERE: Final = Path(__file__).parent
DOCS: Final = HERE.parents[1] / "docs"
CARD: Final = DOCS / "policy.md"
PLOT: Final = DOCS / "policy_calibration.svg"


def weights_part() -> str:
    """Returns what the shipped file says of itself: a table and the last run's settings."""
    content = (files("cribai_agents") / SHIPPED).read_bytes()
    weights = read_weights(content, SHIPPED)
    config = weights.header["config"]
    rows = [
        ("SHA-256", f"`{hashlib.sha256(content).hexdigest()}`"),
        ("bytes", f"{len(content):,}"),
        ("network of the lays", _network(weights.lays)),
        ("network of the tosses", _network(weights.tosses) if weights.tosses else "none"),
        ("version of the encoding", str(weights.header["encoding"])),
        (
            "steps of the learner",
            f"{weights.header['steps']:,} of up to {config['batch_size']:,} roots",
        ),
    ]
    settings = [
        f"{name} = {json.dumps(value)}" for name, value in sorted(config.items()) if value != []
    ]
    return "\n".join([*_table(["", ""], rows), "", "```toml", *settings, "```"])


def _network(network: Any) -> str:
    sizes = [network.hidden[0].in_features, *network.hidden_sizes, network.head.out_features]
    parameters = sum(part.numel() for part in network.parameters())
    return f"{' - '.join(map(str, sizes))}, {parameters:,} parameters"


def strength_part() -> str:
    """Returns the table of the matches in results.json."""
    rows = []
    for match, found in json.loads((HERE / "results.json").read_text()).items():
        played = re.fullmatch(r"(.+ v .+), (\d+) pairs, seed (\d+)", match)
        assert played is not None, match
        low, high = (100 * bound for bound in found["win_rate_interval"])
        least, most = found["margin_interval"]
        rows.append(
            (
                played[1],
                f"{100 * found['win_rate']:.2f}%",
                f"{low:.2f} to {high:.2f}",
                f"{found['margin']:+.2f}",
                f"{least:+.2f} to {most:+.2f}",
                f"{int(played[2]):,}",
                played[3],
                f"{found['games_per_second']:,.0f}",
            )
        )
    names = ["match", "games won", "interval", "margin a game", "interval", "pairs", "seed"]
    return "\n".join(_table([*names, "games/s"], rows))


def calibration_part() -> str:
    """Returns the table of the bins in calibration.json, with the mean error."""
    bins = read_bins()
    rows = [
        (f"{b['from']:.1f}", f"{b['lays']:,}", f"{b['said']:.3f}", f"{b['won']:.3f}") for b in bins
    ]
    lays = sum(b["lays"] for b in bins)
    error = sum(b["lays"] * abs(b["said"] - b["won"]) for b in bins) / lays
    table = _table(["from", "lays", "said", "won"], rows)
    return "\n".join([*table, "", f"Mean error over {lays:,} lays: {error:.4f}."])


def read_bins() -> list[dict[str, Any]]:
    bins: list[dict[str, Any]] = json.loads((HERE / "calibration.json").read_text())
    return bins


PARTS: Final = {
    "weights": weights_part,
    "strength": strength_part,
    "calibration": calibration_part,
}


def _table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (names, ["---"] * len(names), *rows)]


def updated(text: str) -> str:
    """Returns the card's text with the figures written anew."""
    for name, part in PARTS.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}{part()}\n{end}{after}"
    return text


def draw() -> None:
    bins = read_bins()
    # Nothing in the file changes unless the figures do.
    with mpl.rc_context({"svg.hashsalt": "cribai", "svg.fonttype": "none", "font.size": 9}):
        figure, axes = plt.subplots(figsize=(4.4, 4), layout="constrained")
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axes.plot([b["said"] for b in bins], [b["won"] for b in bins], "o-", markersize=5)
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        axes.set_xlabel("chance to win that the network says")
        axes.set_ylabel("share won")
        figure.savefig(PLOT, metadata={"Date": None})
        plt.close(figure)


def main() -> None:
    CARD.write_text(updated(CARD.read_text()))
    draw()


if __name__ == "__main__":
    main()
