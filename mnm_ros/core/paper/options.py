# SPDX-License-Identifier: Apache-2.0

"""The options that only the parts of this plug-in read; ``presets`` adds them to the others."""

from __future__ import annotations

from dataclasses import dataclass, fields

from mnm_ros.core.mnm.options import option, Settings


@dataclass(frozen=True)
class PaperOptions:
    """The values of the options, resolved; the names of the fields are those of the options."""

    evaluation: str = option(
        'how a policy is evaluated', choices=('betting', 'monte_carlo'),
        onboard='betting', paper='monte_carlo')
    optimism: str = option(
        'bonus and planner', choices=('kl', 'split_samples'),
        onboard='kl', paper='split_samples')
    discovery: str = option(
        'how known states are sampled', choices=('on_the_way', 'per_visit'),
        onboard='on_the_way', paper='per_visit')
    addition_test: str = option(
        'reading of the addition test of the hoeffding checks', choices=('sound', 'printed'),
        onboard='sound', paper='sound')
    c2: float = option('factor in the logarithm of W_r', onboard=1.0, paper=225.0)
    check_window: int = option('check-runs in the window, n_r', onboard=0, paper=0)

    @classmethod
    def of(cls, settings: Settings) -> PaperOptions:
        """Return the values in some settings."""
        values: dict[str, object] = {each.name: settings.of_plug_ins[each.name]
                                     for each in fields(cls)}
        return cls(**values)  # type: ignore[arg-type]
