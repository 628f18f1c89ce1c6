"""`cribai agents`: which agents are installed."""

from cribai.cli.output import Json, print_json


def agents(json: Json = False) -> None:
    """List the installed agents."""
    from cribai.agent import agent_entry_points

    points = agent_entry_points()
    if json:
        print_json(
            {"agents": [{"name": name, "target": point.value} for name, point in points.items()]}
        )
        return
    for name, point in points.items():
        print(f"{name:<16} {point.value}")
