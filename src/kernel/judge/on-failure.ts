import type { Json } from '#base';
import type { ActionSpec } from '../domain/define-domain.ts';
import type { FailureIntent, RoleParams } from '../domain/domain-spec.ts';
import { messageOf } from '../errors.ts';
import { refusePromise } from './candidate.ts';

/** What an action says is to be proposed where its effects fail for good; or in a sentence, why it says nothing. */
export function failureIntent(
  action: ActionSpec | undefined,
  args: Json,
  role: RoleParams,
): FailureIntent | { readonly fault: string } {
  if (action?.onFailure === undefined) return { fault: 'the action does not say what is done where its effects fail' };
  try {
    const said: unknown = action.onFailure(args, { role });
    refusePromise(said, 'onFailure');
    if (typeof said !== 'object' || said === null) return { fault: 'onFailure gives an action, with arguments' };
    const { action: name, args: given, role: other } = said as FailureIntent;
    return other === undefined ? { action: name, args: given } : { action: name, args: given, role: other };
  } catch (error) {
    return { fault: `onFailure could not be asked: ${messageOf(error)}` };
  }
}
