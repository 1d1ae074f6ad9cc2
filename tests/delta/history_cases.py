"""Random tables with random histories: a few of tests/delta/property.py (FLOODMARK_MANY: how many)."""
import os
import random

import property


def case_random_histories(world):
    seed = int(os.environ.get("FLOODMARK_SEED", random.randrange(10**9)))
    wrong = property.lives(world.program, world.path("tables"), int(os.environ.get("FLOODMARK_MANY", "6")), seed, 8)
    assert not wrong, "\n".join(wrong)
