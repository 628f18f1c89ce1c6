"""What follows from a view: toss values, crib tables, beliefs, pegging, and board position."""
