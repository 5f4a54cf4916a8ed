import { z } from 'zod';
import { DidNothing, declareTool, type Tool } from '#effects';
import { defineDomain, escalate, pass, reject, sensitive } from '#kernel';
import type { Assize, Trajectory, Transaction } from '#runtime';
import type { Store } from '#stores';
import { HandClock, operatorWrit, runtimeOver, writFor } from '../ledger/runtime.ts';

// Values about people in tool arguments, answers and residue, for each outcome that no ledger entry
// names.

/**
 * A ward that records the patient of each treatment. The name of a treatment decides its outcome.
 */
export const treatments = defineDomain<any, any>({
  name: 'treatments',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({
    patients: z.record(z.string(), z.object({ notes: z.array(sensitive(z.string())) })),
    failed: z.number(),
  }),
  initial: { patients: {}, failed: 0 },
  counselors: { doctor: (principal: string) => principal.startsWith('dr ') },
  processes: { treating: { writes: ['/patients/{id}'] }, counting: { writes: ['/failed'] } },
  roles: { nurse: { params: ['id'], processes: ['treating'] }, desk: { processes: ['counting'] } },
  actions: {
    treat: treating(),
    /** The same, with an action that runs if its effects fail. */
    order: { ...treating(), onFailure: () => ({ action: 'fail', args: {}, role: 'desk' }) },
    fail: {
      process: 'counting',
      args: z.object({}),
      apply: (state: any) => {
        state.failed += 1;
      },
    },
  } as never,
  invariants: ({ each }: any) => [
    each('NOT_FORBIDDEN', '/patients/*', {}, ({ notes }: { notes: unknown[] }) =>
      saysOf(notes, 'forbidden') ? reject('it is forbidden') : pass,
    ),
    each('ASKED', '/patients/*', {}, ({ notes }: { notes: unknown[] }) =>
      saysOf(notes, 'asked') ? escalate('shall it be?') : pass,
    ),
  ],
  memory: { predicates: { note: { cardinality: 'multi-valued', strategy: 'lww' } } },
});

function treating() {
  return {
    process: 'treating',
    args: z.object({ who: z.string(), note: sensitive(z.string()) }),
    apply: ({ patients }: any, { note }: { note: string }, { role }: any) => {
      patients[role.id] ??= { notes: [] };
      patients[role.id].notes.push(note);
    },
    beliefs: ({ who, note }: { who: string; note: string }) => [
      { verb: 'assert' as const, space: 'ward', subject: who, predicate: 'note', object: note },
    ],
  };
}

function saysOf(notes: readonly unknown[], word: string): boolean {
  return notes.some((note) => typeof note === 'string' && note.startsWith(word));
}

/** The subject of the facts, and the id in role parameters. */
export interface Patient {
  readonly who: string;
  readonly id: string;
}

export const ZOE: Patient = { who: 'Zoe Angstrom', id: 'p1' };
export const MAX: Patient = { who: 'Max Planckton', id: 'p2' };

/** The outcome of a transaction. The last three outcomes have no proposal. */
export const WAYS = [
  ...(['rejected', 'asked', 'failed', 'branch', 'differs', 'again'] as const),
  ...(['thrown', 'doubt', 'silent'] as const),
];
export type Way = (typeof WAYS)[number];

/**
 * All arguments, answers and residue of the tools about one patient, and the found values, for one
 * outcome.
 */
export function textsOf(way: Way, { id }: Patient): readonly string[] {
  const of = (what: string): string => `${what}-${way}-${id}-zq`;
  switch (way) {
    case 'silent':
      return [of('given')];
    case 'differs':
      return [of('given'), of('told'), of('otherwise'), of('found')];
    case 'doubt':
      return [of('given'), of('found')];
    default:
      return [of('given'), of('answered'), of('left')];
  }
}

const input = z.object({ who: z.string(), what: z.string(), how: z.string().default('well') });
type Input = z.infer<typeof input>;

const worded = (word: string, { what }: Input): string => what.replace(/^given/, word);
const place = {};

