"""The figures of the model card are those of the studies and of the shipped weights."""

import hashlib
import json
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "experiments" / "policy"
CARD = (ROOT / "docs" / "policy.md").read_text()
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in CARD.splitlines()
        if line.startswith("|")]  # fmt: skip


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(STUDY))
    monkeypatch.delitem(sys.modules, "card", raising=False)
    return __import__("card")


def test_it_is_what_the_script_writes(card: ModuleType) -> None:
    assert card.updated(CARD) == CARD, "run experiments/policy/card.py"
    assert card.updated(CARD.replace("policy v random", "policy v greedy")) == CARD


def test_matches() -> None:
    kept = json.loads((STUDY / "results.json").read_text())
    found = [row for row in ROWS if len(row) == 8][2:]
    assert len(found) == len(kept)
    for row, (match, result) in zip(found, kept.items(), strict=True):
        name, rate, bounds, margin, margin_bounds, pairs, seed, _ = row
        assert match == f"{name}, {pairs.replace(',', '')} pairs, seed {seed}"
        numbers = [rate.rstrip("%"), *bounds.split(" to "), margin, *margin_bounds.split(" to ")]
        win = [result["win_rate"], *result["win_rate_interval"]]
        expected = [*(100 * share for share in win), result["margin"], *result["margin_interval"]]
        assert [float(number) for number in numbers] == pytest.approx(expected, abs=0.0051)


def test_calibration() -> None:
    kept = json.loads((STUDY / "calibration.json").read_text())
    bins = [row for row in ROWS if len(row) == 4][2:]
    found = [[float(cell.replace(",", "")) for cell in row] for row in bins]
    expected = [[row["from"], row["lays"], row["said"], row["won"]] for row in kept]
    assert len(found) == 10
    for row, numbers in zip(found, expected, strict=True):
        assert row == pytest.approx(numbers, abs=0.00051)


def test_weights() -> None:
    content = (files("cribai_agents") / "policy.safetensors").read_bytes()
    assert ["SHA-256", f"`{hashlib.sha256(content).hexdigest()}`"] in ROWS
    assert ["bytes", f"{len(content):,}"] in ROWS


def test_the_plot_is_drawn_alike(
    card: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice from one file of figures, so that it changes only when they do."""
    drawn = []
    for name in ("first.svg", "second.svg"):
        monkeypatch.setattr(card, "PLOT", tmp_path / name)
        card.draw()
        drawn.append((tmp_path / name).read_text())
    assert drawn[0] == drawn[1]
    assert "chance to win that the network says" in drawn[0]
