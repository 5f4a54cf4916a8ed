import { form, requireForm } from '#base';
import { IsolationError } from './errors.ts';

/** The chain of §2.2, weakest first: read committed, snapshot isolation, serializable. */
export const ISOS = ['RC', 'SI', 'SR'] as const;
export type Iso = (typeof ISOS)[number];

/** What an operator touches. A pin on `facts` holds partition by partition, by subject and predicate (Remark 1). */
export const TABLES = ['callback_log', 'facts', 'judge_log', 'policy'] as const;
export type Table = (typeof TABLES)[number];

/**
 * An element of the product of §2.2, L_iso × L_cb, with the table-scoped SR of Theorem 12 (4) as a third axis instead of a condition
 * beside it: under `iso`, and the tables pinned under SR.
 */
export interface Level {
  readonly iso: Iso;
  /** Whether an operator writes only after it has read a delivered callback. */
  readonly cb: boolean;
  /** In order, each once; none under SR, which holds for every table. */
  readonly tablePins: readonly Table[];
}

/**
 * The level in its one form, so that equal levels are equal in every member.
 * @throws IsolationError `bad_level`
 */
export function level(iso: Iso, axes: Partial<Omit<Level, 'iso'>> = {}): Level {
  requireForm(form.object, axes, 'axes');
  const { cb = false, tablePins = [] } = axes;
  if (!ISOS.includes(iso)) throw badLevel(`iso is one of ${ISOS.join(', ')}`);
  if (typeof cb !== 'boolean') throw badLevel('cb is true or false');
  if (!Array.isArray(tablePins) || !tablePins.every((table) => TABLES.includes(table)))
    throw badLevel(`tablePins is a list of ${TABLES.join(', ')}`);
  const pins = iso === 'SR' ? [] : TABLES.filter((table) => tablePins.includes(table));
  return Object.freeze({ iso, cb, tablePins: Object.freeze(pins) });
}

/** Whether each schedule that holds the first level holds the second too. */
export function dominates(above: Level, below: Level): boolean {
  const [a, b] = [checked(above), checked(below)];
  return rank(a.iso) >= rank(b.iso) && (a.cb || !b.cb) && b.tablePins.every((table) => isoAt(a, table) === 'SR');
}

/** The least level that dominates all of these; the weakest of all where there is none (Lemma 1). */
export function join(...levels: readonly Level[]): Level {
  const all = levels.map(checked);
  const iso = ISOS[Math.max(0, ...all.map((one) => rank(one.iso)))]!;
  return level(iso, { cb: all.some(({ cb }) => cb), tablePins: all.flatMap(({ tablePins }) => tablePins) });
}

/** As the paper's composition grid has it (Table 23; C.2): the least of the six that dominates, SR for all where a table is pinned. */
export function onChain(of: Level): Level {
  const { iso, cb, tablePins } = checked(of);
  return level(tablePins.length === 0 ? iso : 'SR', { cb });
}

/**
 * The join on the chain, from which the counts of Table 23 follow. They follow from `join` as well, because of the six only SR holds a
 * table pinned; but not where the pin is a condition outside of the order, as Theorem 12 (4) puts it.
 */
export function joinOnChain(...levels: readonly Level[]): Level {
  return onChain(join(...levels));
}

/** Under what a table is held. */
export function isoAt(of: Level, table: Table): Iso {
  if (!TABLES.includes(table)) throw badLevel(`a table is one of ${TABLES.join(', ')}`);
  const { iso, tablePins } = checked(of);
  return tablePins.includes(table) ? 'SR' : iso;
}

/** `RC`, `SI+cb`, `RC+cb, SR on policy`. */
export function levelText(of: Level): string {
  const { iso, cb, tablePins } = checked(of);
  const base = cb ? `${iso}+cb` : iso;
  return tablePins.length === 0 ? base : `${base}, SR on ${tablePins.join(' and ')}`;
}

/** The six of the paper's grids: the chain with and without callback. */
export const CHAIN_LEVELS: readonly Level[] = ISOS.flatMap((iso) => [level(iso), level(iso, { cb: true })]);

/** Whether the one is at least the other, on the chain. */
export function atLeast(iso: Iso, other: Iso): boolean {
  return rank(iso) >= rank(other);
}

function rank(iso: Iso): number {
  return ISOS.indexOf(iso);
}

function checked(of: Level): Level {
  requireForm(form.object, of, 'level');
  return level(of.iso, of);
}

function badLevel(problem: string): IsolationError {
  return new IsolationError('bad_level', `That is no isolation level: ${problem}.`, { evidence: { problem } });
}
