import { MemoryStore } from '@assize/testing/memory';
import {
  Assize,
  type Domain,
  defineDomain,
  generateKeys,
  issueWrit,
  type Trajectory,
  type Writ,
} from 'assize';
import type { Resolvers, Tool } from 'assize/internal/effects';
import type { Transaction, TransactionOptions, TransactionOutcome } from 'assize/internal/runtime';
import { z } from 'zod';
import type { Mode } from './modes.ts';

/** How often a step is tried again, as in the paper (A.9.4). */
export const RETRIES = 3;

/** A domain that counts steps. The measured values are outside of it. */
const STEPS = defineDomain({
  name: 'steps',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ done: z.number().int() }),
  initial: { done: 0 },
  processes: { working: { writes: ['/done'] } },
  roles: { agent: { processes: ['working'] } },
  actions: {
    step: {
      process: 'working',
      args: z.null(),
      apply: (state) => {
        state.done++;
      },
    },
  },
  invariants: () => [],
}) as unknown as Domain;

const keys = generateKeys();
const WRIT = issueWrit(
  {
    issuer: keys.publicKey,
    subject: 'agent:tested',
    actions: ['**'],
    scopes: ['**'],
    not_before: '2026-01-01T00:00:00.000000Z',
    expires: '2100-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: '1',
  },
  keys.privateKey,
);

/** The right of an operator to decide about unresolved effects. */
export const OPERATOR_WRIT: Writ = issueWrit(
  {
    issuer: keys.publicKey,
    subject: 'human:tester',
    actions: ['assize.resolve_effect'],
    scopes: ['effect:**'],
    not_before: '2026-01-01T00:00:00.000000Z',
    expires: '2100-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: 'operator',
  },
  keys.privateKey,
);

export interface StageOptions {
  /** One that is transactional. */
  readonly mode: Mode;
  readonly tools: readonly Tool[];
  /** Of a transaction, where the mode has retries. */
  readonly retries?: number;
  /** Of one effect, before it is left to a person. */
  readonly tries?: number | undefined;
  /** Milliseconds after which the answer of a tool is taken for lost. */
  readonly callTimeoutMs?: number;
  /** The resolvers of the names of the tools' scopes. */
  readonly resolvers?: Resolvers;
}

/** The runtime as a mode has it, in memory. */
export interface Stage {
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly writ: Writ;
  /**
   * A transaction that commits with one step more, and otherwise works like
   * `Trajectory.transaction`.
   */
  transact<T>(
    options: Omit<TransactionOptions, 'writ'>,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>>;
  close(): Promise<void>;
}

/** Opens the runtime with these tools. The caller must close it. No part of it sleeps. */
export async function openStage({
  mode,
  tools,
  retries = RETRIES,
  tries,
  callTimeoutMs,
  resolvers,
}: StageOptions): Promise<Stage> {
  const store = new MemoryStore();
  const assize = new Assize({
    store,
    domains: [STEPS],
    anchors: [keys.publicKey],
    tools,
    effects: {
      frontier: mode.frontier ? 'derived' : 'none',
      ...(tries === undefined ? {} : { maxAttempts: tries }),
      ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
      ...(resolvers === undefined ? {} : { resolvers }),
    },
    ports: { pause: async () => {} },
  });
  const trajectory = await assize.create(STEPS, { writs: [WRIT] });
  const budget = mode.retry ? retries : 0;
  return {
    assize,
    trajectory,
    writ: WRIT,
    transact: (options, body) =>
      trajectory.transaction({ retries: budget, ...options, writ: WRIT }, async (tx) => {
        const value = await body(tx);
        tx.propose({ action: 'step', role: 'agent', args: null });
        return value;
      }),
    close: async () => {
      await assize.close();
      await store.close();
    },
  };
}
