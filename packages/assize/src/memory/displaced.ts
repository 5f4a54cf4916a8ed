import { readWitness } from './audit.ts';
import { usersOf } from './author.ts';
import { type FactRow, objectKey, systemOf, validOf } from './fact.ts';
import type { Item } from './group.ts';
import { holds, intersection, leftovers, OPEN_END, overlaps, type Period } from './period.ts';
import { Polynomial } from './provenance/polynomial.ts';
import type { Member } from './question.ts';
import { compare, isSelection, type Strategy } from './strategy.ts';

/** The audit row that records withdrawn statements without a fact: they never come back. */
const MARK = 'audit::withdrawn::';

/** A claim that others displaced in some periods, since a system time. */
interface Displaced {
  readonly row: FactRow;
  readonly since: string;
  readonly periods: readonly Period[];
}

/** A period in which no earlier claim comes back. */
interface Settled {
  readonly at: string;
  readonly period: Period;
}

/** A correction: the statement of one commit in place of a fact, without a contest. */
interface Correction {
  readonly row: FactRow;
  readonly by: FactRow;
  readonly at: string;
  readonly periods: readonly Period[];
}

/** An audit row with the claim that won and the one that lost. */
interface Decided {
  readonly audit: FactRow;
  readonly won: Member | undefined;
  readonly beaten: Member | undefined;
}

/** A partition's history without some statements. */
export interface DisplacedInput {
  /** All versions of the partition, of facts and audit rows. */
  readonly history: readonly FactRow[];
  /** The tokens of the withdrawn statements. */
  readonly withdrawn: ReadonlySet<string>;
  readonly strategy: Strategy;
  /** The fact without the withdrawn statements; undefined if it rests on nothing else. */
  readonly without: (row: FactRow, withdrawn: ReadonlySet<string>) => FactRow | undefined;
}

/** The tokens of statements that earlier withdrawals recorded. */
export function withdrawnBefore(history: readonly FactRow[]): string[] {
  return history.filter(isMark).flatMap(tokensOf);
}

export function isMark({ fact_id }: FactRow): boolean {
  return fact_id.startsWith(MARK);
}

/** One commit can mark several partitions of a space: the id is the hash of what was withdrawn. */
export function markOf(hash: string): string {
  return `${MARK}${hash}`;
}

/**
 * The facts that statements to be withdrawn have displaced, as the items that may hold again, and
 * the periods that those statements ended. A correction or a retraction that stays settles its
 * period: nothing from before it comes back.
 */
export function displacedBy({ history, withdrawn, strategy, without }: DisplacedInput): {
  readonly items: (periods: readonly Period[], beside: readonly FactRow[]) => Item[];
  readonly ended: readonly Period[];
  /** The withdrawn tokens of claims that lost. */
  readonly lost: readonly string[];
} {
  const before = new Set(withdrawnBefore(history));
  const gone = new Set([...withdrawn, ...before]);
  const audits = history.filter(
    (row) => row.row_kind === 'audit' && !isMark(row) && !isErased(row),
  );
  const facts = history.filter((row) => row.row_kind === 'current' && !isErased(row));
  const isGone = (row: FactRow): boolean => without(row, gone) === undefined;
  const isOfWithdrawn = (row: FactRow): boolean =>
    tokensOf(row).some((token) => withdrawn.has(token));
  const decided = audits
    .map((audit) => ({ audit, ...sidesOf(audit) }))
    .filter(({ won }) => !won?.ends || won.rows.every(isGone));
  const { corrections, removed } = replacedIn(facts, audits);
  const [undone, standing] = partitioned(corrections, ({ by }) =>
    ownTokensOf(by).every((token) => gone.has(token)),
  );
  // A later withdrawal must know that an undone correction settles nothing any more.
  const lost = [
    ...audits.flatMap(lostIn),
    ...corrections.map(({ row }) => row),
    ...undone.map(({ by }) => by),
  ];
  const displaced = [
    ...decided.flatMap(beatenIn),
    ...undone.map(({ row, at, periods }) => ({ row, since: at, periods })),
  ];
  const settled = [
    ...removed,
    ...standing.flatMap(({ at, periods }) => periods.map((period) => ({ at, period }))),
  ];
  const ended = decided.filter(
    ({ won, beaten }) => isBeaten(beaten) && won?.ends && won.rows.some(isOfWithdrawn),
  );
  return {
    items: (within, beside) => {
      const back = displaced.sort(newestFirst).flatMap(({ row, ...each }) => {
        const left = without(row, gone);
        return left === undefined ? [] : [{ row: left, ...each }];
      });
      return restored(back, { settled, within, beside, strategy });
    },
    ended: ended.map(({ audit }) => validOf(audit)),
    lost: [...new Set(lost.flatMap(tokensOf))].filter(
      (token) => withdrawn.has(token) && !before.has(token),
    ),
  };
}

/** The claims that lost a contest, each in its periods. */
function beatenIn({ audit, beaten }: Decided): Displaced[] {
  if (!isBeaten(beaten)) return [];
  const since = audit.system_time_start;
  return beaten.rows.map((row) => ({
    row,
    since,
    periods: [intersection(validOf(row), validOf(audit)) ?? []].flat(),
  }));
}

/** Whether the loser states a fact, and not the end of one. */
function isBeaten(beaten: Member | undefined): beaten is Member {
  return beaten !== undefined && beaten.ends !== true;
}

