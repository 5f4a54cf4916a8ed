import { arg, checkArgument } from '#base';
import type { Instant } from '#canon';
import { BELIEVE_ACTION, BUILT_IN_ROLE, type MemoryStatement, STATEMENTS_MAX } from '#kernel';
import { type CommitPayload, type Hash, type LedgerStore, readRow, ValueReader } from '#ledger';
import { type FactRow, OPEN_END } from '#memory';
import type { DependentEntry, FactSource, MemoryView, ProposalInput, Ruling } from '#runtime';
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
  /**
   * Commits whose statements are not withdrawn: they were erased, have no source, or have a source
   * that also states something else about the same subject and predicate.
   */
  readonly unresolved: readonly DependentEntry[];
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
    unique([...meant, ...falling], ({ lineage }) => lineage).map((each) => ports.view.explain(each)),
  );
  const followed = await ports.view.dependents(explained.map((each) => each.fact));
  const own = (await ports.view.sources(falling)).flat();
  const { conclusions, unresolved } = await concludedIn(
    followed.filter(({ action }) => action === BELIEVE_ACTION),
    own,
    ports,
  );
  const times = new Map(explained.flatMap(({ entries }) => entries.map(({ id, at }) => [id, at])));
  const statements = await Promise.all(falling.map((row) => statementsOf(row, times, ports.view)));
  const plan: Repair = {
    fact,
    isBelieved: falling.length > 0,
    withdrawn: unique([...statements.flat(), ...conclusions], statementKey),
    decisions: followed.filter(({ action }) => action !== BELIEVE_ACTION),
    unresolved,
  };
  if (!apply || plan.withdrawn.length === 0) return plan;
  const gone = new Set(plan.withdrawn.map(statementKey));
  const ended = await Promise.all(falling.map((row) => endingOf(row, gone, ports.view)));
  const sayings = unique([...ended.flat(), ...conclusions.map(withdrawalOf)], (saying) => JSON.stringify(saying));
  const ruling = await ports.propose({ action: BELIEVE_ACTION, role: BUILT_IN_ROLE, args: { sayings } });
  if (ruling.ruling !== 'committed') return { ...plan, ruling };
  // A fact that states the same under another name can come back, and is withdrawn as well.
  const rest = await repair(given, {}, ports);
  if (rest.withdrawn.every((one) => gone.has(statementKey(one)))) return { ...plan, ruling };
  const again = await repair(given, { apply }, ports);
  return { ...plan, withdrawn: unique([...plan.withdrawn, ...again.withdrawn], statementKey), ruling };
}

function keyIn({ subject, predicate }: FactRow): FactKey {
  return { subject, predicate };
}

/**
 * The fact, in each current version, and the current facts that state the same at the same time
 * under other names. A fact that is no longer believed is meant as it was.
 */
async function meantBy(fact: FactRow, { view, aliases }: RepairPorts): Promise<readonly FactRow[]> {
  const found = await Promise.all(keysOf(fact, aliases).map((key) => view.history(key)));
  const current = found.flat().filter(isBelieved);
  const versions = (await view.history(keyIn(fact))).filter((row) => isBelieved(row) && row.lineage === fact.lineage);
  const own = versions.length > 0 ? versions : [fact];
  const isMeant = (row: FactRow): boolean =>
    aliases.names.isSame(fact.object, row.object) &&
    own.some((version) => isRenamed(version, row) && areAtOnce(version, row));
  const others = new Set(current.filter(isMeant).map(({ lineage }) => lineage));
  return [...own, ...current.filter(({ lineage }) => lineage !== fact.lineage && others.has(lineage))];
}

function isBelieved({ system_time_end }: FactRow): boolean {
  return system_time_end === OPEN_END;
}

/** The current ones of rows, and those of the same object that rest on their statements alone. */
async function fallingRows(meant: readonly FactRow[], view: MemoryView): Promise<readonly FactRow[]> {
  const own = meant.filter(isBelieved);
  const gone = new Set((await view.sources(own)).flat().map(statementKey));
  const parts = unique(own, (row) => JSON.stringify([keyIn(row), row.object]));
  const beside = await Promise.all(
    parts.map(async (part) => {
      const rows = (await view.history(keyIn(part))).filter((row) => isBelieved(row) && row.object === part.object);
      const sources = await view.sources(rows);
      return rows.filter(
        (_, n) => sources[n]!.length > 0 && sources[n]!.every((source) => gone.has(statementKey(source))),
      );
    }),
  );
  return unique([...own, ...beside.flat()], ({ fact_id, system_time_start }) => `${system_time_start} ${fact_id}`);
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
    return { space, subject, predicate, object, ...(source !== undefined && { source }), entry, n, at, as: 'fact' };
  });
}

