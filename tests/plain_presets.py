"""The presets without variants, for tests of what the variants leave alone."""

from cribai import PRESETS

PLAIN = {
    name: PRESETS[name]
    for name in ("standard", "short", "three_player", "four_player", "five_card")
}