/** The replacements of facts without a contest: corrections, and periods without a successor. */
function replacedIn(
  facts: readonly FactRow[],
  audits: readonly FactRow[],
): { readonly corrections: readonly Correction[]; readonly removed: readonly Settled[] } {
  const corrections: Correction[] = [];
  const removed: Settled[] = [];
  for (const row of facts) {
    const at = row.system_time_end;
    if (at === OPEN_END) continue;
    const then = (rows: readonly FactRow[]): FactRow[] =>
      rows.filter((each) => each.system_time_start === at);
    const uncontested = leftovers(validOf(row), then(audits).map(validOf));
    const next = then(facts);
    for (const part of uncontested)
      for (const period of leftovers(part, next.map(validOf))) removed.push({ at, period });
    for (const by of next) {
      if (ownTokensOf(by).length === 0 || sharesWrite(row, by)) continue;
      corrections.push({
        row,
        by,
        at,
        periods: uncontested.flatMap((part) => intersection(part, validOf(by)) ?? []),
      });
    }
  }
  return { corrections, removed };
}

/** The displaced facts, newest first, as the items that may hold in the gaps. */
function restored(
  displaced: readonly Displaced[],
  {
    settled,
    within,
    beside,
    strategy,
  }: {
    readonly settled: readonly Settled[];
    readonly within: readonly Period[];
    readonly beside: readonly FactRow[];
    readonly strategy: Strategy;
  },
): Item[] {
  const taken = beside.map((row) => ({ row, period: validOf(row) }));
  return displaced.flatMap(({ row, since, periods }): Item[] => {
    const barred = settled.filter(({ at }) => at > since).map(({ period }) => period);
    // A person chose among the last ones, so one fact comes back at a time.
    const isTaken = (other: { readonly row: FactRow }): boolean =>
      isSelection(strategy) || other.row.lineage === row.lineage;
    const parts = periods
      .flatMap((period) => within.flatMap((gap) => intersection(period, gap) ?? []))
      .flatMap((part) =>
        leftovers(part, [...barred, ...taken.filter(isTaken).map(({ period }) => period)]),
      );
    taken.push(...parts.map((period) => ({ row, period })));
    return parts.length === 0
      ? []
      : [{ row: { ...row, system_time_end: OPEN_END }, isNew: true, parts }];
  });
}

/** By the time of the loss; among equal times, claims that stood before come first. */
function newestFirst(a: Displaced, b: Displaced): number {
  return compare(b.since, a.since) || Number(stood(b)) - Number(stood(a));
}

function stood({ row, since }: Displaced): boolean {
  return holds(systemOf(row), since) || row.system_time_start < since;
}

/**
 * The statements of other named users in place of a fact, the last of each: it lost against the
 * word of the fact's users, and was not withdrawn. `audits`: the audit rows of the partition.
 */
export function disputedBy(fact: FactRow, audits: readonly FactRow[]): FactRow[] {
  const users = usersOf(fact);
  if (users.length === 0) return [];
  const withdrawn = new Set(withdrawnBefore(audits));
  const isOther = (row: FactRow): boolean =>
    usersOf(row).length > 0 &&
    !usersOf(row).some((user) => users.includes(user)) &&
    objectKey(row.object) !== objectKey(fact.object) &&
    !tokensOf(row).every((token) => withdrawn.has(token));
  const disputes = audits
    .filter(
      (audit) => !isMark(audit) && !isErased(audit) && overlaps(validOf(audit), validOf(fact)),
    )
    .map((audit) => ({ audit, ...sidesOf(audit) }))
    .filter(({ won }) => won?.rows.some((row) => usersOf(row).length > 0))
    .flatMap(({ beaten }) => (isBeaten(beaten) ? beaten.rows.filter(isOther) : []));
  const inOrder = disputes.sort(
    (a, b) => a.asserted_seq - b.asserted_seq || compare(a.lineage, b.lineage),
  );
  return [...new Map(inOrder.map((row) => [usersOf(row).join(), row])).values()];
}

function sidesOf(audit: FactRow): {
  readonly won: Member | undefined;
  readonly beaten: Member | undefined;
} {
  const { winner, loser, members } = readWitness(audit);
  const of = (claim: string): Member | undefined =>
    members.find((member) => member.claim === claim);
  return { won: of(winner), beaten: of(loser) };
}

/** The claims of a contest that have no fact: the loser, and an end that won. */
export function lostIn(audit: FactRow): readonly FactRow[] {
  if (isMark(audit) || isErased(audit)) return [];
  const { won, beaten } = sidesOf(audit);
  return [...(beaten?.rows ?? []), ...(won?.ends === true ? won.rows : [])];
}

/** The writes behind a fact. */
export function tokensOf({ provenance_id }: FactRow): readonly string[] {
  return Polynomial.read(provenance_id).tokens.filter((token) => token.startsWith('w:'));
}

/** The writes of the entry that wrote the version. */
function ownTokensOf(row: FactRow): readonly string[] {
  return tokensOf(row).filter((token) => token.startsWith(`w:${row.entry_id}#`));
}

function sharesWrite(a: FactRow, b: FactRow): boolean {
  const tokens = tokensOf(b);
  return tokensOf(a).some((token) => tokens.includes(token));
}

function partitioned<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function isErased({ object }: FactRow): boolean {
  return object.startsWith('{"$erased":');
}
