"""The learner's losses and measures, against their definitions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from cribai.training.features import COLUMNS, NUM_INPUTS
from cribai.training.losses import PolicyLoss, ValueLoss, log_policy, relative
from cribai.training.measures import calibration_error, measure
from cribai.training.selfplay import UNKNOWN, Samples

CHANCE = np.random.default_rng(4)
NUMBER = 50
ALL = np.arange(NUMBER)
POLICY = PolicyLoss(temperature=0.7, win_weight=0.0)
VALUES = ValueLoss(relative=True, huber=8.0, win_weight=0.0)


def samples() -> Samples:
    rows = np.zeros((NUMBER, NUM_INPUTS), np.float32)
    rows[:, COLUMNS["worths"].start + 1] = 0.4  # a usual row counts once
    masks = (CHANCE.random((NUMBER, 13)) < 0.4).astype(np.float32)
    masks[:, :2] = 1
    rows[:, COLUMNS["legal"]] = masks
    targets = CHANCE.normal(size=(NUMBER, 13)).astype(np.float32)
    return Samples(rows, targets, masks, CHANCE.random(NUMBER).astype(np.float32), NUMBER)


def outputs() -> torch.Tensor:
    return torch.from_numpy(CHANCE.normal(size=(NUMBER, 14)).astype(np.float32))


def chances(values: Any, mask: Any, temperature: float) -> Any:
    """The policy of one root by its definition."""
    weights = np.exp(values[mask > 0] / temperature)
    return weights / weights.sum()


def test_policy_loss_is_what_the_policy_misses() -> None:
    given, found = samples(), outputs()
    expected = 0.0
    for row in range(NUMBER):
        mask = given.masks[row]
        policy = chances(found[row, :13].numpy(), mask, 0.7)
        worth = given.targets[row][mask > 0]
        expected -= (policy * (worth - worth.mean())).sum() / NUMBER
    assert float(POLICY(found, given, ALL)) == pytest.approx(expected, abs=1e-5)


def test_entropy_and_teacher_of_a_policy() -> None:
    given, found, taught = samples(), outputs(), outputs()
    plain = float(POLICY(found, given, ALL))
    entropy = divergence = 0.0
    for row in range(NUMBER):
        mask = given.masks[row]
        policy = chances(found[row, :13].numpy(), mask, 0.7)
        other = chances(taught[row, :13].numpy(), mask, 0.7)
        entropy -= (policy * np.log(policy)).sum() / NUMBER
        divergence += (policy * np.log(policy / other)).sum() / NUMBER
    loss = replace(POLICY, entropy_weight=0.3)
    assert float(loss(found, given, ALL)) == pytest.approx(plain - 0.3 * entropy, abs=1e-5)
    loss = replace(POLICY, teacher=lambda rows: taught.numpy()[: len(rows)], teacher_weight=0.2)
    assert float(loss(found, given, ALL)) == pytest.approx(plain + 0.2 * divergence, abs=1e-5)


def test_teacher_of_values() -> None:
    given, found, taught = samples(), outputs(), outputs()
    loss = replace(VALUES, teacher=lambda rows: taught.numpy()[: len(rows)], teacher_weight=0.2)
    masks = torch.from_numpy(given.masks)
    gap = (relative(found[:, :13], masks) - relative(taught[:, :13], masks)) * masks
    distance = 0.2 * float((gap**2).sum()) / NUMBER
    expected = float(VALUES(found, given, ALL)) + distance
    assert float(loss(found, given, ALL)) == pytest.approx(expected, rel=1e-5)
    # Also where one lay of each root was valued: the legal ones are compared.
    given.masks[:, 1:] = 0
    expected = float(VALUES(found, given, ALL)) + distance
    assert float(loss(found, given, ALL)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("loss", [POLICY, VALUES], ids=["policy", "values"])
def test_descent_finds_the_best_lay(loss: PolicyLoss | ValueLoss) -> None:
    given = samples()
    found = torch.zeros((NUMBER, 14), requires_grad=True)
    optimizer = torch.optim.Adam([found], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss(found, given, ALL).backward()
        optimizer.step()
    masks = torch.from_numpy(given.masks)
    best = torch.where(masks > 0, torch.from_numpy(given.targets), -99.0).argmax(dim=1)
    assert (torch.where(masks > 0, found[:, :13], -99.0).argmax(dim=1) == best).all()


def test_log_policy_leaves_out_what_is_masked() -> None:
    values = torch.tensor([[1.0, 50.0, 1.0]])
    logs = log_policy(values, torch.tensor([[1.0, 0.0, 1.0]]), 1.0)
    assert logs.exp()[0].tolist() == pytest.approx([0.5, 0.0, 0.5])


def test_measures() -> None:
    given = samples()
    flat = np.zeros((NUMBER, 14), np.float32)
    sharp = flat.copy()
    sharp[:, 0] = 50.0
    found = measure(lambda _: flat, lambda _: sharp, given, 1.0)
    counts = given.masks.sum(axis=1)
    assert found["entropy"] == pytest.approx(np.log(counts).mean(), rel=1e-5)
    expected = (50 * (counts - 1) / counts - np.log(counts)).mean()
    assert found["divergence"] == pytest.approx(expected, rel=1e-4)
    assert found["calibration"] == pytest.approx(abs(0.5 - given.wins.mean()), abs=1e-5)
    assert measure(lambda _: sharp, None, given, 1.0)["entropy"] == pytest.approx(0, abs=1e-5)
    empty = Samples(
        *(array[:0] for array in (given.rows, given.targets, given.masks)), given.wins[:0], 0
    )
    assert measure(lambda _: flat, None, empty, 1.0) == {}
    given.wins[3] = UNKNOWN
    assert set(measure(lambda _: flat, None, given, 1.0)) == {"entropy"}


def test_calibration_error() -> None:
    said = np.array([0.05, 0.05, 0.95, 0.95])
    assert calibration_error(said, said) == 0
    assert calibration_error(said, np.array([0.0, 1.0, 1.0, 1.0])) == pytest.approx((0.9 + 0.1) / 4)
    assert calibration_error(np.ones(2), np.array([1.0, 0.0])) == pytest.approx(0.5)
