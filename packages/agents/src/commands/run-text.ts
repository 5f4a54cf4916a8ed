import {
  callLines,
  findingLines,
  line,
  type Printable,
  rulingLine,
  shortJson,
} from '@assize/command';
import type { Json } from 'assize/internal/base';
import { type EntryRow, readRow } from 'assize/internal/ledger';
import { rulingView, shortTime } from 'assize/internal/views';
import type { CompletedTurn, DurableRun } from '#agents';

/** The lines of a turn of an agent. A counselor's turn has none. */
export function turnLines({ number, turn, ruling }: CompletedTurn): Printable[] {
  if (!('agent' in turn)) return [];
  const { agent, does, until } = turn;
  if (ruling === undefined) {
    const waits = until === undefined ? 'waits' : `waits until ${shortTime(until)}`;
    return [line`${number} ${agent} ${does === 'done' ? 'is done' : waits}`];
  }
  const proposed = ruling.ruling === 'frozen' ? 'proposes' : proposalText(ruling.entry);
  return [
    line`${number} ${agent} ${proposed}: ${rulingLine(ruling)}`,
    ...findingLines(ruling),
    ...callLines(ruling),
  ];
}

export function turnDocument({ number, turn, ruling }: CompletedTurn): object {
  if (!('agent' in turn)) return { turn: number, does: turn.counsel.do };
  const { agent, does, until } = turn;
  const made = { turn: number, agent, does, ...(until !== undefined && { until }) };
  if (ruling === undefined) return made;
  if (ruling.ruling === 'frozen') return { ...made, ...rulingView(ruling) };
  const { name, args } = proposalIn(ruling.entry);
  return { ...made, action: name, args, ...rulingView(ruling) };
}

function proposalText(entry: EntryRow): string {
  const { name, args } = proposalIn(entry);
  return `${name} ${shortJson(args as Json)}`;
}

function proposalIn(entry: EntryRow): { readonly name: string; readonly args: unknown } {
  const { payload } = readRow(entry);
  if (payload.kind === 'commit') return payload.action;
  if (payload.kind === 'pending_approval') return payload.proposal.action;
  const { action: name, args } = (payload as Extract<typeof payload, { kind: 'rejection' }>).intent;
  return { name, args };
}

/** The record of a durable run, as a document. */
export function runDocument({ trajectoryId, turnsMax, wakeAt, lease, ...run }: DurableRun): object {
  return {
    trajectory_id: trajectoryId,
    ...run,
    turns_max: turnsMax,
    ...(wakeAt !== undefined && { wake_at: wakeAt }),
    ...(lease !== undefined && { lease }),
  };
}

export function hasEnded({ status }: DurableRun): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

/** The status of a durable run, with the reason why it waits or has failed. */
export function runStatus({
  status,
  lease,
  cancelled,
  pending,
  wakeAt,
  error,
  failures,
}: DurableRun): string {
  if (cancelled === true) return 'is being cancelled';
  if (status === 'failed') return `failed: ${failureText(error)}`;
  if (status === 'ready' && lease !== undefined)
    return `in progress, by a lease until ${shortTime(lease.until)}`;
  if (status === 'ready' && wakeAt !== undefined)
    return `ready again at ${shortTime(wakeAt)}, after failure ${failures}: ${failureText(error)}`;
  if (status !== 'waiting') return status;
  const reasons = [
    pending === undefined ? undefined : 'for a decision',
    wakeAt === undefined ? undefined : `until ${shortTime(wakeAt)}`,
  ].filter((reason) => reason !== undefined);
  return reasons.length === 0 ? 'waits for a change' : `waits ${reasons.join(', or ')}`;
}

function failureText(error: DurableRun['error']): string {
  if (error === undefined) return 'without an error';
  return (
    error.message ?? `${error.name} (${error.code}); the process that ran it printed the message`
  );
}
