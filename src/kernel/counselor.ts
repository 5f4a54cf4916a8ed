import { canonicalize, escapeSegment, parsePointer } from '#canon';
import { COUNSELOR_PLACEHOLDER, markApproval } from './adjudicate.ts';
import { type Inputs, type PatchOperation, patchesOf, runApply } from './candidate.ts';
import { type Change, changesOf } from './changes.ts';
import { type Authority, type Compiled, compile, type Intent, messageOf } from './compile.ts';
import type { Domain } from './define-domain.ts';
import { Draft } from './draft.ts';
import { KernelError } from './errors.ts';
import { detectionVector, type Finding } from './evaluate.ts';
import { compileScope, EVERYTHING, patternFromText } from './footprint.ts';
import { changeFault } from './schema.ts';
import type { World } from './world.ts';

/** A proposal that waits, as its pending entry has it. */
export interface Waiting {
  readonly intent: Intent;
  readonly inputs: Inputs;
  readonly patches: readonly PatchOperation[];
  readonly approval: readonly PatchOperation[];
  readonly invariantId?: string;
  readonly channel: string;
  readonly freezes: 'world' | readonly string[];
  /** Who asked: never the one who approves. */
  readonly requester: string;
}

export interface Counsel {
  readonly principal: string;
  readonly at: string;
  /** Commit although the result does not pass every invariant; the vector shows it. */
  readonly override?: boolean;
  /** A state of the counselor's own in place of the proposal's, as RFC 6902 operations on the current state. */
  readonly replacement?: readonly PatchOperation[];
}

export interface CounselorCommit {
  /** The kind of counselor that the principal is. */
  readonly as: string;
  readonly compiled: Compiled;
  readonly changes: readonly Change[];
  readonly vector: ReturnType<typeof detectionVector>;
  readonly overridden: boolean;
  keep(): void;
  undo(): void;
}

/** The channel of what any counselor may resolve. */
export const ANY_COUNSELOR = 'any';

/**
 * The counselor kind under which a principal may resolve what waits on a channel (Definition A.61).
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function counselorKind(domain: Domain, channel: string, principal: string, requester: string): string {
  if (principal === requester) {
    throw new KernelError(
      'unauthorised_counselor',
      `${principal} asked for this and so can't be the one who resolves it.`,
    );
  }
  const kinds = channel === ANY_COUNSELOR ? Object.keys(domain.counselors) : [channel];
  const kind = kinds.find((name) => domain.counselors[name]?.(principal) === true);
  if (kind !== undefined) return kind;
  const wanted = kinds.length === 0 ? 'nobody: the domain has no counselors' : kinds.join(' or ');
  throw new KernelError(
    'unauthorised_counselor',
    `${principal} is no counselor for this; it can be resolved by ${wanted}.`,
    {
      evidence: { principal, channel },
    },
  );
}

/**
 * Commits what waits: the proposal with its approval mark, or the counselor's own state. What would run now must be
 * what was put up for approval; the result must pass every invariant, or be overridden; the vector records both.
 * On an error the world is as before.
 *
 * @throws KernelError `unauthorised_counselor`, `changed_since`, `override_needed`, `invalid_replacement`
 */
export function counsel(world: World, waiting: Waiting, counselor: Counsel, authority: Authority): CounselorCommit {
  const as = counselorKind(world.domain, waiting.channel, counselor.principal, waiting.requester);
  const compiled = compile(world.domain, waiting.intent, authority, { parsed: true });
  if ('reason' in compiled) throw changedSince(`${compiled.reason}: ${compiled.detail}`);
  const draft = new Draft(world.state, world.owned);
  try {
    if (counselor.replacement === undefined) approveExactly(world, waiting, counselor, compiled, draft);
    else replace(draft, waiting, counselor.replacement);
    const changes = changesOf(draft);
    for (const change of changes) {
      const fault = changeFault(world.domain.state, draft.state, change);
      if (fault !== undefined)
        throw new KernelError('invalid_replacement', `The approved state does not fit the domain: ${fault}.`);
    }
    const vector = detectionVector(world.domain, draft.state);
    const broken = vector.filter(({ result }) => result !== 'pass');
    if (broken.length > 0 && counselor.override !== true) {
      throw new KernelError(
        'override_needed',
        `The approved state does not pass ${broken.map((item) => item.invariant_id).join(', ')}; approve with override to commit it all the same.`,
        { evidence: { vector: broken } },
      );
    }
    return {
      as,
      compiled,
      changes,
      vector,
      overridden: broken.length > 0,
      keep: () => {
        world.adopt(draft);
        world.standing.restart(world.state);
      },
      undo: () => world.takeBack(draft),
    };
  } catch (error) {
    world.takeBack(draft);
    throw error;
  }
}

