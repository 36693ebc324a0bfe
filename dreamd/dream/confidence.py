"""How sure an insight is: a figure from its evidence alone, 0 to 1 (pure).

The figure is the posterior mean of a Beta-Bernoulli model (Laplace's rule of succession, Laplace 1774; with the prior
made explicit as in Gelman et al., Bayesian Data Analysis, section 2.4): after `n` sightings and `c` contradictions

    (n + 1) / (n + c + 3)

that is, one imagined sighting and two imagined failures before the first real one (the prior is Beta(1, 2)): what was
seen once is as likely wrong as right. A sighting is an independent record, but a day and a task together bring at most
one each: n = min(records, windows + tasks - 1), so that a burst stays one sighting. A standing contradiction weighs as
two failures. The figure is multiplied by how far the weakest source is to be believed, and by 0.5 for every half-life
that went by, and never exceeds the cap, which is the proposer's own figure.
"""

from dreamd.dream.promote import Support
from dreamd.pool.fading import faded
from dreamd.records import Trust

_BELIEVED = {Trust.HUMAN: 1.0, Trust.AGENT: 0.8, Trust.UNTRUSTED: 0.4}
_PRIOR_SEEN, _PRIOR_FAILED = 1, 2
_CONTRADICTION = 2


def of(support: Support, trust: Trust, *, contradicted: bool, age: float = 0.0, cap: float = 1.0) -> float:
    """`age` counts half-lives since the newest evidence or recall; `cap` is 0 to 1."""
    seen = max(min(support.records, support.windows + support.tasks - 1), 0)
    failed = _CONTRADICTION if contradicted else 0
    mean = (seen + _PRIOR_SEEN) / (seen + failed + _PRIOR_SEEN + _PRIOR_FAILED)
    return round(min(mean * _BELIEVED[trust] * faded(age), max(cap, 0.0), 1.0), 4)
