import { arg, checkArgument } from '#base';
import type { Instant } from '#canon';
import { BELIEVE_ACTION, BUILT_IN_ROLE, type MemoryStatement, STATEMENTS_MAX } from '#kernel';
import { type CommitPayload, type Hash, type LedgerStore, readRow, ValueReader } from '#ledger';
import type { FactRow } from '#memory';
import type { DependentEntry, FactSource, MemoryView, ProposalInput, Ruling } from '#runtime';
import type { ChatFact } from './chat-fact.ts';
import { ChatMemoryError } from './errors.ts';

/** A fact as a recall returned it, or its id and space. */
export type FactToRepair = Pick<ChatFact, 'id' | 'space'> & Partial<Pick<ChatFact, 'row'>>;

export interface RepairOptions {
  /** Withdraws the facts, in one commit. Default: only lists them. */
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
  /** The entry that stated it, and its time. */
  readonly entry: Hash;
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
   * that also states other facts of the same subject and predicate.
   */
  readonly unresolved: readonly DependentEntry[];
  /** With `apply`, if there was something to withdraw. */
  readonly ruling?: Ruling;
}

export interface RepairPorts {
  readonly view: MemoryView;
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
  const fact = await factNamed(given, ports.view);
  const { versions, entries } = await ports.view.explain(fact);
  const current = versions.filter(isBelieved);
  const times = new Map(entries.map(({ id, at }) => [id, at]));
  const own = await Promise.all(current.map((version) => ownStatements(version, times, ports.view)));
  const followed = await ports.view.dependents(fact);
  const concluded = await Promise.all(
    followed
      .filter(({ action }) => action === BELIEVE_ACTION)
      .map(async (entry) => ({ entry, statements: await believedOf(entry, ports) })),
  );
  const conclusions = concluded.flatMap(({ statements }) => statements ?? []);
  const plan: Repair = {
    fact,
    isBelieved: current.length > 0,
    withdrawn: distinct([...own.flatMap(({ statements }) => statements), ...conclusions]),
    decisions: followed.filter(({ action }) => action !== BELIEVE_ACTION),
    unresolved: concluded.flatMap(({ entry, statements }) => (statements === undefined ? [entry] : [])),
  };
  const sayings = distinctSayings([...own.flatMap(({ sayings }) => sayings), ...conclusions.map(withdrawalOf)]);
  if (!apply || sayings.length === 0) return plan;
  return { ...plan, ruling: await ports.propose({ action: BELIEVE_ACTION, role: BUILT_IN_ROLE, args: { sayings } }) };
}

/** A view returns at most so many versions. */
const VERSIONS_MAX = 10_000;

async function factNamed({ id, row, space }: FactToRepair, view: MemoryView): Promise<FactRow> {
  const of = row === undefined ? {} : { subject: row.subject, predicate: row.predicate };
  const { facts } = await view.recall({ ...of, valid: 'any', system: 'any', limit: VERSIONS_MAX });
  const found = facts.findLast((fact) => fact.fact_id === id || fact.lineage === id);
  if (found !== undefined) return found;
  throw new ChatMemoryError(
    'no_such_fact',
    `The space ${space} has no fact ${id}. Pass the \`id\` of a fact that a recall returned.`,
    { evidence: { id } },
  );
}

function isBelieved({ system_time_end }: FactRow): boolean {
  return system_time_end.startsWith('9999-');
}

interface OwnStatements {
  readonly statements: readonly WithdrawnStatement[];
  readonly sayings: readonly MemoryStatement[];
}

/**
 * The statements behind a version of the fact, and those that end it: its sources are withdrawn. If
 * one of them also states other facts, which would fall too, or has no name, the version is
 * retracted instead.
 */
