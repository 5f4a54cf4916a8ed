import { deepFreeze, nearestName } from 'assize/internal/base';
import { ComplianceError } from '../errors.ts';
import { AI_ACT } from './ai-act.ts';
import type { Framework } from './framework.ts';
import { ISO_42001 } from './iso-42001.ts';
import { OWASP_THREATS, OWASP_TOP_10 } from './owasp.ts';
import { SOC_2 } from './soc-2.ts';

/** In the order of a report. */
export const FRAMEWORKS: readonly Framework[] = deepFreeze([
  AI_ACT,
  ISO_42001,
  SOC_2,
  OWASP_THREATS,
  OWASP_TOP_10,
]);

/**
 * The frameworks of these names, each once and in the order of `FRAMEWORKS`. No name: all.
 *
 * @throws ComplianceError `not_found` with the nearest name
 */
export function frameworksNamed(names: readonly string[]): readonly Framework[] {
  const known = FRAMEWORKS.map(({ id }) => id);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined)
    return names.length === 0 ? FRAMEWORKS : FRAMEWORKS.filter(({ id }) => names.includes(id));
  const nearest = nearestName(unknown, known);
  throw new ComplianceError(
    'not_found',
    `There is no framework ${JSON.stringify(unknown)}. ${nearest === undefined ? '' : `Did you mean ${nearest}? `}Pass one of ${known.join(', ')}.`,
    { evidence: { known } },
  );
}
