"""Training runs: resuming, checkpoints, bad settings, and that the network learns."""

import csv
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import command
from cribai import ConfigError
from cribai.config import load_config
from cribai.training.checkpoint import CheckpointError, load_weights
from cribai.training.config import TrainConfig
from cribai.training.curves import BOARD, CHALLENGES, EVALUATIONS, TRAINING
from cribai.training.features import COLUMNS, NUM_INPUTS
from cribai.training.learner import DivergedError, Learner, LearnerOptions
from cribai.training.losses import ValueLoss, relative
from cribai.training.network import LayNetwork
from cribai.training.run import MANIFEST, STATES, WEIGHTS, Run
from cribai.training.selfplay import Samples
from training_runs import TINY, config, tensors

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("method", ["branching", "monte_carlo", "search", "expectation"])
def test_resumed_run_does_the_same(tmp_path: Path, method: str) -> None:
    wanted = config(method=method, low_precision=method == "search")
    Run(wanted, tmp_path / "whole").train()
    for stop in (3, 4, 5):  # 3 and 5 lose the waves since the last checkpoint
        Run(wanted, tmp_path / "parts", resume=True).train(until=stop)
    resumed = Run(wanted, tmp_path / "parts", resume=True)
    assert resumed.wave == 4
    resumed.train()
    assert tensors(tmp_path / "parts") == tensors(tmp_path / "whole")
    with (tmp_path / "parts" / TRAINING).open() as file:
        assert [row["wave"] for row in csv.DictReader(file)] == list("123456")
    assert Run(wanted, tmp_path / "parts", resume=True).wave == 6
    assert load_weights(tmp_path / "parts" / WEIGHTS).header["wave"] == 6


def test_another_seed_differs(tmp_path: Path) -> None:
    Run(config(), tmp_path / "one").train()
    Run(config(seed=4), tmp_path / "other").train()
    assert tensors(tmp_path / "one") != tensors(tmp_path / "other")


def test_what_a_run_leaves(tmp_path: Path) -> None:
    figures = Run(config(evaluate_every=3), tmp_path).train()
    names = {path.name for path in tmp_path.iterdir()}
    assert names - {BOARD} == {
        MANIFEST,
        TRAINING,
        EVALUATIONS,
        CHALLENGES,
        WEIGHTS,
        *STATES,
    }
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["wave"] == 6
    with (tmp_path / EVALUATIONS).open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["wave"]) for row in rows] == [3, 6]
    (match,) = figures["matches"]
    assert match["opponent"] == "random"
    assert float(rows[1]["win_rate"]) == match["win_rate"]
    header = load_weights(tmp_path / WEIGHTS).header
    assert header["config"]["seed"] == 3
    assert header["figures"] == figures


def test_start_from_weights(tmp_path: Path) -> None:
    Run(config(), tmp_path / "first").train()
    start = str(tmp_path / "first" / WEIGHTS)
    run = Run(config(start=start), tmp_path / "second")
    first = load_weights(Path(start)).lays
    assert all(
        torch.equal(a, b)
        for a, b in zip(run.learner.network.parameters(), first.parameters(), strict=True)
    )


def test_folder_of_a_run_is_not_overwritten(tmp_path: Path) -> None:
    Run(config(), tmp_path).train(until=2)
    with pytest.raises(ConfigError, match="holds a run; resume it"):
        Run(config(), tmp_path)
    with pytest.raises(ConfigError, match="another deals"):
        Run(config(deals=61), tmp_path, resume=True)


def test_damaged_checkpoints(tmp_path: Path) -> None:
    Run(config(), tmp_path).train(until=4)
    state = tmp_path / json.loads((tmp_path / MANIFEST).read_text())["state"]
    whole = state.read_bytes()
    state.write_bytes(whole[:-1])
    with pytest.raises(CheckpointError, match="not what the manifest says"):
        Run(config(), tmp_path, resume=True)
    state.write_bytes(whole)
    assert Run(config(), tmp_path, resume=True).wave == 4
    (tmp_path / MANIFEST).write_text("{}")
    with pytest.raises(CheckpointError, match="manifest"):
        Run(config(), tmp_path, resume=True)


def test_no_number_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    Run(config(), tmp_path).train(until=4)
    kept = (tmp_path / WEIGHTS).read_bytes()
    run = Run(config(), tmp_path, resume=True)
    with torch.no_grad():
        run.learner.network.head.bias[0] = float("nan")
    with pytest.raises(DivergedError, match=r"The loss is nan at step \d+"):
        run.train()
    assert (tmp_path / WEIGHTS).read_bytes() == kept
    assert Run(config(), tmp_path, resume=True).wave == 4