/** Tools with sinks that follow `how`. */
const tools: readonly Tool[] = [
  // Parallel, as branches use it at one place.
  declareTool({
    name: 'act',
    input,
    class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
    writes: ['test:r'],
    sensitive: true,
    parallel: true,
    execute: (given) => {
      if (given.how === 'refused') throw new DidNothing('it was refused', { final: true });
      return { said: worded('answered', given) };
    },
    compensate: (given) => ({ undone: 'partly', residue: { is: worded('left', given) } }),
  }),
  declareTool({
    name: 'blind',
    input,
    class: { reversibility: 'reversible', delivery: 'externalised', sink: 'blind' },
    writes: ['test:r'],
    sensitive: true,
    execute: () => {
      throw new Error('the line went dead');
    },
    compensate: () => ({ undone: 'all' }),
  }),
  declareTool({
    name: 'late',
    input,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['test:r'],
    sensitive: true,
    execute: () => {
      throw new DidNothing('it was refused', { final: true });
    },
    compensate: () => ({ undone: 'all' }),
  }),
  declareTool({
    name: 'held',
    input,
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['test:r'],
    sensitive: true,
    execute: () => {
      throw new Error('it is called together');
    },
    compensate: () => ({ undone: 'all' }),
    batch: {
      at: place,
      part: undefined,
      execute: async () => {
        throw new Error('it was held');
      },
      compensate: async (calls) => calls.map(() => ({ undone: 'all' })),
      stage: () => ({
        execute: async (_, call) => ({ said: worded('told', call.input) }),
        read: async () => null,
        commit: async ([call]) => {
          const answer = { said: worded('otherwise', call!.input) };
          throw new DidNothing('it answers otherwise', {
            final: true,
            key: call!.call.key,
            answer,
          });
        },
        rollback: async () => undefined,
      }),
    },
  }),
];

export interface Treated {
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  /** Produces that outcome for a patient. Returns the epoch of the last transaction. */
  go(way: Way, patient: Patient): Promise<number>;
}

const writ = writFor('nurse');

/** A runtime over a store, with a trajectory `t`. */
export async function treated(store: Store): Promise<Treated> {
  const assize = runtimeOver(store, [treatments], { tools, ports: { clock: new HandClock() } });
  const trajectory = await assize.create(treatments, { trajectoryId: 't', writs: [writ] });
  const go = async (way: Way, patient: Patient): Promise<number> => {
    const { who, id } = patient;
    const given = { who, what: `given-${way}-${id}-zq` };
    const proposal = (action: 'treat' | 'order', note: string) =>
      ({ action, role: { name: 'nurse', params: { id } }, args: { who, note } }) as const;
    const body = async (tx: Transaction, isAgain: boolean): Promise<unknown> => {
      switch (way) {
        case 'again':
          if (isAgain) return tx.propose(proposal('treat', `again ${id}`));
          await tx.call('act', given);
          throw new Error('not yet');
        case 'silent':
          await tx.call('act', { ...given, how: 'refused' });
          throw new Error('it did nothing, and threw all the same');
        case 'thrown':
          await tx.call('act', given);
          throw new Error('no');
        case 'doubt':
          return tx.call('blind', given);
        case 'branch':
          return tx.speculate(
            [
              async (branch) => {
                await branch.call('act', given);
                branch.propose(proposal('treat', 'lost'));
              },
              async (branch) => branch.propose(proposal('treat', `branch ${id}`)),
            ],
            () => 1,
          );
        case 'differs':
          await tx.call('held', given);
          return tx.propose(proposal('treat', `differs ${id}`));
        case 'failed':
          await tx.call('act', given);
          await tx.call('late', { who, what: 'late' });
          return tx.propose(proposal('order', `failed ${id}`));
        default:
          await tx.call('act', given);
          return tx.propose(proposal('treat', way === 'rejected' ? 'forbidden' : 'asked'));
      }
    };
    const options = {
      writ,
      writes: ['test:**'],
      retries: 0,
      ...(way === 'again' && { name: `order ${id}` }),
    };
    for (const isAgain of way === 'again' ? [false, true] : [false])
      await trajectory.transaction(options, (tx) => body(tx, isAgain)).catch(() => undefined);
    for (const { id: pending } of trajectory.approvals.pending())
      if (way === 'asked')
        await trajectory.approvals.reject(pending, {
          principal: 'dr house',
          method: 'test',
          reason: 'no',
        });
    const waits = (await assize.recoverEffects()).filter(
      (each) => each.tool === 'held' || each.tool === 'blind',
    );
    for (const { epoch, n } of waits)
      await assize.resolveEffect({
        epoch,
        n,
        as: 'residue',
        by: 'ops',
        writ: operatorWrit(),
        evidence: { of: who, seen: `found-${way}-${id}-zq` },
      });
    const more = await assize.effects();
    if (more.length > 0) throw new Error(`transaction ${more[0]!.epoch} has not ended`);
    const [last] = await assize.effects({ all: true, limit: 1 });
    return last!.epoch;
  };
  return { assize, trajectory, go };
}
