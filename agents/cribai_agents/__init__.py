"""The agents that ship with cribai, found through the entry points of group `cribai.agents`."""
