"""Proximal policy optimisation in one file, on the vector environment; read it from the top.

    python experiments/examples/ppo_vector.py --seed 1

A policy with masked actions is paid the points it scores less the opponent's, and learns to beat
`random`. Printed are those points a decision as it learns, then the part of games won over mirrored
pairs of a seed that it was not trained on, with the 95% interval, and the processor's time.

The environment begins an ended game anew in the *next* step, and ignores the action there. So the
step after an end is no transition: no policy learns from it, and no advantage is carried over it.
"""

import argparse
import time
from typing import Any

import gymnasium
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.distributions import Categorical

import cribai.envs  # noqa: F401 -- registers the environments
from cribai import STANDARD, Agent, ViewBatch, make_agent
from cribai.envs.encoding import make_encoding
from cribai.tournament.match import play_pairs
from cribai.tournament.stats import Stats

NUM_ENVS, NUM_STEPS = 256, 64
EPOCHS, MINIBATCH = 2, 2048
RATE, CLIP, ENTROPY, VALUE, MAX_NORM = 2e-3, 0.2, 0.005, 0.5, 0.5
DISCOUNT, TRACE = 0.9, 0.9
POINT = 0.1  # what a point is paid
UNSEEN = 1_000_000  # added to the seed to measure


def network(inputs: int, outputs: int, last_gain: float) -> nn.Sequential:
    layers = [nn.Linear(inputs, 128), nn.Linear(128, 128), nn.Linear(128, outputs)]
    for layer, gain in zip(layers, (2**0.5, 2**0.5, last_gain), strict=True):
        nn.init.orthogonal_(layer.weight, gain)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])


class ActorCritic(nn.Module):
    def __init__(self, inputs: int, actions: int) -> None:
        super().__init__()
        self.actor = network(inputs, actions, 0.01)
        self.critic = network(inputs, 1, 1.0)

    def policy(self, observations: Tensor, masks: Tensor) -> Categorical:
        logits = self.actor(observations).masked_fill(~masks, -1e9)
        return Categorical(logits=logits, validate_args=False)

    def value(self, observations: Tensor) -> Tensor:
        return self.critic(observations).squeeze(-1)


class LearnedAgent(Agent):
    """The policy as any agent: views in, the likeliest legal actions out."""

    name = "ppo"

    def __init__(self, model: ActorCritic, observation: str) -> None:
        self.model = model
        self.encoding = make_encoding(observation, STANDARD)

    @torch.no_grad()
    def act(self, views: ViewBatch) -> NDArray[np.int64]:
        observations = torch.from_numpy(self.encoding.encode(views))
        masks = torch.from_numpy(views.action_masks() == 1)
        return self.model.policy(observations, masks).logits.argmax(dim=1).numpy()


def train(model: ActorCritic, env: Any, timesteps: int, seed: int) -> None:
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, eps=1e-5)
    num_envs = env.num_envs
    first, infos = env.reset(seed=seed)
    observation, mask = torch.from_numpy(first), torch.from_numpy(infos["action_mask"] == 1)
    ended = torch.zeros(num_envs, dtype=torch.bool)
    rounds = max(1, timesteps // (NUM_STEPS * num_envs))
    for number in range(rounds):
        optimizer.param_groups[0]["lr"] = RATE * (1 - number / rounds)

        # Play.
        observations = torch.zeros(NUM_STEPS, *observation.shape)
        masks = torch.zeros(NUM_STEPS, *mask.shape, dtype=torch.bool)
        actions = torch.zeros(NUM_STEPS, num_envs, dtype=torch.int64)
        log_chances, rewards = torch.zeros(2, NUM_STEPS, num_envs)
        values = torch.zeros(NUM_STEPS + 1, num_envs)
        lives, ends = torch.zeros(2, NUM_STEPS, num_envs, dtype=torch.bool)
        for t in range(NUM_STEPS):
            mask = mask | ended[:, None]  # any action will do where it is ignored
            with torch.no_grad():
                policy = model.policy(observation, mask)
                action = policy.sample()
                values[t] = model.value(observation)
            observations[t], masks[t], actions[t], lives[t] = observation, mask, action, ~ended
            log_chances[t] = policy.log_prob(action)
            following, points, terminated, _, infos = env.step(action.numpy())
            observation, mask = (
                torch.from_numpy(following),
                torch.from_numpy(infos["action_mask"] == 1),
            )
            ended = torch.from_numpy(terminated)
            rewards[t], ends[t] = POINT * torch.from_numpy(points), ended
        with torch.no_grad():
            values[NUM_STEPS] = model.value(observation)

        # Find the advantages, from the last step to the first.
        advantages = torch.zeros(NUM_STEPS, num_envs)
        advantage = torch.zeros(num_envs)
        for t in reversed(range(NUM_STEPS)):
            discount = DISCOUNT * ~ends[t]
            surprise = rewards[t] + discount * values[t + 1] - values[t]
            advantage = surprise + discount * TRACE * advantage
            advantages[t] = advantage

        # Learn, from transitions only.
        returns = (advantages + values[:-1])[lives]
        gains = (advantages[lives] - advantages[lives].mean()) / advantages[lives].std()
        seen, allowed = observations[lives], masks[lives]
        taken, old = actions[lives], log_chances[lives]
        for rows in (r for _ in range(EPOCHS) for r in torch.randperm(len(seen)).split(MINIBATCH)):
            policy = model.policy(seen[rows], allowed[rows])
            ratio = (policy.log_prob(taken[rows]) - old[rows]).exp()
            clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
            gained = torch.min(ratio * gains[rows], clipped * gains[rows]).mean()
            error = (model.value(seen[rows]) - returns[rows]).square().mean()
            loss = VALUE * error - gained - ENTROPY * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)
            optimizer.step()
        if (number + 1) % 10 == 0:
            steps = (number + 1) * NUM_STEPS * num_envs
            print(f"{steps} steps: {rewards[lives].mean() / POINT:+.2f} points a decision")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timesteps", type=int, default=500_000)
    parser.add_argument("--observation", default="compact", choices=("compact", "flat"))
    parser.add_argument("--pairs", type=int, default=2000, help="mirrored pairs to measure")
    parser.add_argument("--opponent", default="random")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    env: Any = gymnasium.make_vec(
        "cribai/Cribbage-v0",
        NUM_ENVS,
        vectorization_mode="vector_entry_point",
        opponent=options.opponent,
        observation=options.observation,
        reward="points",
    )
    model = ActorCritic(env.single_observation_space.shape[0], env.single_action_space.n)
    start = time.process_time()
    train(model, env, options.timesteps, options.seed)
    seconds = time.process_time() - start
    results = play_pairs(
        LearnedAgent(model, options.observation),
        make_agent(options.opponent),
        seed=UNSEEN + options.seed,
        num_pairs=options.pairs,
    )
    stats = Stats.from_results(results)
    low, high = stats.win_rate_interval
    print(
        f"{options.observation} v {options.opponent}: {stats.win_rate:.2%} won"
        f" ({low:.2%} to {high:.2%}), {options.pairs} pairs; trained for {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
