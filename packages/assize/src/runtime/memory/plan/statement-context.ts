import type { Compiled, MemoryStatement } from '#kernel';
import type { Hash, Instant, PartitionName } from '#ledger';
import type { Answer, declarePredicate, Question } from '#memory';
import type { PayloadBlobs } from '../../records/payload-blobs.ts';
import type { VisibilityChain, VisibleMemory } from '../visible/visibility.ts';

/** The proposal with the statements. */
export interface StatementContext {
  /** The same object each time that a call plans the proposal. */
  readonly call: object;
  /**
   * The generation of its trajectory's writer; changes when another writer commits there and the
   * proposal is adjudicated again.
   */
  readonly generation: number;
  readonly compiled: Pick<Compiled, 'statements'>;
  readonly proposalId: Hash;
  readonly trajectoryId: string;
  readonly at: Instant;
  /**
   * The time of the statements, if it was earlier than `at`: the start of valid time for statements
   * without a time. Default: `at`.
   */
  readonly assertedAt?: Instant | undefined;
  readonly predicates: { readonly [predicate: string]: Parameters<typeof declarePredicate>[0] };
  readonly blobs: PayloadBlobs;
  /** The counselor's answers. */
  readonly answers?: readonly Answer[];
  /**
   * Throws if the counselor may not choose that answer; its error is passed on. Default: any answer
   * is allowed.
   */
  readonly mayAnswer?: (question: Question) => void;
  /** Whether the ruling is only foreseen. Questions to the judge then stay open. */
  readonly isJudgement?: boolean;
}

/** The sender of changes that may be planned on one another before the store has them. */
export function senderOf({ trajectoryId, generation }: Pick<StatementContext, 'trajectoryId' | 'generation'>): string {
  return `${generation} ${trajectoryId}`;
}

export function namesIn({ compiled }: StatementContext, [own]: VisibilityChain): PartitionName[] {
  return compiled.statements.map((saying) => nameOf(saying, own));
}

export function nameOf({ space, subject, predicate }: MemoryStatement, { branch }: VisibleMemory): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

export function partitionsIn(sayer: StatementContext, line: VisibilityChain): number {
  return new Set(namesIn(sayer, line).map((name) => JSON.stringify(name))).size;
}