function approveExactly(world: World, waiting: Waiting, counselor: Counsel, compiled: Compiled, draft: Draft): void {
  const finding = rerun(world, waiting, compiled, draft);
  const preview = new Draft(draft.state, world.owned);
  try {
    markApproval(preview, compiled, finding, { counselor: COUNSELOR_PLACEHOLDER, at: waiting.inputs.at });
    const same = canonicalize(patchesOf(changesOf(preview))) === canonicalize(waiting.approval);
    if (!same) throw changedSince('the approval would now be marked in another way');
  } finally {
    preview.undo();
    draft.exchangeRoot(preview.state);
  }
  markApproval(draft, compiled, finding, { counselor: counselor.principal, at: counselor.at });
}

/** Runs the proposal again; it must do and mean what it did when it was put up for approval. */
function rerun(world: World, waiting: Waiting, compiled: Compiled, draft: Draft): Finding | undefined {
  try {
    runApply(draft, compiled, waiting.inputs);
  } catch (error) {
    throw changedSince(messageOf(error));
  }
  const changes = changesOf(draft);
  if (canonicalize(patchesOf(changes)) !== canonicalize(waiting.patches))
    throw changedSince('the action would now do something else');
  const { finding } = world.standing.judgeChanges(draft.state, changes);
  if (finding?.rule.id !== waiting.invariantId || finding?.result.result === 'reject') {
    throw changedSince(`it is now ${finding === undefined ? 'not escalated' : `judged by ${finding.rule.id}`}`);
  }
  return finding;
}

function changedSince(what: string): KernelError {
  return new KernelError(
    'changed_since',
    `What would run now is not what was put up for approval: ${what}. Reject it and let it be proposed again.`,
  );
}

/** Writes the counselor's own operations through the part of the state that is frozen for the decision. */
function replace(draft: Draft, waiting: Waiting, patches: readonly PatchOperation[]): void {
  const scope = waiting.freezes === 'world' ? EVERYTHING : compileScope(waiting.freezes.map(patternFromText));
  const state = draft.within(scope);
  for (const patch of patches) {
    try {
      applyOperation(state, patch);
    } catch (error) {
      if (error instanceof KernelError) throw error;
      throw new KernelError(
        'invalid_replacement',
        `The operation ${patch.op} ${patch.path} can't be done: ${messageOf(error)}.`,
        { cause: error },
      );
    }
  }
}

function applyOperation(state: object, patch: PatchOperation): void {
  const keys = parsePointer(patch.path);
  const last = keys.pop();
  if (last === undefined) throw new Error('name a place inside the state');
  let here = state as Record<string, any>;
  let pointer = '';
  for (const key of keys) {
    pointer += `/${escapeSegment(key)}`;
    here = here[key];
    if (typeof here !== 'object' || here === null) throw new Error(`there is nothing at ${pointer}`);
  }
  const list = Array.isArray(here);
  const exists = Object.hasOwn(here, last);
  if (patch.op === 'add' && list && last === '-') here.push(patch.value);
  else if (patch.op === 'add' && list) here.splice(indexOf(last, here.length), 0, patch.value);
  else if (patch.op === 'add') here[last] = patch.value;
  else if (!exists) throw new Error('there is nothing at that path');
  else if (patch.op === 'replace') here[last] = patch.value;
  else if (list) here.splice(indexOf(last, here.length - 1), 1);
  else delete here[last];
}

function indexOf(key: string, most: number): number {
  const index = Number(key);
  if (!(Number.isSafeInteger(index) && index >= 0 && index <= most && String(index) === key))
    throw new Error('no such place in the list');
  return index;
}
