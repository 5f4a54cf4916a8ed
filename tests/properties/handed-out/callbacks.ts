/** The callbacks of a caller, by the type that declares them. The compiler finds missing names. */

import type { CheckpointOptions } from '#checkpoints';
import type { AtomicBatch, StagedTransaction } from '#effects';
import type {
  Action,
  CallInvariant,
  CountInvariant,
  EachInvariant,
  Index,
  InvariantOptions,
  PlainInvariant,
  SumInvariant,
  UniqueInvariant,
} from '#kernel';
import type { UpgradeOptions } from '#runtime';
import type { Agent, RunOptions } from '../../../packages/agents/src/public/agents.ts';
import type { ToolSpec } from '../../../packages/assize/src/public/effects.ts';
import type {
  ApprovalOptions,
  AssizeOptions,
  EffectOptions,
  Policy,
  RuntimePorts,
} from '../../../packages/assize/src/public/index.ts';
import type { Embedder, Judge } from '../../../packages/assize/src/public/memory.ts';
import type { CheckpointSink, Witness } from '../../../packages/audit/src/public/audit.ts';

interface Declaring {
  readonly Action: Action<any, any>;
  readonly Agent: Agent;
  readonly ApprovalOptions: ApprovalOptions;
  readonly AssizeOptions: AssizeOptions;
  readonly AtomicBatch: AtomicBatch;
  readonly CallInvariant: CallInvariant<any>;
  readonly CheckpointOptions: CheckpointOptions;
  readonly CheckpointSink: CheckpointSink;
  readonly CountInvariant: CountInvariant<any>;
  readonly EachInvariant: EachInvariant<any>;
  readonly EffectOptions: EffectOptions;
  readonly Embedder: Embedder;
  readonly Index: Index;
  readonly InvariantOptions: InvariantOptions<any>;
  readonly Judge: Judge;
  readonly PlainInvariant: PlainInvariant<any>;
  readonly Policy: Policy;
  readonly RunOptions: RunOptions;
  readonly RuntimePorts: RuntimePorts;
  readonly StagedTransaction: StagedTransaction;
  readonly SumInvariant: SumInvariant<any>;
  readonly ToolSpec: ToolSpec;
  readonly UniqueInvariant: UniqueInvariant<any>;
  readonly UpgradeOptions: UpgradeOptions;
  readonly Witness: Witness;
}

/** The members of a type that are or may be functions. */
type Callbacks<T> = {
  [Name in keyof T & string]-?: Extract<
    NonNullable<T[Name]>,
    (...args: never[]) => unknown
  > extends never
    ? never
    : Name;
}[keyof T & string];

/** True, or the reason why no value of the library reaches the callback. */
type Reached = true | string;

const RULE = { onApprove: 'listed as InvariantOptions.onApprove' } as const;
const ERROR = 'receives an error that was made for it';

export const CALLBACKS: {
  readonly [Of in keyof Declaring]: { readonly [Name in Callbacks<Declaring[Of]>]: Reached };
} = {
  Action: {
    apply: true,
    beliefs: true,
    calls: true,
    cost: true,
    onApprove: true,
    onFailure: true,
    scopes: true,
    widens: 'receives frozen arguments, as `cost` does',
  },
  Agent: { decide: true },
  ApprovalOptions: { onPending: true, onResolved: true },
  AssizeOptions: { onNotificationFailed: true, onSnapshotFailed: ERROR },
  AtomicBatch: { compensate: true, execute: true, stage: true },
  CallInvariant: { ...RULE, check: true, with: true },
  CheckpointOptions: { beforeSigning: true, onProgress: 'receives a number' },
  CheckpointSink: { put: true },
  CountInvariant: { ...RULE, check: true, per: true, where: true, with: true },
  EachInvariant: { ...RULE, check: true, with: true },
  EffectOptions: { onRecoveryFailed: ERROR },
  Embedder: { embed: true },
  Index: { of: true, per: true },
  InvariantOptions: { onApprove: true },
  Judge: { choose: true, pause: 'receives numbers and a signal' },
  PlainInvariant: { ...RULE, check: true },
  Policy: { evaluate: true },
  RunOptions: { arbiter: true, counsel: true, onTurn: true },
  RuntimePorts: { pause: true },
  StagedTransaction: {
    commit: true,
    execute: true,
    read: true,
    replay: true,
    rollback: true,
    rollbackTo: true,
  },
  SumInvariant: { ...RULE, check: true, of: true, per: true, with: true },
  ToolSpec: {
    compensate: true,
    conflictWith: true,
    cost: true,
    execute: true,
    mitigate: true,
    plan: true,
    reads: true,
    reconcile: true,
    undoCost: true,
    writes: true,
  },
  UniqueInvariant: { ...RULE, by: true, check: true },
  UpgradeOptions: { migrate: true },
  Witness: { cosign: true },
};

/** Callbacks that are functions of their own, and not members of a type. */
const ALONE = [
  'AgentQuestion.call',
  'CounselorPredicate',
  'Model',
  'Resolver',
  'speculate.choose',
  'subscribe.listener',
  'transaction.body',
];

/** The names of all callbacks that the library must reach. */
export const CALLBACK_NAMES: readonly string[] = [
  ...ALONE,
  ...Object.entries(CALLBACKS).flatMap(([of, members]) =>
    Object.entries(members).flatMap(([name, reached]) =>
      reached === true ? [`${of}.${name}`] : [],
    ),
  ),
];
