import { readWitness } from './audit.ts';
import { type FactRow, systemOf, validOf } from './fact.ts';
import type { Item } from './group.ts';
import { holds, intersection, leftovers, OPEN_END, type Period } from './period.ts';
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
  const before = withdrawnBefore(history);
  const gone = new Set([...withdrawn, ...before]);
  const audits = history.filter((row) => row.row_kind === 'audit' && !isMark(row) && !isErased(row));
  const current = history.filter((row) => row.row_kind === 'current' && !isErased(row));
  const found: Displaced[] = [];
  const ended: Period[] = [];
  const lost = new Set<string>();
  const noteLost = (row: FactRow): void => {
    for (const token of tokensOf(row)) if (withdrawn.has(token) && !before.includes(token)) lost.add(token);
  };
  for (const audit of audits) {
    const { won, beaten } = sidesOf(audit);
    for (const row of lostIn(audit)) noteLost(row);
    const isEndGone = won?.ends === true && won.rows.every((row) => without(row, gone) === undefined);
    if (beaten === undefined || beaten.ends === true) continue;
    if (won?.ends === true && !isEndGone) continue;
    if (isEndGone && won.rows.some((row) => tokensOf(row).some((token) => withdrawn.has(token))))
      ended.push(validOf(audit));
    for (const row of beaten.rows) {
      const periods = [intersection(validOf(row), validOf(audit)) ?? []].flat();
      found.push({ row, since: audit.system_time_start, periods });
    }
  }
  const settled: { readonly at: string; readonly period: Period }[] = [];
  for (const row of current) {
    const at = row.system_time_end;
    if (at === OPEN_END) continue;
    const then = (rows: readonly FactRow[]): FactRow[] => rows.filter((each) => each.system_time_start === at);
    const removed = leftovers(validOf(row), then(audits).map(validOf));
    const next = then(current);
    for (const period of removed.flatMap((part) => leftovers(part, next.map(validOf)))) settled.push({ at, period });
    for (const by of next) {
      const own = tokensOf(by).filter((token) => token.startsWith(`w:${by.entry_id}#`));
      if (own.length === 0 || tokensOf(row).some((token) => tokensOf(by).includes(token))) continue;
      noteLost(row);
      const corrected = removed.flatMap((part) => intersection(part, validOf(by)) ?? []);
      if (own.every((token) => gone.has(token))) {
        found.push({ row, since: at, periods: corrected });
        // A later withdrawal must know that this correction settles nothing any more.
        noteLost(by);
      } else settled.push(...corrected.map((period) => ({ at, period })));
    }
  }
  const newestFirst = found.sort((a, b) => compare(b.since, a.since) || compare(stood(b), stood(a)));
  const items = (within: readonly Period[], beside: readonly FactRow[]): Item[] => {
    const taken = beside.map((row) => ({ row, period: validOf(row) }));
    return newestFirst.flatMap(({ row: before, since, periods }): Item[] => {
      const row = without(before, gone);
      if (row === undefined) return [];
      const barred = settled.filter(({ at }) => at > since).map(({ period }) => period);
      // A person chose among the last ones, so one fact comes back at a time.
      const isTaken = (other: { readonly row: FactRow }): boolean =>
        isSelection(strategy) || other.row.lineage === row.lineage;
      const parts = periods
        .flatMap((period) => within.flatMap((gap) => intersection(period, gap) ?? []))
        .flatMap((part) => leftovers(part, [...barred, ...taken.filter(isTaken).map(({ period }) => period)]));
      taken.push(...parts.map((period) => ({ row, period })));
      return parts.length === 0 ? [] : [{ row: { ...row, system_time_end: OPEN_END }, isNew: true, parts }];
    });
  };
  return { items, ended, lost: [...lost] };

  function stood({ row, since }: Displaced): string {
    return holds(systemOf(row), since) || row.system_time_start < since ? '1' : '0';
  }
}

function sidesOf(audit: FactRow): { readonly won: Member | undefined; readonly beaten: Member | undefined } {
  const { winner, loser, members } = readWitness(audit);
  const of = (claim: string): Member | undefined => members.find((member) => member.claim === claim);
  return { won: of(winner), beaten: of(loser) };
}

/** The claims of a contest that have no fact: the loser, and an end that won. */
export function lostIn(audit: FactRow): readonly FactRow[] {
  if (isMark(audit) || isErased(audit)) return [];
  const { won, beaten } = sidesOf(audit);
  return [...(beaten?.rows ?? []), ...(won?.ends === true ? won.rows : [])];
}

export function tokensOf({ provenance_id }: FactRow): readonly string[] {
  return Polynomial.read(provenance_id).tokens;
}

function isErased({ object }: FactRow): boolean {
  return object.startsWith('{"$erased":');
}
