import { arg, checkArgument } from 'assize/internal/base';
import type { Instant } from 'assize/internal/canon';
import {
  BELIEVE_ACTION,
  BUILT_IN_ROLE,
  type MemoryStatement,
  STATEMENTS_MAX,
} from 'assize/internal/kernel';
import {
  type CommitPayload,
  type Hash,
  type LedgerStore,
  readRow,
  ValueReader,
} from 'assize/internal/ledger';
import { type FactRow, OPEN_END, restoredIn } from 'assize/internal/memory';
import type {
  DependentEntry,
  FactSource,
  MemoryView,
  ProposalInput,
  Ruling,
} from 'assize/internal/runtime';
import type { ChatFact } from './chat-fact.ts';
import { factMeant } from './fact-meant.ts';
import { areAtOnce, isRenamed } from './joined.ts';
import { type FactKey, keysOf, type SpaceAliases } from './space-aliases.ts';

/** A fact as a recall returned it, or its space and its id: whole, or its first 8 characters. */
export type FactToRepair = Pick<ChatFact, 'id' | 'space'> & Partial<Pick<ChatFact, 'row'>>;

export interface RepairOptions {
  /**
   * Withdraws the facts in one commit, and in further ones what comes back and states the same
   * under another name. Default: only lists them.
   */
  readonly apply?: boolean;
}

/** A statement to withdraw. */
export interface WithdrawnStatement {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  /** Absent if the statement of the fact itself names none. */
  readonly source?: string;
  /** The entry that stated it, the number of the statement there, and the time of the entry. */
  readonly entry: Hash;
  readonly n: number;
  readonly at: Instant;
  /** `fact`: it states the fact itself. `conclusion`: it was concluded from the fact. */
  readonly as: 'fact' | 'conclusion';
}

export interface Repair {
  readonly fact: FactRow;
  /** Whether the fact is still believed. Then its own statements are withdrawn too. */
  readonly isBelieved: boolean;
  readonly withdrawn: readonly WithdrawnStatement[];
  /** Actions of the domain that used the fact, or what followed from it: a person looks at them. */
  readonly decisions: readonly DependentEntry[];
  /** Commits that were erased, so their conclusions are unknown. */
  readonly unresolved: readonly DependentEntry[];
  /** With `apply`: the facts that the withdrawn statements had displaced, and that hold again. */
  readonly restored: readonly FactRow[];
  /** With `apply`, if there was something to withdraw. */
  readonly ruling?: Ruling;
}

export interface RepairPorts {
  readonly view: MemoryView;
  /** The names of the space of the fact. */
  readonly aliases: SpaceAliases;
  readonly store: LedgerStore;
  /** The memory of another space, in which a conclusion may be. */
  readonly viewOf: (space: string) => MemoryView;
  readonly propose: (input: Pick<ProposalInput, 'action' | 'role' | 'args'>) => Promise<Ruling>;
}

const FACT = arg.members({ id: arg.text, space: arg.text, row: arg.optional(arg.object) });
const OPTIONS = arg.options<RepairOptions>({ apply: arg.optional(arg.flag) });

export function checkRepair(fact: FactToRepair, options: RepairOptions): void {
  checkArgument(FACT, fact, 'fact');
  checkArgument(OPTIONS, options, 'options');
}

/** @throws the errors of `ChatMemory.repair` */
export async function repair(
  given: FactToRepair,
  { apply = false }: RepairOptions,
  ports: RepairPorts,
): Promise<Repair> {
  const { id, space, row } = given;
  const fact = factMeant(await ports.view.history(row && keyIn(row)), id, space);
  const meant = await meantBy(fact, ports);
  const falling = await fallingRows(meant, ports.view);
  const explained = await Promise.all(
    unique([...meant, ...falling], ({ lineage }) => lineage).map((each) =>
      ports.view.explain(each),
    ),
  );
  const followed = await ports.view.dependents(explained.map((each) => each.fact));
  const commits = followed.filter(({ action }) => action === BELIEVE_ACTION);
  const read = await Promise.all(
    commits.map(async (commit) => ({ commit, found: await concludedIn(commit, ports) })),
  );
  const conclusions = read.flatMap(({ found }) => found ?? []);
  const times = new Map(explained.flatMap(({ entries }) => entries.map(({ id, at }) => [id, at])));
  const statements = await Promise.all(falling.map((row) => statementsOf(row, times, ports.view)));
  const plan: Repair = {
    fact,
    isBelieved: falling.length > 0,
    withdrawn: unique([...statements.flat(), ...conclusions], statementKey),
    decisions: followed.filter(({ action }) => action !== BELIEVE_ACTION),
    unresolved: read.flatMap(({ commit, found }) => (found === undefined ? [commit] : [])),
    restored: [],
  };
  if (!apply || plan.withdrawn.length === 0) return plan;
  const parts = partsOf(plan.withdrawn);
  const ruling = await ports.propose({
    action: BELIEVE_ACTION,
    role: BUILT_IN_ROLE,
    args: { sayings: parts },
  });
  if (ruling.ruling !== 'committed') return { ...plan, ruling };
  // A fact that states the same under another name can come back, and is withdrawn as well.
  const gone = new Set(plan.withdrawn.map(statementKey));
  const rest = await repair(given, {}, ports);
  const isDone = rest.withdrawn.every((one) => gone.has(statementKey(one)));
  const again = isDone ? undefined : await repair(given, { apply }, ports);
  const now = await Promise.all(parts.map((part) => ports.viewOf(part.space).history(keyIn(part))));
  return {
    ...plan,
    withdrawn: unique([...plan.withdrawn, ...(again?.withdrawn ?? [])], statementKey),
    // The second withdrawal can take back what the first one gave back.
    restored: [
      ...restoredIn(now.flat(), ruling.entry.id).filter(isBelieved),
      ...(again?.restored ?? []),
    ],
    ruling: again?.ruling ?? ruling,
  };
}