async function ownStatements(
  version: FactRow,
  times: ReadonlyMap<Hash, Instant>,
  view: MemoryView,
): Promise<OwnStatements> {
  const { space, subject, predicate, object, valid_from: from, valid_to: to } = version;
  const [sources = []] = await view.sources([version]);
  const statements = sources.map(({ source, entry }): WithdrawnStatement => {
    const at = times.get(entry) ?? version.system_time_start;
    return { space, subject, predicate, object, ...(source !== undefined && { source }), entry, at, as: 'fact' };
  });
  const retraction: MemoryStatement = { verb: 'retract', space, subject, predicate, object, valid: { from, to } };
  const named = sources.flatMap(({ source }) => source ?? []);
  const isAlone = await Promise.all(named.map((source) => statesOnly([object], { subject, predicate, source }, view)));
  if (named.length < sources.length || isAlone.includes(false)) return { statements, sayings: [retraction] };
  return { statements, sayings: named.map((source) => withdrawalOf({ space, subject, predicate, source })) };
}

/** Whether all current facts of a source about a subject and predicate have one of the objects. */
async function statesOnly(
  objects: readonly string[],
  { source, ...of }: { readonly subject: string; readonly predicate: string; readonly source: string },
  view: MemoryView,
): Promise<boolean> {
  const resting = await view.restingOn({ source }, of);
  return resting.every(({ fact }) => objects.includes(fact.object));
}

/**
 * The statements of a commit that a current fact still rests on. Undefined if one cannot be
 * withdrawn.
 */
async function believedOf(
  { id, trajectoryId, seq, at }: DependentEntry,
  { store, viewOf }: RepairPorts,
): Promise<Conclusion[] | undefined> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  const args = await new ValueReader(store).read(row!, (readRow(row!).payload as CommitPayload).action.args);
  if (!('value' in args)) return undefined;
  const { sayings } = args.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  const found: Conclusion[] = [];
  for (const saying of sayings.slice(0, STATEMENTS_MAX)) {
    if (saying.verb === 'retract' || saying.verb === 'withdraw') continue;
    const { space, subject, predicate, object, source } = saying;
    const view = viewOf(space);
    const { facts } = await view.recall({ subject, predicate, valid: 'any' });
    const sources = (await view.sources(facts)).flat();
    const isHeld = (each: FactSource): boolean => each.entry === id && each.source === source;
    if (!sources.some(isHeld)) continue;
    const of = { space, subject, predicate };
    if (
      source === undefined ||
      !(await statesOnly(objectsOf(sayings, { ...of, source }), { subject, predicate, source }, view))
    )
      return undefined;
    found.push({ ...of, object, source, entry: id, at, as: 'conclusion' });
  }
  return found;
}

type Conclusion = WithdrawnStatement & { readonly source: string };
type StatementOf = Pick<Conclusion, 'space' | 'subject' | 'predicate' | 'source'>;

/** The objects that statements of a source give to a subject and predicate. */
function objectsOf(sayings: readonly MemoryStatement[], of: StatementOf): string[] {
  return sayings.flatMap((one) =>
    one.verb !== 'retract' && one.verb !== 'withdraw' && keyOf(one as StatementOf) === keyOf(of) ? [one.object] : [],
  );
}

function withdrawalOf({ space, subject, predicate, source }: StatementOf): MemoryStatement {
  return { verb: 'withdraw', space, subject, predicate, source };
}

function keyOf({ space, subject, predicate, source }: StatementOf): string {
  return JSON.stringify([space, subject, predicate, source]);
}

/** A statement behind several versions is one statement. */
function distinct(statements: readonly WithdrawnStatement[]): WithdrawnStatement[] {
  return unique(statements, ({ space, subject, predicate, object, source = null, entry }) =>
    JSON.stringify([space, subject, predicate, object, source, entry]),
  );
}

function distinctSayings(sayings: readonly MemoryStatement[]): MemoryStatement[] {
  return unique(sayings, (saying) => (saying.verb === 'withdraw' ? keyOf(saying) : JSON.stringify(saying)));
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  const found = new Map<string, T>();
  for (const one of all) if (!found.has(keyOf(one))) found.set(keyOf(one), one);
  return [...found.values()];
}
