"""TorchRL's PPO on the vector environment, with a `MaskedCategorical` over the actions.

    python experiments/examples/torchrl_ppo.py --seed 1

TorchRL wants ended games left alone until it resets them itself: `AutoresetMode.DISABLED`. The mask
is read off the observation: it is the first field of `flat` and of `compact`. Printed is the part
of games won over mirrored pairs of a seed that was not trained on, with the 95% interval, and the
processor's time.

Needs `pip install torchrl`.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from tensordict.nn import TensorDictModule
from torch import Tensor, nn
from torchrl.collectors import Collector
from torchrl.envs.libs.gym import GymWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import STANDARD, Agent, ViewBatch, make_agent
from cribai.envs.encoding import make_encoding
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats

NUM_ENVS, NUM_STEPS = 256, 64
EPOCHS, MINIBATCH, RATE = 2, 2048, 2e-3
POINT = 0.1  # what a point is paid
UNSEEN = 1_000_000  # added to the seed to measure


class MaskedLogits(nn.Module):
    """Logits of the actions, and which are legal."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = network(STANDARD.num_actions)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        masks = observations[..., : STANDARD.num_actions] > 0
        return self.layers(observations), masks


class LearnedAgent(Agent):
    """The policy as any agent: views in, the likeliest legal actions out."""

    name = "torchrl ppo"

    def __init__(self, logits: MaskedLogits, observation: str) -> None:
        self.logits = logits
        self.encoding = make_encoding(observation, STANDARD)

    @torch.no_grad()
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        logits, masks = self.logits(torch.from_numpy(self.encoding.encode(views)))
        return logits.masked_fill(~masks, -torch.inf).argmax(dim=1).numpy()


def network(outputs: int) -> MLP:
    return MLP(out_features=outputs, num_cells=[128, 128], activation_class=nn.Tanh)


def train(env: Any, timesteps: int, seed: int) -> MaskedLogits:
    logits = MaskedLogits()
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=["observation"], out_keys=["logits", "mask"]),
        in_keys=["logits", "mask"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    critic = ValueOperator(network(1), in_keys=["observation"])
    torch_env = GymWrapper(env, categorical_action_encoding=True)
    torch_env.set_seed(seed)
    actor(torch_env.reset())  # makes the layers, whose inputs are counted when first seen
    critic(torch_env.reset())
    loss_of = ClipPPOLoss(actor, critic, entropy_coeff=0.005, critic_coeff=0.5)
    advantage = GAE(gamma=0.9, lmbda=0.9, value_network=critic, average_gae=True)
    optimizer = torch.optim.Adam(loss_of.parameters(), lr=RATE)
    frames = NUM_ENVS * NUM_STEPS
    rounds = max(1, timesteps // frames)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, rounds)
    collector = Collector(
        torch_env,
        actor,
        frames_per_batch=frames,
        total_frames=frames * rounds,
        auto_register_policy_transforms=False,
    )
    for batch in collector:
        batch["next", "reward"] *= POINT
        with torch.no_grad():
            advantage(batch)
        transitions = batch.reshape(-1)
        for rows in (r for _ in range(EPOCHS) for r in torch.randperm(frames).split(MINIBATCH)):
            losses = loss_of(transitions[rows])
            optimizer.zero_grad()
            sum(losses[f"loss_{part}"] for part in ("objective", "critic", "entropy")).backward()
            nn.utils.clip_grad_norm_(loss_of.parameters(), 0.5)
            optimizer.step()
        schedule.step()
    return logits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timesteps", type=int, default=500_000)
    parser.add_argument("--observation", default="compact", choices=("compact", "flat"))
    parser.add_argument("--pairs", type=int, default=2000, help="mirrored pairs to measure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    env = gymnasium.make_vec(
        "cribai/Cribbage-v0",
        NUM_ENVS,
        vectorization_mode="vector_entry_point",
        autoreset_mode=AutoresetMode.DISABLED,
        observation=options.observation,
        reward="points",
    )
    start = time.process_time()
    logits = train(env, options.timesteps, options.seed)
    seconds = time.process_time() - start
    agent = LearnedAgent(logits, options.observation)
    results = play_pairs(
        agent, make_agent("random"), seed=UNSEEN + options.seed, num_pairs=options.pairs
    )
    stats = Stats.from_results(results)
    low, high = stats.win_rate_interval
    print(
        f"{options.observation} v random: {stats.win_rate:.2%} won ({low:.2%} to {high:.2%}),"
        f" {options.pairs} pairs; trained for {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