def test_weights_that_are_none_are_not_saved(tmp_path: Path) -> None:
    run = Run(config(), tmp_path)
    run.train(until=2)
    with torch.no_grad():
        run.learner.average[0][0, 0] = float("inf")
    with pytest.raises(DivergedError, match="weights"):
        run.save()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"wave": 3}, "Unknown key 'wave'"),
        ({"hidden": []}, "hidden"),
        ({"hidden": [0]}, "hidden"),
        ({"method": "magic"}, "method"),
        ({"learning_rate": 0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"random_last": 1.5}, "random_last"),
        ({"deals": 2.5}, "deals"),
        ({"opponents": [3]}, "opponents"),
        ({"pool": ["greedy"]}, "pool and pool_share"),
        ({"pool_share": 0.5}, "pool and pool_share"),
        ({"pool": ["champion"], "pool_share": 0.5}, "needs gate_every"),
        ({"loss": "policy"}, "needs a temperature"),
        ({"loss": "policy", "temperature": 1.0, "method": "monte_carlo"}, "needs a temperature"),
        ({"teacher_weight": 0.5}, "needs teacher or start"),
        ({"parts": 7}, "multiple of parts"),
        ({"executor": "ray", "method": "tosses"}, "executor ray are for lays"),
        ({"parts": 2, "method": "expectation", "replay": 9, "start": "x"}, "parts and the"),
        ({"entropy_weight": 0.1}, "needs the loss policy"),
        ({"method": "tosses", "temperature": 0.5}, "learned without temperature"),
        ({"method": "tosses", "gate_every": 2}, "tosses are learned without"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config(**settings)


@pytest.mark.parametrize("path", sorted((ROOT / "configs" / "train").glob("*.toml")), ids=str)
def test_shipped_settings(path: Path) -> None:
    assert load_config(TrainConfig, path).opponents


def samples(number: int, chance: np.random.Generator) -> Samples:
    """Roots whose lays are worth what one of the features says."""
    rows = np.zeros((number, NUM_INPUTS), np.float32)
    for columns in (COLUMNS["points"], slice(0, 1)):
        rows[:, columns] = chance.random((number, columns.stop - columns.start))
    rows[:, COLUMNS["worths"].start + 1] = 0.4
    masks = (chance.random((number, 13)) < 0.4).astype(np.float32)
    masks[:, :2] = 1
    common = chance.normal(size=(number, 1), scale=5)
    targets = (3 * rows[:, COLUMNS["points"]] + common).astype(np.float32)
    wins = (rows[:, 0] > 0.5).astype(np.float32)
    return Samples(rows, targets, masks, wins, number)


def test_learner_learns_differences_and_wins() -> None:
    torch.manual_seed(1)
    chance = np.random.default_rng(1)
    loss = ValueLoss(relative=True, huber=6.0, win_weight=0.5)
    learner = Learner(LayNetwork((32,)), loss, LearnerOptions(256, 1, 0.99, low_precision=False))
    for _ in range(150):
        learner.learn(samples(2048, chance), 3e-3, chance.permutation(2048)[np.newaxis])
    fresh = samples(1000, chance)
    masks = torch.from_numpy(fresh.masks)
    with torch.no_grad():
        outputs = learner.averaged()(torch.from_numpy(fresh.rows))
    found = relative(outputs[:, :13], masks) * masks
    expected = relative(torch.from_numpy(fresh.targets), masks) * masks
    assert float((found - expected).square().mean()) < 0.25 * float(expected.square().mean())
    right = (outputs[:, 13] > 0).numpy() == (fresh.wins > 0.5)
    assert right.mean() > 0.9


def write_config(path: Path, **changes: Any) -> Path:
    lines = [f"{key} = {json.dumps(value)}" for key, value in (TINY | changes).items()]
    path.write_text("\n".join(lines))
    return path


def test_command(tmp_path: Path) -> None:
    path = write_config(tmp_path / "tiny.toml")
    out = tmp_path / "run"
    words = ["train", "--config", str(path), "--out", str(out)]
    result = command.run(*words, "--json").json
    assert result["wave"] == 6
    assert result["out"] == str(out)
    assert result["matches"][0]["pairs"] == 2
    again = command.run(*words)
    assert "resume it" in again.complaint
    assert "v random" in command.run(*words, "--resume", "--set", "pairs=2").stdout
    assert "Unknown key 'wave'" in command.run(*words, "--set", "wave=3").complaint


def test_killed_run_resumes(tmp_path: Path) -> None:
    path = write_config(tmp_path / "tiny.toml", waves=200)
    words = [sys.executable, "-m", "cribai", "train", "--config", str(path)]
    killed = tmp_path / "killed"
    process = subprocess.Popen([*words, "--out", str(killed)], cwd=ROOT)
    while not (killed / MANIFEST).exists():
        time.sleep(0.05)
        assert process.poll() is None
    time.sleep(0.3)
    process.send_signal(signal.SIGKILL)
    process.wait()
    subprocess.run([*words, "--out", str(killed), "--resume"], cwd=ROOT, check=True)
    subprocess.run([*words, "--out", str(tmp_path / "whole")], cwd=ROOT, check=True)
    assert tensors(killed) == tensors(tmp_path / "whole")


def test_smoke(tmp_path: Path) -> None:
    result = command.run(
        "train", "--config", str(ROOT / "configs/train/smoke.toml"), "--out", str(tmp_path / "run"),
        "--json",
    ).json  # fmt: skip
    match = next(match for match in result["matches"] if match["opponent"] == "random")
    assert match["low"] > 0.9


def test_ctrl_c_ends_like_other_commands_and_keeps_the_checkpoint(tmp_path: Path) -> None:
    words = ["waves=100000", "deals=300", "library=2000", "checkpoint_every=2"]
    settings = [part for word in words for part in ("--set", word)]
    out = tmp_path / "run"
    process = subprocess.Popen(
        [sys.executable, "-m", "cribai", "train", *settings, "--out", str(out)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test runner in the background may have Ctrl-C ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while process.poll() is None and not (out / "manifest.json").exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "")
    assert errors.splitlines()[-1].startswith("cribai: interrupted; ")
    assert "--resume" in errors
    assert "Traceback" not in errors
    load_weights(out / "weights.safetensors")
