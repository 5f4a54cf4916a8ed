import {
  type EntryRow,
  type Hash,
  isExpired,
  type Payload,
  type PendingPayload,
  readRow,
} from 'assize/internal/ledger';
import { requestOf, Trajectory } from 'assize/internal/runtime';
import type { Card } from '../card/card.ts';
import { type CardPorts, noticeCard } from '../card/notice-card.ts';
import { shown, TEXT_MAX, timeText } from './said.ts';

/** Where a request stands now. */
export interface Progress {
  /** The id under which the proposal was first pending. */
  readonly request: Hash;
  /** The entry that the request waits or waited as. */
  readonly pendingId: Hash;
  readonly card: Card;
  /** How it ended, and by whom. Undefined while it waits. */
  readonly ended?: string;
}

export interface ProgressPorts extends CardPorts {
  readonly store: CardPorts['store'] & { resolve(id: Hash): Promise<EntryRow | undefined> };
  readonly clock: { now(): string };
}

/** The progress of the request of an entry, also where another approval has its own entry. */
export async function progressOf(ports: ProgressPorts, row: EntryRow): Promise<Progress> {
  const { assize, store, clock } = ports;
  const trajectory = await assize.open(row.trajectory_id);
  await Trajectory.catchUp(trajectory);
  const found = await trajectory.approvals.statusOf(row.id);
  const open =
    found.status === 'pending' && found.id !== row.id
      ? ((await store.resolve(found.id)) as EntryRow)
      : row;
  const payload = readRow(open).payload as PendingPayload;
  const request = (await requestOf(payload, store)) ?? row.id;
  const progress = { request, pendingId: open.id, card: await noticeCard(ports, open) };
  if (found.status === 'void') return { ...progress, ended: 'No decision is needed any more.' };
  if (found.status === 'resolved') {
    const end = await store.resolve(found.ruling.entry.id);
    return { ...progress, ended: endOf(readRow(end as EntryRow).payload) };
  }
  return isExpired(payload, clock.now())
    ? { ...progress, ended: `It expired at ${timeText(payload.expires as string)}.` }
    : progress;
}

function endOf(payload: Payload): string {
  const { at } = payload;
  const { counselor, approved_by = [] } = payload as Extract<Payload, { kind: 'commit' }>;
  const people = [...approved_by, ...(counselor === undefined ? [] : [counselor])];
  const by = people.map(({ principal }) => principal).join(' and ');
  const when = `${by === '' ? '' : ` by ${by}`} at ${timeText(at)}.`;
  if (payload.kind === 'commit')
    return shown(`${by === '' ? 'Settled' : 'Approved'}${when}`, TEXT_MAX);
  const { reason, detail = '' } = payload as { reason?: string; detail?: string };
  const how =
    reason === 'counselor_rejected' ? 'Rejected' : reason === 'expired' ? 'Expired' : 'Closed';
  return shown(`${how}${when} ${detail}`.trim(), TEXT_MAX);
}
