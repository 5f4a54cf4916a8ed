import type { Approval } from '../../api/queries.ts';
import type { Plan } from './incidents-query.ts';
import { INCIDENTS } from './incidents-trajectory.ts';

/** The plan in a proposal of a response to an incident. Undefined for any other proposal. */
export function planOf({
  trajectory_id,
  action: { name, args },
}: Pick<Approval, 'trajectory_id' | 'action'>): Pick<Plan, 'steps' | 'remains'> | undefined {
  if (trajectory_id !== INCIDENTS || name !== 'open' || typeof args !== 'object' || args === null)
    return undefined;
  const { steps, remains } = args as Partial<Plan>;
  if (!areAll(steps, ['kind', 'trajectory']) || !areAll(remains, ['what', 'why', 'advice']))
    return undefined;
  return { steps, remains };
}

/** Whether a value is a list of objects that have these texts. */
function areAll<T>(
  list: readonly T[] | undefined,
  texts: readonly (keyof T)[],
): list is readonly T[] {
  return (
    Array.isArray(list) &&
    list.every((each) => texts.every((text) => typeof each?.[text] === 'string'))
  );
}
