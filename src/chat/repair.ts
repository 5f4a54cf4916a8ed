import { arg, checkArgument } from '#base';
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

/** A statement to withdraw: those of a source about a subject and predicate. */
export interface WithdrawnStatement {
  readonly space: string;
  readonly subject: string;
  readonly predicate: string;
  readonly object: string;
  readonly source: string;
  /** The entry that concluded it. Absent for the fact itself. */
  readonly entry?: Hash;
}

export interface Repair {
  readonly fact: FactRow;
  /** Whether the fact is still believed. Then its own statements are withdrawn too. */
  readonly isBelieved: boolean;
  readonly withdrawn: readonly WithdrawnStatement[];
  /** Actions of the domain that used the fact, or what followed from it: a person looks at them. */
  readonly decisions: readonly DependentEntry[];
  /** Commits whose statements were erased or have no source, so they are not withdrawn. */
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
  const { versions } = await ports.view.explain(fact);
  const current = versions.filter(isBelieved);
  const own = await ownStatements(current, ports.view);
  const followed = await ports.view.dependents(fact);
  const concluded = await Promise.all(
    followed
      .filter(({ action }) => action === BELIEVE_ACTION)
      .map(async (entry) => ({ entry, statements: await believedOf(entry, ports) })),
  );
  const withdrawn = distinct([...own, ...concluded.flatMap(({ statements }) => statements ?? [])]);
  const plan: Repair = {
    fact,
    isBelieved: current.length > 0,
    withdrawn,
    decisions: followed.filter(({ action }) => action !== BELIEVE_ACTION),
    unresolved: concluded.flatMap(({ entry, statements }) => (statements === undefined ? [entry] : [])),
  };
  if (!apply || withdrawn.length === 0) return plan;
  const sayings = withdrawn.map(({ space, subject, predicate, source }) => {
    return { verb: 'withdraw', space, subject, predicate, source };
  });
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

async function ownStatements(current: readonly FactRow[], view: MemoryView): Promise<WithdrawnStatement[]> {
  const sources = await view.sources(current);
  return current.flatMap(({ space, subject, predicate, object }, n) =>
    sources[n]!.flatMap(({ source }) => (source === undefined ? [] : [{ space, subject, predicate, object, source }])),
  );
}

/**
 * The statements of a commit that a current fact still rests on. Undefined if one cannot be
 * withdrawn.
 */
async function believedOf(
  { id, trajectoryId, seq }: DependentEntry,
  { store, viewOf }: RepairPorts,
): Promise<WithdrawnStatement[] | undefined> {
  const [row] = await store.entries(trajectoryId, { from: seq, limit: 1 });
  const args = await new ValueReader(store).read(row!, (readRow(row!).payload as CommitPayload).action.args);
  if (!('value' in args)) return undefined;
  const { sayings } = args.value as unknown as { readonly sayings: readonly MemoryStatement[] };
  const found: WithdrawnStatement[] = [];
  for (const saying of sayings.slice(0, STATEMENTS_MAX)) {
    if (saying.verb === 'retract' || saying.verb === 'withdraw') continue;
    const { space, subject, predicate, object, source } = saying;
    const view = viewOf(space);
    const { facts } = await view.recall({ subject, predicate, valid: 'any' });
    const sources = (await view.sources(facts)).flat();
    const isHeld = (each: FactSource): boolean => each.entry === id && each.source === source;
    if (!sources.some(isHeld)) continue;
    if (source === undefined) return undefined;
    found.push({ space, subject, predicate, object, source, entry: id });
  }
  return found;
}

function distinct(statements: readonly WithdrawnStatement[]): WithdrawnStatement[] {
  const keyOf = ({ space, subject, predicate, source }: WithdrawnStatement): string =>
    JSON.stringify([space, subject, predicate, source]);
  const found = new Map<string, WithdrawnStatement>();
  for (const each of statements) if (!found.has(keyOf(each))) found.set(keyOf(each), each);
  return [...found.values()];
}
