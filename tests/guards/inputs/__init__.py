"""For every action an input for each row state by which it can name what is the team's."""

from __future__ import annotations

from tests.guards.inputs.governance import GOVERNANCE
from tests.guards.inputs.media import MEDIA
from tests.guards.inputs.memory import MEMORY
from tests.guards.world import Inputs

INPUTS: dict[str, Inputs] = {**GOVERNANCE, **MEDIA, **MEMORY}
