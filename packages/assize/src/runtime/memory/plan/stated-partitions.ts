import type { MemoryStatement } from '#kernel';
import type { Instant, PartitionName } from '#ledger';
import {
  type Assertion,
  type Ending,
  type FactRow,
  MemoryError,
  OPEN_END,
  OPEN_START,
  type Period,
  type Plan,
  type PlanInput,
  type PredicateDeclaration,
  planAssert,
  planChange,
  planCorrect,
  planRetract,
  planWithdraw,
  type QuestionPlan,
  statedProvenance,
} from '#memory';
import type { VisibilityChain } from '../visible/visibility.ts';
import type { Touch } from './open-rows.ts';
import { type StatedWrites, writeTokenOf } from './stated-writes.ts';
import { idOf, nameOf, type StatementContext } from './statement-context.ts';

/** The statements of a proposal about one partition. */
export interface StatedPartition {
  readonly name: PartitionName;
  readonly cardinality: PredicateDeclaration['cardinality'];
  readonly said: readonly {
    readonly saying: MemoryStatement;
    readonly n: number;
    readonly claim: string | undefined;
    readonly id: string;
    readonly provenance: string;
    readonly saidAt: Instant;
  }[];
  /** Claims that may have been made before. */
  readonly sourced: readonly string[];
}

/** All versions of a partition, and the claims behind them, for a withdrawal. */
export interface PartitionHistory {
  readonly stated: StatedWrites;
  readonly history: readonly FactRow[];
}

/** The statements by partition, in order of each partition's first statement. */
export function grouped(
  key: Uint8Array,
  { compiled, proposalId, predicates, at, assertedAt = at }: StatementContext,
  [own]: VisibilityChain,
): StatedPartition[] {
  const groups = new Map<
    string,
    StatedPartition & { said: StatedPartition['said'][number][]; sourced: string[] }
  >();
  for (const [n, saying] of compiled.statements.entries()) {
    const { space, subject, predicate } = saying;
    const name = nameOf(saying, own);
    const at = JSON.stringify([space, subject, predicate]);
    const group = groups.get(at) ?? {
      name,
      cardinality: predicates[predicate]!.cardinality,
      said: [] as StatedPartition['said'][number][],
      sourced: [] as string[],
    };
    groups.set(at, group);
    const isClaim = saying.verb !== 'retract' && saying.verb !== 'withdraw';
    const id = isClaim ? idOf(key, saying, proposalId, n) : '';
    const claim = isClaim && saying.source !== undefined ? id : undefined;
    const provenance = isClaim ? statedProvenance(n, key, saying) : '';
    group.said.push({ saying, n, claim, id, provenance, saidAt: assertedAt });
    if (claim !== undefined) group.sourced.push(claim);
  }
  return [...groups.values()];
}

/**
 * Claims without a time of their own, in code-unit order: they are valid from the time of their
 * statement.
 */
export function untimedIn(groups: readonly StatedPartition[]): string[] {
  const isUntimed = ({ saying }: StatedPartition['said'][number]): boolean =>
    saying.verb === 'change'
      ? saying.from === undefined
      : saying.verb === 'assert' && saying.valid?.from === undefined;
  return groups.flatMap(({ said }) => said.filter(isUntimed).map(({ id }) => id)).sort();
}