/** The statements to withdraw, by subject and predicate. */
function partsOf(
  statements: readonly WithdrawnStatement[],
): Extract<MemoryStatement, { verb: 'withdraw' }>[] {
  const parts = Map.groupBy(statements, ({ space, subject, predicate }) =>
    JSON.stringify([space, subject, predicate]),
  );
  return [...parts.values()].map((same) => {
    const { space, subject, predicate } = same[0]!;
    return {
      verb: 'withdraw',
      space,
      subject,
      predicate,
      statements: same.map(({ entry, n }) => ({ entry, n })),
    };
  });
}

function keyIn({ subject, predicate }: FactKey): FactKey {
  return { subject, predicate };
}

/**
 * The fact, in each current version, and the current facts that state the same at the same time
 * under other names. A fact that is no longer believed is meant as it was.
 */
async function meantBy(fact: FactRow, { view, aliases }: RepairPorts): Promise<readonly FactRow[]> {
  const found = await Promise.all(keysOf(fact, aliases).map((key) => view.history(key)));
  const current = found.flat().filter(isBelieved);
  const versions = (await view.history(keyIn(fact))).filter(
    (row) => isBelieved(row) && row.lineage === fact.lineage,
  );
  const own = versions.length > 0 ? versions : [fact];
  const isMeant = (row: FactRow): boolean =>
    aliases.names.isSame(fact.object, row.object) &&
    own.some((version) => isRenamed(version, row) && areAtOnce(version, row));
  const others = new Set(current.filter(isMeant).map(({ lineage }) => lineage));
  return [
    ...own,
    ...current.filter(({ lineage }) => lineage !== fact.lineage && others.has(lineage)),
  ];
}

function isBelieved({ system_time_end }: FactRow): boolean {
  return system_time_end === OPEN_END;
}

/** The current ones of rows, and those of the same object that rest on their statements alone. */
async function fallingRows(
  meant: readonly FactRow[],
  view: MemoryView,
): Promise<readonly FactRow[]> {
  const own = meant.filter(isBelieved);
  const gone = new Set((await view.sources(own)).flat().map(statementKey));
  const parts = unique(own, (row) => JSON.stringify([keyIn(row), row.object]));
  const beside = await Promise.all(
    parts.map(async (part) => {
      const rows = (await currentOf(part, view)).filter(({ object }) => object === part.object);
      const sources = await view.sources(rows);
      return rows.filter(
        (_, n) =>
          sources[n]!.length > 0 && sources[n]!.every((source) => gone.has(statementKey(source))),
      );
    }),
  );
  return unique(
    [...own, ...beside.flat()],
    ({ fact_id, system_time_start }) => `${system_time_start} ${fact_id}`,
  );
}

/** The statements behind a version of the fact. */
async function statementsOf(
  version: FactRow,
  times: ReadonlyMap<Hash, Instant>,
  view: MemoryView,
): Promise<readonly WithdrawnStatement[]> {
  const { space, subject, predicate, object } = version;
  const [sources = []] = await view.sources([version]);
  return sources.map(({ source, entry, n }) => {
    const at = times.get(entry) ?? version.system_time_start;
    return {
      space,
      subject,
      predicate,
      object,
      ...(source !== undefined && { source }),
      entry,
      n,
      at,
      as: 'fact',
    };
  });
}

/**
 * The statements of a commit that a current fact still rests on; undefined if the commit was
 * erased.
 */
async function concludedIn(
  { id, trajectoryId, seq, at }: DependentEntry,
  { store, viewOf }: RepairPorts,
): Promise<WithdrawnStatement[] | undefined> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  const args = await new ValueReader(store).read(
    row!,
    (readRow(row!).payload as CommitPayload).action.args,
  );
  if (!('value' in args)) return undefined;
  const { sayings } = args.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  const found: WithdrawnStatement[] = [];
  for (const [n, saying] of sayings.slice(0, STATEMENTS_MAX).entries()) {
    if (saying.verb === 'retract' || saying.verb === 'withdraw') continue;
    const { space, subject, predicate, object, source } = saying;
    const view = viewOf(space);
    const held = (await view.sources(await currentOf({ subject, predicate }, view))).flat();
    if (!held.some((one) => one.entry === id && one.n === n)) continue;
    const named = source !== undefined && { source };
    found.push({ space, subject, predicate, object, ...named, entry: id, n, at, as: 'conclusion' });
  }
  return found;
}

async function currentOf(
  { subject, predicate }: FactKey,
  view: MemoryView,
): Promise<readonly FactRow[]> {
  return (await view.history({ subject, predicate })).filter(isBelieved);
}

/** A statement behind several versions is one statement. */
function statementKey({ entry, n }: Pick<FactSource, 'entry' | 'n'>): string {
  return `${entry} ${n}`;
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const found = new Map<string, T>();
  for (const one of all) if (!found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}
