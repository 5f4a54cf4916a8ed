import { type EntryLinks, type Mark, tokensOf, type WalkOptions, writeIn } from 'assize/host';
import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import { type Instant, isInstant } from 'assize/internal/canon';
import {
  type FactStore,
  type Hash,
  isFactStore,
  isHash,
  type LedgerStore,
} from 'assize/internal/ledger';
import { RuntimeError } from 'assize/internal/runtime';

/** The facts of a subject in a space, or of one of its predicates. */
export interface NamedFacts {
  readonly space: string;
  readonly subject: string;
  readonly predicate?: string;
}

/** Where an incident begins: exactly one name, and the period in which it counts. */
export type IncidentStart = {
  /** The entry with this id. */
  readonly entry?: Hash;
  /** Entries under this writ or a writ below it. */
  readonly writ?: Hash;
  /** Entries under a writ that this principal holds, or a writ below one. */
  readonly principal?: string;
  /** Decisions of this principal on proposals and effects. */
  readonly approver?: string;
  /** Entries with a call of this tool: `NAME`, or `SERVER/TOOL` behind the gateway. */
  readonly tool?: string;
  /** Calls of the gateway under this definition of their tool, by its hash. */
  readonly definition?: string;
  /** Statements of facts that name this source, such as a message. */
  readonly source?: string;
  /** Statements of these facts. */
  readonly facts?: NamedFacts;
  /** Only entries from this instant on. */
  readonly since?: Instant;
  /** Only entries before this instant. */
  readonly until?: Instant;
};

const NAMES = [
  'entry',
  'writ',
  'principal',
  'approver',
  'tool',
  'definition',
  'source',
  'facts',
] as const;
const FACTS: ArgumentSchema = arg.options<NamedFacts>({
  space: arg.text,
  subject: arg.text,
  predicate: arg.optional(arg.text),
});
export const INCIDENT_START: ArgumentSchema = arg.options<IncidentStart>({
  entry: arg.optional(arg.text),
  writ: arg.optional(arg.text),
  principal: arg.optional(arg.text),
  approver: arg.optional(arg.text),
  tool: arg.optional(arg.text),
  definition: arg.optional(arg.text),
  source: arg.optional(arg.text),
  facts: arg.optional(FACTS),
  since: arg.optional(arg.text),
  until: arg.optional(arg.text),
});

/**
 * Whether an incident begins with an entry, or with some of its statements.
 *
 * @throws RuntimeError `bad_argument` for a start without exactly one name, or an invalid id or
 * instant; `not_found` for an entry that the store does not have; ArgumentError `bad_argument`
 */
export async function startRule(
  store: LedgerStore,
  start: IncidentStart,
): Promise<WalkOptions['startIn']> {
  checkArgument(INCIDENT_START, start, 'start');
  const name = onlyName(start);
  requireForms(start);
  const isInTime = ({ at }: EntryLinks): boolean =>
    (start.since === undefined || at >= start.since) &&
    (start.until === undefined || at < start.until);
  const entries = await entriesOf(store, start);
  if (entries !== undefined) return (links) => isInTime(links) && (entries.get(links.id) ?? false);
  const markIn = ({ marks }: EntryLinks): Mark | undefined =>
    marks.find(({ kind, value }) => kind === name && value === start[name]);
  return (links) => {
    const found = isInTime(links) ? markIn(links) : undefined;
    return found === undefined ? false : (found.statements ?? true);
  };
}

/** @throws RuntimeError `bad_argument` */
function onlyName(start: IncidentStart): (typeof NAMES)[number] {
  const [name, another] = NAMES.filter((each) => start[each] !== undefined);
  if (name !== undefined && another === undefined) return name;
  throw bad(`an incident begins with exactly one of ${NAMES.join(', ')}; pass one`);
}

/** @throws RuntimeError `bad_argument` for an invalid id or instant, or an empty period */
function requireForms(start: IncidentStart): void {
  for (const each of ['entry', 'writ', 'definition'] as const)
    if (start[each] !== undefined && !isHash(start[each]))
      throw bad(`${each} must be 64 hex digits`);
  for (const each of ['since', 'until'] as const)
    if (start[each] !== undefined && !isInstant(start[each]))
      throw bad(`${each} must be an instant such as 2026-05-03T09:00:00.000000Z`);
  if (start.since !== undefined && start.until !== undefined && start.since >= start.until)
    throw bad('since is not before until; pass an earlier since, or a later until');
}

type StartEntries = ReadonlyMap<Hash, true | readonly number[]>;

/**
 * The entries with which the incident begins, each whole or with some statements. Undefined: a mark
 * names them.
 */
async function entriesOf(
  store: LedgerStore,
  { entry, facts }: IncidentStart,
): Promise<StartEntries | undefined> {
  if (entry !== undefined) {
    if ((await store.resolve(entry)) !== undefined) return new Map([[entry, true]]);
    throw new RuntimeError('not_found', `The store has no entry ${entry}.`, {
      evidence: { id: entry },
    });
  }
  if (facts === undefined) return undefined;
  if (!isFactStore(store)) throw bad('the store keeps no facts; name another start');
  return statementsOf(store, facts);
}

/** The statements in the provenance of a version of the facts, by entry. */
async function statementsOf(
  store: LedgerStore & FactStore,
  facts: NamedFacts,
): Promise<StartEntries> {
  const found = new Map<Hash, number[]>();
  const branches = (await store.branches()).filter(({ space }) => space === facts.space);
  for (const memory of [{}, ...branches.map(({ branch }) => ({ branch }))])
    for (let after: Awaited<ReturnType<FactStore['facts']>>[number] | undefined; ; ) {
      const rows = await store.facts({
        ...facts,
        ...memory,
        kind: 'all',
        ...(after !== undefined && { after }),
      });
      for (const { provenance_id } of rows)
        for (const token of tokensOf(provenance_id)) {
          const write = writeIn(token);
          if (write === undefined) continue;
          const of = found.get(write.entry) ?? [];
          if (!of.includes(write.n)) found.set(write.entry, [...of, write.n]);
        }
      after = rows.at(-1);
      if (rows.length < FACTS_PAGE) break;
    }
  return found;
}

const FACTS_PAGE = 1_000;

function bad(detail: string): RuntimeError {
  return new RuntimeError('bad_argument', `The start of the incident is not valid: ${detail}.`);
}