/**
 * The statements that end a version of the fact: its sources are withdrawn. If one of them also
 * states something else, which would fall too, or has no name, the version is retracted instead.
 */
async function endingOf(version: FactRow, gone: ReadonlySet<string>, view: MemoryView): Promise<MemoryStatement[]> {
  const { space, subject, predicate, object, valid_from: from, valid_to: to } = version;
  const [sources = []] = await view.sources([version]);
  const named = [...new Set(sources.flatMap(({ source }) => source ?? []))];
  const stated = await Promise.all(named.map((source) => statementsBehind({ subject, predicate }, source, view)));
  if (sources.every(({ source }) => source !== undefined) && stated.flat().every((one) => gone.has(statementKey(one))))
    return named.map((source) => withdrawalOf({ space, subject, predicate, source }));
  return [{ verb: 'retract', space, subject, predicate, object, valid: { from, to } }];
}

/**
 * The statements of commits that a current fact still rests on. A commit is unresolved if one of
 * its statements cannot be withdrawn, or not without a statement of the same source that stays.
 * `own`: the statements of the fact, which do not stay.
 */
async function concludedIn(
  commits: readonly DependentEntry[],
  own: readonly FactSource[],
  ports: RepairPorts,
): Promise<{ readonly conclusions: readonly Conclusion[]; readonly unresolved: readonly DependentEntry[] }> {
  const ownKeys = new Set(own.map(statementKey));
  const resolved = new Set(commits);
  // A commit that is unresolved may hold back another, so all are read again.
  for (;;) {
    const entries = new Set([...resolved].map(({ id }) => id));
    const stays = (one: FactSource): boolean => !entries.has(one.entry) && !ownKeys.has(statementKey(one));
    const read = await Promise.all(
      [...resolved].map(async (commit) => ({ commit, statements: await believedOf(commit, stays, ports) })),
    );
    const failed = read.filter(({ statements }) => statements === undefined);
    if (failed.length === 0)
      return {
        conclusions: read.flatMap(({ statements }) => statements ?? []),
        unresolved: commits.filter((commit) => !resolved.has(commit)),
      };
    for (const { commit } of failed) resolved.delete(commit);
  }
}

/** The statements of one commit; undefined if it is unresolved. */
async function believedOf(
  { id, trajectoryId, seq, at }: DependentEntry,
  stays: (one: FactSource) => boolean,
  { store, viewOf }: RepairPorts,
): Promise<Conclusion[] | undefined> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  const args = await new ValueReader(store).read(row!, (readRow(row!).payload as CommitPayload).action.args);
  if (!('value' in args)) return undefined;
  const { sayings } = args.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  const found: Conclusion[] = [];
  for (const [n, saying] of sayings.slice(0, STATEMENTS_MAX).entries()) {
    if (saying.verb === 'retract' || saying.verb === 'withdraw') continue;
    const { space, subject, predicate, object, source } = saying;
    const held = await statementsBehind({ subject, predicate }, source, viewOf(space));
    if (!held.some((one) => one.entry === id && one.n === n)) continue;
    if (source === undefined || held.some(stays)) return undefined;
    found.push({ space, subject, predicate, object, source, entry: id, n, at, as: 'conclusion' });
  }
  return found;
}

/** The statements of a source, or without a source, behind the current facts of a key. */
async function statementsBehind(key: FactKey, source: string | undefined, view: MemoryView): Promise<FactSource[]> {
  const resting =
    source === undefined
      ? (await view.history(key)).filter(isBelieved)
      : (await view.restingOn({ source }, key)).map(({ fact }) => fact);
  return (await view.sources(resting)).flat().filter((each) => each.source === source);
}

type Conclusion = WithdrawnStatement & { readonly source: string };
type StatementOf = Pick<Conclusion, 'space' | 'subject' | 'predicate' | 'source'>;

function withdrawalOf({ space, subject, predicate, source }: StatementOf): MemoryStatement {
  return { verb: 'withdraw', space, subject, predicate, source };
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
