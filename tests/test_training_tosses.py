"""Episodes of tosses, and the network that corrects the analysis."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cribai import STANDARD, ConfigError, GameBatch, ViewBatch, make_agent
from cribai.analysis.tosses import analyze_tosses
from cribai.config import load_config
from cribai.engine import state as engine
from cribai.testing import check_agent
from cribai.training.checkpoint import load_weights
from cribai.training.config import TrainConfig
from cribai.training.deals import make_library
from cribai.training.features import COLUMNS
from cribai.training.network import NUM_OUTPUTS
from cribai.training.run import WEIGHTS, Run
from cribai.training.toss_features import (
    BELOW_BEST,
    MAX_CANDIDATES,
    NUM_TOSS_INPUTS,
    TOSS_COLUMNS,
    TOSS_FIELDS,
    toss_candidates,
)
from cribai.training.toss_selfplay import TossSamples, TossSelfPlay, toss_options

pytestmark = pytest.mark.slow

TINY = {
    "seed": 3,
    "library": 300,
    "deals": 60,
    "waves": 4,
    "batch_size": 64,
    "checkpoint_every": 2,
    "opponents": ["random"],
    "pairs": 2,
}


def views_of_tosses(num_games: int, seed: int) -> ViewBatch:
    batch = GameBatch.start(num_games, seed=seed)
    agent = make_agent("random")
    arrays = []
    while not batch.over.all():
        views = batch.views()
        arrays.append(views.array[views.array["phase"] == engine.DISCARD])
        batch.step(agent.act(views))
    return ViewBatch(np.concatenate(arrays), STANDARD)


def test_candidates_are_the_best_by_the_analysis() -> None:
    views = views_of_tosses(3, seed=2)
    options = toss_options(deals=256, horizon=60)
    candidates, rows = toss_candidates(views, np.arange(len(views)), options)
    assert rows.shape == (len(views) * MAX_CANDIDATES, NUM_TOSS_INPUTS)
    for place, view in enumerate(views):
        own, other = view.scores
        ranked = analyze_tosses(
            view.hand, is_dealer=view.is_dealer, score=own, opponent_score=other
        )
        chosen = [toss for toss in candidates[place].tolist() if toss >= 0]
        assert [view.tosses[toss] for toss in chosen] == [
            toss.toss for toss in ranked[: len(chosen)]
        ]
        below = rows[place * MAX_CANDIDATES : place * MAX_CANDIDATES + len(chosen), BELOW_BEST]
        assert below[0] == 0
        assert (np.diff(below) <= 0).all()
        assert below[-1] >= -1 - 1e-6
        row = rows[place * MAX_CANDIDATES]
        best = ranked[0]
        parts = row[TOSS_COLUMNS["parts"]]
        assert parts[0] == pytest.approx(best.hand / 10, abs=1e-5)
        assert parts[1] == pytest.approx(best.hand_variance**0.5 / 5, abs=1e-4)
        assert parts[2] == pytest.approx(best.crib / 10, abs=1e-5)
        distances = row[TOSS_COLUMNS["distances"]] * 121
        assert distances == pytest.approx([121 - own, 121 - other], abs=1e-3)
        out = sum(best.hand_chances[max(121 - own, 0) :])
        assert row[TOSS_COLUMNS["out"]][0] == pytest.approx(out, abs=1e-5)
    assert sum(TOSS_FIELDS.values()) == NUM_TOSS_INPUTS


def evaluate(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lays what pegs most."""
    outputs = np.zeros((len(rows), NUM_OUTPUTS), np.float32)
    outputs[:, :13] = rows[:, COLUMNS["points"]]
    return outputs


def play(wave: int, seed: int = 1) -> TossSamples:
    return TossSelfPlay(make_library(500, seed=5), seed, 400, toss_options()).play(wave, evaluate)


def test_samples() -> None:
    samples = play(0)
    assert len(samples.rows) > 200
    assert (samples.masks[:, :2] == 1).all()
    assert np.isfinite(samples.targets).all()
    # What the analysis says is right on average: players who lay greedily peg less alike.
    errors = samples.targets[samples.masks > 0]
    assert abs(errors.mean()) < 1
    assert errors.std() < 6
    again = play(0)
    assert again.rows.tobytes() == samples.rows.tobytes()
    assert (again.targets * again.masks == samples.targets * samples.masks).all()
    assert play(1).rows.tobytes() != samples.rows.tobytes()


def test_tosses_need_the_lays() -> None:
    with pytest.raises(ConfigError, match="set start"):
        Run(load_config(TrainConfig, None, TINY | {"method": "tosses"}), Path("nowhere"))


def test_run_of_tosses(tmp_path: Path) -> None:
    lays = load_config(TrainConfig, None, TINY | {"hidden": [12]})
    Run(lays, tmp_path / "lays").train()
    start = str(tmp_path / "lays" / WEIGHTS)
    changes: dict[str, Any] = {"method": "tosses", "hidden": [8, 4], "start": start}
    changes |= {"learning_rate": 0.1, "average_decay": 0.5}
    tosses = load_config(TrainConfig, None, TINY | changes)
    Run(tosses, tmp_path / "whole").train()
    Run(tosses, tmp_path / "parts").train(until=3)
    Run(tosses, tmp_path / "parts", resume=True).train()
    whole = (tmp_path / "whole" / WEIGHTS).read_bytes()
    assert load_weights(tmp_path / "whole" / WEIGHTS).tosses is not None
    found = load_weights(tmp_path / "parts" / WEIGHTS)
    assert found.tosses is not None
    expected = load_weights(tmp_path / "whole" / WEIGHTS)
    for name, weight in found.tosses.state_dict().items():
        assert (weight == expected.tosses.state_dict()[name]).all()  # type: ignore[union-attr]
    for name, weight in found.lays.state_dict().items():
        assert (weight == load_weights(Path(start)).lays.state_dict()[name]).all()
    assert len(whole) > 0
    path = tmp_path / "whole" / WEIGHTS
    check_agent(f"policy:checkpoint={path},deals=4", games=2)
    check_agent(f"policy+search:checkpoint={path},deals=4,samples=4", games=2)
    views = views_of_tosses(30, seed=6)
    with_network = make_agent(f"policy:checkpoint={path},deals=4").act(views)
    without = make_agent(f"policy:checkpoint={path},deals=4,tosses=analysis").act(views)
    assert 0 < (with_network != without).mean() < 0.7
