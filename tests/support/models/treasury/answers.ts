import { type EntryRow, isHalt, isRevocation, isUpgrade } from '#ledger';
import { type Ruling, rulingOf, type Upgrade } from '#runtime';
import { expect } from '../../quick-expect.ts';
import { payloadOf } from '../schedule.ts';
import { type Allowed, allowed, type Expected } from './allowed.ts';
import type { Deed } from './deeds.ts';
import { type Model, modelsOf } from './model.ts';
import type { Schedule } from './schedule.ts';
import { type Done, type Outcome, type Played, play } from './stage.ts';

// The answers of the runtime, each beside the answers that the model allows.

export interface Run extends Played {
  readonly models: ReadonlyMap<string, readonly Model[]>;
}

export async function playWith(schedule: Schedule): Promise<Run> {
  const played = await play(schedule);
  return { ...played, models: modelsOf(played) };
}

/** A deed with its window: the entries of its trajectory before and after the step. */
export interface Answered extends Done {
  readonly from: number;
  readonly rows: readonly EntryRow[];
  readonly models: readonly Model[];
}

export function* answered({ happenings, models }: Run): Iterable<Answered> {
  for (const { done, before, after } of happenings) {
    for (const one of done) {
      const { trajectory, deed } = one;
      if (deed.do === 'branch') continue;
      yield {
        ...one,
        from: before.get(trajectory)?.length ?? 0,
        rows: after.get(trajectory) ?? [],
        models: models.get(trajectory) ?? [],
      };
    }
  }
}

/** An answer of the runtime, in the form of the model. */
function answerOf(outcome: Ruling | Upgrade | Error, deed: Deed): Expected {
  if (outcome instanceof Error) {
    const { reason } = outcome as Error & { reason?: string };
    if (reason === undefined) throw outcome;
    return { is: 'error', code: reason };
  }
  if ('to' in outcome) {
    const { refused } = outcome;
    return refused === undefined
      ? { is: 'committed' }
      : { is: 'rejected', reason: refused.reason, rule: refused.invariantId };
  }
  switch (outcome.ruling) {
    case 'committed':
      return { is: 'committed' };
    case 'frozen':
      return { is: 'frozen' };
    case 'rejected':
      return {
        is: 'rejected',
        reason: outcome.reason,
        rule: 'pending' in deed ? undefined : outcome.invariantId,
      };
    case 'escalated':
      return {
        is: 'escalated',
        rule: outcome.invariantId,
        channel: outcome.channel,
        approvals: outcome.approvals ?? 1,
      };
  }
}

function entryOf(outcome: Outcome): EntryRow | undefined {
  if (outcome === undefined || outcome instanceof Error) return undefined;
  if ('to' in outcome) return outcome.ruling && entryOf(outcome.ruling);
  return outcome.ruling === 'frozen' ? undefined : outcome.entry;
}

/** The entry that a deed has made: of its ruling, or the one that an ended process has written. */
export function madeBy({ outcome, deed, rows, from }: Answered): EntryRow | undefined {
  const entry = entryOf(outcome);
  if (entry !== undefined)
    return rows[entry.seq]?.id === entry.id && entry.seq >= from && isOf(deed, entry)
      ? entry
      : undefined;
  return outcome === undefined ? rows.slice(from).find((row) => isOf(deed, row)) : undefined;
}

function isOf(deed: Deed, row: EntryRow): boolean {
  const payload = payloadOf(row);
  const resolves = 'resolves' in payload ? payload.resolves : undefined;
  const commits = payload.kind === 'commit' ? payload : undefined;
  switch (deed.do) {
    case 'ask': {
      if (resolves !== undefined) return false;
      const args = commits?.action.args ?? ('intent' in payload ? payload.intent.args : undefined);
      const asked = payload.kind === 'pending_approval' ? payload.proposal.action.args : args;
      return (asked as { ref?: number } | undefined)?.ref === deed.ref;
    }
    case 'approve':
    case 'reject':
      return resolves === deed.pending && !('reason' in payload && payload.reason === 'upgraded');
    case 'upgrade':
      return (
        isUpgrade(payload) || ('intent' in payload && payload.intent.action === 'assize.upgrade')
      );
    case 'halt':
    case 'resume':
      return isHalt(payload);
    case 'revoke':
      return isRevocation(payload);
    case 'branch':
      return false;
  }
}

/** The answers that the model allows where the answer was given, and the answer. */
export function judged(
  one: Answered,
): { readonly answer: Expected; readonly allowed: Allowed } | undefined {
  const { deed, outcome, at, models, from, rows } = one;
  const made = madeBy(one);
  if (made !== undefined)
    return {
      answer: answerOf(rulingOf(made), deed),
      allowed: allowed(models[made.seq - 1] as Model, deed, at),
    };
  if (outcome === undefined) return undefined;
  const entry = entryOf(outcome);
  const isRepeated = entry !== undefined && deed.do === 'ask';
  const answer: Expected = isRepeated ? { is: 'repeated', id: entry.id } : answerOf(outcome, deed);
  // The answer was given somewhere between the first entry and the last one of the step.
  const places = models.slice(Math.max(from - 1, 0), Math.max(rows.length, 1));
  return { answer, allowed: places.flatMap((model) => [...allowed(model, deed, at)]) };
}

/** Checks that the model allows the answer, if there is one. */
export function expectAllowed(one: Answered): void {
  const given = judged(one);
  if (given === undefined) return;
  const texts = given.allowed.map((each) => JSON.stringify(each));
  if (texts.includes(JSON.stringify(given.answer))) return;
  expect({ deed: one.deed, answer: given.answer }).toEqual({
    deed: one.deed,
    answer: given.allowed,
  });
}
