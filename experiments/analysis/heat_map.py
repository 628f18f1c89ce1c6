"""Draws the chance that the dealer wins by both scores, docs/position.png.

python experiments/analysis/heat_map.py
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

from cribai.analysis.knowledge import WIN, load_knowledge

OUT = Path(__file__).parents[2] / "docs" / "position.png"


def main() -> None:
    win = (load_knowledge()[0]["worth"][WIN] + 1) / 2
    figure, axes = plt.subplots(figsize=(6.4, 5.4), layout="constrained")
    image = axes.imshow(100 * win.T, origin="lower", cmap="RdYlBu", vmin=0, vmax=100)
    lines = axes.contour(100 * win.T, levels=range(10, 100, 10), colors="black", linewidths=0.6)
    axes.clabel(lines, fmt="%d", fontsize=7)
    axes.set_xlabel("dealer's score")
    axes.set_ylabel("pone's score")
    axes.set_title("Games that the dealer wins, %, by the scores before a deal")
    figure.colorbar(image, ax=axes)
    figure.savefig(OUT, dpi=110)


if __name__ == "__main__":
    main()
