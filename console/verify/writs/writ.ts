import { canonicalOf } from '../bytes/canonical.ts';
import { hashOfValue } from '../bytes/hash.ts';
import { holds } from '../bytes/signature.ts';
import { fromHex, utf8 } from '../bytes/text.ts';
import type { Amounts } from '../entries/payloads.ts';
import { formOf } from '../entries/record-forms.ts';

/** A grant of rights: by an issuer to a subject, narrower than its parent. */
export interface Writ {
  readonly issuer: string;
  readonly subject: string;
  readonly parent: string | null;
  readonly not_before: string;
  readonly expires: string;
  readonly max_depth: number;
  readonly signature: string;
  readonly trajectory?: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly require_approval?: readonly string[];
  readonly budget?: Amounts;
}

const MAX_ITEMS = 256;

/** Whether a value is a writ whose signature holds. '' or the reason, as a predicate. */
export function wrongWrit(value: unknown): string {
  const wrong = formOf('writ')(value);
  if (wrong !== '') return wrong;
  const writ = value as Writ;
  const { issuer, subject, actions, scopes, require_approval: asked, budget = {} } = writ;
  if (subject === issuer) return 'has its issuer as its subject';
  if (writ.not_before >= writ.expires) return 'expires before it begins';
  const units = Object.keys(budget);
  if ([actions, scopes, asked, units].some((list = []) => list.length > MAX_ITEMS))
    return 'has too many patterns';
  if (units.length > 0 && writ.trajectory === undefined)
    return 'has a budget and names no trajectory';
  const { signature, ...body } = writ;
  const message = utf8(`assize/writ/v1\n${canonicalOf(body)}`);
  return holds(fromHex(issuer), fromHex(signature), message)
    ? ''
    : 'has a signature that does not hold';
}

export function writIdOf(writ: unknown): string {
  return hashOfValue(writ);
}
