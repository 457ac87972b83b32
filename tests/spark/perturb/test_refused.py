"""Perturbations that mean nothing for an engine are refused, before Spark is asked."""

import pytest

from firesteel import InvalidArgument
from firesteel.spark.perturb.perturbed import refuse
from firesteel.spark.running import Running
from tests.perturb.test_perturb import ALL

REFUSED = {
    "structured": set(),
    "batch": {"batch_boundaries", "restart", "replayed_batch"},
    "dstream": {"shuffle_partitions", "adaptive_execution", "restart", "replayed_batch"},
}


@pytest.mark.parametrize("engine", REFUSED)
@pytest.mark.parametrize("perturbation", ALL, ids=repr)
def test_what_means_nothing_for_an_engine_is_refused(engine, perturbation):
    (name,) = perturbation.names
    for variant in perturbation.variants(5):
        if name in REFUSED[engine]:
            with pytest.raises(InvalidArgument, match=rf"{name}\(\) is not possible with engine='{engine}': \w+"):
                refuse(variant, Running(engine=engine))
        else:
            refuse(variant, Running(engine=engine))
