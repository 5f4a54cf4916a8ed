import { hasJust } from '../bundle/json-file.ts';
import { isHash, isObject, isReferenceLike, type Members } from '../entries/basic-forms.ts';
import type { Commit } from '../entries/payloads.ts';
import { formOf } from '../entries/record-forms.ts';

/** The arguments of a built-in action, if they stand in place and have these members. */
function argsOf(
  { action: { args } }: Commit,
  names: readonly string[],
  optional: readonly string[],
): Members | undefined {
  return isObject(args) && !isReferenceLike(args) && hasJust(args, names, optional)
    ? args
    : undefined;
}

/** Whether a commit changes nothing, costs nothing and decides nothing. */
function isBare(
  { delta, observations, budget_cost: cost, resolves }: Commit,
  isStateFree: boolean,
): boolean {
  const lists = [delta.effects, delta.beliefs, observations, ...(isStateFree ? [delta.state] : [])];
  const areEmpty = lists.every((list) => Array.isArray(list) && list.length === 0);
  return areEmpty && Object.keys(cost).length === 0 && resolves === undefined;
}

function isOrigin(value: unknown): boolean {
  return value === undefined || formOf('origin')(value) === '';
}

/** Whether a commit of `assize.revoke` has its form. */
export function isRevocation(commit: Commit): boolean {
  const args = argsOf(commit, ['writ', 'reason'], ['from']);
  if (args === undefined || !isBare(commit, true)) return false;
  return isHash(args['writ']) && typeof args['reason'] === 'string' && isOrigin(args['from']);
}

/** Whether a commit of `assize.halt` has its form. */
export function isHalt(commit: Commit): boolean {
  const args = argsOf(commit, ['does', 'reason', 'principal'], ['from', 'remains']);
  if (args === undefined || !isBare(commit, true)) return false;
  const { does, reason, principal, remains, from } = args;
  const isResume = does === 'resume';
  const hasTexts = typeof reason === 'string' && typeof principal === 'string';
  return (
    (does === 'halt' || isResume) &&
    hasTexts &&
    isOrigin(from) &&
    (remains === undefined || (remains === true && isResume))
  );
}

/** Whether a commit of `assize.upgrade` has its form. */
export function isUpgrade(commit: Commit): boolean {
  const { detection_vector: vector, counselor } = commit;
  const args = argsOf(commit, ['from', 'to', 'reason'], []);
  if (args === undefined || vector === undefined || !isBare(commit, false)) return false;
  const isForm =
    isHash(args['from']) &&
    formOf('domain')(args['to']) === '' &&
    typeof args['reason'] === 'string';
  const isViolated = vector.some(({ result }) => result !== 'pass');
  return (
    isForm &&
    isViolated === (counselor !== undefined) &&
    (counselor === undefined || counselor.override === true)
  );
}

/** Whether the arguments of `assize.erase` have their form, and name a blob. */
export function isErasureOf(args: unknown, hash: string): boolean {
  if (!isObject(args) || typeof args['reason'] !== 'string') return false;
  const { at, entries, values } = args;
  if (![at, entries, values].every(Array.isArray)) return false;
  return (values as readonly unknown[]).some((value) => isObject(value) && value['hash'] === hash);
}
