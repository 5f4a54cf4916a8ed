import { arg, checkArgument } from 'assize/internal/base';
import { IsolationError } from './errors.ts';

/** The chain of §2.2, weakest first: read committed, snapshot isolation, serializable. */
export const ISOS = ['RC', 'SI', 'SR'] as const;
export type Iso = (typeof ISOS)[number];

/**
 * The tables that an operator accesses. A pin on `facts` holds for each partition, by subject and
 * predicate (Remark 1).
 */
export const TABLES = ['callback_log', 'facts', 'judge_log', 'policy'] as const;
export type Table = (typeof TABLES)[number];

/**
 * An element of the product L_iso × L_cb of §2.2. The table-scoped SR of Theorem 12 (4) is a third
 * axis here instead of a side condition: the tables pinned under SR.
 */
export interface Level {
  readonly iso: Iso;
  /** Whether an operator writes only after it has read a delivered callback. */
  readonly cb: boolean;
  /** Sorted, without duplicates. Empty under SR: that covers every table. */
  readonly tablePins: readonly Table[];
}

/**
 * The level in canonical form, so equal levels are equal in every field.
 * @throws IsolationError `bad_level`
 */
export function level(iso: Iso, axes: Partial<Omit<Level, 'iso'>> = {}): Level {
  checkArgument(arg.object, axes, 'axes');
  const { cb = false, tablePins = [] } = axes;
  if (!ISOS.includes(iso)) throw badLevel(`iso must be one of ${ISOS.join(', ')}`);
  if (typeof cb !== 'boolean') throw badLevel('cb must be true or false');
  if (!Array.isArray(tablePins) || !tablePins.every((table) => TABLES.includes(table)))
    throw badLevel(`tablePins must be a list of ${TABLES.join(', ')}`);
  const pins = iso === 'SR' ? [] : TABLES.filter((table) => tablePins.includes(table));
  return Object.freeze({ iso, cb, tablePins: Object.freeze(pins) });
}

/** Whether each schedule that satisfies the first level also satisfies the second. */
export function dominates(above: Level, below: Level): boolean {
  const [a, b] = [checked(above), checked(below)];
  return (
    rank(a.iso) >= rank(b.iso) &&
    (a.cb || !b.cb) &&
    b.tablePins.every((table) => isoAt(a, table) === 'SR')
  );
}

/**
 * The least level that dominates all of these, or the weakest level for an empty list (Lemma 1).
 */
export function join(...levels: readonly Level[]): Level {
  const all = levels.map(checked);
  const iso = ISOS[Math.max(0, ...all.map((one) => rank(one.iso)))]!;
  return level(iso, {
    cb: all.some(({ cb }) => cb),
    tablePins: all.flatMap(({ tablePins }) => tablePins),
  });
}

/**
 * The level in the paper's composition grid (Table 23; C.2): the least dominating one of six
 * levels, with SR if a table is pinned.
 */
export function onChain(of: Level): Level {
  const { iso, cb, tablePins } = checked(of);
  return level(tablePins.length === 0 ? iso : 'SR', { cb });
}

/**
 * The join on the chain. It determines the counts of Table 23. `join` gives the same counts,
 * because of the six levels only SR pins a table. A pin as a side condition, as in Theorem 12 (4),
 * would not.
 */
export function joinOnChain(...levels: readonly Level[]): Level {
  return onChain(join(...levels));
}

/** The isolation that a table has under the level. */
export function isoAt(of: Level, table: Table): Iso {
  if (!TABLES.includes(table)) throw badLevel(`a table must be one of ${TABLES.join(', ')}`);
  const { iso, tablePins } = checked(of);
  return tablePins.includes(table) ? 'SR' : iso;
}

/** `RC`, `SI+cb`, `RC+cb, SR on policy`. */
export function levelText(of: Level): string {
  const { iso, cb, tablePins } = checked(of);
  const base = cb ? `${iso}+cb` : iso;
  return tablePins.length === 0 ? base : `${base}, SR on ${tablePins.join(' and ')}`;
}

/** The six levels of the paper's grids: the chain with and without callback. */
export const CHAIN_LEVELS: readonly Level[] = ISOS.flatMap((iso) => [
  level(iso),
  level(iso, { cb: true }),
]);

/** Whether one isolation is at least the other, on the chain. */
export function atLeast(iso: Iso, other: Iso): boolean {
  return rank(iso) >= rank(other);
}

function rank(iso: Iso): number {
  return ISOS.indexOf(iso);
}

function checked(of: Level): Level {
  checkArgument(arg.object, of, 'level');
  return level(of.iso, of);
}

function badLevel(problem: string): IsolationError {
  return new IsolationError('bad_level', `The isolation level is not valid: ${problem}.`, {
    evidence: { problem },
  });
}
