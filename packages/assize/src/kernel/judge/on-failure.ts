import { deepFreeze, type Json } from '#base';
import type { ActionSpec } from '../domain/domain.ts';
import type { FailureIntent } from '../domain/domain-spec.ts';
import { refusePromise } from '../domain/host-code.ts';
import type { RoleParams } from '../domain/role.ts';
import { messageOf } from '../errors.ts';

/**
 * The intent that an action declares for permanently failed effects, or a sentence with the reason
 * why there is none.
 */
export function failureIntent(
  action: ActionSpec | undefined,
  args: Json,
  role: RoleParams,
): FailureIntent | { readonly fault: string } {
  if (action?.onFailure === undefined) return { fault: 'the action has no onFailure' };
  try {
    const said: unknown = action.onFailure(deepFreeze(args), { role: deepFreeze(role) });
    refusePromise(said, 'onFailure');
    if (typeof said !== 'object' || said === null)
      return { fault: 'onFailure must return an action with arguments' };
    const { action: name, args: given, role: other } = said as FailureIntent;
    return other === undefined
      ? { action: name, args: given }
      : { action: name, args: given, role: other };
  } catch (error) {
    return { fault: `onFailure failed: ${messageOf(error)}` };
  }
}
