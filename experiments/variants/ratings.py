"""Ratings of the agents under every preset of the rules, by one configuration.

    python experiments/variants/ratings.py

Plays a round robin under each preset between those agents of configs/variants.toml that play by it,
keeps what came of it in results.json and writes the table into docs/variants.md. A preset that is
in results.json already is not played again.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from cribai import PRESETS, AgentError, Rules, make_agent
from cribai.config import load_config
from cribai.tournament.config import TournamentConfig
from cribai.tournament.run import run_tournament
from cribai.tournament.store import Store
from cribai.tournament.summary import summarize

ROOT = Path(__file__).parents[2]
CONFIG = ROOT / "configs" / "variants.toml"
RESULTS = Path(__file__).parent / "results.json"
DOCUMENT = ROOT / "docs" / "variants.md"
BEGIN, END = "<!-- ratings -->\n", "<!-- end of ratings -->\n"


def plays(spec: str, rules: Rules) -> bool:
    """Tells whether an agent plays by rules."""
    try:
        make_agent(spec).check_rules(rules)
    except AgentError:
        return False
    return True


def measure(config: TournamentConfig, rules: Rules) -> dict[str, Any]:
    """Returns what came of a round robin under some rules."""
    agents = tuple(spec for spec in config.agents if plays(spec, rules))
    wanted = config.model_copy(update={"rules": rules, "agents": agents})
    with tempfile.TemporaryDirectory() as folder:
        store = Store.create(wanted.model_copy(update={"out": Path(folder) / "run"}))
        tournament = run_tournament(wanted, store)
        summary = summarize(tournament, store)
    kept = ("a", "b", "win_rate", "win_rate_interval", "ties", "margin", "deals_per_game")
    return {
        "hash": tournament.hash,
        "ratings": summary["ratings"],
        "matches": [{name: match[name] for name in kept} for match in summary["matches"]],
    }


def table(results: dict[str, Any], agents: tuple[str, ...]) -> str:
    """Returns the ratings as a Markdown table, a row for each preset."""
    rows = [["rules", *agents, "deals a game", "ties"], ["---"] * (len(agents) + 3)]
    for name, found in results.items():
        ratings = {row["agent"]: row for row in found["ratings"]}
        row = [f"`{name}`"]
        for agent in agents:
            row.append(_rating(ratings[agent]) if agent in ratings else "refuses")
        # The match of the first two, whom all presets have.
        match = found["matches"][0]
        ties = match["ties"]
        row += [f"{match['deals_per_game']:.1f}", str(ties) if ties else ""]
        rows.append(row)
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _rating(row: dict[str, Any]) -> str:
    low, high = row["interval"]
    # The anchor is 0 by agreement.
    return "0" if low == high else f"{row['elo']:+.0f} ± {(high - low) / 2:.0f}"


def main() -> None:
    argparse.ArgumentParser(description=__doc__).parse_args()
    torch.set_num_threads(1)
    config = load_config(TournamentConfig, CONFIG)
    kept: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name, rules in tqdm(PRESETS.items(), disable=None, unit=" presets"):
        if name not in kept:
            kept[name] = measure(config, rules)
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")
    kept = {name: kept[name] for name in PRESETS}
    text = DOCUMENT.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    DOCUMENT.write_text(f"{before}{BEGIN}{table(kept, config.agents)}{END}{after}")


if __name__ == "__main__":
    main()
