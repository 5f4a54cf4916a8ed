import type { SimulatedVariant, SimulationBounds, SimulationConfig } from '../simulation-config.ts';
import { all, type Form, fits, list, object, optional, record, text, whole } from './form.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const DESCRIPTION_MAX = 500;

const variant: Form = fits(
  'a variant with `name` and a list `agents`',
  (value: Partial<SimulatedVariant> | undefined) =>
    typeof value?.name === 'string' &&
    value.name !== '' &&
    Array.isArray(value.agents) &&
    value.agents.length > 0,
);

const variants: Form = (value, path) =>
  typeof value === 'function' ? undefined : listed(value, path);

const listed: Form = all(
  fits('a list of variants, or a function that returns one', Array.isArray),
  list(variant, 1),
);

/** The simulations that requests choose by name. */
export const simulations: Form = record(
  (name) =>
    NAME.test(name) ? undefined : 'named with 1 to 64 letters, digits, dots, dashes or underscores',
  object<SimulationConfig>({
    description: optional(
      fits(
        `a text of 1 to ${DESCRIPTION_MAX} characters`,
        (value) =>
          typeof value === 'string' &&
          value !== '' &&
          value.length <= DESCRIPTION_MAX &&
          value.isWellFormed(),
      ),
    ),
    domain: text,
    variants,
    simulators: optional(
      record(
        () => undefined,
        fits(
          'a simulator: a function or an object',
          (value) => typeof value === 'function' || (typeof value === 'object' && value !== null),
        ),
      ),
    ),
    limits: optional(
      object<SimulationBounds>({
        samples: optional(whole(1, 100)),
        turns: optional(whole(1, 10_000)),
        seconds: optional(whole(1, 50)),
      }),
    ),
  }),
);
