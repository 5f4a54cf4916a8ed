import { MemoryStore } from '@assize/testing/memory';
import {
  Assize,
  type Domain,
  defineDomain,
  escalate,
  generateKeys,
  issueWrit,
  pass,
  reject,
  type Trajectory,
  type Writ,
} from 'assize';
import { z } from 'zod';
import type { StageOptions } from './stage.ts';

/** A step that is never allowed. */
export const FORBIDDEN = 'forbidden';

/**
 * Allows every step except the forbidden one. A step that needs confirmation waits for an approver.
 */
const GATED = defineDomain({
  name: 'gated',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({
    done: z.record(z.string(), z.object({ asks: z.boolean(), confirmed: z.boolean() })),
  }),
  initial: { done: {} },
  processes: { working: { writes: ['/done/{step}'] } },
  roles: { agent: { params: ['step'], processes: ['working'] } },
  actions: {
    step: {
      process: 'working',
      args: z.object({ asks: z.boolean() }),
      apply: ({ done }, { asks }, { role: { step } }) => {
        done[step] = { asks, confirmed: false };
      },
    },
  },
  counselors: { operator: (principal) => principal === 'operator' },
  freeze: 'footprint',
  invariants: ({ each }) => [
    each('ALLOWED', '/done/*', {}, (_, __, [step]) =>
      step === FORBIDDEN ? reject('it is forbidden') : pass,
    ),
    each(
      'CONFIRMED',
      '/done/*',
      {
        channel: 'operator',
        onApprove: ({ done }, { keys: [name = ''] }) => {
          const step = done[name];
          if (step !== undefined) step.confirmed = true;
        },
      },
      ({ asks, confirmed }) => (!asks || confirmed ? pass : escalate('this can’t be undone')),
    ),
  ],
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
export const GATED_OPERATOR_WRIT: Writ = issueWrit(
  {
    issuer: keys.publicKey,
    subject: 'operator',
    actions: ['assize.resolve_effect'],
    scopes: ['effect:**'],
    not_before: '2026-01-01T00:00:00.000000Z',
    expires: '2100-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: 'operator',
  },
  keys.privateKey,
);

/** The runtime in a mode, in memory, with an approver for the submitted proposals. */
export interface GatedStage {
  readonly assize: Assize;
  readonly trajectory: Trajectory;
  readonly writ: Writ;
  /** The intent that a transaction commits. `asks`: whether it is submitted for approval first. */
  intent(
    step: string,
    asks: boolean,
  ): { action: string; role: { name: string; params: { step: string } }; args: { asks: boolean } };
  close(): Promise<void>;
}

/** Opens the runtime with these tools. The caller must close it. */
export async function openGated({
  mode,
  tools,
  tries,
  callTimeoutMs,
}: Pick<StageOptions, 'mode' | 'tools' | 'tries' | 'callTimeoutMs'>): Promise<GatedStage> {
  const store = new MemoryStore();
  const assize = new Assize({
    store,
    domains: [GATED],
    anchors: [keys.publicKey],
    tools,
    effects: {
      frontier: mode.frontier ? 'derived' : 'none',
      ...(tries === undefined ? {} : { maxAttempts: tries }),
      ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
    },
    ports: { pause: async () => {} },
  });
  return {
    assize,
    trajectory: await assize.create(GATED, { writs: [WRIT] }),
    writ: WRIT,
    intent: (step, asks) => ({
      action: 'step',
      role: { name: 'agent', params: { step } },
      args: { asks },
    }),
    close: async () => {
      await assize.close();
      await store.close();
    },
  };
}