export function planOf(
  said: StatedPartition['said'],
  writing: PlanInput,
  { stated, history }: PartitionHistory = { stated: new Map(), history: [] },
): Plan | QuestionPlan {
  const [{ saying, id, provenance, saidAt }] = said as [StatedPartition['said'][number]];
  if (said.every((each) => each.saying.verb === 'assert'))
    return planAssert(writing, said.flatMap(assertionsOf));
  const withdrawals = said.flatMap(({ saying }) => (saying.verb === 'withdraw' ? [saying] : []));
  const retractions = said.flatMap(({ saying }) => (saying.verb === 'retract' ? [saying] : []));
  const takesAway = withdrawals.length + retractions.length === said.length;
  if (takesAway && (withdrawals.length > 0 || retractions.length > 1))
    return planWithdraw(writing, {
      sources: withdrawals.flatMap(({ source }) => source ?? []),
      writes: withdrawals.flatMap(({ statements = [] }) => statements.map(writeTokenOf)),
      ...{ retractions, claims: stated, history },
    });
  if (said.length > 1)
    throw new MemoryError(
      'repeated_claim',
      'A proposal can assert several facts of a subject and predicate, or withdraw sources and retract facts, or change or correct one fact. Propose the others separately.',
    );
  switch (saying.verb) {
    case 'change': {
      const { object, confidence = 1, from = saidAt } = saying;
      return planChange(writing, { claim: id, object, confidence, provenance, from });
    }
    case 'correct': {
      const { object, confidence = 1, valid, was } = saying;
      return planCorrect(writing, {
        claim: id,
        object,
        confidence,
        provenance,
        valid,
        ...(was !== undefined && { was }),
      });
    }
    case 'retract': {
      const { object, valid } = saying;
      return planRetract(writing, { valid, ...(object !== undefined && { object }) });
    }
    case 'withdraw':
    case 'assert':
      throw new Error('unreachable: assertions and withdrawals were planned together');
  }
}

/** The periods and objects of a statement; for a correction, also the object that was wrong. */
export function touchesOf({ saying, saidAt }: StatedPartition['said'][number]): readonly Touch[] {
  if (saying.verb === 'withdraw') return [{ valid: { from: OPEN_START, to: OPEN_END } }];
  const { object } = saying;
  switch (saying.verb) {
    case 'assert': {
      if (saying.ends !== true) return [{ valid: periodOf(saying.valid, saidAt), object }];
      const ends = endOf(saying);
      return [{ valid: { from: saying.valid?.from ?? ends, to: OPEN_END }, object }];
    }
    case 'change':
      return [{ valid: periodOf(saying, saidAt), object }];
    case 'correct':
      return [
        { valid: saying.valid, object },
        { valid: saying.valid, object: saying.was },
      ];
    case 'retract':
      return [{ valid: saying.valid, object }];
  }
}

/**
 * Without a period: from the time of the statement, without an end. @throws MemoryError
 * `reversed_period`, `empty_period`
 */
function periodOf(
  { from, to = OPEN_END }: { readonly from?: Instant; readonly to?: Instant } = {},
  saidAt: Instant,
): Period {
  // With a given end, only the end can be at fault.
  if (from === undefined && to <= saidAt)
    throw new MemoryError(
      to < saidAt ? 'reversed_period' : 'empty_period',
      'The fact ends before it is asserted, and without `from` it starts then. Set `from`.',
      { evidence: { to, said: saidAt } },
    );
  return { from: from ?? saidAt, to };
}

/** The asserted period, and its end. An end without a start asserts no period. */
function assertionsOf({
  saying,
  id,
  provenance,
  saidAt,
}: StatedPartition['said'][number]): (Assertion | Ending)[] {
  const said = saying as AssertStatement;
  const { object, confidence = 1, valid, strategy } = said;
  const stated = {
    claim: id,
    object,
    confidence,
    provenance,
    ...(strategy !== undefined && { strategy }),
  };
  if (said.ends !== true) return [{ ...stated, valid: periodOf(valid, saidAt) }];
  const ends = endOf(said);
  if (valid?.from === undefined) return [{ ...stated, ends }];
  return [
    { ...stated, valid: periodOf(valid, saidAt) },
    { ...stated, ends },
  ];
}

type AssertStatement = Extract<MemoryStatement, { verb: 'assert' }>;

/** @throws MemoryError `no_instant` */
function endOf({ valid }: AssertStatement): Instant {
  if (valid?.to !== undefined) return valid.to;
  throw new MemoryError('no_instant', 'The statement ends a fact at no instant. Set `valid.to`.', {
    evidence: { border: 'to' },
  });
}
