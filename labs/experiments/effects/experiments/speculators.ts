import { type Delivery, EffectError, type Tool } from 'assize/internal/effects';
import type { Transaction } from 'assize/internal/runtime';
import { directCaller } from '../callers.ts';
import type { Mode } from '../modes.ts';
import { openStage, RETRIES, type Stage } from '../stage.ts';

/** The function through which a branch calls a tool. */
export type Call = (tool: string, input: any) => Promise<unknown>;
export type Branch = (call: Call) => Promise<unknown>;

export interface Speculated {
  /** All is done as by the branch that was chosen. */
  readonly isDone: boolean;
}

/** The place of one that did not fail, or nothing. */
export type Choose = (failed: readonly boolean[]) => number | undefined;

/** How a mode tries branches and goes on with one. */
export interface Speculator {
  try(branches: readonly Branch[], choose: Choose): Promise<Speculated>;
  close(): Promise<void>;
}

/** The part of the outside state that a mode's checkpoints cover. */
export interface Checkpointed {
  snapshot(): any;
  restore(snapshot: any): void;
}

/** How the branches of a transaction are tried. */
export type Trying = (
  tx: Transaction,
  branches: readonly Branch[],
  choose: (tried: readonly { readonly failed: boolean }[]) => number,
) => Promise<unknown>;

export interface SpeculatorOptions {
  readonly tools: readonly Tool[];
  /** The scopes that all branches claim together. */
  readonly writes: readonly string[];
  readonly world: Checkpointed;
  /** Default: branches call the tools. */
  readonly trying?: Trying;
}

/**
 * The two classes of the tool that branches write with. Every mode is measured with both, so that
 * transactional modes in one row differ by frontier and retries alone.
 */
export const WRITES: readonly { readonly name: string; readonly delivery: Delivery }[] = [
  { name: 'buffered', delivery: 'buffered' },
  { name: 'direct', delivery: 'externalised' },
];

/** Whether the paper's figures of a mode are of this class: it holds writes in Tx-Full alone. */
export function isInPaper({ frontier }: Mode, delivery: Delivery): boolean {
  return frontier === (delivery === 'buffered');
}

/** The meaning of a row of one class, for the notes. */
export const GIVEN =
  'Each mode is measured with both classes of the tool. Without transactions there is no commit to wait for, so that a buffered write is made directly too. All transactional modes of a row have the same tool, and Tx-Full and Tx-NoFrontier+Retry differ by the frontier alone: where their figures are equal, the class of the tool decides, and not the frontier. Buffering keeps what is not chosen from being seen. The frontier orders the transactions of several agents; the table of contention (table 9) shows this with one tool for all.';

export async function speculatorIn(
  mode: Mode,
  { tools, writes, world, trying = calling }: SpeculatorOptions,
): Promise<Speculator> {
  if (mode.transactional) {
    const stage = await openStage({ mode, tools, tries: mode.retry ? RETRIES + 1 : 1 });
    return {
      try: (branches, choose) =>
        transactional(stage, writes, (tx) =>
          trying(tx, branches, (tried) => chosenOf(tried, choose)),
        ),
      close: () => stage.close(),
    };
  }
  const direct = directCaller(tools);
  const call: Call = (tool, input) => direct({ tool, input });
  return {
    try: mode.checkpoint
      ? (branches, choose) => rolledBack(world, call, branches, choose)
      : async (branches, choose) => ({ isDone: choose(await all(call, branches)) !== undefined }),
    close: async () => {},
  };
}

const calling: Trying = (tx, branches, choose) =>
  tx.speculate(
    branches.map((branch) => (one: Transaction) => branch((tool, input) => one.call(tool, input))),
    choose,
  );

async function transactional(
  stage: Stage,
  writes: readonly string[],
  body: (tx: Transaction) => Promise<unknown>,
): Promise<Speculated> {
  try {
    const { effects } = await stage.transact({ writes }, body);
    return { isDone: effects === 'settled' };
  } catch (error) {
    if (error instanceof EffectError && error.code === 'tool_failed') return { isDone: false };
    throw error;
  }
}

function chosenOf(tried: readonly { readonly failed: boolean }[], choose: Choose): number {
  const chosen = choose(tried.map(({ failed }) => failed));
  if (chosen !== undefined) return chosen;
  // So that a mode that tries again does so.
  throw new EffectError('tool_failed', 'No branch was done.', { retryable: true });
}

/**
 * All branches write immediately. Then the state is restored, and the chosen branch runs again, up
 * to the retry limit.
 */
async function rolledBack(
  world: Checkpointed,
  call: Call,
  branches: readonly Branch[],
  choose: Choose,
): Promise<Speculated> {
  const before = world.snapshot();
  let next = branches;
  for (let again = 0; again <= RETRIES; again++) {
    const failed = await all(call, next);
    const chosen = choose(failed);
    if (chosen !== undefined && next.length === 1) return { isDone: true };
    world.restore(before);
    if (chosen !== undefined) next = [next[chosen]!];
  }
  return { isDone: false };
}

async function all(call: Call, branches: readonly Branch[]): Promise<boolean[]> {
  const tried = await Promise.allSettled(branches.map((branch) => branch(call)));
  return tried.map(({ status }) => status === 'rejected');
}

export function placesOf(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
