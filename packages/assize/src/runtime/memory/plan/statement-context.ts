import type { Compiled, MemoryStatement } from '#kernel';
import type { Hash, Instant, PartitionName } from '#ledger';
import {
  type Answer,
  claimId,
  type declarePredicate,
  OPEN_END,
  OPEN_START,
  type Question,
} from '#memory';
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
  readonly mayAnswer?: (question: Question, at: Instant) => void;
  /** Whether the ruling is only foreseen. Questions to the judge then stay open. */
  readonly isJudgement?: boolean;
}

/** The sender of changes that may be planned on one another before the store has them. */
export function senderOf({
  trajectoryId,
  generation,
}: Pick<StatementContext, 'trajectoryId' | 'generation'>): string {
  return `${generation} ${trajectoryId}`;
}

export function namesIn({ compiled }: StatementContext, [own]: VisibilityChain): PartitionName[] {
  return compiled.statements.map((saying) => nameOf(saying, own));
}

export function nameOf(
  { space, subject, predicate }: MemoryStatement,
  { branch }: VisibleMemory,
): PartitionName {
  return { space, subject, predicate, ...(branch !== undefined && { branch }) };
}

export function partitionsIn(sayer: StatementContext, line: VisibilityChain): number {
  return new Set(namesIn(sayer, line).map((name) => JSON.stringify(name))).size;
}

/** A statement that a fact holds. */
export type ClaimStatement = Exclude<MemoryStatement, { verb: 'retract' | 'withdraw' }>;

/** Without a source, the claim belongs to its proposal. */
export function idOf(key: Uint8Array, saying: ClaimStatement, proposalId: Hash, n: number): string {
  return idFrom(key, saying, saying.source ?? `${proposalId}#${n}`);
}

/**
 * A function of the statement and not of its time. The same statement from the same source is the
 * same claim, also without a time of its own.
 */
export function idFrom(key: Uint8Array, saying: ClaimStatement, source: string): string {
  const { space, subject, predicate, object } = saying;
  const given = saying.verb === 'change' ? { from: saying.from } : saying.valid;
  const valid = {
    from: given?.from ?? OPEN_START,
    to: (given as { to?: string } | undefined)?.to ?? OPEN_END,
  };
  return claimId(key, { space, subject, predicate, object, valid, sourceEventId: source });
}
