"""The old path of `recordings`; it goes when its importers have moved."""

from firesteel.strategies.recordings import choices_of_whole as choices_of_whole
from firesteel.strategies.recordings import replay as replay
